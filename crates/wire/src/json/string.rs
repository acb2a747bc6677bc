//! Strings: where they end, and what their escapes mean.
//!
//! Belongs here: RFC 8259 section 7, whole surrogate pairs.
//! Does not belong here: names and duplicates.

use super::parser::Fault;
use super::word;
use crate::Reason;
use crate::frame::scan::position;

/// Reads on, in a string whose text begins at `from`, at the backslash or other byte at `at` that ends
/// its first plain run. Appends the whole decoded text to `scratch`; gives the index of the closing quote.
#[inline(never)]
pub(super) fn decode(
    text: &str,
    from: usize,
    mut at: usize,
    scratch: &mut String,
) -> Result<usize, Fault> {
    let bytes = text.as_bytes();
    let mut plain_from = from;
    loop {
        match bytes.get(at) {
            Some(b'"') => {
                scratch.push_str(text.get(plain_from..at).unwrap_or_default());
                return Ok(at);
            }
            Some(b'\\') => {
                scratch.push_str(text.get(plain_from..at).unwrap_or_default());
                let (character, behind) = escape(bytes, at)?;
                scratch.push(character);
                plain_from = behind;
                at = plain(bytes, behind);
            }
            Some(_) => return Err(Fault::new(Reason::JsonSyntax, at)),
            None => return Err(Fault::new(Reason::FramingNewlineInString, bytes.len())),
        }
    }
}

/// The index of the first quote, backslash or control byte at or behind `from`, or of the end.
#[inline(always)]
pub(super) fn plain(bytes: &[u8], from: usize) -> usize {
    /// Words looked at before the search goes on by wider strides.
    const SHORT: usize = 4;
    let mut at = from;
    for _ in 0..SHORT {
        let marks = word::ends_plain(word::load(bytes, at));
        if marks != 0 {
            return at.wrapping_add(word::first(marks));
        }
        at = at.wrapping_add(8);
    }
    plain_long(bytes, at)
}

#[inline(never)]
fn plain_long(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    let ends = |byte: u8| byte == b'"' || byte == b'\\' || byte < 0x20;
    from.wrapping_add(position(rest, ends).unwrap_or(rest.len()))
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
