//! One child process, with every byte of its streams kept apart and stamped.
//!
//! Belongs here: launching, writing, waiting, signals, the transcript on disk.
//! Does not belong here: what the bytes mean.
//!
//! Waiting ends at an event or at [`DEADLINE`], which is so long that passing it always means a hang:
//! no verdict depends on how fast the machine is.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::binary;
use crate::capture::Capture;
use crate::launch::{Launch, Stream};

/// How long anything may take before it counts as hung.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// Processes that have this text among their arguments; those that ended have none.
///
/// # Panics
/// If there is no `/proc`.
#[must_use]
pub fn with_argument(wanted: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").expect("proc").flatten();
    let arguments = processes.filter_map(|process| {
        let text = std::fs::read(process.path().join("cmdline")).ok()?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let has = text.split('\0').any(|argument| argument == wanted);
        has.then(|| format!("{}: {}", process.file_name().display(), text.replace('\0', " ")))
    });
    arguments.collect()
}

/// A running child. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    name: String,
    command: String,
    child: Child,
    stdin: Option<std::process::ChildStdin>,
    held_stdout: Option<std::process::ChildStdout>,
    held_stderr: Option<std::process::ChildStderr>,
    written: Vec<u8>,
    stdout: Capture,
    stderr: Capture,
    exit: Option<ExitStatus>,
}

impl Process {
    /// Starts `launch`. `name` says whose transcript this is.
    ///
    /// # Panics
    /// If the program cannot be started.
    pub fn start(name: &str, launch: Launch) -> Self {
        let command = launch.command_line();
        let held = [&launch.stdout, &launch.stderr].map(|stream| matches!(stream, Stream::Held));
        let stdio = |stream| match stream {
            Stream::Piped | Stream::Held => Stdio::piped(),
            Stream::Null => Stdio::null(),
            Stream::Given(descriptor) => Stdio::from(descriptor),
        };
        let mut child = Command::new(&launch.program)
            .args(&launch.arguments)
            .env_clear()
            .envs(&launch.environment)
            .current_dir(&launch.folder)
            .stdin(stdio(launch.stdin))
            .stdout(stdio(launch.stdout))
            .stderr(stdio(launch.stderr))
            .spawn()
            .unwrap_or_else(|error| panic!("{name}: cannot start `{command}`: {error}"));
        let (mut held_stdout, mut held_stderr) = (child.stdout.take(), child.stderr.take());
        let (stdout, stderr) = (Capture::default(), Capture::default());
        if !held[0]
            && let Some(source) = held_stdout.take()
        {
            stdout.drain(source);
        }
        if !held[1]
            && let Some(source) = held_stderr.take()
        {
            stderr.drain(source);
        }
        Self {
            name: name.to_owned(),
            command,
            stdin: child.stdin.take(),
            held_stdout,
            held_stderr,
            child,
            written: Vec::new(),
            stdout,
            stderr,
            exit: None,
        }
    }

    /// The name given at the start.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The command line it was started with.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Its process id.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Its standard output so far.
    #[must_use]
    pub fn stdout(&self) -> &Capture {
        &self.stdout
    }

    /// Its standard error so far.
    #[must_use]
    pub fn stderr(&self) -> &Capture {
        &self.stderr
    }

    /// Everything that was written to its standard input.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.written
    }

    /// Starts reading a stdout that was held back.
    pub fn read_stdout(&mut self) {
        if let Some(source) = self.held_stdout.take() {
            self.stdout.drain(source);
        }
    }

    /// Starts reading a stderr that was held back.
    pub fn read_stderr(&mut self) {
        if let Some(source) = self.held_stderr.take() {
            self.stderr.drain(source);
        }
    }

    /// Keeps what comes out of `source` as its standard output: the other end of a descriptor that was
    /// given to it.
    pub fn capture_stdout(&mut self, source: impl Read + Send + 'static) {
        self.stdout.drain(source);
    }

    /// How many bytes wait in a stdout that is held back.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        let held = self.held_stdout.as_ref();
        held.and_then(|held| rustix::io::ioctl_fionread(held).ok()).unwrap_or_default()
    }

    /// Writes on a thread of its own, which ends stdin behind the last byte: for input that the child
    /// does not take at once.
    pub fn write_behind(&mut self, bytes: Vec<u8>) {
        self.written.extend_from_slice(&bytes);
        let stdin = self.stdin.take();
        std::thread::spawn(move || {
            let written = stdin.map(|mut stdin| stdin.write_all(&bytes));
            drop(written);
        });
    }

    /// Closes the reading end of a stdout that was held back.
    pub fn close_stdout(&mut self) {
        self.held_stdout = None;
    }

    /// Closes the reading end of a stderr that was held back.
    pub fn close_stderr(&mut self) {
        self.held_stderr = None;
    }

    /// Writes in one piece. A child that has gone is not an error: some tests drive it there.
    pub fn write(&mut self, bytes: &[u8]) {
        self.written.extend_from_slice(bytes);
        if let Some(stdin) = &mut self.stdin
            && let Err(error) = stdin.write_all(bytes).and_then(|()| stdin.flush())
        {
            assert_eq!(error.kind(), io::ErrorKind::BrokenPipe, "{}: writing stdin: {error}", self.name);
        }
    }

    /// Writes in pieces that begin at these offsets; each is read by the child before the next is
    /// written, so that it sees exactly these reads.
    pub fn write_split(&mut self, bytes: &[u8], offsets: &[usize]) {
        let mut start = 0;
        for &offset in offsets.iter().chain([&bytes.len()]) {
            if start < offset && offset <= bytes.len() {
                self.write(&bytes[start..offset]);
                self.wait_read();
                start = offset;
            }
        }
    }

    /// Waits until the child has taken everything out of its stdin pipe, or has gone.
    pub fn wait_read(&mut self) {
        let deadline = Instant::now() + DEADLINE;
        while let Some(stdin) = &self.stdin {
            if !matches!(rustix::io::ioctl_fionread(stdin), Ok(1..)) || self.exited().is_some() {
                return;
            }
            assert!(Instant::now() < deadline, "{}: stdin is not read", self.name);
            std::thread::sleep(Duration::from_micros(20));
        }
    }

    /// Ends its standard input.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Sends a signal to it alone.
    pub fn signal(&self, signal: Signal) {
        if self.exit.is_none()
            && let Some(id) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
        {
            // It may have ended in the meantime; it is not reaped, so the id is still its own.
            let _ = kill_process(id, signal);
        }
    }

    /// How it ended, if it has.
    pub fn exited(&mut self) -> Option<ExitStatus> {
        if self.exit.is_none() {
            self.exit = self.child.try_wait().expect("own child");
        }
        self.exit
    }

    /// Waits for its end without doing anything to bring it about.
    ///
    /// # Errors
    /// `"hung"` after [`DEADLINE`].
    pub fn wait_exit(&mut self) -> Result<ExitStatus, &'static str> {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.exited() {
                return Ok(status);
            }
            if Instant::now() >= deadline {
                return Err("hung");
            }
            std::thread::sleep(Duration::from_micros(500));
        }
    }

    /// Kills it, at once.
    pub fn kill(&mut self) {
        if self.exited().is_none() {
            let _ = self.child.kill();
            self.exit = self.child.wait().ok();
        }
    }

    /// Processor time it has used so far, user and system, in clock ticks (proc(5), fields 14 and 15).
    #[must_use]
    pub fn processor_ticks(&self) -> Option<u64> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |index: usize| fields.get(index)?.parse::<u64>().ok();
        ticks(11)?.checked_add(ticks(12)?)
    }

    /// Writes the transcript to disk and says where: raw stdout, stderr and stdin, and the command.
    ///
    /// # Panics
    /// If the folder cannot be written.
    #[must_use]
    pub fn keep(&self) -> PathBuf {
        keep(&self.name, &self.command, &self.written, &self.stdout.bytes(), &self.stderr.bytes())
    }

    /// Fails the test with `message`, the command and the place of the kept transcript.
    ///
    /// # Panics
    /// Always.
    pub fn fail(&self, message: &str) -> ! {
        let folder = self.keep();
        panic!(
            "{}: {message}\n  command: {}\n  transcript: {}\n  stderr apart: {}",
            self.name,
            self.command,
            folder.display(),
            folder.join("stderr.bin").display()
        );
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes one transcript below `e2e-artifacts` of the build folder.
///
/// # Panics
/// If the folder cannot be written.
#[must_use]
pub fn keep(name: &str, command: &str, stdin: &[u8], stdout: &[u8], stderr: &[u8]) -> PathBuf {
    let safe: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
    let folder = binary::target_folder().join("e2e-artifacts").join(safe);
    std::fs::create_dir_all(&folder).expect("the artifacts folder can be made");
    let write = |file: &str, bytes: &[u8]| {
        std::fs::write(Path::new(&folder).join(file), bytes).expect("an artifact can be written");
    };
    write("stdin.bin", stdin);
    write("stdout.bin", stdout);
    write("stderr.bin", stderr);
    write("command.txt", command.as_bytes());
    folder
}
