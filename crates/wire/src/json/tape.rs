//! The parsed document as one flat array of nodes, in the order of the text.
//!
//! Belongs here: how a node is packed and how the next one is found.
//! Does not belong here: the grammar, the public face of values.

use core::ops::Range;

/// What a node is. A member is a string node, its name, followed by the value's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Null,
    True,
    False,
    Integer,
    Real,
    /// A string without escapes: its decoded text stands in the document.
    Plain,
    /// A string with escapes: its decoded text stands in the scratch text.
    Decoded,
    Array,
    Object,
}

/// 16 bytes. Offsets fit because no text is longer than [`crate::Limits::MAX_FRAME_CEILING`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Where the value begins in the text.
    pub(super) start: u32,
    /// Where it ends.
    pub(super) end: u32,
    /// The tag in the low bits; above them the members of a container or the decoded length.
    packed: u32,
    /// Of a container, the node behind its last; of a decoded string, its start in the scratch text.
    link: u32,
}

/// Leaves 28 bits for the count: 2^28 is more than the bytes of the longest text.
const TAG_BITS: u32 = 4;

impl Node {
    pub(super) fn new(tag: Tag, start: usize, end: usize, count: usize, link: usize) -> Self {
        let packed = (narrow(count) << TAG_BITS) | code(tag);
        Self {
            start: narrow(start),
            end: narrow(end),
            packed,
            link: narrow(link),
        }
    }

    pub(super) fn tag(self) -> Tag {
        match self.packed & ((1 << TAG_BITS) - 1) {
            0 => Tag::Null,
            1 => Tag::True,
            2 => Tag::False,
            3 => Tag::Integer,
            4 => Tag::Real,
            5 => Tag::Plain,
            6 => Tag::Decoded,
            7 => Tag::Array,
            _ => Tag::Object,
        }
    }

    pub(super) fn count(self) -> usize {
        widen(self.packed >> TAG_BITS)
    }

    pub(super) fn link(self) -> usize {
        widen(self.link)
    }

    pub(super) fn span(self) -> Range<usize> {
        widen(self.start)..widen(self.end)
    }
}

const fn code(tag: Tag) -> u32 {
    match tag {
        Tag::Null => 0,
        Tag::True => 1,
        Tag::False => 2,
        Tag::Integer => 3,
        Tag::Real => 4,
        Tag::Plain => 5,
        Tag::Decoded => 6,
        Tag::Array => 7,
        Tag::Object => 8,
    }
}

/// Saturates, which the ceiling on text length keeps from happening.
pub(super) fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

pub(super) fn widen(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// The nodes of one document, and the decoded text of its strings that hold escapes.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) nodes: Vec<Node>,
    pub(super) scratch: String,
}

impl Tape {
    /// The node at an index that the tape gave out; a null beyond its end, where nothing points.
    pub(super) fn node(&self, index: usize) -> Node {
        const BEYOND: Node = Node {
            start: 0,
            end: 0,
            packed: 0,
            link: 0,
        };
        self.nodes.get(index).copied().unwrap_or(BEYOND)
    }

    /// The index of the node behind the value at `index`.
    pub(super) fn behind(&self, index: usize) -> usize {
        let node = self.node(index);
        match node.tag() {
            Tag::Array | Tag::Object => node.link(),
            _ => index.saturating_add(1),
        }
    }

    /// The decoded text of a string node.
    pub(super) fn string<'a>(&'a self, text: &'a str, node: Node) -> &'a str {
        if node.tag() == Tag::Decoded {
            let start = node.link();
            self.scratch
                .get(start..start.saturating_add(node.count()))
                .unwrap_or_default()
        } else {
            let span = node.span();
            text.get(span.start.saturating_add(1)..span.end.saturating_sub(1))
                .unwrap_or_default()
        }
    }
}
