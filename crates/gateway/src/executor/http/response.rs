//! From an answer to an outcome: what an agent may see of it.
//!
//! Belongs here: shown fields, body forms, redaction before anything is cut.
//! Does not belong here: how the answer was read.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_gate::outcome::Outcome;
use framegate_vault::Redactor;
use framegate_wire::Limits;
use framegate_wire::json::Parser;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, LOCATION};
use serde_json::{Map, Value, json};
use url::Url;

use super::exchange::Answer;

/// Fields that are shown. Never `set-cookie`.
const SHOWN: [&str; 5] = ["content-type", "etag", "last-modified", "link", "retry-after"];

/// The outcome: done below 400, failed from there on. The result is the same object as text and as
/// structured content: `status`, `headers`, and `body` (JSON, text) or `body_base64`.
pub(super) fn outcome(answer: &Answer, redactor: &Redactor, limit: usize) -> Outcome {
    let mut result = Map::new();
    result.insert("status".to_owned(), json!(answer.status.as_u16()));
    result.insert("headers".to_owned(), Value::Object(shown(&answer.headers, redactor)));
    if let Some(origin) = redirect(&answer.headers).filter(|_| answer.status.is_redirection()) {
        result.insert("redirect_not_followed".to_owned(), json!(clean(&origin, redactor)));
    }
    if is_encoded(&answer.headers) {
        result.insert("body_refused".to_owned(), json!("it has a content-encoding that was not asked for"));
    } else {
        add_body(&mut result, answer, redactor, limit);
    }
    let result = Value::Object(result);
    let text = result.to_string();
    if answer.status.is_client_error() || answer.status.is_server_error() {
        Outcome::failed(text)
    } else {
        Outcome::done(text, Some(result))
    }
}

fn add_body(result: &mut Map<String, Value>, answer: &Answer, redactor: &Redactor, limit: usize) {
    let redacted = redactor.redact(&answer.body);
    let cut = answer.cut || redacted.bytes.len() > limit;
    let body = redacted.truncated(limit);
    result.insert("truncated".to_owned(), json!(cut));
    match std::str::from_utf8(body) {
        _ if body.is_empty() => {}
        Ok(text) => {
            let tree = if cut { None } else { parse(text) };
            result.insert("body".to_owned(), tree.unwrap_or_else(|| json!(text)));
        }
        // Cut inside a character: the whole characters before it are text.
        Err(fault) if cut && fault.error_len().is_none() => {
            let whole = body.get(..fault.valid_up_to()).unwrap_or_default();
            result.insert("body".to_owned(), json!(String::from_utf8_lossy(whole)));
        }
        Err(_) => {
            result.insert("body_base64".to_owned(), json!(STANDARD.encode(body)));
        }
    }
}

/// The body as JSON, if it is strict JSON; a body with two readings stays text.
fn parse(text: &str) -> Option<Value> {
    let limits = Limits { max_frame: Limits::MAX_FRAME_CEILING, ..Limits::default() };
    let mut parser = Parser::new(&limits);
    let document = parser.parse_text(text).ok()?;
    Some(document.root().to_owned_json())
}

fn shown(headers: &HeaderMap, redactor: &Redactor) -> Map<String, Value> {
    SHOWN
        .into_iter()
        .filter_map(|name| {
            let value = headers.get(name)?.to_str().ok()?;
            Some((name.to_owned(), json!(clean(value, redactor))))
        })
        .collect()
}

fn clean(text: &str, redactor: &Redactor) -> String {
    String::from_utf8_lossy(&redactor.redact(text.as_bytes()).bytes).into_owned()
}

/// Where a redirect leads, without path and query, which could hold what was sent.
fn redirect(headers: &HeaderMap) -> Option<String> {
    let location = headers.get(LOCATION)?.to_str().ok()?;
    match Url::parse(location) {
        Ok(url) => Some(url.origin().ascii_serialization()),
        Err(_) => Some("a relative location".to_owned()),
    }
}

fn is_encoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"))
}
