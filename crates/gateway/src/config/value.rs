//! TOML values as JSON.
//!
//! Belongs here: the one mapping of TOML to JSON values, for bodies, defaults and bounds.
//! Does not belong here: what the value is for.

use serde_json::{Map, Number, Value};
use toml::de::{DeInteger, DeValue};

use super::document::Entry;
use super::fault::Report;

/// The value as JSON. TOML has no null, and dates and numbers
/// that JSON cannot write are refused.
pub(super) fn read(entry: &Entry<'_>, report: &mut Report) -> Option<Value> {
    Some(match entry.value {
        DeValue::String(text) => Value::String(text.clone().into_owned()),
        DeValue::Integer(integer) => match i64_of(integer) {
            Some(integer) => Value::Number(integer.into()),
            None => {
                report.bare_error(&entry.span, "the integer does not fit in 64 bits");
                return None;
            }
        },
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            match number {
                Some(number) => Value::Number(number),
                None => {
                    report.bare_error(&entry.span, "JSON has no such number");
                    return None;
                }
            }
        }
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(_) => {
            report.error(&entry.span, "JSON has no dates", "write it as a string, in quotes");
            return None;
        }
        DeValue::Array(_) => {
            let items = entry.items(report)?;
            let items: Vec<_> = items.iter().map(|item| read(item, report)).collect();
            Value::Array(items.into_iter().collect::<Option<_>>()?)
        }
        DeValue::Table(_) => {
            let table = entry.table("the value", report)?;
            let members: Vec<_> =
                table.entries().map(|member| Some((member.key.to_owned(), read(&member, report)?))).collect();
            Value::Object(members.into_iter().collect::<Option<Map<_, _>>>()?)
        }
    })
}

/// A bound of a `number` parameter as JSON writes it: a TOML number, or a string.
pub(super) fn read_decimal(entry: &Entry<'_>, report: &mut Report) -> Option<String> {
    match entry.value {
        DeValue::Integer(integer) => i64_of(integer).map(|integer| integer.to_string()),
        DeValue::Float(float) => {
            let text = float.as_str();
            Some(text.strip_prefix('+').unwrap_or(text).to_owned())
        }
        DeValue::String(text) => Some(text.clone().into_owned()),
        _ => entry.wrong_type("a number, or a string that holds one", report),
    }
}

fn i64_of(integer: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}
