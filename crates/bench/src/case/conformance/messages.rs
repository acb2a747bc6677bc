//! What a server says of its own accord, and the envelope of everything it says.
//!
//! Belongs here: requests, notifications, errors of a whole session (S, and the M that hold for every message).
//! Does not belong here: what is in a result.

use std::collections::BTreeSet;

use framegate_corpus::Revision;
use serde_json::Value;

use super::transcript::Transcript;
use super::{Found, all, schema};
use crate::verdict::Kind;

/// Codes that JSON-RPC 2.0 (section 5.1) and 2026-07-28 define.
const MODERN_CODES: &[i64] = &[-32700, -32600, -32601, -32602, -32603, -32020, -32021, -32022];
/// What JSON-RPC 2.0 reserves for itself (section 5.1).
const RESERVED: core::ops::RangeInclusive<i64> = -32768..=-32000;

/// S-12: a response has a result or an error, and not both.
pub(super) fn result_or_error(session: &Transcript) -> Found {
    all(session.values().filter(|value| value.get("method").is_none()).map(|value| {
        match (value.get("result"), value.get("error")) {
            (Some(_), None) | (None, Some(_)) => Found::Holds,
            (Some(_), Some(_)) => Found::wrong("a response has both `result` and `error`"),
            (None, None) => Found::wrong("a response has neither `result` nor `error`"),
        }
    }))
}

/// S-13: an error's code is an integer, its message a text.
pub(super) fn error_members(session: &Transcript) -> Found {
    all(session.values().filter_map(|value| value.get("error")).map(|error| {
        let is_right = error.get("code").is_some_and(|code| code.is_i64() || code.is_u64())
            && error.get("message").is_some_and(Value::is_string);
        if is_right {
            return Found::Holds;
        }
        Found::wrong("an error's `code` is no integer, or its `message` no text")
    }))
}

/// S-17: no request comes from a server of the stateless era.
pub(super) fn no_requests(session: &Transcript) -> Found {
    all(session.requests().map(|request| {
        let text = format!("the server sent the request `{}`", method(request));
        Found::Broken(Kind::ExtraReply, text)
    }))
}

/// S-18: nothing is an array.
pub(super) fn no_arrays(session: &Transcript) -> Found {
    match session.values().any(Value::is_array) {
        true => Found::wrong("a line is an array, and the revision has no batches"),
        false => Found::Holds,
    }
}

/// S-19: no request for what the client did not declare; it declared nothing.
pub(super) fn undeclared_requests(session: &Transcript) -> Found {
    all(session.requests().map(|request| match method(request) {
        "ping" => Found::Holds,
        other => Found::Broken(
            Kind::ExtraReply,
            format!("the server sent `{other}`, and the client had declared no capability"),
        ),
    }))
}

/// S-20: ids of the server's requests are texts or integers, each used once.
pub(super) fn request_ids(session: &Transcript) -> Found {
    let mut known = BTreeSet::new();
    let mut any = false;
    let found = all(session.requests().map(|request| {
        any = true;
        let id = request.get("id").unwrap_or(&Value::Null);
        if !(id.is_string() || id.is_i64() || id.is_u64()) {
            return Found::wrong("a request of the server has an id that is neither text nor integer");
        }
        match known.insert(id.to_string()) {
            true => Found::Holds,
            false => Found::wrong("two requests of the server have one id"),
        }
    }));
    if any { found } else { Found::Untold("the server sent no request".to_owned()) }
}

/// S-22, L-06: only notifications that the revision has, behind a declared capability, formed as its schema says.
pub(super) fn known_notifications(session: &Transcript) -> Found {
    all(session.notifications().map(|notification| {
        let method = method(notification);
        let Some(definition) = schema::notification(method, session.revision) else {
            let text = format!("{} has no notification `{method}`", session.revision.name());
            return Found::Broken(Kind::ExtraReply, text);
        };
        if let Some(fault) = schema::fault(session.revision, definition, notification) {
            return Found::wrong(fault);
        }
        let needed = match method {
            "notifications/message" => "/logging",
            "notifications/tools/list_changed" => "/tools/listChanged",
            "notifications/prompts/list_changed" => "/prompts/listChanged",
            "notifications/resources/list_changed" => "/resources/listChanged",
            "notifications/resources/updated" => "/resources/subscribe",
            _ => return Found::Holds,
        };
        match session.capabilities.pointer(needed) {
            Some(declared) if declared != &Value::Bool(false) => Found::Holds,
            _ => Found::Broken(
                Kind::ExtraReply,
                format!(
                    "`{method}` came, and the server does not declare `{}`",
                    needed.trim_start_matches('/')
                ),
            ),
        }
    }))
}

/// S-23: no log message for a request without a log level.
pub(super) fn no_unasked_logs(session: &Transcript) -> Found {
    match session.notifications().any(|notification| method(notification) == "notifications/message") {
        true => Found::Broken(
            Kind::ExtraReply,
            "`notifications/message` came, and no request asked for a log level".to_owned(),
        ),
        false => Found::Holds,
    }
}

/// S-24: no change is told that nobody listens to.
pub(super) fn no_unasked_changes(session: &Transcript) -> Found {
    all(session.notifications().map(|notification| {
        let method = method(notification);
        if method.ends_with("/list_changed") || method.ends_with("/updated") {
            let text = format!("`{method}` came, and nothing was listened to");
            return Found::Broken(Kind::ExtraReply, text);
        }
        Found::Holds
    }))
}

/// S-25: progress names a token that was given, grows, and ends with the answer.
pub(super) fn progress(session: &Transcript) -> Found {
    let mut any = false;
    let mut last: Vec<(Value, f64)> = Vec::new();
    let mut answered: Vec<Value> = Vec::new();
    let token = |params: &Value| params.pointer("/_meta/progressToken").cloned();
    let given: Vec<_> = session.all_answers().filter_map(|(request, _)| token(&request.params)).collect();
    for message in &session.messages {
        if let Some(token) = message.answers.as_ref().and_then(|request| token(&request.params)) {
            answered.push(token);
        }
        if method(&message.value) != "notifications/progress" {
            continue;
        }
        any = true;
        let of = |name: &str| message.value.pointer(&format!("/params/{name}"));
        let (Some(token), Some(progress)) = (of("progressToken"), of("progress").and_then(Value::as_f64))
        else {
            return Found::wrong("a progress notification has no token, or no number");
        };
        if !given.contains(token) {
            return Found::wrong("progress came for a token that was never given");
        }
        if answered.contains(token) {
            return Found::Broken(Kind::ExtraReply, "progress came behind the answer".to_owned());
        }
        match last.iter_mut().find(|(known, _)| known == token) {
            Some((_, before)) if progress <= *before => {
                return Found::wrong("progress did not grow");
            }
            Some((_, before)) => *before = progress,
            None => last.push((token.clone(), progress)),
        }
    }
    if any { Found::Holds } else { Found::Untold("no progress was sent".to_owned()) }
}

/// S-26: the server cancels only its own requests.
pub(super) fn own_cancels(session: &Transcript) -> Found {
    let own: Vec<_> = session.requests().filter_map(|request| request.get("id")).collect();
    let cancels = session.notifications().filter(|value| method(value) == "notifications/cancelled");
    all(cancels.map(|cancel| match cancel.pointer("/params/requestId") {
        Some(id) if own.contains(&id) => Found::Holds,
        _ => Found::Broken(
            Kind::ExtraReply,
            "`notifications/cancelled` came for what is no request of the server".to_owned(),
        ),
    }))
}

/// M-12: only codes that the revision defines, among those that are reserved.
pub(super) fn known_codes(session: &Transcript) -> Found {
    let codes = session.values().filter_map(|value| value.pointer("/error/code")?.as_i64());
    all(codes.map(|code| match RESERVED.contains(&code) && !MODERN_CODES.contains(&code) {
        true => Found::wrong(format!(
            "error {code} is reserved, and {} does not define it",
            Revision::V2026_07_28.name()
        )),
        false => Found::Holds,
    }))
}

fn method(message: &Value) -> &str {
    message.get("method").and_then(Value::as_str).unwrap_or_default()
}
