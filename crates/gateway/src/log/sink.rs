//! Where lines go: a thread of its own, fed through a bounded queue that drops rather than waits.
//!
//! Belongs here: the queue and the thread.
//! Does not belong here: levels, the form of a line.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::file::Rotating;
use super::line;
use crate::config::{LogFormat, LogLevel};

/// How many lines may wait for a stderr that nobody drains.
const QUEUE: usize = 256;

/// The end of the way.
#[derive(Debug)]
pub(super) enum Output {
    File(Rotating),
    Nowhere,
    Stderr,
}

#[derive(Debug)]
enum Entry {
    Line(Vec<u8>),
    Flush(SyncSender<()>),
}

/// The queue's end.
#[derive(Debug)]
pub(super) struct Sink {
    queue: SyncSender<Entry>,
    dropped: Arc<AtomicU64>,
}

impl Sink {
    pub(super) fn start(output: Output, format: LogFormat) -> io::Result<Self> {
        let (queue, entries) = sync_channel(QUEUE);
        let dropped = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&dropped);
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || run(output, format, &entries, &counter))?;
        Ok(Self { queue, dropped })
    }

    pub(super) fn write(&self, line: Vec<u8>) {
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

fn run(mut output: Output, format: LogFormat, entries: &Receiver<Entry>, dropped: &AtomicU64) {
    for entry in entries {
        match entry {
            Entry::Line(line) => {
                let lost = dropped.swap(0, Ordering::Relaxed);
                if lost > 0 {
                    output.write(&line::format(
                        format,
                        LogLevel::Warn,
                        &format!("{lost} lines were dropped"),
                    ));
                }
                output.write(&line);
            }
            Entry::Flush(done) => {
                let _ = done.try_send(());
            }
        }
    }
}

impl Output {
    /// An output that is closed or full is no reason to stop anything.
    fn write(&mut self, line: &[u8]) {
        match self {
            Self::File(file) => file.write(line),
            Self::Nowhere => {}
            Self::Stderr => {
                let _ = io::stderr().write_all(line);
            }
        }
    }
}
