//! The system calls of a process tree, as strace(1) prints them: where the kernel does not let us observe them ourselves.
//!
//! Belongs here: starting a command under strace, reading its output while the command runs, what of it holds a marker.
//! Does not belong here: its notation (`line`), what a sight means for a verdict.
//!
//! strace stops every call of the tree twice, which is slow; it sees no less than `syscalls` does of files, programs and
//! sockets, but neither signals nor attributes of open files, and it does not refuse `io_uring`. What it prints comes through a
//! named pipe: a call is in the pipe before the kernel carries it out, and so before whatever the program says of it.

mod line;
#[cfg(test)]
mod tests;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{CWD, Mode, OFlags, mkfifoat};
use tempfile::TempDir;

use self::line::{Call, Line};
use super::holds;

/// Calls that are printed: those with a path, those that send or write, and those that let something be done without one.
const TRACED: &str = "trace=file,write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg,sendmmsg,connect,bind,mmap,io_uring_setup";
/// How much of a string is printed, in bytes: as `syscalls` searches.
const STRING: &str = "65536";
/// A longer line is cut, in bytes: a string's byte is at most four.
const LONGEST: usize = 2 * 1024 * 1024;
/// The most marked calls, and blind spots, that are kept.
const MAX_CALLS: usize = 10_000;
const MAX_BLIND: usize = 100;
/// How long strace may take to print what a shell does that ends at once.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);
/// Between two looks at whether anybody still asks.
const IDLE: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// strace's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Strace(PathBuf);

/// A call that holds a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Marked(Call);

/// What strace prints of one tree.
#[derive(Debug)]
pub(crate) struct Trace {
    shared: Arc<Shared>,
    reader: JoinHandle<()>,
    /// The named pipe, and the folder that it is in.
    pipe: PathBuf,
    _folder: TempDir,
}

#[derive(Debug)]
struct Shared {
    pipe: File,
    known: Mutex<Known>,
    is_closed: AtomicBool,
}

/// What was read so far.
#[derive(Debug, Default)]
struct Known {
    /// A line without its end yet.
    begun: Vec<u8>,
    marked: Vec<Marked>,
    blind: Vec<String>,
    /// How many calls there were.
    calls: u64,
    dropped: usize,
    marker: Vec<u8>,
}

impl Strace {
    /// Finds strace on the PATH, and tries it with a shell that ends at once.
    ///
    /// # Errors
    /// Why it cannot be used, in words.
    pub(super) fn find() -> Result<Self, String> {
        let path = env::var_os("PATH").unwrap_or_default();
        let program = env::split_paths(&path).map(|folder| folder.join("strace")).find(|file| file.is_file());
        let strace = Self(program.ok_or("there is no strace on the PATH")?);
        strace.try_out()?;
        Ok(strace)
    }

    fn try_out(&self) -> Result<(), String> {
        let failed = |error: io::Error| format!("strace cannot be tried: {error}");
        let trace = Trace::prepare(b"").map_err(failed)?;
        let mut words = self.words(&trace).into_iter().chain(["/bin/sh", "-c", ":"].map(OsString::from));
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        let begun = Instant::now();
        while !trace.reader.is_finished() && begun.elapsed() < PATIENCE {
            if trace.shared.lock().calls > 0 {
                break;
            }
            thread::sleep(LOOK);
        }
        let _ = child.kill();
        let _ = child.wait();
        match trace.shared.lock().calls {
            0 => Err("strace may not trace here".to_owned()),
            _ => Ok(()),
        }
    }

    /// What stands before a command, so that it runs under strace and stays our child.
    pub(crate) fn words(&self, trace: &Trace) -> Vec<OsString> {
        let words = ["-D", "-f", "-qq", "-yy", "-s", STRING, "-e", "signal=none", "-e", TRACED, "-o"];
        let program = [self.0.clone().into_os_string()].into_iter();
        let output = [trace.pipe.clone().into_os_string(), OsString::from("--")];
        program.chain(words.map(OsString::from)).chain(output).collect()
    }
}

impl Trace {
    /// Makes the pipe that strace will print to, and reads it from then on.
    pub(crate) fn prepare(marker: &[u8]) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("framegate-trace-").tempdir()?;
        let pipe = folder.path().join("calls");
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR)?;
        let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let opened = OpenOptions::new().read(true).custom_flags(nonblocking).open(&pipe)?;
        let known = Mutex::new(Known { marker: marker.to_vec(), ..Known::default() });
        let shared = Arc::new(Shared { pipe: opened, known, is_closed: AtomicBool::new(false) });
        let ours = Arc::clone(&shared);
        let reader = thread::Builder::new().name("strace".to_owned()).spawn(move || ours.follow())?;
        Ok(Self { shared, reader, pipe, _folder: folder })
    }

    /// The calls that hold this marker, with what they were made on.
    pub(super) fn sights(&self, marker: &str) -> Vec<String> {
        let marker = marker.as_bytes();
        let mut known = self.shared.lock();
        self.shared.drain(&mut known);
        let begun = Marked::of(&known.begun, marker);
        known.marked.iter().chain(begun.iter()).filter(|call| call.holds(marker)).map(Marked::what).collect()
    }

    /// What was done out of sight, in words.
    pub(super) fn blind(&self) -> Option<String> {
        let known = self.shared.lock();
        match (known.blind.first(), known.dropped) {
            (Some(blind), _) => Some(format!("a program uses {blind}, which strace does not see")),
            (None, 0) => None,
            (None, dropped) => Some(format!("{dropped} calls were too many to be kept")),
        }
    }

    /// Whether this process is strace's own, which prints what is read here.
    pub(crate) fn is_tracer(&self, process: u32) -> bool {
        let arguments = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let mut arguments = arguments.split(|byte| *byte == 0);
        let is_strace = arguments.next().is_some_and(|program| program.ends_with(b"strace"));
        is_strace && arguments.any(|argument| Path::new(std::ffi::OsStr::from_bytes(argument)) == self.pipe)
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        self.shared.is_closed.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Reads until strace has ended, or nobody asks any more. strace waits while its pipe is full.
    fn follow(&self) {
        while !self.is_closed.load(Ordering::Relaxed) {
            let mut polled = [PollFd::new(&self.pipe, PollFlags::IN)];
            let ready = poll(&mut polled, Some(&IDLE));
            let [polled] = polled;
            match ready {
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => {
                    self.drain(&mut self.lock());
                    // Everything was read that was there when the last writer was gone.
                    if polled.revents().contains(PollFlags::HUP) {
                        return;
                    }
                }
                Err(_) => return,
            }
        }
    }

    /// Reads what is there.
    fn drain(&self, known: &mut Known) {
        let mut piece = [0; 16 * 1024];
        while let Ok(length @ 1..) = (&self.pipe).read(&mut piece) {
            known.take(piece.get(..length).unwrap_or_default());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn take(&mut self, piece: &[u8]) {
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST.saturating_sub(self.begun.len()).min(part.len());
            self.begun.extend_from_slice(part.get(..room).unwrap_or_default());
            if part.ends_with(b"\n") {
                let line = std::mem::take(&mut self.begun);
                self.add(line.trim_ascii_end());
            }
        }
    }

    fn add(&mut self, line: &[u8]) {
        self.calls = self.calls.saturating_add(1);
        match Line::read(line) {
            Line::Call(call) => {
                let marked = Marked(call);
                if !marked.holds(&self.marker) {
                    return;
                }
                if self.marked.len() < MAX_CALLS {
                    self.marked.push(marked);
                } else {
                    self.dropped = self.dropped.saturating_add(1);
                }
            }
            Line::Blind(what) if self.blind.len() < MAX_BLIND && !self.blind.contains(&what) => {
                self.blind.push(what);
            }
            Line::Blind(_) | Line::Nothing => {}
        }
    }
}

impl Marked {
    fn of(line: &[u8], marker: &[u8]) -> Option<Self> {
        match Line::read(line) {
            Line::Call(call) => Some(Self(call)).filter(|marked| marked.holds(marker)),
            Line::Blind(_) | Line::Nothing => None,
        }
    }

    fn holds(&self, marker: &[u8]) -> bool {
        holds(&self.0.data, marker) || holds(&self.0.descriptor, marker)
    }

    /// For people, on one line: the call, and what it was made on, or else its first string.
    fn what(&self) -> String {
        let Call { name, descriptor, data } = &self.0;
        let first = data.split(|byte| *byte == 0).next().unwrap_or_default();
        let on = if descriptor.is_empty() { first } else { descriptor };
        format!("{name} {}", super::excerpt(on, 400))
    }
}
