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
    /// Whether the target and all its descendants closed stdout.
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
