//! Typed argument values: what a parameter's declared type makes of JSON.
//!
//! Belongs here: the value types that policy, templates and records share.
//! Does not belong here: how a value is checked against its declaration.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The checked arguments of a call by parameter name, defaults filled in, in a stable order.
pub type Arguments = BTreeMap<Arc<str>, TypedValue>;

/// One checked value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedValue {
    /// `bool`
    Boolean(bool),
    /// `int`
    Integer(i64),
    /// `number`
    Decimal(Decimal),
    /// every textual type
    Text(String),
    /// `list`
    List(Vec<TypedValue>),
    /// The query of an open tool: names and values in order.
    Pairs(Vec<(String, String)>),
    /// The JSON body of an open tool.
    Json(serde_json::Value),
}

impl TypedValue {
    /// The text that a template inserts for this value; lists, pairs and JSON have none.
    #[must_use]
    pub fn to_text(&self) -> Option<String> {
        match self {
            Self::Boolean(value) => Some(value.to_string()),
            Self::Integer(value) => Some(value.to_string()),
            Self::Decimal(value) => Some(value.to_string()),
            Self::Text(value) => Some(value.clone()),
            Self::List(_) | Self::Pairs(_) | Self::Json(_) => None,
        }
    }
}

/// As a JSON node of its own type.
impl Serialize for TypedValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Boolean(value) => value.serialize(serializer),
            Self::Integer(value) => value.serialize(serializer),
            Self::Decimal(value) => value.serialize(serializer),
            Self::Text(value) => value.serialize(serializer),
            Self::List(values) => values.serialize(serializer),
            Self::Pairs(pairs) => pairs.serialize(serializer),
            Self::Json(value) => value.serialize(serializer),
        }
    }
}

/// An exact decimal number with at most four fraction digits and fifteen digits in all.
///
/// Policy judges the same number that is rendered: four fraction digits are what Cedar's `decimal`
/// keeps, fifteen digits are what every JSON reader's double keeps. A number that needs more is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(i64);

impl Decimal {
    /// Units of one: four fraction digits.
    const SCALE: i64 = 10_000;
    const FRACTION_DIGITS: i64 = 4;
    /// The least number of ten-thousandths that needs sixteen digits.
    const BOUND: u64 = 1_000_000_000_000_000;

    /// Reads a JSON number token exactly; `None` when it needs more than four fraction digits or more
    /// than fifteen digits in all.
    #[must_use]
    pub fn from_json_token(token: &str) -> Option<Self> {
        let (mantissa, exponent) = match token.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (token, 0),
        };
        let (negative, digits) = match mantissa.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, mantissa),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let mut significant: String = whole.chars().chain(fraction.chars()).collect();
        let fraction_digits = i64::try_from(fraction.len()).ok()?;
        let mut power = exponent.checked_sub(fraction_digits)?.checked_add(Self::FRACTION_DIGITS)?;
        while power < 0 && significant.ends_with('0') {
            significant.pop();
            power = power.checked_add(1)?;
        }
        let significant = significant.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Self(0));
        }
        let scale = 10_i128.checked_pow(u32::try_from(power).ok()?)?;
        let magnitude = significant.parse::<i128>().ok()?.checked_mul(scale)?;
        let value = if negative { magnitude.checked_neg()? } else { magnitude };
        i64::try_from(value).ok().filter(|value| value.unsigned_abs() < Self::BOUND).map(Self)
    }

    /// The number times 10,000, as Cedar's `decimal` keeps it.
    #[must_use]
    pub const fn ten_thousandths(self) -> i64 {
        self.0
    }
}

/// As an integer, or as the double that reads the same.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.checked_rem(Self::SCALE) == Some(0) {
            return self.0.checked_div(Self::SCALE).serialize(serializer);
        }
        self.to_string().parse::<f64>().ok().serialize(serializer)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = Self::SCALE.unsigned_abs();
        let magnitude = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        let whole = magnitude.checked_div(scale).unwrap_or(0);
        let fraction = magnitude.checked_rem(scale).unwrap_or(0);
        let text = format!("{sign}{whole}.{fraction:04}");
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::Decimal;

    /// The number's text, which its JSON node must equal.
    fn read(token: &str) -> Option<String> {
        let decimal = Decimal::from_json_token(token)?;
        assert_eq!(decimal.to_string(), serde_json::to_string(&decimal).unwrap());
        Some(decimal.to_string())
    }

    #[test]
    fn numbers_are_read_exactly_or_not_at_all() {
        for (token, expected) in [
            ("0", Some("0")),
            ("-0", Some("0")),
            ("0.0", Some("0")),
            ("0e99999", Some("0")),
            ("1.0", Some("1")),
            ("1e2", Some("100")),
            ("12E-2", Some("0.12")),
            ("-1.5", Some("-1.5")),
            ("1.23450", Some("1.2345")),
            ("1.23456", None),
            ("10000e-4", Some("1")),
            ("1e-5", None),
            ("99999999999.9999", Some("99999999999.9999")),
            ("-99999999999.9999", Some("-99999999999.9999")),
            ("100000000000", None),
            ("1e400", None),
            ("1e99999999999999999999", None),
        ] {
            assert_eq!(read(token).as_deref(), expected, "{token}");
        }
    }
}
