//! Finds a member name that its object has already.
//!
//! Belongs here: the keyed hash of names, the names of the objects that are open.
//! Does not belong here: the grammar.
//!
//! Small objects are searched one by one, by hash; beyond [`SMALL`] members names go to one hash
//! table that all open objects share. The hash is keyed at random in each parser: whoever writes
//! the names cannot make them collide.

use std::hash::{BuildHasher, RandomState};

use super::tape::{Tape, narrow, widen};

/// The most members of an object whose names are searched one by one.
const SMALL: usize = 64;

/// One name in the table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    /// The node of the object: names of other objects stay in the table when those are closed.
    object: u32,
    /// The node of the name, which is never the first of a document: 0 marks a free entry.
    name: u32,
}

const FREE: Entry = Entry {
    hash: 0,
    object: 0,
    name: 0,
};

/// The names of the open objects of one document.
#[derive(Debug)]
pub(super) struct Names {
    keys: [u64; 2],
    /// Hashes and nodes of the names of the open small objects, innermost last.
    hashes: Vec<u32>,
    nodes: Vec<u32>,
    table: Vec<Entry>,
    used: usize,
}

/// A name to be looked up and remembered.
#[derive(Clone, Copy)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) node: usize,
    /// The node of its object.
    pub(super) object: usize,
    /// How many members the object has before it.
    pub(super) before: usize,
}

impl Names {
    pub(super) fn new() -> Self {
        let random = RandomState::new();
        Self {
            keys: [random.hash_one(0_u8), random.hash_one(1_u8)],
            hashes: Vec::new(),
            nodes: Vec::new(),
            table: Vec::new(),
            used: 0,
        }
    }

    /// Forgets the names of the document before.
    pub(super) fn clear(&mut self) {
        self.hashes.clear();
        self.nodes.clear();
        if self.used > 0 {
            self.table.fill(FREE);
            self.used = 0;
        }
    }

    /// How many names of small objects are open: where those of an object that opens now begin.
    pub(super) fn mark(&self) -> usize {
        self.hashes.len()
    }

    /// Forgets the names of an object that closes.
    pub(super) fn truncate(&mut self, mark: usize) {
        self.hashes.truncate(mark);
        self.nodes.truncate(mark);
    }

    /// Remembers a name; false if its object, whose names begin at `mark`, has it already.
    pub(super) fn insert(&mut self, tape: &Tape, text: &str, mark: usize, name: Name<'_>) -> bool {
        let hash = self.hash(name.text.as_bytes());
        if name.before >= SMALL {
            return self.insert_large(tape, text, mark, name, hash);
        }
        let small = high(hash);
        let earlier = self.hashes.get(mark..).unwrap_or_default();
        if earlier
            .iter()
            .fold(false, |found, &other| found | (other == small))
        {
            let nodes = self.nodes.get(mark..).unwrap_or_default();
            let same = |(&other, &node): (&u32, &u32)| {
                other == small && tape.string(text, tape.node(widen(node))) == name.text
            };
            if earlier.iter().zip(nodes).any(same) {
                return false;
            }
        }
        self.hashes.push(small);
        self.nodes.push(narrow(name.node));
        true
    }

    #[inline(never)]
    fn insert_large(
        &mut self,
        tape: &Tape,
        text: &str,
        mark: usize,
        name: Name<'_>,
        hash: u64,
    ) -> bool {
        if name.before == SMALL {
            let nodes = self.nodes.split_off(mark.min(self.nodes.len()));
            self.hashes.truncate(mark);
            for node in nodes {
                let earlier = tape.string(text, tape.node(widen(node)));
                let hash = self.hash(earlier.as_bytes());
                let _ = self.insert_entry(
                    tape,
                    text,
                    Name {
                        text: earlier,
                        node: widen(node),
                        ..name
                    },
                    hash,
                );
            }
        }
        self.insert_entry(tape, text, name, hash)
    }

    fn insert_entry(&mut self, tape: &Tape, text: &str, name: Name<'_>, hash: u64) -> bool {
        if self.used.saturating_mul(2) >= self.table.len() {
            self.grow();
        }
        let hash = high(fold(
            hash ^ u64::from(narrow(name.object)),
            self.keys[0] | 1,
        ));
        let entry = Entry {
            hash,
            object: narrow(name.object),
            name: narrow(name.node),
        };
        let mask = self.table.len().wrapping_sub(1);
        let mut slot = widen(hash) & mask;
        while let Some(other) = self.table.get_mut(slot) {
            if other.name == 0 {
                *other = entry;
                self.used = self.used.saturating_add(1);
                return true;
            }
            if other.hash == hash
                && other.object == entry.object
                && tape.string(text, tape.node(widen(other.name))) == name.text
            {
                return false;
            }
            slot = slot.wrapping_add(1) & mask;
        }
        // The table is never empty here, so every slot is in it.
        false
    }

    fn grow(&mut self) {
        const FIRST: usize = 256;
        let larger = vec![FREE; self.table.len().saturating_mul(2).max(FIRST)];
        let mask = larger.len().wrapping_sub(1);
        for entry in core::mem::replace(&mut self.table, larger) {
            let mut slot = widen(entry.hash) & mask;
            while let Some(other) = self.table.get_mut(slot).filter(|_| entry.name != 0) {
                if other.name == 0 {
                    *other = entry;
                    break;
                }
                slot = slot.wrapping_add(1) & mask;
            }
        }
    }

    /// A hash that is cheap for short names and keyed: each step multiplies by what only this parser
    /// knows, so that no set of names collides in more than one parser.
    fn hash(&self, bytes: &[u8]) -> u64 {
        let [first_key, second_key] = self.keys;
        let mut state = first_key ^ u64::from(narrow(bytes.len()));
        let (head, tail) = if let (Some(head), Some(tail)) =
            (bytes.first_chunk::<8>(), bytes.last_chunk::<8>())
        {
            if bytes.len() > 16 {
                for block in bytes.as_chunks::<16>().0 {
                    let (low, high) = halves(block);
                    state = fold(low ^ state, high ^ second_key);
                }
                let (low, high) = bytes.last_chunk::<16>().map(halves).unwrap_or_default();
                (low, high)
            } else {
                (u64::from_le_bytes(*head), u64::from_le_bytes(*tail))
            }
        } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
        {
            (
                u64::from(u32::from_le_bytes(*head)),
                u64::from(u32::from_le_bytes(*tail)),
            )
        } else {
            let at = |index: usize| u64::from(bytes.get(index).copied().unwrap_or_default());
            (at(0) | at(1) << 8, at(2))
        };
        fold(head ^ state, tail ^ second_key)
    }
}

fn halves(block: &[u8; 16]) -> (u64, u64) {
    let whole = u128::from_le_bytes(*block);
    split(whole)
}

fn fold(left: u64, right: u64) -> u64 {
    let (low, high) = split(u128::from(left).wrapping_mul(u128::from(right)));
    low ^ high
}

fn split(whole: u128) -> (u64, u64) {
    let low = u64::try_from(whole & u128::from(u64::MAX)).unwrap_or_default();
    (low, u64::try_from(whole >> 64).unwrap_or_default())
}

fn high(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}
