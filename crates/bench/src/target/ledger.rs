//! Every byte of one target: what was sent, and what its standard outputs gave until everybody closed them.
//!
//! Belongs here: the bytes, in order, shared between the threads that read pipes and whoever waits for a line.
//! Does not belong here: what the bytes mean.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The most that is kept of one stream, in bytes; more is read and counted.
const MAX_KEPT: usize = 32 * 1024 * 1024;

/// What is known of a target's bytes by now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) stdin: Vec<u8>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Whether the target and all its descendants closed stdout, or it is read no more.
    pub(crate) stdout_ended: bool,
    /// Whether more came than is kept.
    pub(crate) cut: bool,
}

/// The bytes of one target.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    bytes: Mutex<Snapshot>,
    changed: Condvar,
    /// Whether stdout is read no further than to the next piece.
    deaf: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Ledger {
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.lock().clone()
    }

    pub(crate) fn sent(&self, bytes: &[u8]) {
        self.lock().stdin.extend_from_slice(bytes);
    }

    /// Reads until nobody holds the other end any more.
    pub(crate) fn follow(&self, mut pipe: impl Read, stream: Stream) {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = pipe.read(&mut piece) {
            let piece = piece.get(..length).unwrap_or_default();
            let mut bytes = self.lock();
            let kept = match stream {
                Stream::Stdout => &mut bytes.stdout,
                Stream::Stderr => &mut bytes.stderr,
            };
            let room = MAX_KEPT.saturating_sub(kept.len()).min(piece.len());
            kept.extend_from_slice(piece.get(..room).unwrap_or_default());
            bytes.cut |= room < piece.len();
            self.changed.notify_all();
            if matches!(stream, Stream::Stdout) && self.deaf.load(Ordering::Relaxed) {
                break;
            }
        }
        // First the pipe is closed, then that is said: whoever waits for it may rely on writes that fail.
        drop(pipe);
        if matches!(stream, Stream::Stdout) {
            self.lock().stdout_ended = true;
        }
        self.changed.notify_all();
    }

    pub(crate) fn stop_listening(&self) {
        self.deaf.store(true, Ordering::Relaxed);
    }

    /// Waits until `seen` finds what it looks for in stdout, stdout ends, or time is up.
    pub(crate) fn wait<T>(
        &self,
        deadline: Instant,
        mut seen: impl FnMut(&Snapshot) -> Option<T>,
    ) -> Option<T> {
        let mut bytes = self.lock();
        loop {
            if let Some(found) = seen(&bytes) {
                return Some(found);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if bytes.stdout_ended || left.is_zero() {
                return None;
            }
            bytes = self.changed.wait_timeout(bytes, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Snapshot> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    /// A pipe that says, when it is closed, whether its end was told already.
    struct Pipe(Arc<Ledger>, Arc<AtomicBool>);

    impl Read for Pipe {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let first = buffer.first_mut().expect("room");
            *first = b'x';
            Ok(1)
        }
    }

    impl Drop for Pipe {
        fn drop(&mut self) {
            self.1.store(self.0.snapshot().stdout_ended, Ordering::Relaxed);
        }
    }

    #[test]
    fn stdout_that_is_read_no_more_is_closed_before_that_is_said() {
        let (ledger, told_first) = (Arc::new(Ledger::default()), Arc::new(AtomicBool::new(true)));
        ledger.stop_listening();
        ledger.follow(Pipe(Arc::clone(&ledger), Arc::clone(&told_first)), Stream::Stdout);
        let known = ledger.snapshot();
        assert_eq!(known.stdout, b"x", "one piece is still read");
        assert!(known.stdout_ended);
        assert!(!told_first.load(Ordering::Relaxed));
    }
}
