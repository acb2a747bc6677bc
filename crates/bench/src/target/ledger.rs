//! Every byte of one target: what was sent, and what its standard outputs gave until everybody closed them.
//!
//! Belongs here: the bytes, in order, shared between the threads that read pipes and whoever waits for a line.
//! Does not belong here: what the bytes mean.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde::Serialize;

use super::launch::Launch;

/// The most that is kept of one stream, in bytes; more is read, so that the target is not held up, and let go.
const MAX_KEPT: usize = 32 * 1024 * 1024;
/// The most that is kept of one stream once it is judged, in bytes: of stdout behind the first wrong byte.
const MAX_EVIDENCE: usize = 1024 * 1024;
/// The most passages that are kept.
const MAX_PASSAGES: usize = 10_000;

/// What is known of a target's bytes by now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) stdin: Vec<u8>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    /// Whether the target and all its descendants closed stdout, or it is read no more.
    pub(crate) stdout_ended: bool,
    /// Whether more came on stdout than is kept.
    pub(crate) stdout_cut: bool,
    /// Whether something still came while the target was killed.
    pub(crate) stdout_broken_off: bool,
    /// When what came and went, in order; at most the first [`MAX_PASSAGES`].
    pub(crate) passages: Vec<Passage>,
    /// How it was started.
    pub(crate) launch: Option<Launch>,
}

/// Bytes that came or went at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Passage {
    /// Since the target was started, in microseconds.
    pub microseconds: u64,
    /// `stdin`, `stdout` or `stderr`.
    pub stream: &'static str,
    /// How many bytes.
    pub bytes: usize,
}

impl Snapshot {
    /// What shows a failure, whose first wrong byte of stdout, if there is one, stands here: a run keeps it for each case.
    pub(crate) fn evidence(mut self, first_wrong: Option<usize>) -> Self {
        self.stdin.truncate(MAX_EVIDENCE);
        self.stdout.truncate(first_wrong.unwrap_or(0).saturating_add(MAX_EVIDENCE));
        // Of what goes to people the end counts.
        self.stderr.drain(..self.stderr.len().saturating_sub(MAX_EVIDENCE));
        [&mut self.stdin, &mut self.stdout, &mut self.stderr].into_iter().for_each(Vec::shrink_to_fit);
        self
    }
}

/// The bytes of one target.
#[derive(Debug)]
pub(crate) struct Ledger {
    begun: Instant,
    bytes: Mutex<Snapshot>,
    changed: Condvar,
    /// Whether stdout is read no further than to the next piece.
    deaf: AtomicBool,
    /// Whether nobody asks any more.
    closed: AtomicBool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl Ledger {
    pub(crate) fn new(launch: Launch) -> Self {
        Self {
            begun: Instant::now(),
            bytes: Mutex::new(Snapshot { launch: Some(launch), ..Snapshot::default() }),
            changed: Condvar::new(),
            deaf: AtomicBool::new(false),
            closed: AtomicBool::new(false),
        }
    }

    fn passes(&self, known: &mut Snapshot, stream: &'static str, bytes: usize) {
        if known.passages.len() < MAX_PASSAGES {
            let microseconds = u64::try_from(self.begun.elapsed().as_micros()).unwrap_or(u64::MAX);
            known.passages.push(Passage { microseconds, stream, bytes });
        }
    }

    /// Looks at the bytes; whoever reads a pipe waits meanwhile.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Snapshot) -> T) -> T {
        look(&self.lock())
    }

    /// Gives the bytes away, and keeps no more.
    pub(crate) fn close(&self) -> Snapshot {
        self.closed.store(true, Ordering::Relaxed);
        std::mem::take(&mut *self.lock())
    }

    pub(crate) fn sent(&self, bytes: &[u8]) {
        let mut known = self.lock();
        self.passes(&mut known, "stdin", bytes.len());
        known.stdin.extend_from_slice(bytes);
    }

    /// Reads until nobody holds the other end any more.
    pub(crate) fn follow(&self, mut pipe: impl Read, stream: Stream) {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(length @ 1..) = pipe.read(&mut piece) {
            let piece = piece.get(..length).unwrap_or_default();
            let mut bytes = self.lock();
            if self.closed.load(Ordering::Relaxed) {
                break;
            }
            let (name, kept) = match stream {
                Stream::Stdout => ("stdout", &mut bytes.stdout),
                Stream::Stderr => ("stderr", &mut bytes.stderr),
            };
            let room = MAX_KEPT.saturating_sub(kept.len()).min(piece.len());
            kept.extend_from_slice(piece.get(..room).unwrap_or_default());
            self.passes(&mut bytes, name, piece.len());
            bytes.stdout_cut |= matches!(stream, Stream::Stdout) && room < piece.len();
            if room > 0 {
                self.changed.notify_all();
            }
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

    fn ledger() -> Ledger {
        Ledger::new(Launch {
            command: Vec::new(),
            inherits: None,
            environment: Vec::new(),
            folder: None,
            stdout: crate::target::Stdout::Prompt,
            stderr: crate::target::Stderr::Kept,
            tracer: None,
            patience: std::time::Duration::ZERO,
        })
    }

    #[test]
    fn what_passes_is_counted_in_order() {
        let ledger = ledger();
        ledger.sent(b"ask\n");
        ledger.follow(&b"answer\n"[..], Stream::Stdout);
        let passed: Vec<_> =
            ledger.close().passages.iter().map(|passage| (passage.stream, passage.bytes)).collect();
        assert_eq!(passed, [("stdin", 4), ("stdout", 7)]);
    }

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
            self.1.store(self.0.look(|known| known.stdout_ended), Ordering::Relaxed);
        }
    }

    #[test]
    fn evidence_is_bounded_and_holds_what_shows_the_failure() {
        let all = || Snapshot {
            stdin: vec![b'i'; 3 * MAX_EVIDENCE],
            stdout: vec![b'o'; 3 * MAX_EVIDENCE],
            stderr: [vec![b'a'; MAX_EVIDENCE], vec![b'z'; MAX_EVIDENCE]].concat(),
            ..Snapshot::default()
        };
        let kept = all().evidence(None);
        assert_eq!((kept.stdin.capacity(), kept.stdout.capacity()), (MAX_EVIDENCE, MAX_EVIDENCE));
        assert_eq!(kept.stderr, vec![b'z'; MAX_EVIDENCE]);
        assert_eq!(all().evidence(Some(7)).stdout.len(), 7 + MAX_EVIDENCE);
        let small = Snapshot { stdout: b"a".to_vec(), ..Snapshot::default() };
        assert_eq!(small.evidence(Some(0)).stdout, b"a");
    }

    #[test]
    fn a_closed_ledger_keeps_no_more() {
        let ledger = ledger();
        ledger.follow(&b"one"[..], Stream::Stdout);
        assert_eq!(ledger.close().stdout, b"one");
        ledger.follow(&b"two"[..], Stream::Stdout);
        assert_eq!(ledger.look(|known| known.stdout.clone()), b"");
    }

    #[test]
    fn stdout_that_is_read_no_more_is_closed_before_that_is_said() {
        let (ledger, told_first) = (Arc::new(ledger()), Arc::new(AtomicBool::new(true)));
        ledger.stop_listening();
        ledger.follow(Pipe(Arc::clone(&ledger), Arc::clone(&told_first)), Stream::Stdout);
        let known = ledger.close();
        assert_eq!(known.stdout, b"x", "one piece is still read");
        assert!(known.stdout_ended);
        assert!(!told_first.load(Ordering::Relaxed));
    }
}
