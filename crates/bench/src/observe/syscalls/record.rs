//! The record of one tree, shared by its supervisor and its [`Watch`](super::Watch).
//!
//! Belongs here: what is kept, and the bound on it.
//! Does not belong here: finding effects out.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::effect::{Blind, Effect};

/// The most effects that are kept: a target in a loop must not fill the bench's memory.
const EFFECTS: usize = 200_000;
/// The most bytes of text and data in them.
const BYTES: usize = 128 * 1024 * 1024;
/// The most different blind spots.
const BLINDS: usize = 1000;

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Record {
    entries: Mutex<Entries>,
    closed: AtomicBool,
}

#[derive(Debug, Default)]
struct Entries {
    effects: Vec<Effect>,
    blind: Vec<Blind>,
    bytes: usize,
    dropped: usize,
}

impl Record {
    pub(super) fn add(&self, effect: Effect) {
        let mut entries = self.lock();
        let bytes = entries.bytes.saturating_add(effect.data.len()).saturating_add(effect.detail.len());
        if entries.effects.len() >= EFFECTS || bytes > BYTES {
            entries.dropped = entries.dropped.saturating_add(1);
            return;
        }
        entries.bytes = bytes;
        entries.effects.push(effect);
    }

    pub(super) fn add_blind(&self, blind: Blind) {
        let mut entries = self.lock();
        if entries.blind.len() < BLINDS && !entries.blind.contains(&blind) {
            entries.blind.push(blind);
        }
    }

    pub(super) fn effects(&self, since: usize) -> Vec<Effect> {
        self.lock().effects.get(since..).unwrap_or_default().to_vec()
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.lock().effects.len()
    }

    pub(super) fn blind(&self) -> Vec<Blind> {
        let entries = self.lock();
        let mut blind = entries.blind.clone();
        if entries.dropped > 0 {
            blind.push(Blind::Full { dropped: entries.dropped });
        }
        blind
    }

    /// Nobody will ask any more.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        *self.lock() = Entries::default();
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    /// A thread that panicked with the lock left whole entries behind: each is pushed in one step.
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::effect::Kind;
    use super::*;

    fn effect(data: Vec<u8>) -> Effect {
        let at = Instant::now();
        let (program, detail) = (String::new(), String::new());
        Effect { at, process: 1, program, call: "write", kind: Kind::Write, detail, data }
    }

    #[test]
    fn the_record_is_bounded_and_says_so() {
        let record = Record::default();
        for _ in 0..EFFECTS + 7 {
            record.add(effect(Vec::new()));
        }
        assert_eq!(record.count(), EFFECTS);
        assert_eq!(record.blind(), [Blind::Full { dropped: 7 }]);
        let record = Record::default();
        record.add(effect(vec![0; BYTES - 1]));
        record.add(effect(vec![0; 2]));
        record.add(effect(vec![0; 1]));
        assert_eq!(record.count(), 2);
        assert_eq!(record.blind(), [Blind::Full { dropped: 1 }]);
    }

    #[test]
    fn the_same_blind_spot_is_kept_once() {
        let record = Record::default();
        record.add_blind(Blind::Lost { errno: 1 });
        record.add_blind(Blind::Lost { errno: 1 });
        record.add_blind(Blind::Lost { errno: 2 });
        assert_eq!(record.blind(), [Blind::Lost { errno: 1 }, Blind::Lost { errno: 2 }]);
    }

    #[test]
    fn effects_since_a_count_are_the_later_ones() {
        let record = Record::default();
        record.add(effect(vec![1]));
        let before = record.count();
        record.add(effect(vec![2]));
        let later: Vec<Vec<u8>> = record.effects(before).into_iter().map(|effect| effect.data).collect();
        assert_eq!(later, [vec![2]]);
        assert!(record.effects(9).is_empty());
    }
}
