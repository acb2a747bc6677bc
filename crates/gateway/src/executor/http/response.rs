//! From an answer to an outcome: what an agent may see of it.
//!
//! Belongs here: shown fields, the forms of a body, where a redirect leads; masking of what is shown.
//! Does not belong here: how the answer was read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_gate::action::Origin;
use framegate_gate::outcome::Outcome;
use framegate_vault::{Redacted, Redactor};
use framegate_wire::Limits;
use framegate_wire::json::Parser;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use serde_json::{Map, Value, json};
use url::Url;

use super::body::Kept;
use super::exchange::Answer;

/// Fields that are shown. Never `set-cookie`.
const SHOWN: [&str; 5] = ["content-type", "etag", "last-modified", "link", "retry-after"];

/// How deep a body lies in a reply: batch, envelope, `result`, `structuredContent`. A reply must fit within the
/// depth that we accept ourselves.
const DEPTH_OF_BODY: usize = 4;

/// The outcome: done if the target says that it succeeded, failed otherwise. A redirect is no success: the
/// request is not fulfilled until it is followed (RFC 9110, 15.4), and it is not followed.
/// The result is one object, as text and as structured content; `framegate_gate` publishes its schema.
pub(super) fn outcome(answer: &Answer, redactor: &Redactor, origin: &Origin) -> Outcome {
    let mut result = Map::new();
    result.insert("status".to_owned(), json!(answer.status.as_u16()));
    result.insert("headers".to_owned(), Value::Object(shown(&answer.headers, redactor)));
    if let Some(location) = answer.headers.get(LOCATION).filter(|_| answer.status.is_redirection()) {
        let target = location.to_str().ok().and_then(|location| redirect(location, redactor, origin));
        let shown = target.unwrap_or_else(|| "an address that is not shown".to_owned());
        result.insert("redirect_not_followed".to_owned(), json!(shown));
    }
    result.insert("truncated".to_owned(), json!(answer.body.cut));
    if let Some((form, body)) = body(&answer.body, &answer.headers, redactor) {
        result.insert(form.to_owned(), body);
    }
    let result = Value::Object(result);
    let text = result.to_string();
    if answer.status.is_success() { Outcome::done(text, Some(result)) } else { Outcome::failed(text) }
}

/// The member that shows the body, if there is one.
fn body(body: &Kept, headers: &HeaderMap, redactor: &Redactor) -> Option<(&'static str, Value)> {
    const REFUSED: &str = "body_refused";
    if is_encoded(headers) {
        return Some((REFUSED, json!("it has a content-encoding that was not asked for")));
    }
    if body.bytes.is_empty() {
        return None;
    }
    let Some(text) = whole_text(body) else {
        return Some(("body_base64", json!(STANDARD.encode(&body.bytes))));
    };
    let tree = if is_json(headers) && !body.cut { parse(text) } else { None };
    Some(match tree {
        None => ("body", json!(text)),
        // Decoding can bring to light what was hidden by an escape; without one, the strings are bytes that
        // were searched already.
        Some(tree) if text.contains('\\') => match masked(tree, redactor) {
            Some(tree) => ("body", tree),
            None => (REFUSED, json!("it repeats a credential in the names of its members")),
        },
        Some(tree) => ("body", tree),
    })
}

/// The body, if it is text; without the start of a character that a cut has split.
fn whole_text(body: &Kept) -> Option<&str> {
    match std::str::from_utf8(&body.bytes) {
        Ok(text) => Some(text),
        Err(fault) if body.cut && fault.error_len().is_none() => {
            let whole = body.bytes.get(..fault.valid_up_to())?;
            std::str::from_utf8(whole).ok()
        }
        Err(_) => None,
    }
}

/// The body as JSON, if it is strict JSON; a body with two readings stays text.
fn parse(text: &str) -> Option<Value> {
    let limits = Limits::default();
    let max_depth = limits.max_depth.saturating_sub(DEPTH_OF_BODY);
    let limits = Limits { max_frame: Limits::MAX_FRAME_CEILING, max_depth, ..limits };
    let mut parser = Parser::new(&limits);
    let document = parser.parse_text(text).ok()?;
    Some(document.root().to_owned_json())
}

/// The tree without secrets; none if two names of one object become one.
fn masked(tree: Value, redactor: &Redactor) -> Option<Value> {
    Some(match tree {
        Value::String(text) => Value::String(clean(&text, redactor)),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| masked(item, redactor));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Object(members) => {
            let count = members.len();
            let members = members
                .into_iter()
                .map(|(name, value)| Some((clean(&name, redactor), masked(value, redactor)?)));
            let members: Map<_, _> = members.collect::<Option<_>>()?;
            if members.len() < count {
                return None;
            }
            Value::Object(members)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    })
}

fn shown(headers: &HeaderMap, redactor: &Redactor) -> Map<String, Value> {
    SHOWN
        .into_iter()
        .filter_map(|name| {
            let values: Vec<&str> =
                headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
            // One list, as RFC 9110 section 5.3 combines them.
            (!values.is_empty()).then(|| (name.to_owned(), json!(clean(&values.join(", "), redactor))))
        })
        .collect()
}

fn clean(text: &str, redactor: &Redactor) -> String {
    let redacted = redactor.redact(text.as_bytes());
    if redacted.suspected {
        return Redacted::WITHHELD.to_owned();
    }
    String::from_utf8_lossy(&redacted.bytes).into_owned()
}

/// The origin that a redirect leads to, without path and query, which could hold what was sent.
///
/// Only as the target wrote it: what a URL parser makes of a host (lower case, decoded percent signs) is one
/// more spelling, in which a secret would not be found.
fn redirect(location: &str, redactor: &Redactor, own: &Origin) -> Option<String> {
    let base = Url::parse(&own.to_string()).ok()?;
    let url = base.join(location).ok()?;
    if url.origin() == base.origin() {
        return Some(own.to_string());
    }
    let origin = url.origin().ascii_serialization();
    let (_, without_scheme) = origin.split_once(':')?;
    let as_written = location.starts_with(&origin) || location.starts_with(without_scheme);
    let redacted = redactor.redact(location.as_bytes());
    let holds_secret =
        redacted.suspected || redacted.redactions.first().is_some_and(|first| first.start < origin.len());
    (as_written && !holds_secret).then_some(origin)
}

fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Whether the body is declared as JSON (RFC 8259, or a `+json` suffix, RFC 6839), once.
fn is_json(headers: &HeaderMap) -> bool {
    let mut types = headers.get_all(CONTENT_TYPE).iter();
    let (Some(only), None) = (types.next(), types.next()) else { return false };
    let essence = only.to_str().unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let essence = essence.to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json")
}
