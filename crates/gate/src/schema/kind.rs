//! The rules of single types: what a JSON value must be, and the typed value it becomes.
//!
//! Belongs here: one value against one type.
//! Does not belong here: whole calls, declarations, templates.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use framegate_wire::json::{Parser, Value};
use framegate_wire::{Limits, Reason};
use regex::Regex;
use url::Url;

use super::open::{self, QueryMisfit};
use super::parameter::Kind;
use super::text;
use crate::action::{Decimal, TypedValue};

/// Why a value does not fit: the value itself, or one item of a list.
#[derive(Debug)]
pub(super) struct Misfit<'a> {
    pub(super) reason: Reason,
    pub(super) value: Value<'a>,
    /// The item's place in its list, from 0.
    pub(super) item: Option<usize>,
}

impl Kind {
    /// Checks a JSON value against the type.
    ///
    /// # Errors
    /// The value, or the item of a list, that does not fit, and why.
    pub(super) fn check<'a>(&self, value: Value<'a>) -> Result<TypedValue, Misfit<'a>> {
        let misfit = |reason| Misfit { reason, value, item: None };
        let Self::List { item, min, max } = self else {
            return self.check_scalar(value).map_err(misfit);
        };
        let items = value.as_array().ok_or_else(|| misfit(Reason::ArgumentType))?;
        if items.len() < *min || items.len() > *max {
            return Err(misfit(Reason::ArgumentBounds));
        }
        let items = items.iter().enumerate().map(|(index, value)| {
            item.check_scalar(value).map_err(|reason| Misfit { reason, value, item: Some(index) })
        });
        items.collect::<Result<_, _>>().map(TypedValue::List)
    }

    fn check_scalar(&self, value: Value<'_>) -> Result<TypedValue, Reason> {
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
            // A list of lists cannot be declared.
            Self::List { .. } => Err(Reason::ArgumentType),
            Self::Query => open::pairs(value).map_err(|misfit| match misfit {
                QueryMisfit::Type => Reason::ArgumentType,
                QueryMisfit::Bounds => Reason::ArgumentBounds,
                QueryMisfit::Character => Reason::ArgumentCharacter,
            }),
            Self::Json if !open::has_exact_numbers(value) => Err(Reason::ArgumentBounds),
            Self::Json => Ok(TypedValue::Json(value.to_owned_json())),
            Self::String { .. }
            | Self::Word { .. }
            | Self::Enum { .. }
            | Self::Path { .. }
            | Self::AbsPath { .. }
            | Self::Host
            | Self::Url { .. }
            | Self::Text { .. }
            | Self::Base64 { .. }
            | Self::RequestPath { .. } => {
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
            Self::Base64 { max } => {
                length(0, *max)?;
                if STANDARD.decode(text).is_ok() { Ok(()) } else { Err(Reason::ArgumentPattern) }
            }
            Self::RequestPath { patterns, .. } => {
                length(1, MAX_REQUEST_PATH)?;
                let segments = open::segments(text).ok_or(Reason::ArgumentCharacter)?;
                if open::is_within(&segments, patterns) { Ok(()) } else { Err(Reason::ArgumentPattern) }
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
            Self::Bool
            | Self::Int { .. }
            | Self::Number { .. }
            | Self::List { .. }
            | Self::Query
            | Self::Json => Err(Reason::ArgumentType),
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
            Self::Base64 { max } => format!("bytes in padded base64, at most {max} characters of it"),
            Self::RequestPath { texts, .. } => format!(
                "an absolute path of plain, decoded segments within {}, without a query",
                texts.iter().map(|text| format!("`{text}`")).collect::<Vec<_>>().join(" or ")
            ),
            Self::Query => {
                "an object of query names, each with a string, integer, boolean or a list of them".to_owned()
            }
            Self::Json => "a JSON value whose numbers have at most fifteen digits".to_owned(),
            Self::List { item, min, max } => {
                format!("a list of {min} to {max} items, each {}", item.expectation())
            }
        }
    }

    /// A value that fits, as JSON; `None` when none of the usual ones does.
    pub(super) fn example(&self) -> Option<String> {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let usual = match self {
            Self::Bool => vec!["true".to_owned()],
            Self::Int { min, max, .. } => vec![1.clamp(*min, *max).to_string()],
            Self::Number { min, max } => {
                vec![min.or(*max).map_or_else(|| "1.5".to_owned(), |bound| bound.to_string())]
            }
            Self::String { min, .. } => {
                let long = "x".repeat(*min);
                ["some text", "text", "a", "A", "1", "name-1", "", &long].map(quoted).to_vec()
            }
            Self::Text { .. } => ["some text", "text", "a"].map(quoted).to_vec(),
            Self::Base64 { .. } => ["c29tZSB0ZXh0", "c29t", ""].map(quoted).to_vec(),
            Self::Word { .. } => ["name-1", "name", "a", "A", "1"].map(quoted).to_vec(),
            Self::Enum { values } => values.iter().map(|value| quoted(value)).collect(),
            Self::Path { .. } => ["folder/file.txt", "a"].map(quoted).to_vec(),
            Self::AbsPath { roots, .. } => {
                let below = |root: &String| {
                    let root = root.trim_end_matches('/');
                    [quoted(&format!("{root}/file.txt")), quoted(&format!("{root}/a"))]
                };
                roots.iter().flat_map(below).collect()
            }
            Self::RequestPath { texts, .. } => texts
                .iter()
                .map(|text| quoted(&text.replace(['{', '}'], "").replace("/**", "/more")))
                .collect(),
            Self::Query => vec![r#"{"page":1}"#.to_owned()],
            Self::Json => vec![r#"{"name":"value"}"#.to_owned()],
            Self::Host => vec![quoted("host.example.com")],
            Self::Url { schemes } => {
                schemes.iter().map(|scheme| quoted(&format!("{scheme}://host.example.com/"))).collect()
            }
            Self::List { item, min, .. } => {
                let items = vec![item.example()?; (*min).clamp(1, MOST_EXAMPLE_ITEMS)];
                vec![format!("[{}]", items.join(", "))]
            }
        };
        usual.into_iter().find(|example| self.fits(example))
    }

    fn fits(&self, example: &str) -> bool {
        let mut parser = Parser::new(&Limits::default());
        parser.parse_text(example).is_ok_and(|document| self.check(document.root()).is_ok())
    }
}

/// The longest path of an open tool, in bytes.
const MAX_REQUEST_PATH: usize = 2_048;

/// The longest list that is still an example.
const MOST_EXAMPLE_ITEMS: usize = 4;

fn integer(value: Value<'_>, string_form: bool) -> Result<i64, Reason> {
    if let Some(number) = value.as_number() {
        if !number.is_integer() {
            return Err(Reason::ArgumentType);
        }
        return number.as_i64().ok_or(Reason::ArgumentBounds);
    }
    let text = value.as_str().filter(|_| string_form).ok_or(Reason::ArgumentType)?;
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Reason::ArgumentType);
    }
    // One spelling only: no plus sign, no leading zero, no `-0`.
    if text.starts_with('+') || text == "-0" || (digits.len() > 1 && digits.starts_with('0')) {
        return Err(Reason::ArgumentPattern);
    }
    text.parse::<i64>().map_err(|_| Reason::ArgumentBounds)
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
