//! The open parameters of an `http-request` tool: a path under declared patterns, query pairs, a JSON body.
//!
//! Belongs here: what an agent may choose where the operator declared a reach and not a request.
//! Does not belong here: origins, methods, headers: those are never open.

use framegate_wire::json::Value;

use super::text::{is_line, is_plain_segment};
use crate::action::TypedValue;

/// The most pairs of a query.
const MAX_PAIRS: usize = 100;
/// The longest name in a query, in bytes.
const MAX_NAME: usize = 128;
/// The longest value in a query, in bytes.
const MAX_VALUE: usize = 4_096;
/// What every reader of JSON keeps of a number: the digits of a double.
const MAX_DIGITS: usize = 15;

/// A pattern of paths: `/repos/{owner}/{repo}/**`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathPattern {
    segments: Vec<SegmentPattern>,
    /// Whether it ends in `/**`: any number of segments more, also none.
    open: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum SegmentPattern {
    Literal(String),
    /// `{name}`: any one segment. The name is for people.
    Any,
}

impl PathPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// What is wrong with it, in one line.
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        let Some(relative) = text.strip_prefix('/') else {
            return Err("a pattern begins with `/`");
        };
        let (relative, open) = match relative.strip_suffix("**") {
            Some("") => ("", true),
            Some(rest) => (rest.strip_suffix('/').ok_or("`**` is a segment of its own, the last one")?, true),
            None => (relative, false),
        };
        // `/` alone is the root, which has no segment.
        let parts = relative.split('/').filter(|_| !relative.is_empty());
        let segments = parts.map(|part| {
            let name = part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
            match name {
                Some(name) if is_name(name) => Ok(SegmentPattern::Any),
                None if is_plain_segment(part) && !part.contains(['{', '}', '*']) => {
                    Ok(SegmentPattern::Literal(part.to_owned()))
                }
                Some(_) | None => {
                    Err("a segment is literal, or `{name}` for any one segment; `**` ends a pattern")
                }
            }
        });
        Ok(Self { segments: segments.collect::<Result<_, _>>()?, open })
    }

    fn matches(&self, segments: &[&str]) -> bool {
        let fits = |(pattern, segment): (&SegmentPattern, &&str)| match pattern {
            SegmentPattern::Literal(literal) => literal == segment,
            SegmentPattern::Any => true,
        };
        let enough = if self.open {
            segments.len() >= self.segments.len()
        } else {
            segments.len() == self.segments.len()
        };
        enough && self.segments.iter().zip(segments).all(fits)
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The decoded segments of an absolute path of plain segments; none for the root, `None` for anything else.
pub(super) fn segments(path: &str) -> Option<Vec<&str>> {
    match path.strip_prefix('/')? {
        "" => Some(Vec::new()),
        relative => {
            relative.split('/').map(|segment| Some(segment).filter(|text| is_plain_segment(text))).collect()
        }
    }
}

/// Whether some pattern holds the path of these segments.
pub(super) fn is_within(segments: &[&str], patterns: &[PathPattern]) -> bool {
    patterns.iter().any(|pattern| pattern.matches(segments))
}

/// Why a value is no query.
pub(super) enum QueryMisfit {
    Type,
    Bounds,
    Character,
}

/// Reads an object of strings, integers, booleans and lists of them. A list repeats its name.
pub(super) fn pairs(value: Value<'_>) -> Result<TypedValue, QueryMisfit> {
    let object = value.as_object().ok_or(QueryMisfit::Type)?;
    let mut pairs = Vec::new();
    for member in object.iter() {
        if member.name.is_empty() || member.name.len() > MAX_NAME {
            return Err(QueryMisfit::Bounds);
        }
        if !is_line(member.name) {
            return Err(QueryMisfit::Character);
        }
        match member.value.as_array() {
            Some(items) => {
                for item in items.iter() {
                    pairs.push((member.name.to_owned(), scalar(item)?));
                }
            }
            None => pairs.push((member.name.to_owned(), scalar(member.value)?)),
        }
        if pairs.len() > MAX_PAIRS {
            return Err(QueryMisfit::Bounds);
        }
    }
    Ok(TypedValue::Pairs(pairs))
}

fn scalar(value: Value<'_>) -> Result<String, QueryMisfit> {
    if let Some(text) = value.as_str() {
        return match (text.len() <= MAX_VALUE, is_line(text)) {
            (false, _) => Err(QueryMisfit::Bounds),
            (true, false) => Err(QueryMisfit::Character),
            (true, true) => Ok(text.to_owned()),
        };
    }
    if let Some(truth) = value.as_bool() {
        return Ok(truth.to_string());
    }
    let number = value.as_number().filter(|number| number.is_integer()).ok_or(QueryMisfit::Type)?;
    number.as_i64().map(|number| number.to_string()).ok_or(QueryMisfit::Bounds)
}

/// Whether every number in the value is one that every reader of JSON keeps as it is.
pub(super) fn has_exact_numbers(value: Value<'_>) -> bool {
    if let Some(number) = value.as_number() {
        let mantissa = number.text().split(['e', 'E']).next().unwrap_or_default();
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
        return (number.is_integer() && number.as_i64().is_some()) || digits <= MAX_DIGITS;
    }
    if let Some(items) = value.as_array() {
        return items.iter().all(has_exact_numbers);
    }
    value.as_object().is_none_or(|object| object.iter().all(|member| has_exact_numbers(member.value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(path: &str, patterns: &[&str]) -> Option<bool> {
        let patterns: Vec<_> = patterns.iter().map(|text| PathPattern::read(text).unwrap()).collect();
        segments(path).map(|segments| is_within(&segments, &patterns))
    }

    #[test]
    fn patterns_hold_segments_and_never_parts_of_them() {
        let patterns = ["/repos/{owner}/{repo}/**", "/user", "/v1/items/{id}"];
        for path in ["/repos/a/b", "/repos/a/b/c/d", "/user", "/v1/items/7"] {
            assert_eq!(within(path, &patterns), Some(true), "{path}");
        }
        for path in [
            "/",
            "/repos",
            "/repos/a",
            "/repo/a/b",
            "/users",
            "/user/a",
            "/v1/items",
            "/v1/items/7/x",
            "/V1/items/7",
        ] {
            assert_eq!(within(path, &patterns), Some(false), "{path}");
        }
        assert_eq!(within("/", &["/"]), Some(true));
        assert_eq!(within("/a", &["/"]), Some(false));
        for path in ["/", "/a", "/a/b"] {
            assert_eq!(within(path, &["/**"]), Some(true), "{path}");
        }
    }

    #[test]
    fn paths_are_absolute_and_of_plain_segments() {
        for path in [
            "",
            "a",
            "//",
            "//evil.test",
            "/a//b",
            "/a/",
            "/.",
            "/..",
            "/a/../b",
            "/%2e%2e",
            "/a%2fb",
            "/a;b",
            "/a\\b",
            "/a?b",
            "/a#b",
            "/a\0",
            "https://evil.test/",
            "/https://evil.test/",
            "\\\\evil",
            "/\u{ff0e}\u{ff0e}/a",
            "/ a",
        ] {
            assert_eq!(segments(path), None, "{path}");
        }
        assert_eq!(segments("/a b/\u{e9}/@me:x"), Some(vec!["a b", "\u{e9}", "@me:x"]));
    }

    #[test]
    fn patterns_that_say_something_else_are_refused() {
        for pattern in [
            "", "a", "/a/**/b", "/a**", "/**a", "/*", "/a*", "/{}", "/{a-b}", "/a{b}", "/a//b", "/..", "/a/",
            "/%61",
        ] {
            assert!(PathPattern::read(pattern).is_err(), "{pattern}");
        }
    }
}
