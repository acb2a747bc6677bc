//! Ending a run from outside: whoever interrupts the bench leaves no target behind.
//!
//! Belongs here: which process groups live, and killing them all. Does not belong here: signals to the bench itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// Ends a run. Clones end the same one.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    interrupted: bool,
    groups: Vec<Pid>,
}

impl Interrupt {
    /// Kills every target with its process group, and lets no other start.
    pub fn interrupt(&self) {
        let mut state = self.lock();
        state.interrupted = true;
        for group in state.groups.drain(..) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

    /// Whether it happened.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.lock().interrupted
    }

    /// Starts something while nobody can interrupt; its group is remembered.
    pub(super) fn start<T>(
        &self,
        start: impl FnOnce() -> std::io::Result<(T, Pid)>,
    ) -> std::io::Result<(T, Pid)> {
        let mut state = self.lock();
        if state.interrupted {
            return Err(std::io::Error::from(std::io::ErrorKind::Interrupted));
        }
        let (started, group) = start()?;
        state.groups.push(group);
        Ok((started, group))
    }

    /// Ends a group as `end` does, and forgets it: its number may soon be another's.
    pub(super) fn end(&self, group: Pid, end: impl FnOnce()) {
        let mut state = self.lock();
        state.groups.retain(|known| *known != group);
        end();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
