//! Ending a run from outside: whoever interrupts the bench leaves no target behind.
//!
//! Belongs here: which targets live, and killing them all. Does not belong here: signals to the bench itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lineage::Lineage;

/// Ends a run. Clones end the same one.
#[derive(Clone, Debug, Default)]
pub struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    interrupted: bool,
    lineages: Vec<Lineage>,
}

impl Interrupt {
    /// Kills every target with all its descendants, and lets no other start.
    pub fn interrupt(&self) {
        let mut state = self.lock();
        state.interrupted = true;
        for lineage in state.lineages.drain(..) {
            lineage.kill();
        }
    }

    /// Whether it happened.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.lock().interrupted
    }

    /// Starts something while nobody can interrupt; its lineage is remembered.
    pub(super) fn start<T>(
        &self,
        start: impl FnOnce() -> std::io::Result<(T, Lineage)>,
    ) -> std::io::Result<(T, Lineage)> {
        let mut state = self.lock();
        if state.interrupted {
            return Err(std::io::Error::from(std::io::ErrorKind::Interrupted));
        }
        let (started, lineage) = start()?;
        state.lineages.push(lineage);
        Ok((started, lineage))
    }

    /// Waits for a target as `wait` does, and forgets its lineage: its number may soon be another's.
    pub(super) fn end(&self, lineage: Lineage, wait: impl FnOnce()) {
        let mut state = self.lock();
        state.lineages.retain(|known| *known != lineage);
        wait();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
