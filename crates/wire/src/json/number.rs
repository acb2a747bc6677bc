//! Numbers: how they are written, and which of them 64 bits can hold.
//!
//! Belongs here: RFC 8259 section 6, the ranges, the exact text.
//! Does not belong here: which numbers a parameter may be.

use super::parser::Fault;
use crate::Reason;

/// A number as it was written: its text is exact, and fits i64 or u64 (integers) or a finite double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a> {
    text: &'a str,
    integer: bool,
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
        if self.integer {
            self.text.parse().ok()
        } else {
            None
        }
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

/// A number token: its length, and whether it has neither fraction nor exponent.
pub(super) struct Token {
    pub(super) length: usize,
    pub(super) integer: bool,
}

/// Reads the number that begins at `from` with a digit or a minus sign.
pub(super) fn scan(text: &str, from: usize) -> Result<Token, Fault> {
    let bytes = text.as_bytes();
    let digits_from = if bytes.get(from) == Some(&b'-') {
        from.wrapping_add(1)
    } else {
        from
    };
    let digits_to = digits(bytes, digits_from);
    let length = digits_to.wrapping_sub(digits_from);
    if length == 0 || (length > 1 && bytes.get(digits_from) == Some(&b'0')) {
        let wrong = if length == 0 {
            digits_from
        } else {
            digits_from.wrapping_add(1)
        };
        return Err(broken(bytes, wrong));
    }
    let mut at = digits_to;
    let mut exponent = None;
    if bytes.get(at) == Some(&b'.') {
        let fraction_from = at.wrapping_add(1);
        at = digits(bytes, fraction_from);
        if at == fraction_from {
            return Err(broken(bytes, at));
        }
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign_at = at.wrapping_add(1);
        let exponent_from = match bytes.get(sign_at) {
            Some(b'+' | b'-') => sign_at.wrapping_add(1),
            _ => sign_at,
        };
        at = digits(bytes, exponent_from);
        if at == exponent_from {
            return Err(broken(bytes, at));
        }
        exponent = text.get(exponent_from..at);
    }
    // What follows a number must end it: `0x1F`, `1_000` and `1.2.3` are misspelt numbers.
    if let Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'.' | b'+' | b'-') = bytes.get(at)
    {
        return Err(broken(bytes, at));
    }
    let integer = at == digits_to;
    let token = text.get(from..at).unwrap_or_default();
    let fits = if integer {
        integer_fits(token, length)
    } else {
        real_fits(token, exponent)
    };
    if !fits {
        return Err(Fault::new(Reason::JsonNumberRange, from));
    }
    Ok(Token {
        length: at.wrapping_sub(from),
        integer,
    })
}

/// The index behind the digits that begin at `from`.
fn digits(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    from.wrapping_add(rest.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn broken(bytes: &[u8], at: usize) -> Fault {
    let reason = if at < bytes.len() {
        Reason::JsonNumberSyntax
    } else {
        Reason::JsonTruncated
    };
    Fault::new(reason, at)
}

fn integer_fits(token: &str, digits: usize) -> bool {
    // Every number of 18 digits fits.
    digits <= 18 || token.parse::<i64>().is_ok() || token.parse::<u64>().is_ok()
}

fn real_fits(token: &str, exponent: Option<&str>) -> bool {
    // Far from the bounds of doubles (about 1e-324 and 1.8e308) the value need not be computed: with
    // a token this short, the point moves the magnitude by less than 100.
    const SHORT: usize = 100;
    let near = exponent.is_none_or(|exponent| {
        exponent.len() <= 2 || exponent.parse::<u32>().is_ok_and(|value| value < 200)
    });
    if token.len() <= SHORT && near {
        return true;
    }
    let mantissa = token.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = mantissa
        .bytes()
        .all(|byte| matches!(byte, b'-' | b'.' | b'0'));
    token
        .parse::<f64>()
        .is_ok_and(|value| value.is_finite() && (value != 0.0 || is_zero))
}
