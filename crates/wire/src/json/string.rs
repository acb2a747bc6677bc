//! Strings: where they end, and what their escapes mean.
//!
//! Belongs here: RFC 8259 section 7, whole surrogate pairs.
//! Does not belong here: names and duplicates.

use super::parser::Fault;
use crate::Reason;

/// A string read from behind its opening quote.
pub(super) enum Scanned {
    /// Its text is this many bytes, as they stand, and its closing quote follows.
    Plain(usize),
    /// Its text is in the scratch text; it takes this many bytes, the closing quote included.
    Decoded(usize),
}

/// Reads a string from behind its opening quote; what escapes mean is appended to `scratch`.
pub(super) fn scan(text: &str, from: usize, scratch: &mut String) -> Result<Scanned, Fault> {
    let mut plain_from = from;
    let mut at = from;
    let bytes = text.as_bytes();
    let mut decoded = false;
    loop {
        at = at.wrapping_add(plain_run(bytes.get(at..).unwrap_or_default()));
        match bytes.get(at) {
            Some(b'"') if !decoded => return Ok(Scanned::Plain(at.wrapping_sub(from))),
            Some(b'"') => {
                scratch.push_str(text.get(plain_from..at).unwrap_or_default());
                return Ok(Scanned::Decoded(at.wrapping_sub(from).wrapping_add(1)));
            }
            Some(b'\\') => {
                decoded = true;
                scratch.push_str(text.get(plain_from..at).unwrap_or_default());
                let (character, behind) = escape(bytes, at)?;
                scratch.push(character);
                at = behind;
                plain_from = behind;
            }
            Some(_) => return Err(Fault::new(Reason::JsonSyntax, at)),
            None => return Err(Fault::new(Reason::FramingNewlineInString, bytes.len())),
        }
    }
}

/// How many bytes come before the first quote, backslash or control byte.
fn plain_run(bytes: &[u8]) -> usize {
    /// Words looked at before the search goes on by wider strides.
    const SHORT: usize = 4;
    let mut run = 0_usize;
    let (words, _) = bytes.as_chunks::<8>();
    for word in words.iter().take(SHORT) {
        let special = special(u64::from_le_bytes(*word));
        if special != 0 {
            return run.wrapping_add(super::tape::widen(special.trailing_zeros() / 8));
        }
        run = run.wrapping_add(8);
    }
    let rest = bytes.get(run..).unwrap_or_default();
    let is_special = |byte: u8| byte == b'"' || byte == b'\\' || byte < 0x20;
    run.wrapping_add(crate::frame::scan::position(rest, is_special).unwrap_or(rest.len()))
}

/// Sets the high bit of the lowest byte that is a quote, a backslash or a control byte; bits above
/// the lowest set one mean nothing.
const fn special(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([0x01; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
    const SPACES: u64 = u64::from_le_bytes([0x20; 8]);
    let quotes = (word ^ QUOTES).wrapping_sub(ONES) & !(word ^ QUOTES);
    let backslashes = (word ^ BACKSLASHES).wrapping_sub(ONES) & !(word ^ BACKSLASHES);
    let controls = word.wrapping_sub(SPACES) & !word;
    (quotes | backslashes | controls) & HIGH
}

/// The character that the escape at `at` stands for, and where the text goes on.
fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), Fault> {
    let letter_at = at.wrapping_add(1);
    let character = match bytes.get(letter_at) {
        Some(&plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(bytes, at),
        Some(_) => return Err(Fault::new(Reason::JsonEscape, letter_at)),
        None => return Err(Fault::new(Reason::FramingNewlineInString, bytes.len())),
    };
    Ok((character, letter_at.wrapping_add(1)))
}

/// As [`escape`], for `\uXXXX` or a surrogate pair of two.
fn unicode(bytes: &[u8], at: usize) -> Result<(char, usize), Fault> {
    let first = unit(bytes, at)?;
    let behind_first = at.wrapping_add(6);
    if let Some(character) = char::from_u32(first) {
        return Ok((character, behind_first));
    }
    let lone = Fault::new(Reason::JsonLoneSurrogate, at);
    let is_high = (0xD800..0xDC00).contains(&first);
    match (
        bytes.get(behind_first),
        bytes.get(behind_first.wrapping_add(1)),
    ) {
        (None, _) | (Some(b'\\'), None) if is_high => {
            return Err(Fault::new(Reason::FramingNewlineInString, bytes.len()));
        }
        (Some(b'\\'), Some(b'u')) if is_high => {}
        _ => return Err(lone),
    }
    let second = unit(bytes, behind_first)?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(lone);
    }
    let code = 0x1_0000_u32
        .wrapping_add((first & 0x3FF) << 10)
        .wrapping_add(second & 0x3FF);
    match char::from_u32(code) {
        Some(character) => Ok((character, behind_first.wrapping_add(6))),
        None => Err(lone),
    }
}

/// The UTF-16 code unit of the `\uXXXX` at `at`.
fn unit(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    let digits_at = at.wrapping_add(2);
    let mut unit = 0_u32;
    for digit_at in digits_at..digits_at.wrapping_add(4) {
        let Some(&byte) = bytes.get(digit_at) else {
            return Err(Fault::new(Reason::FramingNewlineInString, bytes.len()));
        };
        let Some(digit) = char::from(byte).to_digit(16) else {
            return Err(Fault::new(Reason::JsonEscape, digit_at));
        };
        unit = (unit << 4) | digit;
    }
    Ok(unit)
}
