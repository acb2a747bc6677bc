//! The grammar: one pass over the text, one node a value and a name, no recursion.
//!
//! Belongs here: RFC 8259 sections 2 to 5, limits, the place and reason of the first wrong byte.
//! Does not belong here: what stands inside strings and numbers.
//!
//! Documents repeat their shapes: an object in an array mostly has the names of the one before it, in
//! the same order. So each object is compared with the one that stood in its place before, if any. As
//! long as its names are that one's, byte for byte, they are neither scanned nor looked up: names that
//! are all different there are all different here.

use core::fmt;

use super::names::{EXACT, Name, Names, Strings, exact_key};
use super::number;
use super::string;
use super::tape::{Node, Tag, Tape, behind, narrow, node, widen};
use super::value::Document;
use super::word;
use crate::frame::Frame;
use crate::{Limits, Reason, Refusal};

/// What is wrong with the text, and where: a refusal in the making.
pub(super) type Fault = Refusal;

/// Nodes and bytes beyond these are given back once the document that needed them is done.
const RETAINED_NODES: usize = 1 << 18;
const RETAINED_SCRATCH: usize = 1 << 20;

/// Parses one text after the other, in buffers that are used again.
pub struct Parser {
    limits: Limits,
    tape: Tape,
    names: Names,
    open: Vec<Container>,
}

/// A container whose end has not been seen, or what holds the root.
#[derive(Clone, Copy, Debug)]
struct Container {
    /// The byte that ends it: `}`, `]`, or [`END`] for what holds the root.
    closing: u8,
    /// Its node.
    node: u32,
    /// Members so far.
    count: u32,
    /// Where its names begin.
    mark: u32,
    /// Of an array, the element before, or the one that stood in its place before; of an object, the
    /// name expected next. 0 if nothing is expected.
    expected: u32,
    /// Of an object that has kept to expectations so far, the end of the one it is compared with; else 0.
    expected_end: u32,
}

/// Stands for the end of the text where a byte is looked for. No byte of a JSON text outside strings
/// is zero, and where one is, it is told from the end before a reason is given.
const END: u8 = 0;

impl Parser {
    /// A parser that bounds documents by `limits`.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), tape: Tape::default(), names: Names::new(), open: Vec::new() }
    }

    /// Parses a frame.
    ///
    /// # Errors
    /// The reasons of the JSON door, at the first wrong byte.
    pub fn parse<'s>(&'s mut self, frame: Frame<'s>) -> Result<Document<'s>, Refusal> {
        self.parse_text(frame.text())
    }

    /// Parses a text that did not come as a frame: line feeds and carriage returns between values
    /// are blanks, as RFC 8259 has it.
    ///
    /// # Errors
    /// The reasons of the JSON door, at the first wrong byte; `frame-too-long` for a text longer than
    /// the frame limit.
    pub fn parse_text<'s>(&'s mut self, text: &'s str) -> Result<Document<'s>, Refusal> {
        let longest = self.limits.max_frame.min(Limits::MAX_FRAME_CEILING);
        if text.len() > longest {
            return Err(Refusal::new(Reason::FrameTooLong, longest));
        }
        self.names.clear();
        self.open.clear();
        self.tape.scratch.clear();
        self.tape.scratch.shrink_to(RETAINED_SCRATCH);
        let mut nodes = core::mem::take(&mut self.tape.nodes);
        if nodes.len() > RETAINED_NODES {
            nodes = Vec::new();
        }
        let mut run = Run {
            text,
            bytes: text.as_bytes(),
            at: 0,
            values: 0,
            nodes,
            used: 0,
            scratch: &mut self.tape.scratch,
            names: &mut self.names,
            open: &mut self.open,
            limits: &self.limits,
        };
        let result = run.document();
        self.tape.nodes = run.nodes;
        result?;
        Ok(Document::new(text, &self.tape))
    }
}

impl fmt::Debug for Parser {
    /// Limits only: the buffers hold what was parsed, and the secrets of the hash.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parser").field("limits", &self.limits).finish_non_exhaustive()
    }
}

/// One parse. All its small methods are inlined into one function, so that its fields live in registers.
struct Run<'r> {
    text: &'r str,
    bytes: &'r [u8],
    at: usize,
    values: usize,
    nodes: Vec<Node>,
    /// How many of `nodes` are of this document.
    used: usize,
    scratch: &'r mut Vec<u8>,
    names: &'r mut Names,
    open: &'r mut Vec<Container>,
    limits: &'r Limits,
}

impl Run<'_> {
    #[inline(always)]
    fn document(&mut self) -> Result<(), Fault> {
        let max_members = narrow(self.limits.max_members.min(self.bytes.len()));
        let mut top = Container { closing: END, node: 0, count: 0, mark: 0, expected: 0, expected_end: 0 };
        'member: loop {
            // What stands before a value, and the node that stood in its place before, or 0.
            let mut first = self.token();
            let mut expected = 0;
            if top.closing != END {
                if top.count >= max_members {
                    return Err(self.fault(Reason::JsonMembers));
                }
                if top.closing == b'}' {
                    expected = self.name(&mut top, first)?;
                    first = self.token();
                } else {
                    expected = core::mem::replace(&mut top.expected, narrow(self.used));
                }
                top.count = top.count.wrapping_add(1);
            }
            // The value.
            if self.values >= self.limits.max_nodes {
                return Err(self.fault(Reason::JsonNodes));
            }
            self.values = self.values.wrapping_add(1);
            match first {
                b'"' => self.string()?,
                b'{' | b'[' => {
                    if self.open.len() >= self.limits.max_depth {
                        return Err(self.fault(Reason::JsonDepth));
                    }
                    self.open.push(top);
                    top = if first == b'{' {
                        self.begin(Tag::Object, b'}', expected)
                    } else {
                        self.begin(Tag::Array, b']', expected)
                    };
                    if self.token() != top.closing {
                        continue 'member;
                    }
                }
                b'-' | b'0'..=b'9' => loop {
                    let quick =
                        if top.closing == b']' { number::before_comma(self.bytes, self.at) } else { None };
                    match quick.map_or_else(|| number::scan(self.text, self.at, first), Ok) {
                        Ok(token) => {
                            self.leaf(if token.integer { Tag::Integer } else { Tag::Real }, token.end)
                        }
                        Err(fault) => return Err(no_number(self.at, top.closing, fault)),
                    }
                    // Numbers come in rows: the next one needs nothing of what stands around this match, as
                    // long as no limit is near.
                    let comma = self.bytes.get(self.at) == Some(&b',');
                    let next = self.bytes.get(self.at.wrapping_add(1)).copied().unwrap_or_default();
                    let in_row = comma && top.closing == b']' && matches!(next, b'-' | b'0'..=b'9');
                    if !in_row || top.count >= max_members || self.values >= self.limits.max_nodes {
                        break;
                    }
                    first = next;
                    self.at = self.at.wrapping_add(1);
                    top.expected = narrow(self.used);
                    top.count = top.count.wrapping_add(1);
                    self.values = self.values.wrapping_add(1);
                },
                b't' if self.stands(b"true") => self.leaf(Tag::True, self.at.wrapping_add(4)),
                b'f' if self.stands(b"false") => self.leaf(Tag::False, self.at.wrapping_add(5)),
                b'n' if self.stands(b"null") => self.leaf(Tag::Null, self.at.wrapping_add(4)),
                _ => return Err(no_value(self.bytes, self.at, top.closing)),
            }
            // What follows it.
            loop {
                let next = self.token();
                if next == b',' && top.closing != END {
                    self.at = self.at.wrapping_add(1);
                    continue 'member;
                }
                if next != top.closing {
                    return Err(no_end(self.bytes, self.at, top.closing));
                }
                if next == END {
                    return if self.at >= self.bytes.len() {
                        Ok(())
                    } else {
                        Err(no_end(self.bytes, self.at, END))
                    };
                }
                top = self.close(top);
            }
        }
    }

    /// Begins a container where the node `expected` stood before.
    #[inline(always)]
    fn begin(&mut self, tag: Tag, closing: u8, expected: u32) -> Container {
        let mut begun = Container {
            closing,
            node: narrow(self.used),
            count: 0,
            mark: narrow(self.names.mark()),
            expected: 0,
            expected_end: 0,
        };
        if expected != 0 {
            let model = node(&self.nodes, widen(expected));
            if model.tag() == tag && model.count() > 0 {
                begun.expected = expected.wrapping_add(1);
                begun.expected_end = narrow(model.link());
            }
        }
        // Written again when its end is known.
        self.push(Node::new(tag, self.at..self.at, 0, 0));
        self.at = self.at.wrapping_add(1);
        begun
    }

    /// Ends a container at its closing bracket; gives the one around it.
    #[inline(always)]
    fn close(&mut self, top: Container) -> Container {
        self.at = self.at.wrapping_add(1);
        if let Some(begun) = self.nodes.get_mut(widen(top.node)) {
            let tag = if top.closing == b'}' { Tag::Object } else { Tag::Array };
            *begun = Node::new(tag, begun.span().start..self.at, widen(top.count), self.used);
        }
        if top.closing == b'}' && top.expected_end == 0 {
            self.names.truncate(widen(top.mark));
        }
        // The stack holds what was pushed when this container began.
        self.open.pop().unwrap_or(top)
    }

    /// Reads a name, which begins with the byte `first`, and its colon. Gives the node that its value is
    /// compared with, or 0.
    #[inline(always)]
    fn name(&mut self, top: &mut Container, first: u8) -> Result<u32, Fault> {
        let start = self.at;
        let mut expected = 0;
        if top.expected_end != 0 {
            let model = node(&self.nodes, widen(top.expected));
            if top.expected < top.expected_end && model.tag() == Tag::Plain && same(self.bytes, start, model)
            {
                self.leaf(Tag::Plain, start.wrapping_add(model.span().len()));
                expected = top.expected.wrapping_add(1);
                top.expected = narrow(behind(&self.nodes, widen(expected)));
            } else {
                top.expected_end = 0;
                let strings = Strings { text: self.bytes, scratch: self.scratch, nodes: &self.nodes };
                self.names.insert_first(strings, widen(top.mark), widen(top.node), widen(top.count));
            }
        }
        if expected == 0 {
            if first != b'"' {
                return Err(no_end(self.bytes, start, b'}'));
            }
            let node = self.used;
            let key = self.name_string()?;
            let name = Name { key, node, object: widen(top.node), before: widen(top.count) };
            let strings = Strings { text: self.bytes, scratch: self.scratch, nodes: &self.nodes };
            if !self.names.insert(strings, widen(top.mark), name) {
                return Err(Fault::new(Reason::JsonDuplicateMember, start));
            }
        }
        if self.token() != b':' {
            return Err(no_end(self.bytes, self.at, b'}'));
        }
        self.at = self.at.wrapping_add(1);
        Ok(expected)
    }

    /// Reads a name; gives its key.
    #[inline(always)]
    fn name_string(&mut self) -> Result<u64, Fault> {
        let from = self.at.wrapping_add(1);
        let first = word::load(self.bytes, from);
        let marks = word::ends_plain(first);
        let length = word::first(marks);
        if marks != 0 && length <= EXACT && self.bytes.get(from.wrapping_add(length)) == Some(&b'"') {
            self.leaf(Tag::Plain, from.wrapping_add(length).wrapping_add(1));
            return Ok(exact_key(first, length));
        }
        let node = self.used;
        self.string()?;
        let strings = Strings { text: self.bytes, scratch: self.scratch, nodes: &self.nodes };
        Ok(self.names.key(strings.get(node)))
    }

    #[inline(always)]
    fn string(&mut self) -> Result<(), Fault> {
        let from = self.at.wrapping_add(1);
        let end = string::plain(self.bytes, from);
        if self.bytes.get(end) == Some(&b'"') {
            self.leaf(Tag::Plain, end.wrapping_add(1));
            return Ok(());
        }
        let start = self.scratch.len();
        let end = string::decode(self.bytes, from, end, self.scratch)?.wrapping_add(1);
        let length = self.scratch.len().wrapping_sub(start);
        self.push(Node::new(Tag::Decoded, self.at..end, length, start));
        self.at = end;
        Ok(())
    }

    /// Whether `word` stands here. What may follow it is checked as what follows any value.
    #[inline(always)]
    fn stands(&self, word: &[u8]) -> bool {
        self.bytes.get(self.at..self.at.wrapping_add(word.len())) == Some(word)
    }

    #[inline(always)]
    fn leaf(&mut self, tag: Tag, end: usize) {
        self.push(Node::new(tag, self.at..end, 0, 0));
        self.at = end;
    }

    #[inline(always)]
    fn push(&mut self, node: Node) {
        if self.used >= self.nodes.len() {
            // Moved in and out: a reference would keep the vector's fields out of registers.
            self.nodes = grown(core::mem::take(&mut self.nodes));
        }
        if let Some(place) = self.nodes.get_mut(self.used) {
            *place = node;
        }
        self.used = self.used.wrapping_add(1);
    }

    /// Skips blanks; gives the byte behind them, or [`END`].
    #[inline(always)]
    fn token(&mut self) -> u8 {
        match self.bytes.get(self.at) {
            Some(&byte) if byte > b' ' => byte,
            _ => {
                self.at = behind_blanks(self.bytes, self.at);
                self.bytes.get(self.at).copied().unwrap_or(END)
            }
        }
    }

    #[inline(always)]
    fn fault(&self, reason: Reason) -> Fault {
        Fault::new(reason, self.at)
    }
}

#[cold]
#[inline(never)]
fn grown(mut nodes: Vec<Node>) -> Vec<Node> {
    const FIRST: usize = 256;
    nodes.resize(nodes.len().saturating_mul(2).max(FIRST), Node::default());
    nodes
}

/// The index of the first byte at or behind `at` that is no blank. Most blanks are one space, or a line
/// feed and an indentation.
#[inline(always)]
fn behind_blanks(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(at) {
        at = word::run(bytes, at.wrapping_add(1), word::ends_spaces);
    }
    at
}

/// Whether the text at `at` is that of the string `model`, quotes included.
#[inline(always)]
fn same(bytes: &[u8], at: usize, model: Node) -> bool {
    let span = model.span();
    let length = span.len();
    if length <= 8 {
        let unused = 64_u32.wrapping_sub(narrow(length).wrapping_mul(8));
        let difference = word::load(bytes, at) ^ word::load(bytes, span.start);
        return difference.wrapping_shl(unused) == 0;
    }
    if length <= 16 {
        let to_tail = length.wrapping_sub(8);
        return word::load(bytes, at) == word::load(bytes, span.start)
            && word::load(bytes, at.wrapping_add(to_tail))
                == word::load(bytes, span.start.wrapping_add(to_tail));
    }
    bytes.get(at..at.wrapping_add(length)) == bytes.get(span)
}

/// Why no value begins here, in what `closing` ends.
#[cold]
#[inline(never)]
fn no_value(bytes: &[u8], at: usize, closing: u8) -> Fault {
    if closing == END {
        return Fault::new(Reason::JsonNoise, at);
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let literal = [&b"true"[..], b"false", b"null"].into_iter().find(|word| word.first() == rest.first());
    if let Some(word) = literal {
        let alike = word.iter().zip(rest).take_while(|(left, right)| left == right).count();
        let reason = if alike == rest.len() { Reason::JsonTruncated } else { Reason::JsonSyntax };
        return Fault::new(reason, at.saturating_add(alike));
    }
    let reason = match rest {
        [] => Reason::JsonTruncated,
        [b'+' | b'.', ..] => Reason::JsonNumberSyntax,
        _ if rest.starts_with(b"NaN") || rest.starts_with(b"Infinity") => Reason::JsonNumberSyntax,
        _ => Reason::JsonSyntax,
    };
    Fault::new(reason, at)
}

/// Why what begins like a number is none, in what `closing` ends.
#[cold]
#[inline(never)]
fn no_number(at: usize, closing: u8, fault: Fault) -> Fault {
    if closing == END && fault.reason() != Reason::JsonNumberRange {
        Fault::new(Reason::JsonNoise, at)
    } else {
        fault
    }
}

/// Why what is expected behind a value or in an object does not stand here, in what `closing` ends.
#[cold]
#[inline(never)]
fn no_end(bytes: &[u8], at: usize, closing: u8) -> Fault {
    let before = bytes.get(..at).unwrap_or_default();
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    match bytes.get(at) {
        None => Fault::new(Reason::JsonTruncated, at),
        // A longer word that begins like `true`, `false` or `null`.
        next if closing == END && is_word(next) && is_word(before.last()) => {
            let blanks = behind_blanks(bytes, 0);
            Fault::new(Reason::JsonNoise, blanks)
        }
        Some(_) if closing == END => Fault::new(Reason::JsonTrailingData, at),
        Some(_) => Fault::new(Reason::JsonSyntax, at),
    }
}

#[cfg(test)]
mod tests;
