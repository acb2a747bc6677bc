//! Numbers: how they are written, and which of them 64 bits can hold.
//!
//! Belongs here: RFC 8259 section 6, the ranges, the exact text.
//! Does not belong here: which numbers a parameter may be.

use core::fmt;

use super::parser::Fault;
use super::tape::widen;
use super::word;
use crate::Reason;

/// A number as it was written: its text is exact, and fits i64 or u64 (integers) or a finite double.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Number<'a> {
    text: &'a str,
    integer: bool,
}

impl fmt::Debug for Number<'_> {
    /// Length only: numbers may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Number").field("integer", &self.integer).field("length", &self.text.len()).finish()
    }
}

impl<'a> Number<'a> {
    pub(super) fn new(text: &'a str, integer: bool) -> Self {
        Self { text, integer }
    }

    /// The number exactly as it was written.
    #[must_use]
    pub fn text(self) -> &'a str {
        self.text
    }

    /// Whether it was written without a fraction and without an exponent: `1`, not `1.0` or `1e0`.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.integer
    }

    /// Its value, if it was written as an integer that fits.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        if self.integer { self.text.parse().ok() } else { None }
    }

    /// Its value, if it was written as an integer that fits.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self.text {
            "-0" => Some(0),
            text if self.integer => text.parse().ok(),
            _ => None,
        }
    }

    /// The double nearest to its value.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        // The grammar of JSON numbers is within that of `f64`: this never fails.
        self.text.parse().unwrap_or(f64::NAN)
    }
}

/// Where a number ends, and whether it has neither fraction nor exponent.
pub(super) struct Token {
    pub(super) end: usize,
    pub(super) integer: bool,
}

/// Reads the number that begins at `from` with the byte `first`, a digit or a minus sign.
#[inline(always)]
pub(super) fn scan(text: &str, from: usize, first: u8) -> Result<Token, Fault> {
    /// Every integer of 18 digits fits i64.
    const SURE: usize = 18;
    let bytes = text.as_bytes();
    let digits_from = from.wrapping_add(usize::from(first == b'-'));
    let end = word::digits(bytes, digits_from);
    let length = end.wrapping_sub(digits_from);
    if length == 0 || (length > 1 && bytes.get(digits_from) == Some(&b'0')) {
        return Err(broken(bytes, digits_from.wrapping_add(length.min(1))));
    }
    match bytes.get(end) {
        Some(b',' | b'}' | b']') if length <= SURE => Ok(Token { end, integer: true }),
        Some(b'.' | b'e' | b'E') => real(text, from, end),
        next if cannot_follow(next) => Err(broken(bytes, end)),
        _ if length <= SURE || integer_fits(text.get(from..end).unwrap_or_default()) => {
            Ok(Token { end, integer: true })
        }
        _ => Err(Fault::new(Reason::JsonNumberRange, from)),
    }
}

/// Reads the number that begins at `from` if a comma follows it within [`word::WINDOW`] bytes and its
/// value is far from every bound. None says nothing of what stands there: [`scan`] does.
///
/// Without a branch on how the number is written, which nothing could predict where kinds are mixed:
/// each step goes on from the byte that ended the one before, or stays. The end is looked for apart from
/// what stands before it, so that the next number can begin before this one is judged.
#[inline(always)]
pub(super) fn before_comma(bytes: &[u8], from: usize) -> Option<Token> {
    /// Every integer of 18 digits fits i64; no exponent of two digits leaves the range of doubles.
    const SURE: [u32; 2] = [18, 2];
    let window = word::Window::at(bytes, from)?;
    let length = window.first_comma();
    let minus = u32::from(window.byte(0) == b'-');
    let others = window.others() & !minus;

    let integer_end = others.trailing_zeros();
    let point = window.byte(integer_end) == b'.';
    let behind_point = if point { others & others.wrapping_sub(1) } else { others };
    let fraction_end = behind_point.trailing_zeros();
    let exponent = matches!(window.byte(fraction_end), b'e' | b'E');
    let behind_e = if exponent { behind_point & behind_point.wrapping_sub(1) } else { behind_point };
    let sign_at = behind_e.trailing_zeros();
    let follows_e = sign_at == fraction_end.wrapping_add(1);
    let sign = exponent & follows_e & matches!(window.byte(sign_at), b'+' | b'-');
    let behind_sign = if sign { behind_e & behind_e.wrapping_sub(1) } else { behind_e };
    let end = behind_sign.trailing_zeros();

    let integer_digits = integer_end.wrapping_sub(minus);
    let exponent_digits = end.wrapping_sub(fraction_end).wrapping_sub(1).wrapping_sub(u32::from(sign));
    let sound = (end == length)
        & (length < word::WINDOW)
        & (integer_digits.wrapping_sub(1) < SURE[0])
        & ((integer_digits == 1) | (window.byte(minus) != b'0'))
        & (!point | (fraction_end.wrapping_sub(integer_end) > 1))
        & (!exponent | (exponent_digits.wrapping_sub(1) < SURE[1]));
    sound.then(|| Token { end: from.wrapping_add(widen(length)), integer: !point & !exponent })
}

/// As [`scan`], for a number whose integer part ends at `at`, before a fraction or an exponent.
#[inline(always)]
fn real(text: &str, from: usize, mut at: usize) -> Result<Token, Fault> {
    let bytes = text.as_bytes();
    if bytes.get(at) == Some(&b'.') {
        let fraction_from = at.wrapping_add(1);
        at = word::digits(bytes, fraction_from);
        if at == fraction_from {
            return Err(broken(bytes, at));
        }
    }
    let mut exponent = at..at;
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign_at = at.wrapping_add(1);
        exponent.start = sign_at.wrapping_add(usize::from(matches!(bytes.get(sign_at), Some(b'+' | b'-'))));
        at = word::run(bytes, exponent.start, word::ends_digits);
        exponent.end = at;
        if exponent.is_empty() {
            return Err(broken(bytes, at));
        }
    }
    let next = bytes.get(at);
    if !matches!(next, Some(b',' | b'}' | b']')) && cannot_follow(next) {
        return Err(broken(bytes, at));
    }
    // Far from the bounds of doubles (about 1e-324 and 1.8e308) the value need not be computed: the
    // point of so short a token moves the magnitude by less than 100, its exponent by less than 100.
    let far = at.wrapping_sub(from) <= 100 && exponent.len() <= 2;
    if far || real_fits(text.get(from..at).unwrap_or_default()) {
        Ok(Token { end: at, integer: false })
    } else {
        Err(Fault::new(Reason::JsonNumberRange, from))
    }
}

/// Whether this byte cannot follow a number: `0x1F`, `1_000` and `1.2.3` are misspelt numbers.
#[inline(never)]
fn cannot_follow(byte: Option<&u8>) -> bool {
    matches!(byte, Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'+' | b'-'))
}

#[cold]
fn broken(bytes: &[u8], at: usize) -> Fault {
    let reason = if at < bytes.len() { Reason::JsonNumberSyntax } else { Reason::JsonTruncated };
    Fault::new(reason, at)
}

#[inline(never)]
fn integer_fits(token: &str) -> bool {
    token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok()
}

#[inline(never)]
fn real_fits(token: &str) -> bool {
    let mantissa = token.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = mantissa.bytes().all(|byte| matches!(byte, b'-' | b'.' | b'0'));
    token.parse::<f64>().is_ok_and(|value| value.is_finite() && (value != 0.0 || is_zero))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What both readers say of the number at the start of a text: its length and whether it is an integer.
    fn both(text: &str) -> [Option<(usize, bool)>; 2] {
        let first = *text.as_bytes().first().unwrap();
        let short = |token: Token| (token.end, token.integer);
        [before_comma(text.as_bytes(), 0).map(short), scan(text, 0, first).ok().map(short)]
    }

    #[test]
    fn the_reader_without_branches_takes_only_what_the_other_takes() {
        const ALPHABET: [char; 9] = ['0', '7', '-', '+', '.', 'e', 'E', ',', '\u{e9}'];
        let mut taken = 0;
        for number in 0..9_u32.pow(7) {
            let text: String = (0..7).map(|at| ALPHABET[(number / 9_u32.pow(at) % 9) as usize]).collect();
            if !text.starts_with(['0', '7', '-']) {
                continue;
            }
            let [quick, exact] = both(&format!("{text},{}", "9".repeat(32)));
            if quick.is_some() {
                assert_eq!(quick, exact, "{text}");
                taken += 1;
            } else if let Some((end, _)) = exact
                .filter(|&(end, _)| end <= 7 && text.as_bytes().get(end).is_none_or(|&byte| byte == b','))
            {
                let exponent = text[..end].trim_start_matches(|c| !matches!(c, 'e' | 'E'));
                assert!(exponent.trim_matches(['e', 'E', '+', '-']).len() > 2, "{text} was left");
            }
        }
        assert!(taken > 100_000, "{taken}");
    }

    #[test]
    fn what_is_long_or_near_a_bound_is_left_to_the_other_reader() {
        let rest = " ".repeat(40);
        for (text, quick) in [
            ("123456789012345678,", true),
            ("1234567890123456789,", false),
            ("-123456789012345678,", true),
            ("1.234567890123456789012,", true),
            ("1.2345678901234567890123,", false),
            ("1e99,", true),
            ("1e100,", false),
            ("1]", false),
            ("1 ,", false),
        ] {
            let text = format!("{text}{rest}");
            let [found, exact] = both(&text);
            assert_eq!(found.is_some(), quick, "{text}");
            assert_eq!(found, exact.filter(|_| quick), "{text}");
        }
        assert_eq!(both("1,")[0], None);
    }
}
