//! Finds a member name that its object has already.
//!
//! Belongs here: the keys of names, the names of the objects that are open.
//! Does not belong here: the grammar.
//!
//! A name is known by a key of 64 bits: of up to seven bytes, the name itself; of more, a hash. Small
//! objects are searched one key after the other; beyond [`SMALL`] members, keys go to one hash table
//! that all open objects share. Both hashes are keyed at random in each parser: whoever writes the
//! names cannot make them collide. Where keys are equal, names are compared.

use std::hash::{BuildHasher, RandomState};

use super::tape::{Node, behind, narrow, node, string_bytes, widen};

/// The most members of an object whose names are searched one by one.
const SMALL: usize = 64;

/// A table larger than this is given back once its document is done.
const RETAINED: usize = 1 << 18;

/// The longest name that is its own key.
pub(super) const EXACT: usize = 7;

/// Set in the key of a longer name; in that of a shorter one, the length stands in the highest byte.
const HASHED: u64 = 1 << 63;

/// One name in the table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    hash: u32,
    /// The node of the object: names of other objects stay in the table when those are closed.
    object: u32,
    /// The node of the name, which is never the first of a document: 0 marks a free entry.
    name: u32,
}

const FREE: Entry = Entry { hash: 0, object: 0, name: 0 };

/// Where the names of the document being parsed are found.
#[derive(Clone, Copy)]
pub(super) struct Strings<'a> {
    pub(super) text: &'a [u8],
    pub(super) scratch: &'a [u8],
    pub(super) nodes: &'a [Node],
}

impl<'a> Strings<'a> {
    pub(super) fn get(self, index: usize) -> &'a [u8] {
        string_bytes(self.text, self.scratch, node(self.nodes, index))
    }
}

/// A name to be looked up and remembered.
#[derive(Clone, Copy)]
pub(super) struct Name {
    pub(super) key: u64,
    pub(super) node: usize,
    /// The node of its object.
    pub(super) object: usize,
    /// How many members the object has before it.
    pub(super) before: usize,
}

/// The names of the open objects of one document.
pub(super) struct Names {
    secrets: [u64; 2],
    /// Keys and nodes of the names of the open small objects, innermost last.
    keys: Vec<u64>,
    nodes: Vec<u32>,
    table: Vec<Entry>,
    used: usize,
}

impl Names {
    pub(super) fn new() -> Self {
        let random = RandomState::new();
        Self {
            secrets: [random.hash_one(0_u8), random.hash_one(1_u8) | 1],
            keys: Vec::new(),
            nodes: Vec::new(),
            table: Vec::new(),
            used: 0,
        }
    }

    /// Forgets the names of the document before.
    pub(super) fn clear(&mut self) {
        self.truncate(0);
        if self.used > 0 {
            self.used = 0;
            if self.table.len() > RETAINED {
                self.table = Vec::new();
            } else {
                self.table.fill(FREE);
            }
        }
    }

    /// How many names of small objects are open: where those of an object that opens now begin.
    #[inline(always)]
    pub(super) fn mark(&self) -> usize {
        self.keys.len()
    }

    /// Forgets the names of an object that closes.
    #[inline(always)]
    pub(super) fn truncate(&mut self, mark: usize) {
        self.keys.truncate(mark);
        self.nodes.truncate(mark);
    }

    /// Remembers a name; false if its object, whose names begin at `mark`, has it already.
    #[inline(always)]
    pub(super) fn insert(&mut self, strings: Strings<'_>, mark: usize, name: Name) -> bool {
        if name.before >= SMALL {
            return self.insert_large(strings, mark, name);
        }
        let earlier = self.keys.get(mark..).unwrap_or_default();
        let mut found = false;
        for &key in earlier {
            found |= key == name.key;
        }
        if found && self.is_among(strings, mark, name) {
            return false;
        }
        self.keys.push(name.key);
        self.nodes.push(narrow(name.node));
        true
    }

    /// Remembers the first `count` names of an object, which are known to differ.
    #[inline(never)]
    pub(super) fn insert_first(&mut self, strings: Strings<'_>, mark: usize, object: usize, count: usize) {
        let mut node = object.wrapping_add(1);
        for before in 0..count {
            let key = self.key(strings.get(node));
            self.insert(strings, mark, Name { key, node, object, before });
            node = behind(strings.nodes, node.wrapping_add(1));
        }
    }

    #[inline(never)]
    fn is_among(&self, strings: Strings<'_>, mark: usize, name: Name) -> bool {
        let keys = self.keys.get(mark..).unwrap_or_default();
        let nodes = self.nodes.get(mark..).unwrap_or_default();
        let text = strings.get(name.node);
        keys.iter().zip(nodes).any(|(&key, &node)| key == name.key && strings.get(widen(node)) == text)
    }

    #[inline(never)]
    fn insert_large(&mut self, strings: Strings<'_>, mark: usize, name: Name) -> bool {
        if name.before == SMALL {
            for index in mark..self.keys.len() {
                if let (Some(&key), Some(&node)) = (self.keys.get(index), self.nodes.get(index)) {
                    // These are known to differ.
                    self.insert_entry(strings, Name { key, node: widen(node), ..name });
                }
            }
            self.truncate(mark);
        }
        self.insert_entry(strings, name)
    }

    fn insert_entry(&mut self, strings: Strings<'_>, name: Name) -> bool {
        if self.used.saturating_mul(2) >= self.table.len() {
            self.grow();
        }
        let [first, second] = self.secrets;
        let hash = high(fold(name.key ^ first, u64::from(narrow(name.object)) ^ second));
        let entry = Entry { hash, object: narrow(name.object), name: narrow(name.node) };
        let mask = self.table.len().wrapping_sub(1);
        let mut slot = widen(hash) & mask;
        while let Some(other) = self.table.get_mut(slot) {
            if other.name == 0 {
                *other = entry;
                self.used = self.used.wrapping_add(1);
                return true;
            }
            if other.hash == hash
                && other.object == entry.object
                && strings.get(widen(other.name)) == strings.get(name.node)
            {
                return false;
            }
            slot = slot.wrapping_add(1) & mask;
        }
        // Not reached: the table is never empty here, and every slot is in it. Refusing is safe.
        false
    }

    fn grow(&mut self) {
        const FIRST: usize = 256;
        let larger = vec![FREE; self.table.len().saturating_mul(2).max(FIRST)];
        let mask = larger.len().wrapping_sub(1);
        for entry in core::mem::replace(&mut self.table, larger).into_iter().filter(|entry| entry.name != 0) {
            let mut slot = widen(entry.hash) & mask;
            while let Some(other) = self.table.get_mut(slot) {
                if other.name == 0 {
                    *other = entry;
                    break;
                }
                slot = slot.wrapping_add(1) & mask;
            }
        }
    }

    /// The key of a name.
    #[inline(always)]
    pub(super) fn key(&self, name: &[u8]) -> u64 {
        if let (Some(head), Some(tail)) = (name.first_chunk::<8>(), name.last_chunk::<8>()) {
            let [first, second] = self.secrets;
            let state = first ^ u64::from(narrow(name.len()));
            let state = if name.len() > 16 { fold_blocks(name, state, second) } else { state };
            return fold(u64::from_le_bytes(*head) ^ state, u64::from_le_bytes(*tail) ^ second) | HASHED;
        }
        let word = name.iter().rev().fold(0, |word, &byte| (word << 8) | u64::from(byte));
        exact_key(word, name.len())
    }
}

/// The key of a name of at most [`EXACT`] bytes, which are the low bytes of `word`.
#[inline(always)]
pub(super) fn exact_key(word: u64, length: usize) -> u64 {
    const LENGTH_AT: u32 = 56;
    let bits = narrow(length).wrapping_mul(8);
    let mask = 1_u64.wrapping_shl(bits).wrapping_sub(1);
    (word & mask) | (u64::from(narrow(length)) << LENGTH_AT)
}

/// Each step multiplies by what only this parser knows.
#[inline(never)]
fn fold_blocks(name: &[u8], mut state: u64, secret: u64) -> u64 {
    for block in name.as_chunks::<16>().0.iter().chain(name.last_chunk::<16>()) {
        let (low, high) = split(u128::from_le_bytes(*block));
        state = fold(low ^ state, high ^ secret);
    }
    state
}

/// Both halves of a product, in one word.
#[inline(always)]
fn fold(left: u64, right: u64) -> u64 {
    let (low, high) = split(u128::from(left).wrapping_mul(u128::from(right)));
    low ^ high
}

#[inline(always)]
fn split(whole: u128) -> (u64, u64) {
    let low = u64::try_from(whole & u128::from(u64::MAX)).unwrap_or_default();
    (low, u64::try_from(whole >> 64).unwrap_or_default())
}

#[inline(always)]
fn high(hash: u64) -> u32 {
    u32::try_from(hash >> 32).unwrap_or_default()
}
