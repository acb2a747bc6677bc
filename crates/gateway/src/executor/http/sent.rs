//! Knowing what passed over a connection during one exchange.
//!
//! Belongs here: a stream that remembers its first write, its last byte, and whether writes are finished.
//! Does not belong here: what is written or read.

use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, sleep_until};

/// Set once a byte was handed to the connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent(Arc<AtomicBool>);

impl Sent {
    pub(super) fn any(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// When the last byte passed, in either direction.
#[derive(Clone, Debug)]
pub(super) struct Activity(Arc<Mutex<Instant>>);

impl Activity {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Instant::now())))
    }

    fn last(&self) -> Instant {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Resolves when nothing has passed for `idle`, unless `deadline` comes before.
    pub(super) async fn silence(&self, idle: Duration, deadline: Instant) {
        loop {
            match self.last().checked_add(idle) {
                Some(due) if due < deadline => {
                    if due <= Instant::now() {
                        return;
                    }
                    sleep_until(due).await;
                }
                // The deadline ends the exchange; no byte that is still to come changes that.
                _ => std::future::pending().await,
            }
        }
    }
}

/// A stream that sets a flag before it writes.
#[derive(Debug)]
pub(super) struct Watched<S> {
    stream: S,
    sent: Sent,
    activity: Activity,
    flushed: bool,
}

impl<S> Watched<S> {
    pub(super) const fn new(stream: S, sent: Sent, activity: Activity) -> Self {
        Self { stream, sent, activity, flushed: true }
    }

    /// The stream, if everything written to it was flushed. A writer that flushes only once its own buffer is
    /// empty, as hyper does, has then left no half of a request behind.
    pub(super) fn into_flushed(self) -> Option<S> {
        self.flushed.then_some(self.stream)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.activity.note();
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // Before, not after: a write that fails half-way has sent something.
        self.sent.0.store(true, Ordering::SeqCst);
        self.flushed = false;
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        if written.is_ready() {
            self.activity.note();
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(context);
        if let Poll::Ready(Ok(())) = flushed {
            self.flushed = true;
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.flushed = false;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
