//! What is changed about a launch.
//!
//! Belongs here: environments, folders, streams. Does not belong here: which session uses it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::canary;
use crate::client::INHERITED;
use crate::isolation::XDG;
use crate::target::{Launch, Stderr, Stdout};

/// A way of starting the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Launching {
    Production,
    /// Its stderr is a pipe whose other end is closed.
    ClosedStderr,
    /// Its stderr is a pipe that stays open and is never read.
    UndrainedStderr,
    /// Its stderr is its stdout's pipe.
    MergedStderr,
    SlowReader,
    NoHome,
    NoConfigFolder,
    ReadOnlyFolder,
    ClientEnvironment,
    CLocale,
    Verbose,
    Canaries,
}

const VERBOSE: &[(&str, &str)] = &[
    ("RUST_LOG", "trace"),
    ("RUST_BACKTRACE", "full"),
    ("NODE_DEBUG", "net,stream"),
    ("NODE_OPTIONS", "--trace-warnings"),
    ("DEBUG", "*"),
    ("PYTHONVERBOSE", "1"),
    ("PYTHONWARNINGS", "always"),
    ("PYTHONDEVMODE", "1"),
    ("PYTHONUNBUFFERED", "1"),
    ("JAVA_TOOL_OPTIONS", "-Dframegate=1"),
    ("LOG_LEVEL", "debug"),
    ("VERBOSE", "1"),
    ("FORCE_COLOR", "1"),
    ("CLICOLOR_FORCE", "1"),
];

/// A folder that nobody can write, whoever one is.
const READ_ONLY: &str = "/proc";

impl Launching {
    pub(super) fn change(self, launch: &mut Launch, no_canary: &[String]) {
        let set = |name: &str, value: &str| (OsString::from(name), Some(OsString::from(value)));
        match self {
            Self::Production => {}
            Self::ClosedStderr => launch.stderr = Stderr::Closed,
            Self::UndrainedStderr => {
                launch.stderr = Stderr::Undrained;
                launch.environment.extend(VERBOSE.iter().map(|(name, value)| set(name, value)));
            }
            Self::MergedStderr => launch.stderr = Stderr::Merged,
            Self::SlowReader => launch.stdout = Stdout::Slow,
            Self::NoHome => launch.environment.push((OsString::from("HOME"), None)),
            Self::NoConfigFolder => launch.environment.extend(XDG.iter().map(|name| set(name, "/dev/null"))),
            Self::ReadOnlyFolder => launch.folder = Some(PathBuf::from(READ_ONLY)),
            Self::ClientEnvironment => launch.inherits = Some(INHERITED),
            Self::CLocale => launch.environment.extend([set("LANG", "C"), set("LC_ALL", "C")]),
            Self::Verbose => {
                launch.environment.extend(VERBOSE.iter().map(|(name, value)| set(name, value)));
            }
            Self::Canaries => {
                launch.environment.extend(VERBOSE.iter().map(|(name, value)| set(name, value)));
                launch.environment.extend(canary::environment(no_canary));
            }
        }
    }

    /// Why the target cannot be started this way, if it cannot.
    pub(super) fn refused(self, command: &[OsString], folder: Option<&Path>) -> Option<String> {
        let from = folder.unwrap_or(Path::new("."));
        let is_relative =
            |part: &OsString| !part.is_empty() && Path::new(part).is_relative() && from.join(part).exists();
        let part = command.iter().find(|part| self == Self::ReadOnlyFolder && is_relative(part))?;
        let part = part.to_string_lossy().escape_debug().to_string();
        Some(format!("`{part}` is found from the working folder; give an absolute path to have this session"))
    }

    /// What the target does without here; one that then does not start, and keeps its stdout clean, is not faulty.
    pub(super) const fn deprives(self) -> Option<&'static str> {
        match self {
            Self::NoHome => Some("HOME"),
            Self::NoConfigFolder => Some("its folders"),
            Self::ReadOnlyFolder => Some("a working folder that it can write"),
            Self::ClientEnvironment => Some("variables that clients do not pass on"),
            _ => None,
        }
    }
}

/// A variable that is set.
pub(super) fn set(name: &str, value: &OsStr) -> (OsString, Option<OsString>) {
    (OsString::from(name), Some(value.to_owned()))
}

/// The command, started by a shell script in which it is `"$@"`.
pub(super) fn scripted(script: &str, command: &[OsString]) -> Vec<OsString> {
    let shell = ["/bin/sh", "-c", script, "sh"].map(OsString::from);
    shell.into_iter().chain(command.iter().cloned()).collect()
}
