//! Ids: what answers what (S-10, S-11, S-14 to S-16).
//!
//! Belongs here: ids of every permitted kind, and answers where there is no id. Does not belong here: duplicates.

use framegate_corpus::Revision;
use serde_json::{Value, json};

use super::probe::{Probe, told};
use super::{Found, all};

/// S-10: notifications are not answered, known, unknown or malformed.
pub(super) fn no_reply_to_notifications(probe: &mut Probe<'_>) -> Found {
    let cancelled = |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    told((|| {
        probe.ready()?;
        probe.say_unanswered("a known notification", &cancelled(json!(987_654)))?;
        let unknown = json!({"jsonrpc": "2.0", "method": "notifications/framegate"});
        probe.say_unanswered("an unknown notification", &unknown)?;
        probe.say_unanswered("a notification with ill-typed params", &cancelled(json!({})))?;
        Ok(Found::Holds)
    })())
}

/// S-11: an id comes back with its type and its exact value.
pub(super) fn echoed(probe: &mut Probe<'_>) -> Found {
    let long = "x".repeat(200);
    let ids = [
        json!(0),
        json!(-1),
        json!(2_147_483_648_u32),
        json!("1"),
        json!("a\"b\\c\n"),
        json!("\u{1f600}é"),
        json!(long),
    ];
    echo(probe, &ids)
}

/// The same for what JSON and the schema permit, and many hold as a double.
pub(super) fn wide_echoed(probe: &mut Probe<'_>) -> Found {
    echo(probe, &[json!(9_007_199_254_740_993_i64), json!(i64::MAX), json!("")])
}

fn echo(probe: &mut Probe<'_>, ids: &[Value]) -> Found {
    told(probe.ready().map(|()| all(ids.iter().map(|id| echo_one(probe, id)))))
}

fn echo_one(probe: &mut Probe<'_>, id: &Value) -> Found {
    let before = probe.talk.stdout_length();
    let (sign, params) = probe.sign();
    probe.talk.write_with_id(id, sign, params.as_ref());
    if probe.talk.answer_to(id).is_some() {
        return Found::Holds;
    }
    probe.talk.skip_to(before);
    let other = probe.talk.messages().into_iter().find(|message| message.get("method").is_none());
    let shown = |id: &Value| id.to_string().chars().take(40).collect::<String>();
    match other.as_ref().and_then(|other| other.get("id")) {
        Some(other) => {
            Found::wrong(format!("the request with id {} was answered with id {}", shown(id), shown(other)))
        }
        None => Found::unanswered(&format!("the request with id {}", shown(id))),
    }
}

/// S-14 to S-16: how an error looks whose request's id could not be read.
pub(super) fn unreadable(probe: &mut Probe<'_>) -> Found {
    told(probe.ready().map(|()| {
        let before = probe.talk.stdout_length();
        probe.say("a line that is no JSON", "{\"jsonrpc\": \"2.0\", \"id\": ");
        let _ = probe.talk.is_alive();
        probe.talk.skip_to(before);
        let errors = probe.talk.messages().into_iter().filter(|message| message.get("error").is_some());
        let is_late = matches!(probe.revision, Revision::V2025_11_25 | Revision::V2026_07_28);
        let mut any = false;
        let found = all(errors.filter(|error| error.get("id").is_none_or(Value::is_null)).map(|error| {
            any = true;
            match (error.get("id"), is_late) {
                (Some(_), true) => {
                    Found::wrong("the error has `\"id\": null`; the revision leaves the member out")
                }
                (None, false) => {
                    Found::wrong("the error has no `id`; the revision's schema wants one, JSON-RPC null")
                }
                _ => Found::Holds,
            }
        }));
        if any { found } else { Found::Untold("a line that is no JSON is not answered".to_owned()) }
    }))
}

/// S-15: where the id can be read, the error carries it.
pub(super) fn readable(probe: &mut Probe<'_>) -> Found {
    told(probe.ready().map(|()| {
        let before = probe.talk.stdout_length();
        let id = probe.talk.take_id();
        probe.say(
            "a request whose method is no text",
            &json!({"jsonrpc": "2.0", "id": id, "method": 7}).to_string(),
        );
        let _ = probe.talk.is_alive();
        probe.talk.skip_to(before);
        let errors: Vec<_> =
            probe.talk.messages().into_iter().filter(|message| message.get("error").is_some()).collect();
        match errors.iter().find(|error| error.get("id") != Some(&json!(id))) {
            _ if errors.is_empty() => {
                Found::Untold("a request whose method is no text is not answered".to_owned())
            }
            None => Found::Holds,
            Some(error) if error.get("id").is_none_or(Value::is_null) => {
                Found::wrong("the request's id can be read, and its error does not carry it")
            }
            Some(_) => Found::wrong("the request's id can be read, and its error carries another"),
        }
    }))
}
