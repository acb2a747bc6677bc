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

/// Source bytes, as a reader would take them.
pub(super) struct View {
    pub(super) bytes: Zeroizing<Vec<u8>>,
    /// For each of `bytes`, where its source ends.
    ends: Vec<usize>,
}

/// Whether the view of `source` with white space kept is another text than `source`.
pub(super) fn differs(source: &[u8]) -> bool {
    source.iter().any(|byte| !matches!(class(*byte), Class::Plain | Class::Blank))
}

/// Whether there is white space in ASCII. Every other kind makes [`differs`] true.
pub(super) fn has_blanks(source: &[u8]) -> bool {
    source.iter().any(|byte| class(*byte) == Class::Blank)
}

impl View {
    pub(super) fn new(source: &[u8], blanks: Blanks) -> Self {
        let mut builder = Builder {
            view: Self {
                // A view is never longer than its source, so it is never moved and left behind.
                bytes: Zeroizing::new(Vec::with_capacity(source.len())),
                ends: Vec::with_capacity(source.len()),
            },
            blanks,
            terminal: Terminal::Text,
            alert: 0,
        };
        let mut end: usize = 0;
        let mut rest = source;
        while let Some((&byte, after)) = rest.split_first() {
            let plain = builder.plain_run(rest);
            if plain == 0 {
                end = end.saturating_add(1);
                builder.take(byte, end);
                rest = after;
                continue;
            }
            let (run, after) = rest.split_at_checked(plain).unwrap_or((rest, &[]));
            builder.view.bytes.extend_from_slice(run);
            let next = end.saturating_add(plain);
            builder.view.ends.extend(end.saturating_add(1)..=next);
            end = next;
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
        self.ends.get(at).copied().unwrap_or(0)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Plain,
    Blank,
    /// A control character, DEL or ESC.
    Control,
    /// Begins an escape.
    Mark,
    /// A byte of a character outside ASCII.
    High,
}

const fn class(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' | b'\n' | 0x0b | 0x0c | b'\r' => Class::Blank,
        0..=0x1f | 0x7f => Class::Control,
        b'%' | b'\\' | b'&' | b'=' => Class::Mark,
        0x80..=0xff => Class::High,
        _ => Class::Plain,
    }
}

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

struct Builder {
    view: View,
    blanks: Blanks,
    terminal: Terminal,
    /// For how many more bytes an escape that was begun may be completed.
    alert: usize,
}

impl Builder {
    /// How many of the first bytes of `rest` go to the view as they are.
    fn plain_run(&self, rest: &[u8]) -> usize {
        if self.alert > 0 || self.terminal != Terminal::Text {
            return 0;
        }
        let special = |byte: &u8| match class(*byte) {
            Class::Plain => false,
            Class::Blank => self.blanks == Blanks::Dropped,
            Class::Control | Class::Mark | Class::High => true,
        };
        rest.iter().position(special).unwrap_or(rest.len())
    }

    fn take(&mut self, byte: u8, end: usize) {
        self.alert = self.alert.saturating_sub(1);
        let mut next = Some(byte);
        // Each round but the first takes at least two bytes from the stack and gives one.
        while let Some(byte) = next {
            next = self.step(byte, end);
        }
    }

    /// Takes one byte; gives the one that an escape it completed stands for.
    fn step(&mut self, byte: u8, end: usize) -> Option<u8> {
        if self.is_of_terminal(byte) {
            return None;
        }
        match class(byte) {
            Class::Control => return None,
            Class::Blank if self.blanks == Blanks::Dropped => return None,
            Class::Mark => self.alert = LONGEST_ESCAPE,
            Class::Plain | Class::Blank | Class::High => {}
        }
        self.view.bytes.push(byte);
        self.view.ends.push(end);
        let decoded = match byte {
            0x80..=0xff => {
                self.leave_out_unseen();
                None
            }
            _ => self.backslash(byte).or_else(|| match byte {
                b';' => self.reference(end),
                b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => self.digits(end),
                _ => None,
            }),
        };
        if decoded.is_some() {
            self.alert = LONGEST_ESCAPE;
        }
        decoded
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
        let left = self.view.bytes.len().saturating_sub(count);
        self.view.bytes.truncate(left);
        self.view.ends.truncate(left);
    }

    /// `byte` is the top. `\u` and `\x` wait for their digits; `\%` is no escape of a percent sign,
    /// but a backslash before one that begins.
    fn backslash(&mut self, byte: u8) -> Option<u8> {
        if self.top(2) != Some(b'\\') || matches!(byte, b'u' | b'x' | b'%') {
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
        self.view.bytes.extend_from_slice(encoded);
        self.view.ends.extend(encoded.iter().map(|_| end));
        self.leave_out_unseen();
        None
    }

    fn last_three(&self) -> Option<[u8; 3]> {
        Some([self.top(3)?, self.top(2)?, self.top(1)?])
    }

    /// Takes a character off that shows nothing, or is white space that is dropped, once it is whole.
    fn leave_out_unseen(&mut self) {
        let length = (1..=4_usize).find(|back| self.top(*back).is_some_and(|byte| byte >= 0xc0));
        let Some(length) = length else { return };
        let from = self.view.bytes.len().saturating_sub(length);
        let tail = self.view.bytes.get(from..).unwrap_or_default();
        let Some(character) = std::str::from_utf8(tail).ok().and_then(|text| text.chars().next()) else {
            return;
        };
        if shows_nothing(character) || (self.blanks == Blanks::Dropped && character.is_whitespace()) {
            self.pop(length);
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
