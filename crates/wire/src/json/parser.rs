//! The grammar: one pass over the text, one node a value and a name, no recursion.
//!
//! Belongs here: RFC 8259 sections 2 to 5, limits, the place and reason of the first wrong byte.
//! Does not belong here: what stands inside strings and numbers.
//!
//! Documents repeat their shapes: an object in an array mostly has the names of the one before it, in
//! the same order. So each object is compared with the one that stood in its place before, if any. As
//! long as its names are that one's, byte for byte, they are neither scanned nor looked up: names that
//! are all different there are all different here.

use super::names::{EXACT, Name, Names, Strings, exact_key};
use super::number;
use super::string;
use super::tape::{Node, Tag, Tape, behind, narrow, node};
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
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    tape: Tape,
    names: Names,
    open: Vec<Container>,
}

/// A container whose end has not been seen, or what holds the root.
#[derive(Clone, Copy, Debug)]
struct Container {
    holds: Holds,
    /// Its node.
    node: usize,
    /// Members so far.
    count: usize,
    /// Where its names begin.
    mark: usize,
    /// Of an array, the element before, or the one that stood in its place before; of an object, the
    /// name expected next. 0 if nothing is expected.
    expected: usize,
    /// Of an object that has kept to expectations so far, the end of the one it is compared with; else 0.
    expected_end: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holds {
    Root,
    Elements,
    Members,
}

impl Parser {
    /// A parser that bounds documents by `limits`.
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            limits: limits.clone(),
            tape: Tape::default(),
            names: Names::new(),
            open: Vec::new(),
        }
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

/// One parse. All its small methods are inlined into one function, so that its fields live in registers.
struct Run<'r> {
    text: &'r str,
    bytes: &'r [u8],
    at: usize,
    values: usize,
    nodes: Vec<Node>,
    /// How many of `nodes` are of this document.
    used: usize,
    scratch: &'r mut String,
    names: &'r mut Names,
    open: &'r mut Vec<Container>,
    limits: &'r Limits,
}

impl Run<'_> {
    #[inline(always)]
    fn document(&mut self) -> Result<(), Fault> {
        let mut top = Container {
            holds: Holds::Root,
            node: 0,
            count: 0,
            mark: 0,
            expected: 0,
            expected_end: 0,
        };
        // The node that stood before where the next value will stand, or 0.
        let mut expected = 0;
        'value: loop {
            let first = self.token();
            if self.values >= self.limits.max_nodes {
                return Err(self.fault(Reason::JsonNodes));
            }
            self.values = self.values.wrapping_add(1);
            match first {
                Some(b'"') => self.string()?,
                Some(bracket @ (b'{' | b'[')) => {
                    let holds = if bracket == b'{' {
                        Holds::Members
                    } else {
                        Holds::Elements
                    };
                    if self.open.len() >= self.limits.max_depth {
                        return Err(self.fault(Reason::JsonDepth));
                    }
                    self.open.push(top);
                    top = self.begin(holds, expected);
                    let closing = if bracket == b'{' { b'}' } else { b']' };
                    if self.token() != Some(closing) {
                        expected = self.member(&mut top)?;
                        continue 'value;
                    }
                    top = self.close(top);
                }
                Some(b'-' | b'0'..=b'9') => match number::scan(self.text, self.at) {
                    Ok(token) => self.leaf(
                        if token.integer {
                            Tag::Integer
                        } else {
                            Tag::Real
                        },
                        token.end,
                    ),
                    Err(fault) => return Err(self.no_number(top.holds, fault)),
                },
                Some(b't') if self.literal(b"true", Tag::True) => {}
                Some(b'f') if self.literal(b"false", Tag::False) => {}
                Some(b'n') if self.literal(b"null", Tag::Null) => {}
                _ => return Err(no_value(self.bytes, self.at, top.holds)),
            }
            loop {
                let next = self.token();
                match (top.holds, next) {
                    (Holds::Elements | Holds::Members, Some(b',')) => {
                        self.at = self.at.wrapping_add(1);
                        self.token();
                        expected = self.member(&mut top)?;
                        continue 'value;
                    }
                    (Holds::Members, Some(b'}')) | (Holds::Elements, Some(b']')) => {
                        top = self.close(top)
                    }
                    (Holds::Root, None) => return Ok(()),
                    (Holds::Root, Some(_)) => return Err(self.fault(Reason::JsonTrailingData)),
                    (_, None) => return Err(self.fault(Reason::JsonTruncated)),
                    (_, Some(_)) => return Err(self.fault(Reason::JsonSyntax)),
                }
            }
        }
    }

    /// Begins a container where `expected` stood before.
    #[inline(always)]
    fn begin(&mut self, holds: Holds, expected: usize) -> Container {
        let tag = if holds == Holds::Members {
            Tag::Object
        } else {
            Tag::Array
        };
        let model = if expected == 0 {
            Node::default()
        } else {
            node(&self.nodes, expected)
        };
        let (expected, expected_end) = if model.tag() == tag && model.count() > 0 {
            (expected.wrapping_add(1), model.link())
        } else {
            (0, 0)
        };
        let begun = Container {
            holds,
            node: self.used,
            count: 0,
            mark: self.names.mark(),
            expected,
            expected_end,
        };
        // Written again when its end is known.
        self.push(Node::new(tag, self.at..self.at, 0, 0));
        self.at = self.at.wrapping_add(1);
        begun
    }

    /// Ends a container at its closing bracket; gives the one around it.
    #[inline(always)]
    fn close(&mut self, top: Container) -> Container {
        self.at = self.at.wrapping_add(1);
        if let Some(begun) = self.nodes.get_mut(top.node) {
            *begun = Node::new(
                begun.tag(),
                begun.span().start..self.at,
                top.count,
                self.used,
            );
        }
        self.names.truncate(top.mark);
        // The stack holds what was pushed when this container began.
        self.open.pop().unwrap_or(top)
    }

    /// Reads what stands before a member's value, counts the member, gives what its value is compared with.
    #[inline(always)]
    fn member(&mut self, top: &mut Container) -> Result<usize, Fault> {
        if top.count >= self.limits.max_members {
            return Err(self.fault(Reason::JsonMembers));
        }
        let expected = if top.holds == Holds::Members {
            self.name(top)?
        } else {
            core::mem::replace(&mut top.expected, self.used)
        };
        top.count = top.count.wrapping_add(1);
        Ok(expected)
    }

    #[inline(always)]
    fn name(&mut self, top: &mut Container) -> Result<usize, Fault> {
        let start = self.at;
        let expected = if top.expected_end != 0 && top.expected < top.expected_end {
            let model = node(&self.nodes, top.expected);
            if model.tag() == Tag::Plain && same(self.bytes, start, model) {
                let length = model.span().len();
                self.leaf(Tag::Plain, start.wrapping_add(length));
                let value = top.expected.wrapping_add(1);
                top.expected = behind(&self.nodes, value);
                value
            } else {
                0
            }
        } else {
            0
        };
        if expected == 0 {
            if top.expected_end != 0 {
                self.remember(top)?;
            }
            match self.bytes.get(start) {
                Some(b'"') => {}
                None => return Err(self.fault(Reason::JsonTruncated)),
                Some(_) => return Err(self.fault(Reason::JsonSyntax)),
            }
            let node = self.used;
            let key = self.name_string()?;
            let name = Name {
                key,
                node,
                object: top.node,
                before: top.count,
            };
            let strings = Strings {
                text: self.bytes,
                scratch: self.scratch,
                nodes: &self.nodes,
            };
            if !self.names.insert(strings, top.mark, name) {
                return Err(Fault::new(Reason::JsonDuplicateMember, start));
            }
        }
        match self.token() {
            Some(b':') => self.at = self.at.wrapping_add(1),
            None => return Err(self.fault(Reason::JsonTruncated)),
            Some(_) => return Err(self.fault(Reason::JsonSyntax)),
        }
        Ok(expected)
    }

    /// Remembers the names of an object that departs from what was expected, which was not done so far.
    #[inline(always)]
    fn remember(&mut self, top: &mut Container) -> Result<(), Fault> {
        top.expected_end = 0;
        let strings = Strings {
            text: self.bytes,
            scratch: self.scratch,
            nodes: &self.nodes,
        };
        let mut name_node = top.node.wrapping_add(1);
        for before in 0..top.count {
            let name = Name {
                key: self.names.key(strings.get(name_node)),
                node: name_node,
                object: top.node,
                before,
            };
            // These are known to differ.
            self.names.insert(strings, top.mark, name);
            name_node = behind(&self.nodes, name_node.wrapping_add(1));
        }
        Ok(())
    }

    /// Reads a name; gives its key.
    #[inline(always)]
    fn name_string(&mut self) -> Result<u64, Fault> {
        let from = self.at.wrapping_add(1);
        let first = word::load(self.bytes, from);
        let marks = word::ends_plain(first);
        let length = word::first(marks);
        if marks != 0 && length <= EXACT && self.bytes.get(from.wrapping_add(length)) == Some(&b'"')
        {
            self.leaf(Tag::Plain, from.wrapping_add(length).wrapping_add(1));
            return Ok(exact_key(first, length));
        }
        let node = self.used;
        self.string()?;
        let strings = Strings {
            text: self.bytes,
            scratch: self.scratch,
            nodes: &self.nodes,
        };
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
        let end = string::decode(self.text, from, end, self.scratch)?.wrapping_add(1);
        let length = self.scratch.len().wrapping_sub(start);
        self.push(Node::new(Tag::Decoded, self.at..end, length, start));
        self.at = end;
        Ok(())
    }

    /// Whether `word` stands here, as a whole word; then it is read.
    #[inline(always)]
    fn literal(&mut self, word: &[u8], tag: Tag) -> bool {
        let end = self.at.wrapping_add(word.len());
        let stands = self.bytes.get(self.at..end) == Some(word)
            && !self.bytes.get(end).is_some_and(|&byte| is_word(byte));
        if stands {
            self.leaf(tag, end);
        }
        stands
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

    /// Skips blanks; gives the byte behind them.
    #[inline(always)]
    fn token(&mut self) -> Option<u8> {
        match self.bytes.get(self.at) {
            Some(&byte) if byte > b' ' => Some(byte),
            _ => {
                self.at = behind_blanks(self.bytes, self.at);
                self.bytes.get(self.at).copied()
            }
        }
    }

    #[inline(always)]
    fn fault(&self, reason: Reason) -> Fault {
        Fault::new(reason, self.at)
    }

    #[inline(always)]
    fn no_number(&self, holds: Holds, fault: Fault) -> Fault {
        if holds == Holds::Root && fault.reason() != Reason::JsonNumberRange {
            self.fault(Reason::JsonNoise)
        } else {
            fault
        }
    }
}

#[cold]
#[inline(never)]
fn grown(mut nodes: Vec<Node>) -> Vec<Node> {
    const FIRST: usize = 256;
    nodes.resize(nodes.len().saturating_mul(2).max(FIRST), Node::default());
    nodes
}

/// The index of the first byte at or behind `at` that is no blank.
#[inline(always)]
fn behind_blanks(bytes: &[u8], mut at: usize) -> usize {
    loop {
        match bytes.get(at) {
            Some(b' ') => at = word::run(bytes, at, word::ends_spaces),
            Some(b'\n' | b'\t' | b'\r') => at = at.wrapping_add(1),
            _ => return at,
        }
    }
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

/// Why no value begins here.
#[cold]
#[inline(never)]
fn no_value(bytes: &[u8], at: usize, holds: Holds) -> Fault {
    if holds == Holds::Root {
        return Fault::new(Reason::JsonNoise, at);
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let literal = [&b"true"[..], b"false", b"null"]
        .into_iter()
        .find(|word| word.first() == rest.first());
    if let Some(word) = literal {
        let alike = word
            .iter()
            .zip(rest)
            .take_while(|(left, right)| left == right)
            .count();
        let reason = if alike == rest.len() {
            Reason::JsonTruncated
        } else {
            Reason::JsonSyntax
        };
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

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests;
