//! Strings: where they end, and what their escapes mean.
//!
//! Belongs here: RFC 8259 section 7, whole surrogate pairs.
//! Does not belong here: names and duplicates.

use super::parser::Fault;
use super::word;
use crate::Reason;

/// Reads on, in a string whose text begins at `from`, at the byte at `at` that ends its first plain run.
/// Appends the whole decoded text to `scratch`; gives the index of the closing quote.
#[inline(never)]
pub(super) fn decode(bytes: &[u8], from: usize, at: usize, scratch: &mut Vec<u8>) -> Result<usize, Fault> {
    scratch.extend_from_slice(bytes.get(from..at).unwrap_or_default());
    let mut at = at;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at),
            Some(b'\\') => at = escape(bytes, at, scratch)?,
            Some(_) => return Err(Fault::new(Reason::JsonSyntax, at)),
            None => return Err(Fault::new(Reason::FramingNewlineInString, bytes.len())),
        }
        at = copy_plain(bytes, at, scratch);
    }
}

/// Copies the plain run at `at`; gives the index behind it. Word by word: most runs are short.
#[inline(always)]
fn copy_plain(bytes: &[u8], mut at: usize, scratch: &mut Vec<u8>) -> usize {
    loop {
        let text = word::load(bytes, at);
        let marks = word::ends_plain(text);
        let length = if marks == 0 { 8 } else { word::first(marks) };
        scratch.extend_from_slice(&text.to_le_bytes());
        scratch.truncate(scratch.len().wrapping_sub(8).wrapping_add(length));
        at = at.wrapping_add(length);
        if marks != 0 {
            return at;
        }
    }
}

/// The index of the first quote, backslash or control byte at or behind `from`, or of the end.
#[inline(always)]
pub(super) fn plain(bytes: &[u8], from: usize) -> usize {
    let marks = word::ends_plain(word::load(bytes, from));
    if marks != 0 {
        return from.wrapping_add(word::first(marks));
    }
    let second = from.wrapping_add(8);
    let marks = word::ends_plain(word::load(bytes, second));
    if marks != 0 {
        return second.wrapping_add(word::first(marks));
    }
    plain_long(bytes, second.wrapping_add(8))
}

#[inline(never)]
fn plain_long(bytes: &[u8], from: usize) -> usize {
    /// Words looked at before the search goes on by wider strides.
    const SHORT: usize = 6;
    let mut at = from;
    for _ in 0..SHORT {
        let marks = word::ends_plain(word::load(bytes, at));
        if marks != 0 {
            return at.wrapping_add(word::first(marks));
        }
        at = at.wrapping_add(8);
    }
    at = at.wrapping_add(plain_strides(bytes.get(at..).unwrap_or_default()));
    word::run(bytes, at, word::ends_plain)
}

/// How many bytes at the beginning are known to be plain: a whole number of strides.
#[inline(always)]
fn plain_strides(bytes: &[u8]) -> usize {
    const STRIDE: usize = 256;
    let mut rest = bytes;
    while let Some((stride, behind)) = rest.split_first_chunk::<STRIDE>() {
        // The least byte, and the least difference from a quote or a backslash: fewer vector
        // instructions than three comparisons of every byte.
        let lowest = stride.iter().fold(u8::MAX, |least, byte| least.min(*byte));
        let nearest = stride.iter().fold(u8::MAX, |least, byte| least.min(byte ^ b'"').min(byte ^ b'\\'));
        if lowest < 0x20 || nearest == 0 {
            break;
        }
        rest = behind;
    }
    bytes.len().saturating_sub(rest.len())
}

/// Appends what the escape at `at` stands for; gives the index behind it.
#[inline(always)]
fn escape(bytes: &[u8], at: usize, scratch: &mut Vec<u8>) -> Result<usize, Fault> {
    let letter_at = at.wrapping_add(1);
    match bytes.get(letter_at) {
        Some(b'u') => unicode(bytes, at, scratch),
        Some(&letter) => match MEANINGS.get(usize::from(letter)).copied().unwrap_or_default() {
            0 => Err(Fault::new(Reason::JsonEscape, letter_at)),
            meaning => {
                scratch.push(meaning);
                Ok(letter_at.wrapping_add(1))
            }
        },
        None => Err(Fault::new(Reason::FramingNewlineInString, bytes.len())),
    }
}

/// What a letter stands for behind a backslash; 0 for those that JSON does not have. A table, because
/// no branch predictor knows which escape comes next.
const MEANINGS: [u8; 256] = {
    let mut meanings = [0; 256];
    meanings[0x22] = b'"';
    meanings[0x5C] = b'\\';
    meanings[0x2F] = b'/';
    meanings[0x62] = 0x08;
    meanings[0x66] = 0x0C;
    meanings[0x6E] = b'\n';
    meanings[0x72] = b'\r';
    meanings[0x74] = b'\t';
    meanings
};

/// As [`escape`], for `\uXXXX` or a surrogate pair of two.
#[inline(always)]
fn unicode(bytes: &[u8], at: usize, scratch: &mut Vec<u8>) -> Result<usize, Fault> {
    let first = unit(bytes, at)?;
    let mut behind = at.wrapping_add(6);
    let character = match char::from_u32(first) {
        Some(character) => character,
        None => {
            let character = pair(bytes, at, first)?;
            behind = behind.wrapping_add(6);
            character
        }
    };
    scratch.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    Ok(behind)
}

/// The character of the surrogate pair at `at`, whose first unit is `first`.
#[inline(never)]
fn pair(bytes: &[u8], at: usize, first: u32) -> Result<char, Fault> {
    let lone = Fault::new(Reason::JsonLoneSurrogate, at);
    if !(0xD800..0xDC00).contains(&first) {
        return Err(lone);
    }
    let second_at = at.wrapping_add(6);
    match bytes.get(second_at..).unwrap_or_default() {
        [] | [b'\\'] => return Err(Fault::new(Reason::FramingNewlineInString, bytes.len())),
        [b'\\', b'u', ..] => {}
        _ => return Err(lone),
    }
    let second = unit(bytes, second_at)?;
    if !(0xDC00..0xE000).contains(&second) {
        return Err(lone);
    }
    let code = 0x1_0000_u32.wrapping_add((first & 0x3FF) << 10).wrapping_add(second & 0x3FF);
    char::from_u32(code).ok_or(lone)
}

/// The UTF-16 code unit of the `\uXXXX` at `at`.
#[inline(always)]
fn unit(bytes: &[u8], at: usize) -> Result<u32, Fault> {
    const ONES: u32 = u32::from_be_bytes([1; 4]);
    let digits_at = at.wrapping_add(2);
    match bytes.get(digits_at..).and_then(|rest| rest.first_chunk::<4>()) {
        Some(digits) if digits.iter().fold(true, |all, digit| all & digit.is_ascii_hexdigit()) => {
            let digits = u32::from_be_bytes(*digits);
            // Of letters, bit 6 is set and the low bits count from 1.
            let nibbles = (digits & (ONES * 0x0F)).wrapping_add(((digits >> 6) & ONES).wrapping_mul(9));
            let pairs = (nibbles | (nibbles >> 4)) & 0x00FF_00FF;
            Ok((pairs | (pairs >> 8)) & 0xFFFF)
        }
        _ => Err(no_unit(bytes, digits_at)),
    }
}

/// Why there are no four hexadecimal digits at `at`.
#[cold]
#[inline(never)]
fn no_unit(bytes: &[u8], at: usize) -> Fault {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.iter().position(|byte| !byte.is_ascii_hexdigit()) {
        Some(wrong) => Fault::new(Reason::JsonEscape, at.saturating_add(wrong)),
        None => Fault::new(Reason::FramingNewlineInString, bytes.len()),
    }
}
