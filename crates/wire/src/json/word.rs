//! Eight bytes of text at a time, in plain arithmetic on one machine word.
//!
//! Belongs here: loading words, finding the bytes that end a run of ordinary ones.
//! Does not belong here: what the bytes mean.
//!
//! A test of this kind sets the high bit of every byte it looks for, and may set, by borrow or carry,
//! those of bytes *after* the first one: only the lowest set bit means anything.

use super::tape::widen;

const ONES: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
const SPACES: u64 = u64::from_le_bytes([b' '; 8]);

/// The eight bytes at `at`, the first in the lowest place; zeros beyond the end of the text.
#[inline(always)]
pub(super) fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        Some(word) => u64::from_le_bytes(*word),
        None => load_tail(bytes, at),
    }
}

#[cold]
#[inline(never)]
fn load_tail(bytes: &[u8], at: usize) -> u64 {
    let rest = bytes.get(at..).unwrap_or_default();
    rest.iter().rev().fold(0, |word, &byte| (word << 8) | u64::from(byte))
}

/// Marks quotes, backslashes and control bytes.
#[inline(always)]
pub(super) const fn ends_plain(word: u64) -> u64 {
    const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
    let quotes = (word ^ QUOTES).wrapping_sub(ONES);
    let backslashes = (word ^ BACKSLASHES).wrapping_sub(ONES);
    let controls = word.wrapping_sub(SPACES);
    // The three bytes looked for are ASCII, and a byte of 0x80 or more stays one under the exclusive or.
    (quotes | backslashes | controls) & !word & HIGH
}

/// Marks what is not an ASCII digit.
#[inline(always)]
pub(super) const fn ends_digits(word: u64) -> u64 {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    const ABOVE_NINE: u64 = u64::from_le_bytes([0x80 - 10; 8]);
    let values = word ^ ZEROS;
    (values.wrapping_add(ABOVE_NINE) | values) & HIGH
}

/// Marks what is not a space.
#[inline(always)]
pub(super) const fn ends_spaces(word: u64) -> u64 {
    // The high bit of a byte plus 0x7F is set unless its low bits are all zero.
    const LOW: u64 = !HIGH;
    let others = word ^ SPACES;
    (((others & LOW).wrapping_add(LOW)) | others) & HIGH
}

/// The index of the first marked byte of a word in which some byte is marked.
#[inline(always)]
pub(super) fn first(marks: u64) -> usize {
    widen(marks.trailing_zeros() / 8)
}

/// The index of the first byte at or behind `from` that `ends` marks; every such test marks the zeros
/// beyond the end.
#[inline(always)]
pub(super) fn run(bytes: &[u8], from: usize, ends: impl Fn(u64) -> u64) -> usize {
    let mut at = from;
    loop {
        let marks = ends(load(bytes, at));
        if marks != 0 {
            return at.wrapping_add(first(marks));
        }
        at = at.wrapping_add(8);
    }
}

/// The index behind the digits that begin at `from`. As [`run`], without a branch on whether there are
/// more than eight, which nothing could predict.
#[inline(always)]
pub(super) fn digits(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    while let Some(words) = bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()) {
        let marks = ends_digits_16(u128::from_le_bytes(*words));
        if marks != 0 {
            return at.wrapping_add(widen(marks.trailing_zeros() / 8));
        }
        at = at.wrapping_add(16);
    }
    run(bytes, at, ends_digits)
}

#[inline(always)]
fn ends_digits_16(words: u128) -> u128 {
    const ZEROS: u128 = u128::from_le_bytes([b'0'; 16]);
    const ABOVE_NINE: u128 = u128::from_le_bytes([0x80 - 10; 16]);
    const HIGH: u128 = u128::from_le_bytes([0x80; 16]);
    let values = words ^ ZEROS;
    (values.wrapping_add(ABOVE_NINE) | values) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ends: impl Fn(u64) -> u64, wanted: impl Fn(u8) -> bool, ordinary: u8) {
        for byte in 0..=u8::MAX {
            for at in 0..8 {
                let mut bytes = [ordinary; 8];
                bytes[at] = byte;
                bytes[7] = if at < 7 { b'"' } else { byte };
                let marks = ends(u64::from_le_bytes(bytes));
                let found = (marks != 0).then(|| first(marks));
                assert_eq!(found, bytes.iter().position(|&byte| wanted(byte)), "{byte:#x} at {at}");
            }
        }
    }

    #[test]
    fn the_first_mark_is_the_first_byte_looked_for() {
        check(ends_plain, |byte| byte == b'"' || byte == b'\\' || byte < 0x20, b'a');
        check(ends_plain, |byte| byte == b'"' || byte == b'\\' || byte < 0x20, 0xFF);
        check(ends_plain, |byte| byte == b'"' || byte == b'\\' || byte < 0x20, b'!');
        check(ends_digits, |byte| !byte.is_ascii_digit(), b'9');
        check(ends_digits, |byte| !byte.is_ascii_digit(), b'0');
        check(ends_spaces, |byte| byte != b' ', b' ');
    }

    #[test]
    fn runs_end_at_the_end_of_the_text() {
        for length in 0..40 {
            assert_eq!(run(&vec![b'7'; length], 0, ends_digits), length);
            assert_eq!(run(&vec![b'a'; length], 0, ends_plain), length);
            assert_eq!(run(&vec![b' '; length], 0, ends_spaces), length);
        }
    }
}
