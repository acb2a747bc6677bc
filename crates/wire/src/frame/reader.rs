//! Cuts pushed bytes into bounded UTF-8 lines, and says why a line is none.
//!
//! Belongs here: line ends, the length limit, bytes that no frame may hold, signs of another framing.
//! Does not belong here: I/O, JSON.
//!
//! What comes out depends on the bytes alone, never on how they were split into pushes. Where several
//! reasons apply to one line, the first of this list is given:
//!
//! 1. `framing-tls`: the line begins with 0x16 0x03 (given at once: a TLS hello need not hold an LF);
//! 2. `frame-unterminated`: the input ended before the LF;
//! 3. `framing-content-length`, `framing-http`: judged on the line, or on what the limit left of it;
//! 4. `frame-too-long`: given as soon as the limit is passed, before the LF;
//! 5. `frame-byte-order-mark` (that of UTF-8; those of UTF-16 and UTF-32 are not UTF-8 or hold NUL);
//! 6. `frame-not-utf8`;
//! 7. `frame-carriage-return`;
//! 8. `frame-control-byte`;
//! 9. `frame-blank`.

use core::fmt;
use core::ops::Range;

use super::scan;
use crate::{Limits, Reason, Refusal};

/// A buffer larger than this is given back once the line that needed it is done, and one that must
/// grow beyond it grows to its bound in one step, so that growing never holds two large buffers.
const RETAINED: usize = 1024 * 1024;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Record type 22 (handshake), major version 3: RFC 8446 section 5.1.
const TLS_HELLO: [u8; 2] = [0x16, 0x03];

/// The smallest limit: the length of the longest sign that must be seen before the limit is.
const MIN_FRAME: usize = TLS_HELLO.len();

/// Turns bytes, pushed as they come, into frames.
///
/// Without I/O: whoever reads the descriptor calls [`Reader::push`], then [`Reader::next`] until it
/// gives `None`, and so on; [`Reader::end`] once at the end of the input.
pub struct Reader {
    max_frame: usize,
    buffer: Vec<u8>,
    /// Where the line being read begins in `buffer`.
    start: usize,
    /// How far `buffer` is known to hold no LF; never before `start`.
    scanned: usize,
    /// The line given out or refused last, within `buffer`.
    last: Range<usize>,
    lines: u64,
    /// The line being read is refused already: its bytes are not kept.
    dropping: bool,
    ended: bool,
}

/// One line: bounded, valid UTF-8, not blank, without control bytes other than TAB, without its
/// line end. Only a [`Reader`] makes one.
#[derive(Clone, Copy)]
#[must_use = "a frame must be judged"]
pub struct Frame<'a> {
    text: &'a str,
    number: u64,
}

impl<'a> Frame<'a> {
    /// The line without its line end.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.text
    }

    /// The number of the line within the input, counted from 1.
    #[must_use]
    pub fn number(self) -> u64 {
        self.number
    }
}

impl fmt::Debug for Frame<'_> {
    /// Number and length only: lines hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frame").field("number", &self.number).field("length", &self.text.len()).finish()
    }
}

impl fmt::Debug for Reader {
    /// Counts only: lines hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("lines", &self.lines)
            .field("buffered", &self.buffer.len())
            .finish_non_exhaustive()
    }
}

/// What the buffered bytes of the line being read amount to.
enum Cut {
    /// No decision without more bytes.
    Pending,
    /// A whole line: `content` without its line end, the next line begins at `next`.
    Line { content: Range<usize>, next: usize },
    /// Refused before its LF was seen: `kept` is what a fingerprint is taken of.
    Early { kept: Range<usize>, refusal: Refusal },
}

impl Reader {
    /// A reader that bounds lines by `limits.max_frame` (at most [`Limits::MAX_FRAME_CEILING`]).
    #[must_use]
    pub fn new(limits: &Limits) -> Self {
        Self {
            max_frame: limits.max_frame.clamp(MIN_FRAME, Limits::MAX_FRAME_CEILING),
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            last: 0..0,
            lines: 0,
            dropping: false,
            ended: false,
        }
    }

    /// Takes the next bytes of the input, after [`Reader::next`] has given `None`.
    ///
    /// Copies them. Memory stays within `max_frame`, the length of `bytes` and a fixed 1 MiB.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start.min(self.buffer.len()));
        self.scanned = self.scanned.saturating_sub(self.start);
        self.start = 0;
        self.last = 0..0;
        let bytes = if self.dropping {
            match scan::position(bytes, |byte| byte == b'\n') {
                None => &[],
                Some(line_feed) => {
                    self.dropping = false;
                    bytes.get(line_feed.saturating_add(1)..).unwrap_or_default()
                }
            }
        } else {
            bytes
        };
        self.make_room(bytes.len());
        self.buffer.extend_from_slice(bytes);
    }

    /// Takes the end of the input: nothing may be pushed after it.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// The next line, if the bytes so far hold one: as a frame, or as the reason why it is none.
    ///
    /// # Errors
    /// The reasons of the frame door, in the order of precedence given in this module. The reader
    /// goes on behind the refused line; whether the session does is not its business.
    #[expect(
        clippy::should_implement_trait,
        reason = "an `Iterator` cannot lend: nothing may be pushed while a frame is judged"
    )]
    pub fn next(&mut self) -> Option<Result<Frame<'_>, Refusal>> {
        match self.cut() {
            Cut::Pending if self.ended => self.unterminated().map(Err),
            Cut::Pending => None,
            Cut::Early { kept, refusal } => {
                self.lines = self.lines.saturating_add(1);
                self.last = kept;
                self.drop_line();
                Some(Err(refusal))
            }
            Cut::Line { content, next } => {
                self.lines = self.lines.saturating_add(1);
                self.start = next;
                self.scanned = next;
                self.last = content;
                Some(judge(self.line(), self.max_frame).map(|text| Frame { text, number: self.lines }))
            }
        }
    }

    /// The bytes of the line given out or refused last, without its line end and at most `max_frame`
    /// of them (of a TLS hello, its first two), until the next push.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        self.buffer.get(self.last.clone()).unwrap_or_default()
    }

    /// How many lines were given out or refused: the number of the last one, counted from 1.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    fn cut(&mut self) -> Cut {
        let pending = self.buffer.get(self.start..).unwrap_or_default();
        let kept = |length: usize| self.start..self.start.saturating_add(length);
        if pending.starts_with(&TLS_HELLO) {
            return Cut::Early { kept: kept(TLS_HELLO.len()), refusal: Refusal::new(Reason::FramingTls, 0) };
        }
        let unscanned = self.buffer.get(self.scanned..).unwrap_or_default();
        let line_feed = scan::position(unscanned, |byte| byte == b'\n')
            .map(|found| self.scanned.saturating_sub(self.start).saturating_add(found));
        let line = match line_feed {
            Some(length) => pending.get(..length).unwrap_or_default(),
            None => pending,
        };
        let content = line.strip_suffix(b"\r").unwrap_or(line);
        if content.len() > self.max_frame {
            let head = content.get(..self.max_frame).unwrap_or_default();
            let refusal = other_framing(head).unwrap_or(Refusal::new(Reason::FrameTooLong, self.max_frame));
            return Cut::Early { kept: kept(self.max_frame), refusal };
        }
        let content = kept(content.len());
        match line_feed {
            Some(length) => Cut::Line { content, next: self.start.saturating_add(length).saturating_add(1) },
            None => {
                self.scanned = self.buffer.len();
                Cut::Pending
            }
        }
    }

    /// Goes behind the line being read, whose LF may not have come yet.
    fn drop_line(&mut self) {
        let rest = self.buffer.get(self.start..).unwrap_or_default();
        self.start = match scan::position(rest, |byte| byte == b'\n') {
            Some(line_feed) => self.start.saturating_add(line_feed).saturating_add(1),
            None => {
                self.dropping = true;
                self.buffer.len()
            }
        };
        self.scanned = self.start;
    }

    /// The refusal of a rest that no LF ends, once.
    fn unterminated(&mut self) -> Option<Refusal> {
        if self.start >= self.buffer.len() {
            return None;
        }
        self.lines = self.lines.saturating_add(1);
        self.last = self.start..self.buffer.len();
        self.start = self.buffer.len();
        self.scanned = self.start;
        Some(Refusal::new(Reason::FrameUnterminated, self.last.len()))
    }

    fn make_room(&mut self, more: usize) {
        let needed = self.buffer.len().saturating_add(more);
        if needed > self.buffer.capacity() {
            let bound = self.max_frame.saturating_add(more).saturating_add(1).max(needed);
            let wanted = if needed > RETAINED { bound } else { needed.next_power_of_two().min(bound) };
            self.buffer.reserve_exact(wanted.saturating_sub(self.buffer.len()));
        } else if self.buffer.capacity() > RETAINED && needed <= RETAINED {
            self.buffer.shrink_to(needed);
        }
    }
}

/// Judges one whole line that is within the limit.
fn judge(line: &[u8], max_frame: usize) -> Result<&str, Refusal> {
    debug_assert!(line.len() <= max_frame);
    if let Some(refusal) = other_framing(line) {
        return Err(refusal);
    }
    if line.starts_with(&BYTE_ORDER_MARK) {
        return Err(Refusal::new(Reason::FrameByteOrderMark, 0));
    }
    let text = match simdutf8::compat::from_utf8(line) {
        Ok(text) => text,
        Err(error) => return Err(Refusal::new(Reason::FrameNotUtf8, error.valid_up_to())),
    };
    if let Some(first) = scan::position(line, |byte| byte < 0x20 && byte != b'\t') {
        let carriage_return = scan::position(line, |byte| byte == b'\r');
        return Err(match carriage_return {
            Some(offset) => Refusal::new(Reason::FrameCarriageReturn, offset),
            None => Refusal::new(Reason::FrameControlByte, first),
        });
    }
    if line.iter().all(|byte| matches!(byte, b' ' | b'\t')) {
        return Err(Refusal::new(Reason::FrameBlank, 0));
    }
    Ok(text)
}

/// The refusal of a line that shows the peer to speak headers or HTTP.
fn other_framing(line: &[u8]) -> Option<Refusal> {
    // No JSON text begins with a letter but those of `true`, `false` and `null`.
    if !line.first().is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    let header = |name: &[u8]| {
        line.split_at_checked(name.len()).is_some_and(|(head, rest)| {
            let rest = rest.trim_ascii_start();
            head.eq_ignore_ascii_case(name) && rest.first() == Some(&b':')
        })
    };
    if header(b"content-length") || header(b"content-type") {
        return Some(Refusal::new(Reason::FramingContentLength, 0));
    }
    let mut words = line.splitn(3, |byte| *byte == b' ');
    let method = words.next().unwrap_or_default();
    let target = words.next().unwrap_or_default();
    let version = words.next().unwrap_or_default();
    // RFC 9112 section 3; a method is a token (RFC 9110 section 9.1), in practice upper case.
    let is_request = method.iter().all(|byte| byte.is_ascii_uppercase() || matches!(byte, b'-' | b'_'))
        && !target.is_empty()
        && version.starts_with(b"HTTP/");
    is_request.then(|| Refusal::new(Reason::FramingHttp, 0))
}

#[cfg(test)]
mod tests;
