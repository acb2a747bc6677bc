//! Where lines go: a thread of its own, fed through a bounded queue that drops rather than waits.
//!
//! Belongs here: the queue, the thread, the form of a line.
//! Does not belong here: levels.

use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use crate::config::LogLevel;

/// How many lines may wait for a stderr that nobody drains.
const QUEUE: usize = 256;

/// The log cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// No thread can be started.
    #[error("cannot start the log: {0}")]
    Start(#[from] io::Error),
}

#[derive(Debug)]
enum Entry {
    Line(String),
    Flush(SyncSender<()>),
}

/// The queue's end.
#[derive(Debug)]
pub struct Sink {
    queue: SyncSender<Entry>,
    dropped: AtomicU64,
}

impl Sink {
    /// Writes to stderr.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn stderr() -> Result<Self, LogError> {
        let (queue, entries) = sync_channel(QUEUE);
        thread::Builder::new().name("log".to_owned()).spawn(move || {
            for entry in entries {
                match entry {
                    // A stderr that is closed or full is no reason to stop.
                    Entry::Line(line) => drop(io::stderr().write_all(line.as_bytes())),
                    Entry::Flush(done) => drop(done.try_send(())),
                }
            }
        })?;
        Ok(Self { queue, dropped: AtomicU64::new(0) })
    }

    pub(super) fn write(&self, level: LogLevel, text: &str) {
        let line = format!("framegate: {level:?}: {}\n", text.escape_debug());
        if self.queue.try_send(Entry::Line(line)).is_err() {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn flush(&self, at_most: Duration) {
        let (done, waiting) = sync_channel(1);
        if self.queue.try_send(Entry::Flush(done)).is_ok() {
            let _ = waiting.recv_timeout(at_most);
        }
    }
}
