//! The system calls of a process tree, observed.
//!
//! Belongs here: starting a command so that every effect of its tree on the world is seen: seccomp's user
//! notification, on Linux 5.8 and later.
//! Does not belong here: what an effect means for the verdict.
//!
//! The command runs as in production, but for one thing: a filter makes the kernel announce certain calls to
//! a thread of ours, which reads their arguments, records them and has the kernel carry them out. It needs no
//! privilege, and no cooperation from the program.
//!
//! It is observation of a program with faults, not a sandbox: a program with several threads can change an
//! argument after it was looked at, and a hostile one can avoid being seen. Out of sight in any case:
//! - stores to shared mappings of files ([`Blind::SharedMapping`] tells that there are some);
//! - `io_uring`, which is refused ([`Blind::IoUring`]), and what `io_submit` submits ([`Kind::Other`]);
//! - what is written to pipes and nameless socket pairs, and descriptors that come in over a socket;
//! - what a server outside the tree does on request, for instance `systemd` or `dockerd`: only the request is
//!   seen;
//! - ioctls, but for cloning files and typing to terminals; the scheduling, limits and groups of other
//!   processes; semaphores and queues once they are open;
//! - looks by `AT_EMPTY_PATH` and relative to a directory that has the marker: only the path given counts;
//! - a marker beyond the first 64 KiB of one write, or beyond 4 KiB of an argument vector; and the environment.
//!
//! A program that handles signals without `SA_RESTART` can find `EINTR` in a call where it never was; see
//! `supervise`. It is rare, and the kernel knows no remedy.

mod address;
mod effect;
mod family;
mod filter;
mod harmless;
mod install;
mod listener;
mod look;
mod memory;
mod priority;
mod process;
mod record;
mod supervise;
mod table;
#[cfg(test)]
mod tests;

use std::io;
use std::process::{Child, Command};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use effect::Kind;
pub(super) use effect::{Blind, Effect};
use install::Handover;
use listener::Listener;
use record::Record;
use supervise::Supervisor;

/// Why a command is not observed. It does not run then.
#[derive(Debug, thiserror::Error)]
pub(super) enum ObserveError {
    /// The command did not start, as it would not have unobserved: the error of [`Command::spawn`].
    #[error("the command does not start: {0}")]
    Start(#[source] io::Error),
    /// No socket or thread for the observation.
    #[error("no means to observe a command: {0}")]
    Means(#[source] io::Error),
    /// The kernel or a sandbox around us refuses the filter. `EBUSY`: we are being observed ourselves.
    #[error("the kernel refuses to announce system calls: {0}")]
    Refused(#[source] io::Error),
    /// The kernel did not hand over its listener, for instance for want of a free descriptor.
    #[error("the announcements of system calls cannot be received")]
    NoListener,
    /// The kernel does not let us read the arguments of the calls.
    #[error("the memory of a child cannot be read")]
    Memory,
}

/// The observation of one tree.
///
/// Drop it in any order with the tree. Whatever of the tree is then still alive runs on: a thread stays behind
/// that answers its calls unseen, until the last process has ended. When the bench's own process ends before,
/// the watched calls of what is left fail with `ENOSYS`; so end a tree before you exit.
#[derive(Debug)]
pub(crate) struct Watch {
    record: Arc<Record>,
    /// Never joined: it may outlive the observation.
    #[cfg_attr(not(test), expect(dead_code, reason = "only tests ask whether it has ended"))]
    supervisor: JoinHandle<()>,
}

/// Starts the command with every process of its tree observed, from its own exec on, which is the first
/// effect (or the first few: one for each directory in `PATH` that is tried).
///
/// `marker` is what each of the bench's markers begins with: a path that is only looked at is recorded if it
/// holds this. Without a marker (an empty one), every such path is.
///
/// What `command` says of descriptors, directory, environment and process group holds as ever. What the
/// descriptors 0 to 2 lead to is the protocol: writing there is no effect, by whatever descriptor. Programs
/// lose what the set-user-ID bit and file capabilities would give them, as `no_new_privs` is set: `sudo` and
/// an unprivileged `ping` fail.
///
/// Where Yama restricts ptrace (`ptrace_scope` 1), arguments can be read of our descendants only, and a daemon
/// that lost its parent is none, unless the caller is a child subreaper (`prctl(2)`, `PR_SET_CHILD_SUBREAPER`).
/// Else [`Blind::Memory`] tells.
///
/// # Errors
/// [`ObserveError`]; a child that was made is gone by then, and so is the thread.
pub(super) fn spawn(command: Command, marker: &[u8]) -> Result<(Child, Watch), ObserveError> {
    let Started { child, record, supervisor } = start(command, marker)?;
    match child {
        Ok(child) => Ok((child, Watch { record, supervisor })),
        Err(fault) => {
            // The child was waited for, so that its tree is at an end and this is short.
            let _ = supervisor.join();
            Err(ObserveError::Start(fault))
        }
    }
}

/// Whether this kernel, and a sandbox that we may be in, let us observe: tried with a child that comes as far
/// as its exec, which fails.
///
/// # Errors
/// [`ObserveError`], never [`ObserveError::Start`] unless there can be no child at all.
pub(super) fn probe() -> Result<(), ObserveError> {
    // No file can be below a device.
    const NOWHERE: &str = "/dev/null/probe";
    let Started { child, record, supervisor } = start(Command::new(NOWHERE), b"")?;
    if let Ok(mut child) = child {
        drop(child.wait());
    }
    let _ = supervisor.join();
    let is_read = record
        .effects(0)
        .iter()
        .any(|effect| effect.kind == Kind::Execute && effect.data.starts_with(NOWHERE.as_bytes()));
    if is_read { Ok(()) } else { Err(ObserveError::Memory) }
}

impl Watch {
    /// The effects from number `since` on, in order; `since` is how many were there before, or 0.
    /// All that a process has done by the time that its output is read is there.
    pub(super) fn effects(&self, since: usize) -> Vec<Effect> {
        self.record.effects(since)
    }

    /// How many effects there are so far.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.record.count()
    }

    /// What could not be seen so far.
    pub(super) fn blind(&self) -> Vec<Blind> {
        self.record.blind()
    }

    /// Whether the last process of the tree has ended (before Linux 6.11: and was waited for), so that there
    /// will be no more effects.
    #[cfg(test)]
    pub(super) fn is_over(&self) -> bool {
        self.supervisor.is_finished()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.record.close();
    }
}

/// A command that was tried to start, with the filter in place if it came so far.
#[derive(Debug)]
struct Started {
    child: io::Result<Child>,
    record: Arc<Record>,
    supervisor: JoinHandle<()>,
}

/// Starts the command, which may fail, with its supervisor.
///
/// [`Command::spawn`] returns only after the child's exec, and that is an announced call; so the supervisor is
/// there before, and hears from the child by a socket. It hears in any case: when `command` is dropped, the
/// child has the socket's only other end, and loses it by exec or by ending.
fn start(mut command: Command, marker: &[u8]) -> Result<Started, ObserveError> {
    let socket = install::prepare(&mut command).map_err(ObserveError::Means)?;
    let record = Arc::new(Record::default());
    let (tell, told) = mpsc::channel();
    let (ours, marker) = (Arc::clone(&record), marker.to_vec());
    let supervise = move || {
        let handover = install::receive(&socket);
        drop(socket);
        match handover {
            Handover::Listener(descriptor) => {
                let supervisor = Supervisor::new(Listener::new(descriptor), ours, marker);
                // Nobody listens if the bench's thread has panicked; the tree must run on all the same.
                let _ = tell.send(Told::Observing);
                drop(tell);
                supervisor.run();
            }
            Handover::Refused(errno) => drop(tell.send(Told::Refused(errno))),
            Handover::Nothing => drop(tell.send(Told::Nothing)),
        }
    };
    let supervisor =
        thread::Builder::new().name("syscalls".to_owned()).spawn(supervise).map_err(ObserveError::Means)?;
    let started = command.spawn();
    drop(command);
    let told = told.recv().unwrap_or(Told::Nothing);
    match (told, started) {
        (Told::Observing, child) => Ok(Started { child, record, supervisor }),
        (told, started) => {
            let _ = supervisor.join();
            Err(unobserved(&told, started))
        }
    }
}

/// What the supervisor has heard from the child.
#[derive(Debug)]
enum Told {
    Observing,
    Refused(i32),
    Nothing,
}

/// Why there is no observation. A child that runs all the same is ended.
fn unobserved(told: &Told, started: io::Result<Child>) -> ObserveError {
    match (told, started) {
        (Told::Refused(errno), Err(_)) => ObserveError::Refused(io::Error::from_raw_os_error(*errno)),
        (_, Err(fault)) => ObserveError::Start(fault),
        (_, Ok(mut child)) => {
            let _ = child.kill();
            let _ = child.wait();
            ObserveError::NoListener
        }
    }
}
