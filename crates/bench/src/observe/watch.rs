//! The observed system calls of one target, as sights.
//!
//! Belongs here: starting a target observed, which effects carry a marker; a system without the observer.
//! Does not belong here: how calls are observed (`syscalls`).

use std::io;
use std::process::{Child, Command};

use super::Sight;
#[cfg(target_os = "linux")]
use super::syscalls::{self, Blind};
#[cfg(target_os = "linux")]
use super::{MARKER_PREFIX, holds};

/// The observation of one target's process tree.
#[derive(Debug)]
pub(crate) struct Watch {
    #[cfg(target_os = "linux")]
    watch: syscalls::Watch,
}

#[cfg(target_os = "linux")]
impl Watch {
    /// Why system calls cannot be observed here, if they cannot.
    pub(crate) fn probe() -> Result<(), String> {
        syscalls::probe().map_err(|fault| fault.to_string())
    }

    pub(crate) fn spawn(command: Command) -> io::Result<(Child, Self)> {
        let (child, watch) =
            syscalls::spawn(command, MARKER_PREFIX.as_bytes()).map_err(|fault| match fault {
                syscalls::ObserveError::Start(fault) => fault,
                other => io::Error::other(other),
            })?;
        Ok((child, Self { watch }))
    }

    /// Every call that carried the marker out of the process.
    pub(crate) fn sights(&self, marker: &str) -> Vec<Sight> {
        let effects = self.watch.effects(0);
        let marked = effects.iter().filter(|effect| {
            holds(&effect.data, marker.as_bytes()) || holds(effect.detail.as_bytes(), marker.as_bytes())
        });
        marked
            .map(|effect| Sight {
                observer: "syscalls",
                what: format!("{}: {} {}", effect.program, effect.call, effect.detail),
            })
            .collect()
    }

    /// What the target may have done out of sight, in words.
    pub(crate) fn blind(&self) -> Option<String> {
        self.watch.blind().iter().find_map(|blind| {
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
}

#[cfg(not(target_os = "linux"))]
impl Watch {
    pub(crate) fn probe() -> Result<(), String> {
        Err("system calls are observed on Linux only".to_owned())
    }

    pub(crate) fn spawn(_command: Command) -> io::Result<(Child, Self)> {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }

    pub(crate) fn sights(&self, _marker: &str) -> Vec<Sight> {
        Vec::new()
    }

    pub(crate) fn blind(&self) -> Option<String> {
        None
    }
}
