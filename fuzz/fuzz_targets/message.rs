//! The envelope: reading never panics, accepted messages keep to the closed envelope by a check that shares
//! nothing with ours, and a message written out again reads as the same message.

#![no_main]

use framegate_wire::Limits;
use framegate_wire::json::Parser;
use framegate_wire::message::{
    self, CallParams, CancelParams, Incoming, MessageRefusal, Params, RequestId, Revision,
};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

/// What was read, as data.
fn describe(read: Result<Incoming<'_>, MessageRefusal>, limits: &Limits, length: usize) -> Value {
    match read {
        Ok(Incoming::Request(request)) => {
            let mut calls = Vec::new();
            for revision in Revision::ALL {
                calls.push(match CallParams::read(&request, revision) {
                    Ok(params) => {
                        let arguments = params.arguments().map(|arguments| arguments.len());
                        let token = match params.progress_token() {
                            Ok(token) => json!(token.map(|token| token.to_owned_json())),
                            Err(refusal) => json!(["refused", refusal.reason().code()]),
                        };
                        json!([params.name(), arguments, token])
                    }
                    Err(refusal) => {
                        assert!(refusal.offset() <= length);
                        json!(refusal.reason().code())
                    }
                });
            }
            json!({"id": id(request.id()), "method": request.method(), "params": params(request.params()), "calls": calls})
        }
        Ok(Incoming::Notification(notification)) => {
            let cancelled = CancelParams::read(notification.params(), limits).map(|params| id(&params.id));
            json!({"method": notification.method(), "params": params(notification.params()), "cancelled": cancelled})
        }
        Ok(Incoming::Response(_)) => json!("response"),
        Ok(Incoming::Batch(batch)) => {
            Value::Array(batch.read(limits).map(|member| describe(member, limits, length)).collect())
        }
        Err(refused) => {
            assert!(refused.refusal().offset() <= length);
            assert!(refused.id().is_none_or(|id| id.to_string().len() <= 6 * limits.max_id + 2));
            json!({"refused": refused.refusal().reason().code(), "answered": refused.is_answered()})
        }
    }
}

/// `0` and `-0` are one id, and are written out alike.
fn id(id: &RequestId) -> Value {
    match id {
        RequestId::Integer { value, .. } => json!(value),
        RequestId::Text(text) => json!(text),
    }
}

fn params(params: Params<'_>) -> Value {
    match params {
        Params::Absent => json!("absent"),
        Params::Object(object) => object.iter().map(|member| (member.name.to_owned(), member.value.to_owned_json())).collect(),
        Params::Other { kind, .. } => json!(kind.name()),
    }
}

/// The closed envelope, by `serde_json`.
fn is_closed(value: &Value, described: &Value) -> bool {
    if let (Some(members), Some(described)) = (value.as_array(), described.as_array()) {
        return members.iter().zip(described).all(|(member, described)| is_closed(member, described));
    }
    if described.get("refused").is_some() {
        return true;
    }
    let Some(object) = value.as_object() else { return false };
    let only = |names: &[&str]| object.keys().all(|name| names.contains(&name.as_str()));
    let is_request = object.contains_key("method") && only(&["jsonrpc", "id", "method", "params"]);
    let is_response = object.contains_key("result") != object.contains_key("error")
        && only(&["jsonrpc", "id", "result", "error"]);
    object.get("jsonrpc") == Some(&json!("2.0")) && (is_request || is_response)
}

fuzz_target!(|text: &str| {
    let limits = Limits { max_batch: 8, max_id: 64, ..Limits::default() };
    let mut parser = Parser::new(&limits);
    let Ok(document) = parser.parse_text(text) else { return };
    let value = document.root().to_owned_json();
    let written = value.to_string();
    let mut again = Parser::new(&limits);
    for batches in [false, true] {
        let described = describe(message::read(&document, batches, &limits), &limits, text.len());
        assert!(is_closed(&value, &described), "{described}");
        let rewritten = again.parse_text(&written).unwrap();
        assert_eq!(described, describe(message::read(&rewritten, batches, &limits), &limits, written.len()));
    }
});
