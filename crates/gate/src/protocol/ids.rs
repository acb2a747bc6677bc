//! Which request ids were used before in a session with a handshake.
//!
//! Belongs here: bounded memory of used ids.
//! Does not belong here: ids in flight (`pending`).

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use framegate_wire::message::RequestId;

/// Used ids. Integers are kept as ranges, so that counting up costs one entry; strings as 64-bit keyed
/// hashes: two strings that collide (one pair in 2^64) would refuse one call too many, never one too few.
#[derive(Debug)]
pub(super) struct UsedIds {
    ranges: BTreeMap<i64, i64>,
    texts: HashSet<u64>,
    hasher: RandomState,
    limit: usize,
}

impl UsedIds {
    pub(super) fn new(limit: usize) -> Self {
        Self { ranges: BTreeMap::new(), texts: HashSet::new(), hasher: RandomState::new(), limit }
    }

    pub(super) fn contains(&self, id: &RequestId) -> bool {
        match id {
            RequestId::Integer { value, .. } => self.range_at(*value).is_some(),
            RequestId::Text(text) => self.texts.contains(&self.hasher.hash_one(text)),
        }
    }

    pub(super) fn is_full(&self) -> bool {
        self.ranges.len().saturating_add(self.texts.len()) >= self.limit
    }

    pub(super) fn insert(&mut self, id: &RequestId) {
        match id {
            RequestId::Integer { value, .. } => self.insert_integer(*value),
            RequestId::Text(text) => {
                self.texts.insert(self.hasher.hash_one(text));
            }
        }
    }

    fn range_at(&self, value: i64) -> Option<(i64, i64)> {
        let (&first, &last) = self.ranges.range(..=value).next_back()?;
        (value <= last).then_some((first, last))
    }

    fn insert_integer(&mut self, value: i64) {
        if self.range_at(value).is_some() {
            return;
        }
        let before = value.checked_sub(1).and_then(|before| self.range_at(before));
        let after = value.checked_add(1).and_then(|after| self.range_at(after));
        let first = before.map_or(value, |(first, _)| first);
        let last = after.map_or(value, |(_, last)| last);
        if let Some((after, _)) = after {
            self.ranges.remove(&after);
        }
        self.ranges.insert(first, last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(value: i64) -> RequestId {
        RequestId::Integer { value, token: value.to_string().into() }
    }

    #[test]
    fn counting_up_in_any_order_costs_one_range() {
        let mut used = UsedIds::new(2);
        for value in (0..1000).step_by(2).chain((1..1000).step_by(2)) {
            assert!(!used.contains(&integer(value)));
            used.insert(&integer(value));
            assert!(used.contains(&integer(value)));
        }
        assert_eq!(used.ranges.len(), 1);
        assert!(!used.contains(&integer(-1)) && !used.contains(&integer(1000)));
        assert!(!used.is_full());
        used.insert(&integer(i64::MAX));
        used.insert(&integer(i64::MIN));
        assert!(used.is_full());
    }

    #[test]
    fn a_string_is_not_the_number_it_spells() {
        let mut used = UsedIds::new(10);
        used.insert(&RequestId::Text("7".into()));
        assert!(used.contains(&RequestId::Text("7".into())));
        assert!(!used.contains(&integer(7)));
    }
}
