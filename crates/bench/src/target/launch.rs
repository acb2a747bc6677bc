//! Starting and ending a target.
//!
//! Belongs here: command, environment, folder, process group, pipes, signals, waiting.
//! Does not belong here: lines, descendants (`lineage`).

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, waitid};

use super::interrupt::Interrupt;
use super::ledger::{Ledger, Snapshot, Stream};
use super::lineage::{self, Lineage, Member};
use crate::observe::{Prepared, Tracer, Watch};

/// Between two looks at whether a process has ended. Nothing is judged by it.
const LOOK: Duration = Duration::from_millis(5);

/// How long a piece may stay unread before the next is sent, and between two looks at that.
const PIECE: Duration = Duration::from_millis(500);
const PIECE_LOOK: Duration = Duration::from_micros(200);

/// A slow reader's pipe, in bytes, what it takes at once, and how often.
const SMALL: usize = 4_096;
const SLOWLY: usize = 512;
const SLOW: Duration = Duration::from_millis(1);

/// Where programs are looked for without a PATH, as in glibc's execvp(3).
const DEFAULT_PATH: &str = "/bin:/usr/bin";

/// How a target is started.
#[derive(Clone)]
pub(crate) struct Launch {
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// The variables of our own environment that it inherits; all if there is no list.
    pub(crate) inherits: Option<&'static [&'static str]>,
    /// Variables that are set, or removed, beside those.
    pub(crate) environment: Vec<(OsString, Option<OsString>)>,
    /// The working folder; ours if there is none.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) stdout: Stdout,
    pub(crate) stderr: Stderr,
    /// By what the system calls of its process tree are observed, if they are.
    pub(crate) tracer: Option<Tracer>,
    /// How long it may leave unread what is written to it.
    pub(crate) patience: Duration,
}

/// Without values of the environment: some are secrets of a configuration.
impl core::fmt::Debug for Launch {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Launch").field("command", &self.command).finish_non_exhaustive()
    }
}

/// How a target's stdout is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdout {
    /// At once.
    Prompt,
    /// A small pipe, a little at a time.
    Slow,
}

/// What a target's stderr is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stderr {
    /// A pipe that is read.
    Kept,
    /// A pipe whose other end is closed.
    Closed,
    /// A pipe that is open, and never read.
    Undrained,
    /// The same pipe as stdout.
    Merged,
}

/// Whether the target may still read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stdin {
    Open,
    Gone,
}

/// How a target ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
}

impl Ended {
    fn of(status: &WaitIdStatus) -> Self {
        Self { code: status.exit_status(), signal: status.terminating_signal() }
    }

    /// Whether it ended of its own will and without complaint.
    pub(crate) fn is_clean(self) -> bool {
        self.code == Some(0)
    }
}

impl core::fmt::Display for Ended {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(formatter, "exit code {code}"),
            (None, Some(signal)) => write!(formatter, "signal {signal}"),
            (None, None) => formatter.write_str("an unknown end"),
        }
    }
}

/// A running target. Dropped, it and all its descendants are killed.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    process: Pid,
    lineage: Lineage,
    stdin: Option<ChildStdin>,
    patience: Duration,
    /// Whether it left unread for too long what was written to it: nothing that is said now is heard.
    is_deaf: bool,
    ledger: Arc<Ledger>,
    readers: Vec<JoinHandle<()>>,
    ended: Option<Ended>,
    watch: Option<Arc<Watch>>,
    interrupt: Interrupt,
    /// What is never read, and must stay open.
    _undrained: Option<io::PipeReader>,
}

impl Launch {
    /// Lets the target find programs in this folder before all others.
    pub(crate) fn put_first_on_path(&mut self, folder: &Path) -> io::Result<()> {
        let set = self.environment.iter().rev().find(|(name, _)| name == "PATH");
        let path = match set {
            Some((_, value)) => value.clone(),
            None if self.inherits.is_none_or(|names| names.contains(&"PATH")) => env::var_os("PATH"),
            None => None,
        };
        let path = path.unwrap_or_else(|| DEFAULT_PATH.into());
        let folders = iter::once(folder.to_owned()).chain(env::split_paths(&path));
        let path = env::join_paths(folders).map_err(io::Error::other)?;
        self.environment.push(("PATH".into(), Some(path)));
        Ok(())
    }

    /// Starts it in a process group of its own.
    pub(crate) fn start(&self, interrupt: &Interrupt) -> io::Result<Running> {
        let prepared = self.tracer.as_ref().map(Tracer::prepare).transpose()?;
        let mut words = prepared.iter().flat_map(|prepared| &prepared.words).chain(&self.command);
        let Some(program) = words.next() else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped()).process_group(0);
        if let Some(names) = self.inherits {
            command.env_clear().envs(names.iter().filter_map(|name| Some((name, inherited(name)?))));
        }
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let ledger = Arc::new(Ledger::new(self.clone()));
        let (mut merged, mut undrained) = (None, None);
        match self.stderr {
            Stderr::Kept => {
                command.stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            Stderr::Closed => {
                let (reader, writer) = io::pipe()?;
                drop(reader);
                command.stdout(Stdio::piped()).stderr(writer);
            }
            Stderr::Undrained => {
                let (reader, writer) = io::pipe()?;
                command.stdout(Stdio::piped()).stderr(writer);
                undrained = Some(reader);
            }
            Stderr::Merged => {
                let (reader, writer) = io::pipe()?;
                command.stdout(writer.try_clone()?).stderr(writer);
                merged = Some(reader);
            }
        }
        // The command holds the pipes' write ends, and a pipe ends only when nobody does: it is used up here.
        let ((mut child, watch), lineage) = interrupt.start(|| {
            let ((child, watch), number) = lineage::numbered(|| spawn(command, prepared))?;
            let lineage = Lineage::new(Pid::from_child(&child), number);
            Ok(((child, watch), lineage))
        })?;
        let mut running = Running {
            stdin: child.stdin.take(),
            process: Pid::from_child(&child),
            child,
            lineage,
            patience: self.patience,
            is_deaf: false,
            ledger,
            readers: Vec::new(),
            ended: None,
            watch,
            interrupt: interrupt.clone(),
            _undrained: undrained,
        };
        if let Some(stdin) = &running.stdin {
            // Of our end only: a target that does not read must not keep us for ever.
            fcntl_setfl(stdin, OFlags::NONBLOCK)?;
        }
        let (stdout, stderr) = (running.child.stdout.take(), running.child.stderr.take());
        if let Some(reader) = merged {
            running.follow(reader, Stream::Stdout)?;
        }
        match (stdout, self.stdout) {
            (None, _) => {}
            (Some(stdout), Stdout::Prompt) => running.follow(stdout, Stream::Stdout)?,
            (Some(stdout), Stdout::Slow) => {
                rustix::pipe::fcntl_setpipe_size(&stdout, SMALL)?;
                running.follow(Slow(stdout), Stream::Stdout)?;
            }
        }
        if let Some(stderr) = stderr {
            running.follow(stderr, Stream::Stderr)?;
        }
        Ok(running)
    }
}

/// A reader that takes little, and its time.
struct Slow<R>(R);

impl<R: io::Read> io::Read for Slow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        thread::sleep(SLOW);
        let length = buffer.len().min(SLOWLY);
        self.0.read(buffer.get_mut(..length).unwrap_or_default())
    }
}

/// A variable that is handed on by name. The SDKs leave out functions that a shell exported.
fn inherited(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.as_bytes().starts_with(b"()"))
}

/// Starts the command, observed or not.
fn spawn(mut command: Command, prepared: Option<Prepared>) -> io::Result<(Child, Option<Arc<Watch>>)> {
    let Some(prepared) = prepared else { return Ok((command.spawn()?, None)) };
    let (child, watch) = prepared.spawn(command)?;
    Ok((child, Some(Arc::new(watch))))
}

impl Running {
    fn follow(&mut self, pipe: impl io::Read + Send + 'static, stream: Stream) -> io::Result<()> {
        let ledger = Arc::clone(&self.ledger);
        let reader =
            thread::Builder::new().name("pipe".to_owned()).spawn(move || ledger.follow(pipe, stream))?;
        self.readers.push(reader);
        Ok(())
    }

    /// Writes; a target that reads no more is noticed, and what it did not take counts as sent.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Stdin {
        self.ledger.sent(bytes);
        let written = self.stdin.as_mut().map(|stdin| write_all(stdin, bytes, self.patience));
        match written {
            Some(Ok(())) => Stdin::Open,
            Some(Err(fault)) if fault.kind() == io::ErrorKind::TimedOut => {
                self.is_deaf = true;
                self.stdin = None;
                Stdin::Gone
            }
            _ => {
                self.stdin = None;
                Stdin::Gone
            }
        }
    }

    /// Writes in pieces, each only when the one before was read, so that a reader that looks at what a read gives it
    /// is given these pieces. One that does not read is given the rest all the same.
    pub(crate) fn send_pieces<'b>(&mut self, pieces: impl Iterator<Item = &'b [u8]>) -> Stdin {
        let mut open = Stdin::Open;
        for piece in pieces {
            let begun = Instant::now();
            while self.unread() > 0 && begun.elapsed() < PIECE {
                thread::sleep(PIECE_LOOK);
            }
            open = self.send(piece);
        }
        open
    }

    /// How many bytes of its input the target has not read.
    fn unread(&self) -> u64 {
        self.stdin.as_ref().and_then(|stdin| rustix::io::ioctl_fionread(stdin).ok()).unwrap_or(0)
    }

    /// Ends its input.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// What observes its system calls.
    pub(crate) fn watch(&self) -> Option<Arc<Watch>> {
        self.watch.clone()
    }

    /// Looks at the bytes so far; no more come while it does.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&Snapshot) -> T) -> T {
        self.ledger.look(look)
    }

    /// Waits for something in the bytes: not at all if the target did not even take what was said last.
    pub(crate) fn wait_for<T>(
        &self,
        at_most: Duration,
        seen: impl FnMut(&Snapshot) -> Option<T>,
    ) -> Option<T> {
        let at_most = if self.is_deaf { Duration::ZERO } else { at_most };
        self.ledger.wait(after(at_most), seen)
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<Ended> {
        if self.ended.is_none() {
            // It is left as it is until `kill`: as long as it is not waited for, nobody else gets its number, and
            // so nobody else is killed in its place.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(self.process), options).ok().flatten();
            self.ended = status.as_ref().map(Ended::of);
        }
        self.ended
    }

    /// Waits for its end.
    pub(crate) fn wait_end(&mut self, at_most: Duration) -> Option<Ended> {
        let deadline = after(at_most);
        while self.ended().is_none() && Instant::now() < deadline {
            thread::sleep(LOOK);
        }
        self.ended
    }

    /// Processor time that its first process has used, in clock ticks (proc(5)).
    pub(crate) fn processor_ticks(&self) -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        let (_, behind) = text.rsplit_once(')')?;
        let mut fields = behind.split_ascii_whitespace().skip(11);
        let user: u64 = fields.next()?.parse().ok()?;
        let system: u64 = fields.next()?.parse().ok()?;
        user.checked_add(system)
    }

    /// Sends its first process a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process(self.process, signal);
    }

    /// Stops reading stdout, behind the next piece that comes.
    pub(crate) fn stop_listening(&self) {
        self.ledger.stop_listening();
    }

    /// Waits until stdout is read no more: from then on whatever the target writes there fails.
    pub(crate) fn wait_unread(&self, at_most: Duration) -> bool {
        self.wait_for(at_most, |known| known.stdout_ended.then_some(())).is_some()
    }

    /// It and its descendants, as far as they still run.
    pub(crate) fn members(&self) -> Vec<Member> {
        let mut members = self.lineage.members();
        let is_tracer = |process: u32| self.watch.as_ref().is_some_and(|watch| watch.is_tracer(process));
        members.retain(|member| !is_tracer(member.process));
        members
    }

    /// Kills it and its descendants, and waits until every pipe has ended; then every byte is in the ledger.
    pub(crate) fn end(mut self) -> Snapshot {
        let length = self.look(|bytes| bytes.stdout.len());
        self.kill();
        for reader in self.readers.drain(..) {
            // Whoever hides from us may hold a pipe open for ever: it is not waited for.
            let deadline = after(Duration::from_secs(2));
            while !reader.is_finished() && Instant::now() < deadline {
                thread::sleep(LOOK);
            }
        }
        let mut bytes = self.ledger.close();
        bytes.stdout_broken_off = bytes.stdout.len() > length;
        bytes
    }

    fn kill(&mut self) {
        self.stdin = None;
        self.lineage.kill();
        let (interrupt, lineage) = (self.interrupt.clone(), self.lineage);
        interrupt.end(lineage, || drop(self.child.wait()));
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes everything to a pipe that does not block, within this time.
fn write_all(pipe: &mut ChildStdin, mut bytes: &[u8], at_most: Duration) -> io::Result<()> {
    let deadline = after(at_most);
    while !bytes.is_empty() {
        match pipe.write(bytes) {
            Ok(length) => bytes = bytes.get(length..).unwrap_or_default(),
            Err(fault) if fault.kind() == io::ErrorKind::WouldBlock => wait_for_room(pipe, deadline)?,
            Err(fault) if fault.kind() == io::ErrorKind::Interrupted => {}
            Err(fault) => return Err(fault),
        }
    }
    Ok(())
}

fn wait_for_room(pipe: &ChildStdin, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::Error::from(io::ErrorKind::TimedOut));
    }
    let left = Timespec::try_from(left).map_err(io::Error::other)?;
    match poll(&mut [PollFd::new(pipe, PollFlags::OUT)], Some(&left)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

fn after(limit: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(limit).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_put_before_the_path_that_the_target_would_have() {
        let launch = |inherits, environment: &[(&str, Option<&str>)]| Launch {
            command: Vec::new(),
            inherits,
            environment: environment
                .iter()
                .map(|(name, value)| (name.into(), value.map(Into::into)))
                .collect(),
            folder: None,
            stdout: Stdout::Prompt,
            stderr: Stderr::Kept,
            tracer: None,
            patience: Duration::ZERO,
        };
        let path_of = |mut launch: Launch| {
            launch.put_first_on_path(Path::new("/marker")).unwrap();
            let (name, value) = launch.environment.pop().unwrap();
            assert_eq!(name, "PATH");
            value.unwrap().into_string().unwrap()
        };
        let inherited = format!("/marker:{}", env::var("PATH").unwrap());
        assert_eq!(path_of(launch(None, &[])), inherited);
        assert_eq!(path_of(launch(Some(&["HOME", "PATH"]), &[])), inherited);
        assert_eq!(path_of(launch(Some(&["HOME"]), &[])), "/marker:/bin:/usr/bin");
        let set = [("PATH", Some("/a")), ("PATH", Some("/b::/c")), ("HOME", Some("/d"))];
        assert_eq!(path_of(launch(None, &set)), "/marker:/b::/c");
        assert_eq!(path_of(launch(None, &[("PATH", None)])), "/marker:/bin:/usr/bin");
        assert!(launch(None, &[]).put_first_on_path(Path::new("/a:b")).is_err());
    }
}
