//! The rules of single types: what a JSON value must be, and the typed value it becomes.
//!
//! Belongs here: one value against one type.
//! Does not belong here: whole calls, declarations, templates.

use framegate_wire::Reason;
use framegate_wire::json::Value;
use regex::Regex;
use url::Url;

use super::parameter::Kind;
use super::text;
use crate::action::{Decimal, TypedValue};

impl Kind {
    /// Checks a JSON value against the type.
    ///
    /// # Errors
    /// The reason why it does not fit.
    pub(super) fn check(&self, value: Value<'_>) -> Result<TypedValue, Reason> {
        match self {
            Self::Bool => value.as_bool().map(TypedValue::Boolean).ok_or(Reason::ArgumentType),
            Self::Int { min, max, string_form } => {
                let number = integer(value, *string_form)?;
                within(number, Some(*min), Some(*max)).map(TypedValue::Integer)
            }
            Self::Number { min, max } => {
                let number = value.as_number().ok_or(Reason::ArgumentType)?;
                let number = Decimal::from_json_token(number.text()).ok_or(Reason::ArgumentBounds)?;
                within(number, *min, *max).map(TypedValue::Decimal)
            }
            Self::List { item, min, max } => {
                let items = value.as_array().ok_or(Reason::ArgumentType)?;
                if items.len() < *min || items.len() > *max {
                    return Err(Reason::ArgumentBounds);
                }
                items.iter().map(|value| item.check(value)).collect::<Result<_, _>>().map(TypedValue::List)
            }
            Self::String { .. }
            | Self::Word { .. }
            | Self::Enum { .. }
            | Self::Path { .. }
            | Self::AbsPath { .. }
            | Self::Host
            | Self::Url { .. }
            | Self::Text { .. } => {
                let text = value.as_str().ok_or(Reason::ArgumentType)?;
                self.check_text(text)?;
                Ok(TypedValue::Text(text.to_owned()))
            }
        }
    }

    fn check_text(&self, text: &str) -> Result<(), Reason> {
        let character = |fits: bool| {
            if fits { Ok(()) } else { Err(Reason::ArgumentCharacter) }
        };
        let length = |min: usize, max: usize| {
            if (min..=max).contains(&text.len()) { Ok(()) } else { Err(Reason::ArgumentBounds) }
        };
        match self {
            Self::String { min, max, pattern } => {
                length(*min, *max)?;
                character(text::is_line(text))?;
                matches_pattern(pattern.as_ref(), text)
            }
            Self::Word { max, pattern } => {
                length(1, *max)?;
                character(text::is_word(text))?;
                matches_pattern(pattern.as_ref(), text)
            }
            Self::Text { max } => {
                length(0, *max)?;
                character(text::is_text(text))
            }
            Self::Enum { values } => {
                if values.iter().any(|value| value == text) {
                    Ok(())
                } else {
                    Err(Reason::ArgumentEnum)
                }
            }
            Self::Path { max } => {
                length(1, *max)?;
                character(text::is_relative_path(text))
            }
            Self::AbsPath { roots, max } => {
                length(1, *max)?;
                let relative = text.strip_prefix('/').ok_or(Reason::ArgumentPattern)?;
                character(relative.split('/').all(text::is_plain_segment))?;
                let below = |root: &String| {
                    text.strip_prefix(root.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
                };
                if roots.iter().any(below) { Ok(()) } else { Err(Reason::ArgumentPattern) }
            }
            Self::Host => {
                length(1, 253)?;
                character(text::is_host(text))
            }
            Self::Url { schemes } => {
                length(1, 2_048)?;
                character(text.is_ascii() && text::is_line(text))?;
                if is_canonical_url(text, schemes) { Ok(()) } else { Err(Reason::ArgumentPattern) }
            }
            Self::Bool | Self::Int { .. } | Self::Number { .. } | Self::List { .. } => {
                Err(Reason::ArgumentType)
            }
        }
    }

    /// What is expected, for people and agents.
    pub(super) fn expectation(&self) -> String {
        match self {
            Self::Bool => "`true` or `false`".to_owned(),
            Self::Int { min, max, string_form } => {
                let form = if *string_form { ", as a number or a string of digits" } else { "" };
                format!("an integer{}{form}", range(*min != i64::MIN, min, *max != i64::MAX, max))
            }
            Self::Number { min, max } => {
                let bound =
                    |bound: &Option<Decimal>| bound.map(|bound| bound.to_string()).unwrap_or_default();
                format!(
                    "a number with at most four fraction digits{}",
                    range(min.is_some(), &bound(min), max.is_some(), &bound(max))
                )
            }
            Self::String { min, max, pattern } => {
                let pattern = pattern
                    .as_ref()
                    .map(|pattern| format!(" matching `{}`", pattern.as_str()))
                    .unwrap_or_default();
                format!("one line of text of {min} to {max} bytes{pattern}")
            }
            Self::Word { max, pattern } => {
                let pattern = pattern
                    .as_ref()
                    .map(|pattern| format!(", matching `{}`", pattern.as_str()))
                    .unwrap_or_default();
                format!("a word of at most {max} letters, digits, `_`, `.`, `~` or `-`{pattern}")
            }
            Self::Enum { values } => format!(
                "one of {}",
                values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
            ),
            Self::Path { max } => format!("a relative path of plain segments, at most {max} bytes"),
            Self::AbsPath { roots, max } => {
                format!("an absolute path below {}, at most {max} bytes", roots.join(" or "))
            }
            Self::Host => "a lower-case DNS name".to_owned(),
            Self::Url { schemes } => {
                format!("a canonical URL with scheme {}", schemes.join(" or "))
            }
            Self::Text { max } => format!("text of at most {max} bytes without control characters"),
            Self::List { item, min, max } => {
                format!("a list of {min} to {max} items, each {}", item.expectation())
            }
        }
    }

    /// A value that fits, as JSON.
    pub(super) fn example(&self) -> String {
        match self {
            Self::Bool => "true".to_owned(),
            Self::Int { min, max, .. } => 1.clamp(*min, *max).to_string(),
            Self::Number { min, max } => {
                min.or(*max).map_or_else(|| "1.5".to_owned(), |bound| bound.to_string())
            }
            Self::String { pattern: Some(_), .. } => "see the pattern".to_owned(),
            Self::String { pattern: None, .. } | Self::Text { .. } => "\"some text\"".to_owned(),
            Self::Word { .. } => "\"name-1\"".to_owned(),
            Self::Enum { values } => {
                serde_json::Value::from(values.first().cloned().unwrap_or_default()).to_string()
            }
            Self::Path { .. } => "\"folder/file.txt\"".to_owned(),
            Self::AbsPath { roots, .. } => {
                format!("\"{}/file.txt\"", roots.first().map_or("", |root| root.trim_end_matches('/')))
            }
            Self::Host => "\"host.example.com\"".to_owned(),
            Self::Url { schemes } => {
                format!("\"{}://host.example.com/\"", schemes.first().map_or("https", String::as_str))
            }
            Self::List { item, .. } => format!("[{}]", item.example()),
        }
    }
}

fn integer(value: Value<'_>, string_form: bool) -> Result<i64, Reason> {
    if let Some(number) = value.as_number() {
        if !number.is_integer() {
            return Err(Reason::ArgumentType);
        }
        return number.as_i64().ok_or(Reason::ArgumentBounds);
    }
    let text = value.as_str().filter(|_| string_form).ok_or(Reason::ArgumentType)?;
    let number = text.parse::<i64>().map_err(|_| Reason::ArgumentType)?;
    // One spelling only: no plus sign, no leading zero, no `-0`.
    if number.to_string() == text { Ok(number) } else { Err(Reason::ArgumentPattern) }
}

fn within<T: PartialOrd>(value: T, min: Option<T>, max: Option<T>) -> Result<T, Reason> {
    if min.is_some_and(|min| value < min) || max.is_some_and(|max| value > max) {
        Err(Reason::ArgumentBounds)
    } else {
        Ok(value)
    }
}

fn matches_pattern(pattern: Option<&Regex>, text: &str) -> Result<(), Reason> {
    if pattern.is_none_or(|pattern| pattern.is_match(text)) { Ok(()) } else { Err(Reason::ArgumentPattern) }
}

/// Whether a URL is its own serialisation (WHATWG URL) with an allowed scheme and a named host.
fn is_canonical_url(text: &str, schemes: &[String]) -> bool {
    let Ok(url) = Url::parse(text) else {
        return false;
    };
    let named = url.host_str().is_some_and(text::is_host);
    url.as_str() == text
        && schemes.iter().any(|scheme| scheme == url.scheme())
        && named
        && url.username().is_empty()
        && url.password().is_none()
        && url.fragment().is_none()
}

fn range(has_min: bool, min: &dyn core::fmt::Display, has_max: bool, max: &dyn core::fmt::Display) -> String {
    match (has_min, has_max) {
        (true, true) => format!(" from {min} to {max}"),
        (true, false) => format!(" of at least {min}"),
        (false, true) => format!(" of at most {max}"),
        (false, false) => String::new(),
    }
}
