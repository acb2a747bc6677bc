//! How a process is started: program, arguments, environment, folder, streams.
//!
//! Belongs here: saying it, and showing it as a command line. Does not belong here: doing it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// What one of the child's streams is connected to.
#[derive(Debug)]
pub enum Stream {
    /// A pipe, read from the start by a thread of ours (or written by us, for stdin).
    Piped,
    /// A pipe that nobody reads until [`crate::process::Process::read_stdout`] or `read_stderr`.
    Held,
    /// `/dev/null`.
    Null,
    /// A descriptor of the test's own.
    Given(OwnedFd),
}

/// How to start a process: nothing is inherited that is not named here.
#[derive(Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Its whole environment.
    pub environment: BTreeMap<OsString, OsString>,
    /// Its working folder.
    pub folder: PathBuf,
    /// Its standard input.
    pub stdin: Stream,
    /// Its standard output.
    pub stdout: Stream,
    /// Its standard error.
    pub stderr: Stream,
}

impl Launch {
    /// `program` with no arguments, an empty environment and three pipes.
    pub fn new(program: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            folder: folder.into(),
            stdin: Stream::Piped,
            stdout: Stream::Piped,
            stderr: Stream::Piped,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn arguments<I>(mut self, arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<OsString>,
    {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    /// Puts `sh -c SCRIPT` in front: the launch so far is `"$@"` in the script.
    #[must_use]
    pub fn shell(mut self, script: &str) -> Self {
        let mut arguments: Vec<OsString> = vec!["-c".into(), script.into(), "sh".into()];
        arguments.push(self.program.into());
        arguments.append(&mut self.arguments);
        self.program = "/bin/sh".into();
        self.arguments = arguments;
        self
    }

    /// The launch as a command line that can be pasted into a shell.
    #[must_use]
    pub fn command_line(&self) -> String {
        let quote = |text: &std::ffi::OsStr| {
            let text = text.to_string_lossy();
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:@+,".contains(c);
            if !text.is_empty() && text.chars().all(plain) {
                text.into_owned()
            } else {
                format!("'{}'", text.replace('\'', r"'\''"))
            }
        };
        let mut words =
            vec!["cd".to_owned(), quote(self.folder.as_os_str()), "&&".into(), "env".into(), "-i".into()];
        for (name, value) in &self.environment {
            words.push(format!("{}={}", name.to_string_lossy(), quote(value)));
        }
        words.push(quote(self.program.as_os_str()));
        words.extend(self.arguments.iter().map(|argument| quote(argument)));
        words.join(" ")
    }
}
