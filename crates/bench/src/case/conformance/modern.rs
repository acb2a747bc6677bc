//! The stateless era, 2026-07-28 (M).
//!
//! Belongs here: `_meta`, versions, discovery, removed methods. Does not belong here: what holds for every message.

use framegate_corpus::{Phase, Revision};
use serde_json::{Value, json};

use super::probe::{Probe, described, has_code, told};
use super::{Found, all};
use crate::case::talk::meta;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const LEVEL: &str = "io.modelcontextprotocol/logLevel";

fn with(change: impl FnOnce(&mut serde_json::Map<String, Value>)) -> Value {
    let mut meta = meta();
    if let Some(meta) = meta.as_object_mut() {
        change(meta);
    }
    json!({ "_meta": meta })
}

/// M-01, M-03: discovery works, and each modern version that it lists is served.
pub(super) fn listed_versions(probe: &mut Probe<'_>) -> Found {
    told((|| {
        let answer = probe.ask("server/discover", None)?;
        let versions = answer.pointer("/result/supportedVersions").and_then(Value::as_array);
        let Some(versions) = versions.filter(|versions| !versions.is_empty()) else {
            return Ok(Found::wrong("`server/discover` lists no `supportedVersions`"));
        };
        let modern = versions.iter().filter_map(Value::as_str);
        let modern: Vec<_> = modern.filter(|version| *version >= Revision::V2026_07_28.name()).collect();
        if !modern.contains(&Revision::V2026_07_28.name()) {
            return Ok(Found::wrong("`server/discover` is served, and 2026-07-28 is not listed"));
        }
        for version in modern {
            let params = with(|meta| drop(meta.insert(VERSION.to_owned(), json!(version))));
            let answer = probe.ask_bare("tools/list", Some(&params))?;
            if answer.get("result").is_none() {
                return Ok(Found::wrong(format!("a version that is listed had {}", described(&answer))));
            }
        }
        Ok(Found::Holds)
    })())
}

/// M-04: what is missing or ill-typed in `_meta` is -32602.
pub(super) fn meta_members(probe: &mut Probe<'_>) -> Found {
    let params = [
        ("no params", None),
        ("no `_meta`", Some(json!({}))),
        ("an array as `_meta`", Some(json!({"_meta": []}))),
        ("no version", Some(with(|meta| drop(meta.remove(VERSION))))),
        ("a number as version", Some(with(|meta| drop(meta.insert(VERSION.to_owned(), json!(2026)))))),
        ("no client capabilities", Some(with(|meta| drop(meta.remove(CAPABILITIES))))),
        (
            "a text as client capabilities",
            Some(with(|meta| drop(meta.insert(CAPABILITIES.to_owned(), json!("x"))))),
        ),
    ];
    told(probe.ready().map(|()| {
        all(params.iter().map(|(what, params)| refused(probe, what, "tools/list", params.as_ref(), -32602)))
    }))
}

/// M-05: a client need not name itself.
pub(super) fn nameless_client(probe: &mut Probe<'_>) -> Found {
    let params = with(|meta| drop(meta.remove(CLIENT)));
    served(probe, "a request without `clientInfo`", &params)
}

/// M-06: a version that does not exist is -32022, with what is supported and what was asked for.
pub(super) fn unsupported(probe: &mut Probe<'_>) -> Found {
    let params = with(|meta| drop(meta.insert(VERSION.to_owned(), json!("2999-12-31"))));
    told(probe.ask_bare("tools/list", Some(&params)).map(|answer| {
        if !has_code(&answer, -32022) {
            return Found::wrong(format!(
                "an unsupported version had {}; expected error -32022",
                described(&answer)
            ));
        }
        let of = |name: &str| answer.pointer(&format!("/error/data/{name}"));
        match of("supported").is_some_and(Value::is_array) && of("requested") == Some(&json!("2999-12-31")) {
            true => Found::Holds,
            false => {
                Found::wrong("the error's `data` does not say what is `supported` and what was `requested`")
            }
        }
    }))
}

/// M-08: nothing is remembered of an earlier `_meta`.
pub(super) fn no_memory(probe: &mut Probe<'_>) -> Found {
    told((|| {
        let _ = probe.ask("tools/list", None)?;
        Ok(refused(probe, "no `_meta`, behind a request with it,", "tools/list", Some(&json!({})), -32602))
    })())
}

/// M-09: the list of tools is the same in every process, and behind other requests.
pub(super) fn same_tools(probe: &mut Probe<'_>) -> Found {
    compare(probe, |mut names| {
        names.sort();
        names
    })
}

/// M-10: in the same order.
pub(super) fn same_order(probe: &mut Probe<'_>) -> Found {
    compare(probe, |names| names)
}

fn compare(probe: &mut Probe<'_>, form: fn(Vec<String>) -> Vec<String>) -> Found {
    told((|| {
        let names = |answer: Value| {
            let tools = answer.pointer("/result/tools").and_then(Value::as_array).cloned();
            tools
                .into_iter()
                .flatten()
                .map(|tool| tool.get("name").map(Value::to_string).unwrap_or_default())
                .collect()
        };
        let first = form(names(probe.ask("tools/list", None)?));
        let _ = probe.ask("framegate/no-such-method", None)?;
        let second = form(names(probe.ask("tools/list", None)?));
        let mut other = probe.another().map_err(|_| Found::unanswered("another process"))?;
        let third = form(names(other.ask("tools/list", None)?));
        Ok(match (first == second, first == third) {
            (false, _) => Found::wrong("`tools/list` changes within a process"),
            (_, false) => Found::wrong("`tools/list` differs from process to process"),
            (true, true) => Found::Holds,
        })
    })())
}

/// M-16: listening is acknowledged first, or refused as unknown.
pub(super) fn listen(probe: &mut Probe<'_>) -> Found {
    let before = probe.talk.stdout_length();
    let mut params = with(|_| ());
    if let Some(params) = params.as_object_mut() {
        params.insert("notifications".to_owned(), json!({"toolsListChanged": true}));
    }
    let id = json!(probe.talk.write_bare("subscriptions/listen", Some(&params)));
    let is_told = |message: &Value| message.get("method").is_some() || message.get("id") == Some(&id);
    probe.talk.skip_to(before);
    let wait = probe.bench.options.timeout;
    match probe.talk.message_within(wait, is_told) {
        None => Found::unanswered("`subscriptions/listen`"),
        Some(first) if first.get("method") == Some(&json!("notifications/subscriptions/acknowledged")) => {
            Found::Holds
        }
        Some(first) if has_code(&first, -32601) => Found::Holds,
        Some(first) => Found::wrong(format!(
            "`subscriptions/listen` had {}; expected an acknowledgement first, or error -32601",
            described(&first)
        )),
    }
}

/// M-17: what the revision removed is unknown.
pub(super) fn removed_methods(probe: &mut Probe<'_>) -> Found {
    let removed = [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": "file:///x"})),
    ];
    told((|| {
        // Behind a request of this era: what is spoken is settled.
        let _ = probe.ask("tools/list", None)?;
        Ok(all(removed.iter().map(|(method, params)| {
            let mut params = params.clone();
            if let Some(params) = params.as_object_mut() {
                params.insert("_meta".to_owned(), meta());
            }
            refused(probe, "a method that was removed,", method, Some(&params), -32601)
        })))
    })())
}

/// M-18: who has no handshake says which versions there are.
pub(super) fn late_initialize(probe: &mut Probe<'_>) -> Found {
    let params = crate::case::talk::initialize(Revision::V2025_06_18.name());
    told(probe.ask_bare("initialize", Some(&params)).map(|answer| match answer.get("error") {
        None => Found::Untold("the server has a handshake too".to_owned()),
        Some(error) => {
            let names = error.pointer("/data/supported").is_some_and(Value::is_array)
                || error
                    .get("message")
                    .is_some_and(|text| text.to_string().contains(Revision::V2026_07_28.name()));
            match names {
                true => Found::Holds,
                false => {
                    Found::wrong("the error to `initialize` does not name the versions that are supported")
                }
            }
        }
    }))
}

/// M-20: a log level that does not exist is -32602.
pub(super) fn bad_log_level(probe: &mut Probe<'_>) -> Found {
    let params = with(|meta| drop(meta.insert(LEVEL.to_owned(), json!("framegate"))));
    refused(probe, "a log level that does not exist", "tools/list", Some(&params), -32602)
}

/// M-22: who speaks both eras opens a session behind a discovery.
pub(super) fn both_eras(probe: &mut Probe<'_>) -> Found {
    let legacy = Revision::ALL
        .into_iter()
        .rev()
        .find(|revision| !revision.is_modern() && probe.bench.speaks(*revision));
    let Some(legacy) = legacy else {
        return Found::Untold("the server speaks no revision with a handshake".to_owned());
    };
    told((|| {
        let _ = probe.ask("server/discover", None)?;
        if probe.talk.reach(Phase::Ready, legacy).is_some() {
            return Ok(Found::Holds);
        }
        let last = probe.talk.messages().pop().unwrap_or_default();
        Ok(Found::wrong(format!(
            "{} is served in a process of its own, and `initialize` behind `server/discover` had {}",
            legacy.name(),
            described(&last)
        )))
    })())
}

fn refused(probe: &mut Probe<'_>, what: &str, method: &str, params: Option<&Value>, code: i64) -> Found {
    told(probe.ask_bare(method, params).map(|answer| match has_code(&answer, code) {
        true => Found::Holds,
        false => {
            Found::wrong(format!("`{method}` with {what} had {}; expected error {code}", described(&answer)))
        }
    }))
}

fn served(probe: &mut Probe<'_>, what: &str, params: &Value) -> Found {
    told(probe.ask_bare("tools/list", Some(params)).map(|answer| match answer.get("result") {
        Some(_) => Found::Holds,
        None => Found::wrong(format!("{what} had {}", described(&answer))),
    }))
}
