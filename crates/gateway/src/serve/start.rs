//! The one step that decides between "never started" and "started".
//!
//! Belongs here: the slot's start flag and its cancellation, taken atomically.
//! Does not belong here: what is started.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

const WAITING: u8 = 0;
const STARTED: u8 = 1;
const CANCELLED: u8 = 2;

/// The start of one action, shared by the pump, which may cancel it, and the executor, which begins it.
#[derive(Clone, Debug, Default)]
pub(super) struct Start(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: AtomicU8,
    abandoned: Notify,
}

impl Start {
    /// Begins, unless it was cancelled before. To be called right before the first outside act.
    pub(super) fn begin(&self) -> bool {
        self.0.state.compare_exchange(WAITING, STARTED, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Cancels. What has not begun never will; what has begun is abandoned.
    pub(super) fn cancel(&self) {
        let cancelled = self.0.state.compare_exchange(WAITING, CANCELLED, Ordering::SeqCst, Ordering::SeqCst);
        if cancelled.is_err() {
            self.0.abandoned.notify_one();
        }
    }

    /// Resolves when what has begun is abandoned.
    pub(super) async fn abandoned(&self) {
        self.0.abandoned.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cancelled_start_never_begins() {
        let start = Start::default();
        start.cancel();
        assert!(!start.begin());
    }

    #[test]
    fn a_start_begins_once_and_is_abandoned_afterwards() {
        let start = Start::default();
        assert!(start.begin());
        assert!(!start.begin());
        start.cancel();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(start.abandoned());
    }
}
