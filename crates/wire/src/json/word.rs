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

/// How many bytes a [`Window`] judges.
pub(super) const WINDOW: u32 = 24;

/// A stretch of text, of whose bytes one bit each tells what they are.
pub(super) struct Window<'a> {
    bytes: &'a [u8; 32],
}

impl<'a> Window<'a> {
    /// The window that begins at `at`, unless the text ends first.
    #[inline(always)]
    pub(super) fn at(bytes: &'a [u8], at: usize) -> Option<Self> {
        Some(Self { bytes: bytes.get(at..)?.first_chunk()? })
    }

    /// The byte at `index`, counted modulo 32.
    #[inline(always)]
    pub(super) fn byte(&self, index: u32) -> u8 {
        self.bytes.get(widen(index % 32)).copied().unwrap_or_default()
    }

    /// The index of the first comma, or 32.
    #[inline(always)]
    pub(super) fn first_comma(&self) -> u32 {
        self.bits(ends_at_comma).trailing_zeros()
    }

    /// A bit for each byte that is no ASCII digit. Right up to the first byte of 0x80 or more, whose own bit
    /// is set.
    #[inline(always)]
    pub(super) fn others(&self) -> u32 {
        self.bits(ends_digits)
    }

    #[inline(always)]
    fn bits(&self, marks: impl Fn(u64) -> u64) -> u32 {
        let bits = |at| gather(marks(load(self.bytes, at)));
        bits(0) | bits(8) << 8 | bits(16) << 16
    }
}

/// Marks commas.
#[inline(always)]
const fn ends_at_comma(word: u64) -> u64 {
    const COMMAS: u64 = u64::from_le_bytes([b','; 8]);
    let others = word ^ COMMAS;
    others.wrapping_sub(ONES) & !others & HIGH
}

/// The marks of eight bytes as eight bits, the first byte's lowest.
#[inline(always)]
fn gather(marks: u64) -> u32 {
    // Each mark, moved to bit 0 of its byte, is multiplied to a place of its own in the highest byte.
    const PLACES: u64 = 0x0102_0408_1020_4080;
    let [.., gathered] = (marks >> 7).wrapping_mul(PLACES).to_le_bytes();
    u32::from(gathered)
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
    fn a_window_tells_each_byte() {
        let text = "0,1-23456789.,e9,,+0123456789abcdef";
        let window = Window::at(text.as_bytes(), 0).unwrap();
        for (at, byte) in text.bytes().take(24).enumerate() {
            assert_eq!(window.others() >> at & 1 == 1, !byte.is_ascii_digit(), "{at}");
            assert_eq!(window.byte(at as u32), byte);
        }
        assert_eq!(window.others() >> 24, 0);
        assert_eq!(window.first_comma(), 1);
        assert_eq!(Window::at(&[b'0'; 64], 0).unwrap().first_comma(), 32);
        for at in 0..24 {
            let mut bytes = [b'-'; 32];
            bytes[at] = b',';
            assert_eq!(Window::at(&bytes, 0).unwrap().first_comma() as usize, at);
        }
        assert!(Window::at(text.as_bytes(), 4).is_none());
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
