//! The observed system calls of one target, as sights.
//!
//! Belongs here: by what they are observed, which effects carry a marker; a system without the observers.
//! Does not belong here: how calls are observed (`syscalls`, `strace`).

use std::ffi::OsString;
use std::io;
use std::process::{Child, Command};

use memchr::memmem;

#[cfg(target_os = "linux")]
use super::strace::{Strace, Trace};
#[cfg(target_os = "linux")]
use super::syscalls::{self, Blind};
#[cfg(target_os = "linux")]
use super::{MARKER_PREFIX, holds};
use super::{Sight, excerpt};
use crate::options::Observer;

/// By what system calls are observed.
#[derive(Clone, Debug)]
pub(crate) enum Tracer {
    /// By ourselves: the kernel announces them.
    #[cfg(target_os = "linux")]
    Seccomp,
    /// By strace(1).
    #[cfg(target_os = "linux")]
    Strace(Strace),
}

/// The observation of one target's process tree.
#[derive(Debug)]
pub(crate) enum Watch {
    #[cfg(target_os = "linux")]
    Seccomp(syscalls::Watch),
    #[cfg(target_os = "linux")]
    Strace(Trace),
}

/// An observation that is prepared, and what stands before the target's command for it.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) words: Vec<OsString>,
    #[cfg(target_os = "linux")]
    trace: Option<Trace>,
}

#[cfg(target_os = "linux")]
impl Tracer {
    /// What is asked for, or what works here: strace only where the kernel does not let us observe ourselves.
    ///
    /// # Errors
    /// Why system calls cannot be observed, in words.
    pub(crate) fn choose(asked: Option<Observer>) -> Result<Self, String> {
        let seccomp = || syscalls::probe().map(|()| Self::Seccomp).map_err(|fault| fault.to_string());
        let strace = || Strace::find().map(Self::Strace);
        match asked {
            Some(Observer::None) => Err("they are not observed (--observer none)".to_owned()),
            Some(Observer::Seccomp) => seccomp(),
            Some(Observer::Strace) => strace(),
            None => seccomp().or_else(|refused| strace().map_err(|missing| format!("{refused}; {missing}"))),
        }
    }

    /// Its name: that of the observer in the options.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Seccomp => Observer::Seccomp.name(),
            Self::Strace(_) => Observer::Strace.name(),
        }
    }

    pub(crate) fn prepare(&self) -> io::Result<Prepared> {
        match self {
            Self::Seccomp => Ok(Prepared { words: Vec::new(), trace: None }),
            Self::Strace(strace) => {
                let trace = Trace::prepare(MARKER_PREFIX.as_bytes())?;
                Ok(Prepared { words: strace.words(&trace), trace: Some(trace) })
            }
        }
    }
}

/// How many bytes are shown on each side of a marker.
const AROUND: usize = 40;

/// What stands around a marker in what was written or sent, escaped.
fn around(data: &[u8], at: usize, length: usize) -> String {
    let end = at.saturating_add(length).saturating_add(AROUND).min(data.len());
    excerpt(data.get(at.saturating_sub(AROUND)..end).unwrap_or_default(), usize::MAX)
}

#[cfg(target_os = "linux")]
impl Prepared {
    /// Starts the command, which begins with the words.
    pub(crate) fn spawn(self, mut command: Command) -> io::Result<(Child, Watch)> {
        if let Some(trace) = self.trace {
            return Ok((command.spawn()?, Watch::Strace(trace)));
        }
        let (child, watch) =
            syscalls::spawn(command, MARKER_PREFIX.as_bytes()).map_err(|fault| match fault {
                syscalls::ObserveError::Start(fault) => fault,
                other => io::Error::other(other),
            })?;
        Ok((child, Watch::Seccomp(watch)))
    }
}

#[cfg(target_os = "linux")]
impl Watch {
    /// Every call that carried the marker out of the process.
    pub(crate) fn sights(&self, marker: &str) -> Vec<Sight> {
        let watch = match self {
            Self::Seccomp(watch) => watch,
            Self::Strace(trace) => {
                let sights = trace.sights(marker).into_iter();
                return sights.map(|what| Sight { observer: "strace", what }).collect();
            }
        };
        let mut sights: Vec<Sight> = Vec::new();
        for effect in &watch.effects(0) {
            let said = match memmem::find(&effect.data, marker.as_bytes()) {
                _ if holds(effect.detail.as_bytes(), marker.as_bytes()) => String::new(),
                Some(at) => format!(": {}", around(&effect.data, at, marker.len())),
                None => continue,
            };
            let what = format!("{}: {} {}{said}", effect.program, effect.call, effect.detail);
            let sight = Sight { observer: "syscalls", what };
            // A look-up that is tried again is one.
            if !sights.contains(&sight) {
                sights.push(sight);
            }
        }
        sights
    }

    /// What the target may have done out of sight, in words.
    pub(crate) fn blind(&self) -> Option<String> {
        let watch = match self {
            Self::Seccomp(watch) => watch,
            Self::Strace(trace) => return trace.blind(),
        };
        watch.blind().iter().find_map(|blind| {
            Some(match blind {
                // Refused, so that nothing was done with them.
                Blind::IoUring { .. } | Blind::OwnListener { .. } => return None,
                Blind::SharedMapping { program, path, .. } => {
                    format!("{program} maps {path} so that stores to memory change it")
                }
                Blind::Memory { program, call, .. } => {
                    format!("the arguments of {program}'s {call} could not be read")
                }
                Blind::Abi { program, .. } => format!("{program} uses system calls of another ABI"),
                Blind::Full { dropped } => format!("{dropped} calls were too many to be kept"),
                Blind::Lost { errno } => format!("the kernel did not announce a call (error {errno})"),
            })
        })
    }

    /// Whether this process is none of the target's, but observes it.
    pub(crate) fn is_tracer(&self, process: u32) -> bool {
        match self {
            Self::Seccomp(_) => false,
            Self::Strace(trace) => trace.is_tracer(process),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Tracer {
    pub(crate) fn choose(_asked: Option<Observer>) -> Result<Self, String> {
        Err("system calls are observed on Linux only".to_owned())
    }

    pub(crate) const fn name(&self) -> &'static str {
        match *self {}
    }

    pub(crate) fn prepare(&self) -> io::Result<Prepared> {
        match *self {}
    }
}

#[cfg(not(target_os = "linux"))]
impl Prepared {
    pub(crate) fn spawn(self, _command: Command) -> io::Result<(Child, Watch)> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

#[cfg(not(target_os = "linux"))]
impl Watch {
    pub(crate) fn sights(&self, _marker: &str) -> Vec<Sight> {
        match *self {}
    }

    pub(crate) fn blind(&self) -> Option<String> {
        match *self {}
    }

    pub(crate) fn is_tracer(&self, _process: u32) -> bool {
        match *self {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_shown_with_what_stands_around_it() {
        let data = [&[0x07; 100][..], b"fgm-1\x07invalid", &[b'z'; 100]].concat();
        let at = memmem::find(&data, b"fgm-1").unwrap();
        let shown = around(&data, at, 5);
        assert!(shown.starts_with("\\x07") && shown.contains("fgm-1\\x07invalid"), "{shown}");
        assert!(shown.len() < 300, "{shown}");
        assert_eq!(around(b"m", 0, 1), "m");
    }
}
