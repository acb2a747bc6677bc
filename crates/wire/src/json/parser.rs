//! The grammar: one pass over the text, one node a value and a name, no recursion.
//!
//! Belongs here: RFC 8259 sections 2 to 5, limits, the place and reason of the first wrong byte.
//! Does not belong here: what stands inside strings and numbers.

use super::names::{Name, Names};
use super::number;
use super::string::{self, Scanned};
use super::tape::{Node, Tag, Tape};
use super::value::Document;
use crate::frame::Frame;
use crate::{Limits, Reason, Refusal};

/// What is wrong with the text, and where: a refusal in the making.
pub(super) type Fault = Refusal;

/// Parses one text after the other, in buffers that are used again.
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    tape: Tape,
    names: Names,
    open: Vec<Container>,
}

/// A container whose end has not been seen.
#[derive(Clone, Copy, Debug)]
struct Container {
    /// Its node.
    node: usize,
    start: usize,
    /// Members so far.
    count: usize,
    /// Where its names begin.
    mark: usize,
    is_object: bool,
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
        self.tape.nodes.clear();
        self.tape.scratch.clear();
        self.names.clear();
        self.open.clear();
        Run {
            text,
            at: 0,
            values: 0,
            parser: self,
        }
        .document()?;
        Ok(Document::new(text, &self.tape))
    }
}

/// One parse.
struct Run<'t, 'p> {
    text: &'t str,
    at: usize,
    values: usize,
    parser: &'p mut Parser,
}

impl Run<'_, '_> {
    fn document(&mut self) -> Result<(), Fault> {
        let mut top: Option<Container> = None;
        loop {
            // A value, whose container (if any) has counted it.
            self.skip_blanks();
            self.count_value()?;
            if let Some(container) = self.value(top.is_none())? {
                if self
                    .parser
                    .open
                    .len()
                    .saturating_add(usize::from(top.is_some()))
                    >= self.parser.limits.max_depth
                {
                    return Err(self.fault_at(Reason::JsonDepth, container.start));
                }
                self.parser.open.extend(top);
                top = Some(container);
            }
            // What follows it, or what a container begins with.
            loop {
                self.skip_blanks();
                let Some(mut container) = top else {
                    return match self.peek() {
                        None => Ok(()),
                        Some(_) => Err(self.fault(Reason::JsonTrailingData)),
                    };
                };
                let is_first = self.parser.tape.nodes.len() == container.node.wrapping_add(1);
                match self.peek() {
                    None => return Err(self.fault(Reason::JsonTruncated)),
                    Some(b'}') if container.is_object => {}
                    Some(b']') if !container.is_object => {}
                    Some(b',') if !is_first => {
                        self.at = self.at.wrapping_add(1);
                        self.skip_blanks();
                        self.member(&mut container)?;
                        top = Some(container);
                        break;
                    }
                    Some(_) if is_first => {
                        self.member(&mut container)?;
                        top = Some(container);
                        break;
                    }
                    Some(_) => return Err(self.fault(Reason::JsonSyntax)),
                }
                self.at = self.at.wrapping_add(1);
                self.close(container);
                top = self.parser.open.pop();
            }
        }
    }

    /// Reads what stands before a member's value, and counts the member.
    fn member(&mut self, container: &mut Container) -> Result<(), Fault> {
        if container.count >= self.parser.limits.max_members {
            return Err(self.fault(Reason::JsonMembers));
        }
        if container.is_object {
            let start = self.at;
            match self.peek() {
                Some(b'"') => {}
                None => return Err(self.fault(Reason::JsonTruncated)),
                Some(_) => return Err(self.fault(Reason::JsonSyntax)),
            }
            self.string()?;
            let tape = &self.parser.tape;
            let node = tape.nodes.len().wrapping_sub(1);
            let name = Name {
                text: tape.string(self.text, tape.node(node)),
                node,
                object: container.node,
                before: container.count,
            };
            if !self
                .parser
                .names
                .insert(tape, self.text, container.mark, name)
            {
                return Err(self.fault_at(Reason::JsonDuplicateMember, start));
            }
            self.skip_blanks();
            match self.peek() {
                Some(b':') => self.at = self.at.wrapping_add(1),
                None => return Err(self.fault(Reason::JsonTruncated)),
                Some(_) => return Err(self.fault(Reason::JsonSyntax)),
            }
        }
        container.count = container.count.wrapping_add(1);
        Ok(())
    }

    /// Reads a value; of a container, its beginning.
    fn value(&mut self, is_root: bool) -> Result<Option<Container>, Fault> {
        match self.peek() {
            Some(b'"') => self.string()?,
            Some(b'{') => return Ok(Some(self.begin(true))),
            Some(b'[') => return Ok(Some(self.begin(false))),
            Some(b'-' | b'0'..=b'9') => match number::scan(self.text, self.at) {
                Ok(token) => {
                    let end = self.at.wrapping_add(token.length);
                    self.leaf(
                        if token.integer {
                            Tag::Integer
                        } else {
                            Tag::Real
                        },
                        end,
                    );
                }
                Err(fault) if is_root && fault.reason() != Reason::JsonNumberRange => {
                    return Err(self.fault(Reason::JsonNoise));
                }
                Err(fault) => return Err(fault),
            },
            Some(b't') => self.literal("true", Tag::True, is_root)?,
            Some(b'f') => self.literal("false", Tag::False, is_root)?,
            Some(b'n') => self.literal("null", Tag::Null, is_root)?,
            _ => return Err(self.no_value(is_root)),
        }
        Ok(None)
    }

    fn begin(&mut self, is_object: bool) -> Container {
        let start = self.at;
        self.at = self.at.wrapping_add(1);
        let node = self.parser.tape.nodes.len();
        // Its node is written when its end is known.
        self.parser
            .tape
            .nodes
            .push(Node::new(Tag::Null, start, start, 0, 0));
        Container {
            node,
            start,
            count: 0,
            mark: self.parser.names.mark(),
            is_object,
        }
    }

    fn close(&mut self, container: Container) {
        let tag = if container.is_object {
            Tag::Object
        } else {
            Tag::Array
        };
        let behind = self.parser.tape.nodes.len();
        if let Some(node) = self.parser.tape.nodes.get_mut(container.node) {
            *node = Node::new(tag, container.start, self.at, container.count, behind);
        }
        self.parser.names.truncate(container.mark);
    }

    fn string(&mut self) -> Result<(), Fault> {
        let from = self.at.wrapping_add(1);
        let scratch_from = self.parser.tape.scratch.len();
        match string::scan(self.text, from, &mut self.parser.tape.scratch)? {
            Scanned::Plain(length) => {
                self.leaf(Tag::Plain, from.wrapping_add(length).wrapping_add(1))
            }
            Scanned::Decoded(length) => {
                let end = from.wrapping_add(length);
                let decoded = self.parser.tape.scratch.len().wrapping_sub(scratch_from);
                self.parser.tape.nodes.push(Node::new(
                    Tag::Decoded,
                    self.at,
                    end,
                    decoded,
                    scratch_from,
                ));
                self.at = end;
            }
        }
        Ok(())
    }

    fn leaf(&mut self, tag: Tag, end: usize) {
        self.parser
            .tape
            .nodes
            .push(Node::new(tag, self.at, end, 0, 0));
        self.at = end;
    }

    fn literal(&mut self, word: &str, tag: Tag, is_root: bool) -> Result<(), Fault> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let same = rest
            .iter()
            .zip(word.as_bytes())
            .take_while(|(left, right)| left == right)
            .count();
        let follows = rest.get(same);
        if same == word.len() && !follows.is_some_and(|&byte| is_word(byte)) {
            self.leaf(tag, self.at.wrapping_add(same));
            return Ok(());
        }
        if is_root {
            return Err(self.fault(Reason::JsonNoise));
        }
        let reason = if follows.is_none() {
            Reason::JsonTruncated
        } else {
            Reason::JsonSyntax
        };
        Err(self.fault_at(reason, self.at.wrapping_add(same)))
    }

    /// Why no value begins here.
    #[cold]
    fn no_value(&self, is_root: bool) -> Fault {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let reason = match rest {
            _ if is_root => Reason::JsonNoise,
            [] => Reason::JsonTruncated,
            [b'+' | b'.', ..] => Reason::JsonNumberSyntax,
            _ if rest.starts_with(b"NaN") || rest.starts_with(b"Infinity") => {
                Reason::JsonNumberSyntax
            }
            _ => Reason::JsonSyntax,
        };
        self.fault(reason)
    }

    fn count_value(&mut self) -> Result<(), Fault> {
        if self.values >= self.parser.limits.max_nodes {
            return Err(self.fault(Reason::JsonNodes));
        }
        self.values = self.values.wrapping_add(1);
        Ok(())
    }

    fn skip_blanks(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let blanks = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
        self.at = self.at.wrapping_add(blanks);
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn fault(&self, reason: Reason) -> Fault {
        self.fault_at(reason, self.at)
    }

    fn fault_at(&self, reason: Reason, offset: usize) -> Fault {
        Fault::new(reason, offset)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests;
