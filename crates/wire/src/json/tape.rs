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
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Node {
    /// Where the value begins in the text.
    start: u32,
    /// Where it ends.
    end: u32,
    /// The tag in the low bits; above them the members of a container or the decoded length.
    packed: u32,
    /// The node behind the value; of a decoded string, its start in the scratch text.
    link: u32,
}

/// Leaves 28 bits for the count: 2^28 is more than the bytes of the longest text.
const TAG_BITS: u32 = 4;

impl Node {
    #[inline(always)]
    pub(super) fn new(tag: Tag, span: Range<usize>, count: usize, link: usize) -> Self {
        let packed = (narrow(count) << TAG_BITS) | tag.code();
        Self { start: narrow(span.start), end: narrow(span.end), packed, link: narrow(link) }
    }

    #[inline(always)]
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

    #[inline(always)]
    pub(super) fn count(self) -> usize {
        widen(self.packed >> TAG_BITS)
    }

    #[inline(always)]
    pub(super) fn link(self) -> usize {
        widen(self.link)
    }

    #[inline(always)]
    pub(super) fn span(self) -> Range<usize> {
        widen(self.start)..widen(self.end)
    }

    /// Where the text between a string's quotes stands.
    #[inline(always)]
    fn inner(self) -> Range<usize> {
        widen(self.start).wrapping_add(1)..widen(self.end).wrapping_sub(1)
    }
}

impl Tag {
    #[inline(always)]
    const fn code(self) -> u32 {
        match self {
            Self::Null => 0,
            Self::True => 1,
            Self::False => 2,
            Self::Integer => 3,
            Self::Real => 4,
            Self::Plain => 5,
            Self::Decoded => 6,
            Self::Array => 7,
            Self::Object => 8,
        }
    }
}

/// Keeps the low 32 bits: all of them, for an index within a text or its tape.
#[inline(always)]
pub(super) fn narrow(index: usize) -> u32 {
    u32::try_from(index & 0xFFFF_FFFF).unwrap_or(u32::MAX)
}

#[inline(always)]
pub(super) fn widen(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

/// The nodes of one document, and the decoded text of its strings that hold escapes.
///
/// The nodes are those of the last document and, behind them, what longer ones before it left.
#[derive(Default)]
pub(super) struct Tape {
    pub(super) nodes: Vec<Node>,
    pub(super) scratch: Vec<u8>,
}

/// The node at an index that the tape gave out; a null beyond its end, where nothing points.
#[inline(always)]
pub(super) fn node(nodes: &[Node], index: usize) -> Node {
    nodes.get(index).copied().unwrap_or_default()
}

/// The index of the node behind the value at `index`.
#[inline(always)]
pub(super) fn behind(nodes: &[Node], index: usize) -> usize {
    let node = node(nodes, index);
    match node.tag() {
        Tag::Array | Tag::Object => node.link(),
        _ => index.wrapping_add(1),
    }
}

/// The decoded bytes of a string node.
#[inline(always)]
pub(super) fn string_bytes<'a>(text: &'a [u8], scratch: &'a [u8], node: Node) -> &'a [u8] {
    if node.tag() == Tag::Decoded {
        let start = node.link();
        scratch.get(start..start.wrapping_add(node.count())).unwrap_or_default()
    } else {
        text.get(node.inner()).unwrap_or_default()
    }
}

impl Tape {
    pub(super) fn node(&self, index: usize) -> Node {
        node(&self.nodes, index)
    }

    pub(super) fn behind(&self, index: usize) -> usize {
        behind(&self.nodes, index)
    }

    /// The decoded text of a string node.
    pub(super) fn string<'a>(&'a self, text: &'a str, node: Node) -> &'a str {
        if node.tag() == Tag::Decoded {
            // Valid by construction. Asked again here so that decoding can work on bytes.
            let decoded = string_bytes(text.as_bytes(), &self.scratch, node);
            simdutf8::basic::from_utf8(decoded).unwrap_or_default()
        } else {
            text.get(node.inner()).unwrap_or_default()
        }
    }
}
