//! The writer of the protocol's output: the only owner of the real stdout.
//!
//! Belongs here: whole lines, in order, however slow the other side is; knowing how much is waiting.
//! A short line goes out at once where that cannot block; everything else goes through a thread.
//! Does not belong here: what a line says.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;

/// Above this many waiting bytes no more input is taken, so that a reader that does not read cannot make
/// us keep an unbounded number of replies.
const HIGH_WATER: usize = 256 * 1024;

/// What the writer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteEvent {
    /// Everything that was waiting is written.
    Drained,
    /// The reader of stdout is gone, or stdout failed: nothing can be written any more.
    Failed,
}

/// The pump's side of the writer.
#[derive(Debug)]
pub struct Writer {
    lines: Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    probe: File,
    direct: Option<File>,
}

impl Writer {
    /// Starts the thread.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(output: File, report: impl FnMut(WriteEvent) + Send + 'static) -> io::Result<Self> {
        let (lines, queue) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let probe = output.try_clone()?;
        let direct = non_blocking(&output);
        let counter = Arc::clone(&waiting);
        thread::Builder::new()
            .name("stdout".to_owned())
            .spawn(move || run(output, &queue, &counter, report))?;
        Ok(Self { lines, waiting, probe, direct })
    }

    /// Writes bytes that are whole lines, now or in their turn.
    pub fn send(&self, lines: Vec<u8>) {
        if lines.len() <= ATOMIC && self.is_drained() && self.write_now(&lines) {
            return;
        }
        self.waiting.fetch_add(lines.len(), Ordering::SeqCst);
        // A thread that is gone has reported the failure.
        let _ = self.lines.send(lines);
    }

    /// Writes all of it or nothing, without blocking. Only while the thread has nothing to write.
    fn write_now(&self, lines: &[u8]) -> bool {
        let Some(mut direct) = self.direct.as_ref() else { return false };
        direct.write(lines).is_ok_and(|written| written == lines.len())
    }

    /// Whether so much is waiting that no more input should be taken.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) > HIGH_WATER
    }

    /// Whether nothing is waiting.
    #[must_use]
    pub fn is_drained(&self) -> bool {
        self.waiting.load(Ordering::SeqCst) == 0
    }

    /// Whether the reader of stdout is known to be gone. Asked before an action is started.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        let mut descriptors = [PollFd::new(&self.probe, PollFlags::empty())];
        match poll(&mut descriptors, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            Ok(_) => descriptors.iter().any(|descriptor| {
                descriptor.revents().intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL)
            }),
            Err(_) => false,
        }
    }
}

/// How many bytes a pipe takes whole or not at all: PIPE_BUF on Linux (pipe(7)).
const ATOMIC: usize = 4_096;

/// A second description of the same pipe that never blocks; the first one may be shared with others, whose
/// flags are theirs. `None` for anything but a pipe.
fn non_blocking(output: &File) -> Option<File> {
    let mode = fstat(output).ok()?.st_mode;
    if FileType::from_raw_mode(mode) != FileType::Fifo {
        return None;
    }
    let path = format!("/proc/self/fd/{}", output.as_raw_fd());
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).ok()?;
    OpenOptions::new().write(true).custom_flags(flags).open(path).ok()
}

fn run(
    mut output: File,
    queue: &Receiver<Vec<u8>>,
    waiting: &AtomicUsize,
    mut report: impl FnMut(WriteEvent),
) {
    while let Ok(mut lines) = queue.recv() {
        // What has gathered meanwhile goes out with one call.
        for more in queue.try_iter() {
            lines.extend_from_slice(&more);
        }
        if write_all(&mut output, &lines).is_err() {
            report(WriteEvent::Failed);
            return;
        }
        let before = waiting.fetch_sub(lines.len(), Ordering::SeqCst);
        if before == lines.len() || before > HIGH_WATER {
            report(WriteEvent::Drained);
        }
    }
}

fn write_all(output: &mut File, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match output.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A descriptor shared with others may be non-blocking; waiting for it is our own affair.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                match poll(&mut [PollFd::new(&*output, PollFlags::OUT)], None) {
                    // A signal is no failure of the descriptor.
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
