//! From an answer to an outcome: what an agent may see of it.
//!
//! Belongs here: shown fields, the forms of a body, where a redirect leads; masking of what is shown.
//! Does not belong here: how the answer was read.

use std::cell::Cell;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_gate::action::{HttpAction, Origin};
use framegate_gate::outcome::{Outcome, Redirect};
use framegate_vault::{Redacted, Redactor};
use framegate_wire::json::{self, Parser};
use framegate_wire::{Limits, Reason};
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value, json};
use url::Url;

use super::body::Kept as KeptBody;
use super::exchange::Answer;
use super::pages::{Kept, Page, Pages};
use super::upload::Upload;
use crate::config::ResultSettings;

/// How deep a body lies in a reply: batch, envelope, `result`, `structuredContent`. A reply must fit within the
/// depth that we accept ourselves.
const DEPTH_OF_BODY: usize = 4;

/// The most values of a body that is read as JSON: more than in a frame, because an operator chose who answers, and no
/// more than the memory that an answer may cost allows.
const MAX_VALUES: usize = 250_000;

/// What searches an answer for the credential, and counts how often it was found.
pub(super) struct Net<'a> {
    redactor: &'a Redactor,
    hits: Cell<u64>,
}

impl<'a> Net<'a> {
    pub(super) const fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, hits: Cell::new(0) }
    }

    /// How many secrets were found beside those of the body as it came.
    pub(super) fn hits(&self) -> u64 {
        self.hits.get()
    }

    fn search<'b>(&self, bytes: &'b [u8]) -> Redacted<'b> {
        let redacted = self.redactor.redact(bytes);
        let found = u64::try_from(redacted.redactions.len()).unwrap_or(u64::MAX);
        self.hits.set(self.hits.get().saturating_add(found).saturating_add(u64::from(redacted.suspected)));
        redacted
    }
}

/// The call that an answer belongs to, and what its tool shows of it.
pub(super) struct Asked<'a> {
    pub(super) tool: &'a str,
    pub(super) action: &'a HttpAction,
    pub(super) settings: &'a ResultSettings,
    /// Whether redirects may be followed.
    pub(super) follows: bool,
}

/// The outcome: done if the target says that it succeeded, failed otherwise. A redirect is no success: the
/// request is not fulfilled until it is followed (RFC 9110, 15.4), and it is not followed.
/// The result is one object, as text and as structured content; `framegate_gate` publishes its schema.
pub(super) fn outcome(
    answer: Answer,
    asked: &Asked<'_>,
    upload: Option<&Upload>,
    net: &Net<'_>,
    pages: &Pages,
) -> Outcome {
    let Asked { settings, .. } = asked;
    let mut result = Map::new();
    result.insert("status".to_owned(), json!(answer.status.as_u16()));
    let fields = shown(&answer.headers, &settings.headers, net);
    result.insert("headers".to_owned(), Value::Object(fields));
    if let Some(location) = answer.headers.get(LOCATION).filter(|_| answer.status.is_redirection()) {
        let own = asked.action.origin();
        let target = location.to_str().ok().and_then(|location| redirect(location, net, own));
        let shown = target.unwrap_or_else(|| "an address that is not shown".to_owned());
        result.insert("redirect_not_followed".to_owned(), json!(shown));
    }
    if let Some(upload) = upload {
        result.insert("sent_file".to_owned(), json!({"bytes": upload.bytes.len(), "sha256": upload.sha256}));
    }
    if let Some(saved) = &answer.saved {
        let (name, value) = match saved {
            Ok(saved) => ("saved_file", json!({"bytes": saved.bytes, "sha256": saved.sha256})),
            Err(why) => (REFUSED, json!(why.words())),
        };
        return finish(result, false, Some((name, value)), answer.status.is_success());
    }
    let redirect = if asked.follows { followable(answer.status, &answer.headers, net) } else { None };
    let is_success = answer.status.is_success();
    let Shown { member, truncated } = match &settings.select {
        None => body(&answer.body, &answer.headers, settings.max_bytes, net),
        Some(parts) => selected(&answer.body, &answer.headers, parts, settings.max_bytes, net),
    };
    let is_shown = member.as_ref().is_some_and(|(form, _)| *form != REFUSED);
    if settings.cursor.is_some() && truncated && is_shown {
        return first_page(answer, result, asked, pages);
    }
    let outcome = finish(result, truncated, member, is_success);
    match redirect {
        Some(redirect) => outcome.with_redirect(redirect),
        None => outcome,
    }
}

/// The redirect, if it could be followed. Which ones are, is judged with the call; a location that holds a credential
/// goes nowhere from here.
fn followable(status: StatusCode, headers: &HeaderMap, net: &Net<'_>) -> Option<Redirect> {
    let mut locations = headers.get_all(LOCATION).iter();
    let (Some(only), None) = (locations.next(), locations.next()) else { return None };
    let location = only.to_str().ok().filter(|_| status.is_redirection())?;
    let repeats_secret = !net.search(location.as_bytes()).redactions.is_empty();
    (!repeats_secret).then(|| Redirect { status: status.as_u16(), location: location.to_owned() })
}

/// What is told of an answer whose target repeated its credential too often: that there was one.
pub(super) fn withheld(status: StatusCode) -> Outcome {
    let mut result = Map::new();
    result.insert("status".to_owned(), json!(status.as_u16()));
    result.insert("headers".to_owned(), json!({}));
    let why = "answers of this target are withheld for the rest of the session: they repeated its credential; \
               the operator sees it in the journal";
    finish(result, false, Some((REFUSED, json!(why))), status.is_success())
}

/// Keeps an answer that is too long for one result, and shows its beginning.
fn first_page(answer: Answer, envelope: Map<String, Value>, asked: &Asked<'_>, pages: &Pages) -> Outcome {
    let is_success = answer.status.is_success();
    let cut = answer.body.cut;
    let kept = Kept {
        tool: asked.tool.to_owned(),
        action: asked.action.clone(),
        is_success,
        envelope: envelope.clone(),
        body: answer.body.into_masked(),
        cut,
        limit: asked.settings.max_bytes,
    };
    let first = pages.keep(kept).map(|name| format!("{name}-0"));
    let shown = first.and_then(|cursor| pages.read(asked.tool, asked.action, &cursor, show_page));
    // Without a place to keep it, nothing of it was shown yet: say so.
    shown.unwrap_or_else(|| {
        let refused = Some((REFUSED, json!("the rest of it cannot be kept for paging")));
        finish(envelope, true, refused, is_success)
    })
}

/// A page of an answer that is kept.
pub(super) fn show_page(page: Page<'_>) -> Outcome {
    let Page { kept, bytes, is_text, next } = page;
    let member = match std::str::from_utf8(bytes).ok().filter(|_| is_text) {
        Some(text) => ("body", json!(text)),
        None => ("body_base64", json!(STANDARD.encode(bytes))),
    };
    let mut result = kept.envelope.clone();
    let truncated = next.is_some() || kept.cut;
    if let Some(next) = next {
        result.insert("next_cursor".to_owned(), json!(next));
    }
    finish(result, truncated, Some(member), kept.is_success)
}

fn finish(
    mut result: Map<String, Value>,
    truncated: bool,
    member: Option<(&'static str, Value)>,
    is_success: bool,
) -> Outcome {
    result.insert("truncated".to_owned(), json!(truncated));
    if let Some((form, body)) = member {
        result.insert(form.to_owned(), body);
    }
    let result = Value::Object(result);
    // A `Value` always has a text; what it displays is the same and is slower to write.
    let text = serde_json::to_string(&result).unwrap_or_default();
    if is_success { Outcome::done(text, Some(result)) } else { Outcome::failed(text) }
}

/// What of a body is shown.
struct Shown {
    /// The member that shows it, if there is one.
    member: Option<(&'static str, Value)>,
    /// Whether there is more.
    truncated: bool,
}

impl Shown {
    const fn whole(member: Option<(&'static str, Value)>) -> Self {
        Self { member, truncated: false }
    }

    fn refused(why: &str) -> Self {
        Self::whole(Some((REFUSED, json!(why))))
    }
}

const REFUSED: &str = "body_refused";
const ENCODED: &str = "it has a content-encoding that was not asked for";
const NOT_JSON: &str = "it is not JSON, and only parts of it may be shown";
const TOO_LONG: &str = "what may be shown of it is longer than the limit";
const REPEATS_SECRET: &str = "it repeats a credential in the names of its members";

/// The body as it is: JSON if it is JSON and fits, otherwise the beginning of its text or of its bytes.
fn body(body: &KeptBody, headers: &HeaderMap, limit: usize, net: &Net<'_>) -> Shown {
    if is_encoded(headers) {
        return Shown { truncated: body.cut, ..Shown::refused(ENCODED) };
    }
    let beginning = body.beginning(limit);
    let truncated = body.cut || beginning.len() < body.bytes().len();
    if beginning.is_empty() {
        return Shown { member: None, truncated };
    }
    let Some(text) = whole_text(beginning, truncated) else {
        return Shown { member: Some(("body_base64", json!(STANDARD.encode(beginning)))), truncated };
    };
    let tree = if is_json(headers) && !truncated { parse(text) } else { None };
    match tree.map(|tree| decoded(tree, text, net)) {
        None => Shown { member: Some(("body", json!(text))), truncated },
        Some(None) => Shown::refused(REPEATS_SECRET),
        Some(tree) => Shown::whole(tree.map(|tree| ("body", tree))),
    }
}

/// Parts of a JSON body, and nothing else of it, whatever the status is.
fn selected(
    body: &KeptBody,
    headers: &HeaderMap,
    parts: &[(String, String)],
    limit: usize,
    net: &Net<'_>,
) -> Shown {
    if is_encoded(headers) {
        return Shown::refused(ENCODED);
    }
    if body.bytes().is_empty() {
        return Shown::whole(None);
    }
    if body.cut {
        return Shown::refused("it is longer than what is read, and only parts of it may be shown");
    }
    let mut parser = parser();
    let text = whole_text(body.bytes(), false).filter(|_| is_json(headers));
    let Some(text) = text else { return Shown::refused(NOT_JSON) };
    let document = match parser.parse_text(text) {
        Ok(document) => document,
        Err(fault)
            if matches!(fault.reason(), Reason::JsonNodes | Reason::JsonMembers | Reason::JsonDepth) =>
        {
            return Shown::refused(
                "it has more values than are read, or lies deeper, and only parts of it may be shown",
            );
        }
        Err(_) => return Shown::refused(NOT_JSON),
    };
    let mut shown = Map::new();
    for (name, pointer) in parts {
        // Only the parts are made into a tree of their own: a body is much longer than what is shown of it.
        let Some(part) = part(document.root(), pointer) else { continue };
        if part.span().len() > limit {
            return Shown::refused(TOO_LONG);
        }
        let Some(part) = decoded(part.to_owned_json(), text, net) else {
            return Shown::refused(REPEATS_SECRET);
        };
        shown.insert(name.clone(), part);
    }
    let shown = Value::Object(shown);
    if shown.to_string().len() > limit {
        return Shown::refused(TOO_LONG);
    }
    Shown::whole(Some(("body", shown)))
}

/// The part that a pointer names (RFC 6901, 4).
fn part<'d>(root: json::Value<'d>, pointer: &str) -> Option<json::Value<'d>> {
    let mut part = root;
    for token in pointer.split('/').skip(1) {
        let token = token.replace("~1", "/").replace("~0", "~");
        part = match (part.as_object(), part.as_array()) {
            (Some(object), _) => object.iter().find(|member| member.name == token)?.value,
            (None, Some(items)) => {
                let is_index = token == "0" || !token.starts_with('0');
                let digits = is_index && token.bytes().all(|byte| byte.is_ascii_digit());
                items.iter().nth(token.parse().ok().filter(|_| digits)?)?
            }
            (None, None) => return None,
        };
    }
    Some(part)
}

/// The tree of `text` without secrets; none if its names repeat one. Decoding can bring to light what was hidden by
/// an escape; without one, the strings are bytes that were searched already.
fn decoded(tree: Value, text: &str, net: &Net<'_>) -> Option<Value> {
    if text.contains('\\') { masked(tree, net) } else { Some(tree) }
}

/// The bytes, if they are text; without the start of a character that a cut has split.
fn whole_text(bytes: &[u8], cut: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(fault) if cut && fault.error_len().is_none() => {
            let whole = bytes.get(..fault.valid_up_to())?;
            std::str::from_utf8(whole).ok()
        }
        Err(_) => None,
    }
}

/// The body as JSON, if it is strict JSON; a body with two readings stays text.
fn parse(text: &str) -> Option<Value> {
    let mut parser = parser();
    let document = parser.parse_text(text).ok()?;
    Some(document.root().to_owned_json())
}

fn parser() -> Parser {
    let limits = Limits::default();
    let max_depth = limits.max_depth.saturating_sub(DEPTH_OF_BODY);
    Parser::new(&Limits {
        max_frame: Limits::MAX_FRAME_CEILING,
        max_depth,
        max_members: MAX_VALUES,
        max_nodes: MAX_VALUES,
        ..limits
    })
}

/// The tree without secrets; none if two names of one object become one.
fn masked(tree: Value, net: &Net<'_>) -> Option<Value> {
    Some(match tree {
        Value::String(text) => Value::String(clean(&text, net)),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| masked(item, net));
            Value::Array(items.collect::<Option<_>>()?)
        }
        Value::Object(members) => {
            let count = members.len();
            let members =
                members.into_iter().map(|(name, value)| Some((clean(&name, net), masked(value, net)?)));
            let members: Map<_, _> = members.collect::<Option<_>>()?;
            if members.len() < count {
                return None;
            }
            Value::Object(members)
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    })
}

fn shown(headers: &HeaderMap, names: &[String], net: &Net<'_>) -> Map<String, Value> {
    names
        .iter()
        .filter_map(|name| {
            let values: Vec<&str> =
                headers.get_all(name).iter().filter_map(|value| value.to_str().ok()).collect();
            // One list, as RFC 9110 section 5.3 combines them.
            (!values.is_empty()).then(|| (name.clone(), json!(clean(&values.join(", "), net))))
        })
        .collect()
}

fn clean(text: &str, net: &Net<'_>) -> String {
    let redacted = net.search(text.as_bytes());
    if redacted.suspected {
        return Redacted::WITHHELD.to_owned();
    }
    String::from_utf8_lossy(&redacted.bytes).into_owned()
}

/// The origin that a redirect leads to, without path and query, which could hold what was sent.
///
/// Only as the target wrote it: what a URL parser makes of a host (lower case, decoded percent signs) is one
/// more spelling, in which a secret would not be found.
fn redirect(location: &str, net: &Net<'_>, own: &Origin) -> Option<String> {
    let base = Url::parse(&own.to_string()).ok()?;
    let url = base.join(location).ok()?;
    if url.origin() == base.origin() {
        return Some(own.to_string());
    }
    let origin = url.origin().ascii_serialization();
    let (_, without_scheme) = origin.split_once(':')?;
    let as_written = location.starts_with(&origin) || location.starts_with(without_scheme);
    let redacted = net.search(location.as_bytes());
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
