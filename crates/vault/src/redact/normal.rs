//! Text as a reader would take it. Belongs here: undoing escapes, at any depth, and leaving out
//! what is not seen; where in the source each byte comes from. Must not: know secrets, or search.
//!
//! One pass with a stack: a byte goes onto it, and where the top of the stack is an escape, that is
//! replaced by what it stands for, which may complete another escape. So `%252F`, `%2F` and `/` are
//! one, and so are the spellings of a writer that escapes more, or less, than it must: listing
//! those would need one pattern for each subset of the characters. Nested escapes are undone
//! further than any one reader would; the same is done to the secrets that are searched for.
//!
//! Undone: `%XX`; `=XX` for what quoted-printable must encode (RFC 2045 section 6.7); a backslash,
//! with the letters of JSON (RFC 8259 section 7), `\xXX`, and before any other character, as a shell
//! quotes it; character references (decimal, hexadecimal, and the five names of XML).
//!
//! Left out: the control sequences of a terminal (ECMA-48: `ESC [` to its final byte, `ESC (` and one
//! byte), control characters, characters that show nothing; and in [`Blanks::Dropped`] white space.

use zeroize::Zeroizing;

/// Whether white space is text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Blanks {
    Kept,
    Dropped,
}

/// What there is to do for a view of some bytes.
#[derive(Clone, Copy)]
pub(super) struct Contents(u8);

impl Contents {
    pub(super) fn of(source: &[u8]) -> Self {
        Self(source.iter().fold(0, |all, byte| all | class(*byte)))
    }

    /// Whether the view with white space kept may be another text than its source.
    pub(super) fn escapes(self) -> bool {
        self.0 & (CONTROL | MARK | LEAD) != 0
    }

    /// Whether the view with white space dropped may be another text than its source.
    pub(super) fn escapes_or_blanks(self) -> bool {
        self.0 != PLAIN
    }
}

/// Source bytes, as a reader would take them.
pub(super) struct View {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    /// From which of `bytes` on their source ends how much further right than they do.
    moves: Vec<(usize, usize)>,
    /// Before which of `bytes` something was left out, and where in the source that ends.
    hidden: Vec<(usize, usize)>,
}

impl View {
    pub(super) fn new(source: &[u8], blanks: Blanks) -> Self {
        let mut builder = Builder {
            view: Self {
                // A view is never longer than its source, so it is never moved and left behind.
                bytes: Zeroizing::new(Vec::with_capacity(source.len())),
                moves: Vec::new(),
                hidden: Vec::new(),
            },
            special: CONTROL | MARK | LEAD | if blanks == Blanks::Dropped { BLANK } else { 0 },
            blanks,
            terminal: Terminal::Text,
            alert: 0,
        };
        let mut end: usize = 0;
        let mut rest = source;
        while !rest.is_empty() {
            let (run, after) = rest.split_at_checked(builder.plain_run(rest)).unwrap_or((rest, &[]));
            if !run.is_empty() {
                builder.view.append(run, end.saturating_add(1));
                end = end.saturating_add(run.len());
            }
            let Some((&byte, after)) = after.split_first() else { break };
            end = end.saturating_add(1);
            builder.take(byte, end);
            rest = after;
        }
        builder.view
    }

    /// Where the source of the view's byte at `at` begins, with what was left out before it.
    pub(super) fn source_start(&self, at: usize) -> usize {
        at.checked_sub(1).map_or(0, |before| self.source_end(before))
    }

    /// Where the source of the view's byte at `at` ends.
    pub(super) fn source_end(&self, at: usize) -> usize {
        let after = self.moves.partition_point(|(from, _)| *from <= at);
        let moved = after.checked_sub(1).and_then(|last| self.moves.get(last));
        at.saturating_add(1).saturating_add(moved.map_or(0, |(_, by)| *by))
    }

    /// Where the source of the view's byte at `at` ends, with what was left out after it.
    pub(super) fn source_end_with_hidden(&self, at: usize) -> usize {
        let next = at.saturating_add(1);
        let found = self.hidden.binary_search_by_key(&next, |(before, _)| *before).ok();
        let hidden = found.and_then(|found| self.hidden.get(found)).map_or(0, |(_, end)| *end);
        self.source_end(at).max(hidden)
    }

    fn hide(&mut self, end: usize) {
        let at = self.bytes.len();
        match self.hidden.last_mut() {
            Some((before, last)) if *before == at => *last = end,
            _ => self.hidden.push((at, end)),
        }
    }

    /// Appends bytes that follow each other in the source; that of the first ends at `end`.
    fn append(&mut self, bytes: &[u8], end: usize) {
        let at = self.bytes.len();
        let by = end.saturating_sub(at).saturating_sub(1);
        if self.moves.last().map_or(0, |(_, last)| *last) != by {
            self.moves.push((at, by));
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn pop(&mut self, count: usize) {
        let left = self.bytes.len().saturating_sub(count);
        self.bytes.truncate(left);
        while self.moves.last().is_some_and(|(from, _)| *from >= left) {
            self.moves.pop();
        }
        while self.hidden.last().is_some_and(|(before, _)| *before > left) {
            self.hidden.pop();
        }
    }
}

/// The bytes of the view with white space dropped. Where nothing but white space is left out, this is quicker than the
/// view.
pub(super) fn without_blanks(source: &[u8], contents: Contents) -> Zeroizing<Vec<u8>> {
    if contents.escapes() {
        return View::new(source, Blanks::Dropped).bytes;
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(source.len()));
    for run in source.split(|byte| class(*byte) == BLANK) {
        bytes.extend_from_slice(run);
    }
    bytes
}

// Classes of bytes, to be added up.
const PLAIN: u8 = 0;
const BLANK: u8 = 1;
/// A control character, DEL or ESC.
const CONTROL: u8 = 2;
/// Begins an escape.
const MARK: u8 = 4;
/// Begins a character that may show nothing, or be white space.
const LEAD: u8 = 8;

fn class(byte: u8) -> u8 {
    CLASSES.get(usize::from(byte)).copied().unwrap_or(PLAIN)
}

static CLASSES: [u8; 256] = {
    let mut classes = [PLAIN; 256];
    let mut rest: &mut [u8] = &mut classes;
    let mut byte: u8 = 0;
    while let Some((class, after)) = rest.split_first_mut() {
        *class = match byte {
            b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => BLANK,
            0..=0x1f | 0x7f => CONTROL,
            b'%' | b'\\' | b'&' | b'=' => MARK,
            // As far as `shows_nothing` and `char::is_whitespace` need; the others begin letters.
            0xc2 | 0xcd | 0xd8 | 0xdb | 0xdc | 0xe1..=0xe3 | 0xef | 0xf0 | 0xf3 => LEAD,
            _ => PLAIN,
        };
        byte = byte.wrapping_add(1);
        rest = after;
    }
    classes
};

/// Where in a control sequence of a terminal the next byte stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Terminal {
    Text,
    Escape,
    /// After `ESC [`, and how many more parameter bytes are believed.
    Sequence(u8),
    /// After `ESC (` or `ESC )`.
    Designation,
}

/// No escape that is undone is longer.
const LONGEST_ESCAPE: usize = 12;

/// How many more bytes may belong to what this one begins.
fn bytes_to_come(byte: u8) -> usize {
    match class(byte) {
        LEAD => 3,
        MARK => match byte {
            b'&' => LONGEST_ESCAPE.saturating_sub(1),
            b'\\' => 5,
            _ => 2,
        },
        _ => 0,
    }
}

struct Builder {
    view: View,
    blanks: Blanks,
    /// The classes of bytes that do not simply go to the view.
    special: u8,
    terminal: Terminal,
    /// How many more bytes may complete an escape or a character that was begun.
    alert: usize,
}

impl Builder {
    /// How many of the first bytes of `rest` go to the view as they are.
    fn plain_run(&self, rest: &[u8]) -> usize {
        if self.alert > 0 || self.terminal != Terminal::Text {
            return 0;
        }
        rest.iter().position(|byte| class(*byte) & self.special != 0).unwrap_or(rest.len())
    }

    fn take(&mut self, byte: u8, end: usize) {
        let mut next = Some(byte);
        // Each round but the first takes at least two bytes from the stack and gives one.
        while let Some(byte) = next {
            next = self.step(byte, end);
        }
    }

    /// Takes one byte; gives the one that an escape it completed stands for.
    fn step(&mut self, byte: u8, end: usize) -> Option<u8> {
        let class = class(byte);
        if (class == CONTROL || self.terminal != Terminal::Text) && self.is_of_terminal(byte) {
            self.view.hide(end);
            return None;
        }
        if class == CONTROL || (class == BLANK && self.blanks == Blanks::Dropped) {
            self.view.hide(end);
            return None;
        }
        self.view.append(&[byte], end);
        let decoded = if self.alert == 0 { None } else { self.completed(byte, end) };
        self.alert = match decoded {
            Some(_) => self.pending(),
            None => self.alert.saturating_sub(1).max(bytes_to_come(byte)),
        };
        decoded
    }

    /// How many more bytes may complete what was begun, as the stack is.
    fn pending(&self) -> usize {
        let from = self.view.bytes.len().saturating_sub(LONGEST_ESCAPE);
        let tail = self.view.bytes.get(from..).unwrap_or_default().iter().rev().enumerate();
        tail.map(|(since, byte)| bytes_to_come(*byte).saturating_sub(since)).max().unwrap_or(0)
    }

    /// The byte that an escape stands for which `byte`, the top of the stack, completes.
    fn completed(&mut self, byte: u8, end: usize) -> Option<u8> {
        if let Some(decoded) = self.backslash(byte) {
            return Some(decoded);
        }
        match byte {
            b';' => self.reference(end),
            b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => self.digits(end),
            0x80..=0xbf => {
                self.leave_out_unseen(end);
                None
            }
            _ => None,
        }
    }

    /// Whether `byte` belongs to a control sequence.
    fn is_of_terminal(&mut self, byte: u8) -> bool {
        let (next, taken) = match (self.terminal, byte) {
            (_, 0x1b) => (Terminal::Escape, true),
            (Terminal::Escape, b'[') => (Terminal::Sequence(32), true),
            (Terminal::Escape, b'(' | b')') => (Terminal::Designation, true),
            (Terminal::Sequence(left @ 1..), 0x20..=0x3f) => {
                (Terminal::Sequence(left.saturating_sub(1)), true)
            }
            (Terminal::Sequence(_), 0x40..=0x7e) | (Terminal::Designation, 0x30..=0x7e) => {
                (Terminal::Text, true)
            }
            _ => (Terminal::Text, false),
        };
        self.terminal = next;
        taken
    }

    /// The byte `back` places from the top of the stack; the top is 1.
    fn top(&self, back: usize) -> Option<u8> {
        let at = self.view.bytes.len().checked_sub(back)?;
        self.view.bytes.get(at).copied()
    }

    fn pop(&mut self, count: usize) {
        self.view.pop(count);
    }

    /// `byte` is the top. `\u` and `\x` wait for their digits; of `\\` and `\%` the second byte may begin an
    /// escape, and the backslash belongs to what that stands for.
    fn backslash(&mut self, byte: u8) -> Option<u8> {
        if self.top(2) != Some(b'\\') || matches!(byte, b'u' | b'x' | b'%' | b'\\') {
            return None;
        }
        self.pop(2);
        Some(match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 0x08,
            b'f' => 0x0c,
            other => other,
        })
    }

    /// A hexadecimal digit is the top.
    fn digits(&mut self, end: usize) -> Option<u8> {
        let pair = [self.top(2)?, self.top(1)?];
        let value = u8::try_from(hexadecimal(&pair)?).ok()?;
        let capital = !pair.iter().any(u8::is_ascii_lowercase);
        match (self.top(4), self.top(3)?) {
            (_, b'%') => self.pop(3),
            (_, b'=') if capital && (value == b'=' || value >= 0x80 || value <= b' ') => self.pop(3),
            (Some(b'\\'), b'x') => self.pop(4),
            _ => {
                if (self.top(6)?, self.top(5)?) == (b'\\', b'u') {
                    let code = hexadecimal(&[self.top(4)?, self.top(3)?, pair[0], pair[1]])?;
                    self.pop(6);
                    return self.character(code, end);
                }
                return None;
            }
        }
        Some(value)
    }

    /// `;` is the top.
    fn reference(&mut self, end: usize) -> Option<u8> {
        let from = self.view.bytes.len().saturating_sub(LONGEST_ESCAPE);
        let tail = self.view.bytes.get(from..)?;
        let start = tail.iter().rposition(|byte| *byte == b'&')?;
        let (name, length) = (tail.get(start..)?, tail.len().saturating_sub(start));
        let code = match name {
            b"&quot;" => u32::from(b'"'),
            b"&amp;" => u32::from(b'&'),
            b"&apos;" => u32::from(b'\''),
            b"&lt;" => u32::from(b'<'),
            b"&gt;" => u32::from(b'>'),
            [b'&', b'#', b'x' | b'X', digits @ .., b';'] => hexadecimal(digits)?,
            [b'&', b'#', digits @ .., b';'] => std::str::from_utf8(digits).ok()?.parse().ok()?,
            _ => return None,
        };
        self.pop(length);
        self.character(code, end)
    }

    /// Gives a character of one byte; puts any other onto the stack. The halves of a surrogate pair are
    /// kept as three bytes each until they meet.
    fn character(&mut self, code: u32, end: usize) -> Option<u8> {
        if code < 0x80 {
            return u8::try_from(code).ok();
        }
        // A backslash before it belongs to it, as `backslash` does for a byte.
        while self.top(1) == Some(b'\\') {
            self.pop(1);
        }
        let mut code = code;
        if let (0xdc00..=0xdfff, Some([0xed, second @ 0xa0..=0xaf, third])) = (code, self.last_three()) {
            let high = (u32::from(second & 0x0f) << 6) | u32::from(third & 0x3f);
            code = 0x1_0000_u32.saturating_add((high << 10) | (code & 0x3ff));
            self.pop(3);
        }
        let mut room = [0; 4];
        let encoded = match char::from_u32(code) {
            Some(character) => character.encode_utf8(&mut room).as_bytes(),
            None => {
                let [.., high, low] = code.to_be_bytes();
                room = [0xe0 | (high >> 4), 0x80 | ((high & 0x0f) << 2) | (low >> 6), 0x80 | (low & 0x3f), 0];
                room.get(..3).unwrap_or_default()
            }
        };
        // All of its bytes end where the escape does.
        for byte in encoded {
            self.view.append(&[*byte], end);
        }
        self.leave_out_unseen(end);
        None
    }

    fn last_three(&self) -> Option<[u8; 3]> {
        Some([self.top(3)?, self.top(2)?, self.top(1)?])
    }

    /// Takes a character off that shows nothing, or is white space that is dropped, once it is whole.
    fn leave_out_unseen(&mut self, end: usize) {
        let length = (1..=4_usize).find(|back| self.top(*back).is_some_and(|byte| byte >= 0xc0));
        let Some(length) = length else { return };
        let from = self.view.bytes.len().saturating_sub(length);
        let tail = self.view.bytes.get(from..).unwrap_or_default();
        let Some(character) = std::str::from_utf8(tail).ok().and_then(|text| text.chars().next()) else {
            return;
        };
        if shows_nothing(character) || (self.blanks == Blanks::Dropped && character.is_whitespace()) {
            self.pop(length);
            self.view.hide(end);
        }
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    let only_digits = !digits.is_empty() && digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| only_digits)?;
    u32::from_str_radix(text, 16).ok()
}

/// Characters outside ASCII without a glyph and without width: format characters (general category
/// Cf), variation selectors, fillers, control characters.
fn shows_nothing(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}'
        | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
    )
}
