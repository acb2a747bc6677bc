//! A future whose panic becomes a value.
//!
//! Belongs here: containing a panic in an executor.
//! Does not belong here: what the panic means.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind as catch};
use std::pin::pin;
use std::task::Poll;

/// Runs the future; `None` if it panicked. The panic hook has reported it by then.
pub(super) async fn catch_unwind<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(move |context| match catch(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
        Err(_) => Poll::Ready(None),
    })
    .await
}
