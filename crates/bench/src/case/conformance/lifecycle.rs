//! The handshake of 2024-11-05 to 2025-11-25, and what it must survive (L, C).
//!
//! Belongs here: initialize, ping, batches, cancels. Does not belong here: whether a call was carried out early
//! (the corpus has those frames).

use std::thread;
use std::time::Duration;

use framegate_corpus::{Phase, Revision};
use serde_json::{Value, json};

use super::probe::{Probe, described, told};
use super::{Found, all};
use crate::case::talk::initialize;
use crate::verdict::Kind;

/// How long a server is given to speak before `notifications/initialized`.
const HELD_BACK: Duration = Duration::from_millis(700);
/// What no server supports.
const UNSUPPORTED: [&str; 3] = ["1999-01-01", "", "2999-12-31"];

/// L-02: a version that the server offers is one that it serves.
pub(super) fn offered_is_served(probe: &mut Probe<'_>) -> Found {
    let Some(offered) = UNSUPPORTED.first().and_then(|version| probe.talk.offered(version)) else {
        return Found::Untold("an unsupported version is answered with no other".to_owned());
    };
    let Ok(mut other) = probe.another() else { return Found::unanswered("another process") };
    match other.talk.offered(&offered) {
        Some(echoed) if echoed == offered => Found::Holds,
        Some(_) => Found::wrong("the version that it offers is answered with another one when asked for"),
        None => Found::unanswered("`initialize` with the version that it offers"),
    }
}

/// L-03: an unsupported version is answered with a supported one.
pub(super) fn unsupported(probe: &mut Probe<'_>) -> Found {
    all(UNSUPPORTED.iter().map(|version| {
        told((|| {
            let mut other = probe.another().map_err(|_| Found::unanswered("another process"))?;
            let answer = other.ask("initialize", Some(&initialize(version)))?;
            let offered = answer.pointer("/result/protocolVersion").and_then(Value::as_str);
            Ok(match offered {
                Some(offered) if Revision::ALL.iter().any(|known| known.name() == offered) => Found::Holds,
                Some(offered) if offered == *version => {
                    Found::wrong(format!("the version `{version}` does not exist, and was agreed to"))
                }
                Some(_) => {
                    Found::wrong(format!("`{version}` was answered with a version that does not exist"))
                }
                None => Found::wrong(format!(
                    "`{version}` had {}; expected a result with a version that the server supports",
                    described(&answer)
                )),
            })
        })())
    }))
}

/// L-04: what is offered instead is the latest.
pub(super) fn offers_latest(probe: &mut Probe<'_>) -> Found {
    let Some(offered) = UNSUPPORTED.first().and_then(|version| probe.talk.offered(version)) else {
        return Found::Untold("an unsupported version is answered with no other".to_owned());
    };
    let legacy = Revision::ALL.into_iter().filter(|revision| !revision.is_modern());
    let latest = legacy.rev().find(|revision| probe.bench.speaks(*revision));
    match latest {
        Some(latest) if latest.name() != offered => {
            Found::wrong(format!("{} is offered, and {} is served", short(&offered), latest.name()))
        }
        _ => Found::Holds,
    }
}

/// L-05: `ping` is answered, with an empty result, before anything else too.
pub(super) fn ping(probe: &mut Probe<'_>) -> Found {
    told((|| {
        let early = probe.ask("ping", None)?;
        probe.ready()?;
        let late = probe.ask("ping", None)?;
        for (when, answer) in [("before `initialize`", early), ("in a session", late)] {
            match answer.get("result").and_then(Value::as_object) {
                Some(result) if result.keys().all(|name| name == "_meta") => {}
                _ => {
                    return Ok(Found::wrong(format!(
                        "`ping` {when} had {}; expected an empty result",
                        described(&answer)
                    )));
                }
            }
        }
        Ok(Found::Holds)
    })())
}

/// L-07: `initialize` without its members is an error, and can be repeated.
pub(super) fn incomplete(probe: &mut Probe<'_>) -> Found {
    told((|| {
        let answer = probe.ask("initialize", Some(&json!({})))?;
        if answer.get("error").is_none() {
            return Ok(Found::wrong(format!("`initialize` without its members had {}", described(&answer))));
        }
        probe.ready().map_err(|_| Found::unanswered("`initialize` behind one without its members"))?;
        Ok(Found::Holds)
    })())
}

/// L-10: a second `initialize` does no harm.
pub(super) fn again(probe: &mut Probe<'_>) -> Found {
    told((|| {
        probe.ready()?;
        let answer = probe.ask("initialize", Some(&initialize(probe.revision.name())))?;
        if answer.get("error").is_none() {
            return Ok(Found::wrong(format!(
                "a second `initialize` had {}; a session has one",
                described(&answer)
            )));
        }
        probe.alive("a second `initialize`")?;
        Ok(Found::Holds)
    })())
}

/// L-11: a probe for the stateless era does not end a server of this one.
pub(super) fn discovered_first(probe: &mut Probe<'_>) -> Found {
    told((|| {
        let params = json!({ "_meta": crate::case::talk::meta() });
        let answer = probe.ask_bare("server/discover", Some(&params))?;
        if answer.get("result").is_some() {
            return Ok(Found::Untold("the server speaks the stateless era too: see M-22".to_owned()));
        }
        probe.ready().map_err(|_| Found::unanswered("`initialize` behind `server/discover`"))?;
        Ok(Found::Holds)
    })())
}

/// L-12: a notification or a response as the first line ends nothing.
pub(super) fn odd_first_line(probe: &mut Probe<'_>) -> Found {
    let lines = [
        ("a notification", json!({"jsonrpc": "2.0", "method": "notifications/framegate"})),
        ("a response", json!({"jsonrpc": "2.0", "id": 987_654, "result": {}})),
    ];
    all(lines.iter().map(|(what, line)| {
        told((|| {
            let mut other = probe.another().map_err(|_| Found::unanswered("another process"))?;
            other.say(what, &line.to_string());
            other.ready().map_err(|_| Found::unanswered(&format!("`initialize` behind {what}")))?;
            other.alive(&format!("{what} as the first line"))?;
            Ok(Found::Holds)
        })())
    }))
}

/// L-13: batches of 2025-03-26.
pub(super) fn batches(probe: &mut Probe<'_>) -> Found {
    told((|| {
        probe.ready()?;
        let (one, two) = (probe.talk.take_id(), probe.talk.take_id());
        let ping = |id: i64| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/framegate"});
        let line = json!([ping(one), notification, ping(two)]).to_string();
        probe.say("a batch of two pings and a notification", &line);
        let answers = batch_or_both(probe, one, two)?;
        if answers != 2 {
            return Ok(Found::wrong(format!("a batch of two pings had {answers} answers")));
        }
        probe.alive("a batch")?;
        probe.say_unanswered("a batch of notifications", &json!([notification]))?;
        Ok(Found::Holds)
    })())
}

/// How many of the two were answered, in one array or apart.
fn batch_or_both(probe: &mut Probe<'_>, one: i64, two: i64) -> Result<usize, Found> {
    let is_one =
        |message: &Value, id: i64| message.get("id") == Some(&json!(id)) && message.get("result").is_some();
    let holds = |message: &Value, id: i64| match message.as_array() {
        Some(items) => items.iter().any(|item| is_one(item, id)),
        None => is_one(message, id),
    };
    let wait = probe.bench.options.timeout;
    let found = [one, two].map(|id| probe.talk.message_within(wait, |message| holds(message, id)).is_some());
    match found.iter().filter(|found| **found).count() {
        0 => Err(Found::unanswered("a batch")),
        count => Ok(count),
    }
}

/// L-14: `initialize` inside a batch opens no session.
pub(super) fn batched_initialize(probe: &mut Probe<'_>) -> Found {
    let id = probe.talk.take_id();
    let request = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": initialize(probe.revision.name())});
    probe.say("`initialize` in a batch", &json!([request]).to_string());
    let _ = probe.talk.is_alive();
    let opens = |message: &Value| message.pointer("/result/protocolVersion").is_some();
    let opened = probe
        .talk
        .messages()
        .iter()
        .any(|message| opens(message) || message.as_array().is_some_and(|items| items.iter().any(opens)));
    match opened {
        true => Found::wrong("`initialize` inside a batch was answered with a session"),
        false => Found::Holds,
    }
}

/// S-21: before the client is ready, the server sends nothing but pings and log messages.
pub(super) fn held_back(probe: &mut Probe<'_>) -> Found {
    if probe.talk.reach(Phase::Initializing, probe.revision).is_none() {
        return Found::unanswered("`initialize`");
    }
    thread::sleep(HELD_BACK);
    all(probe.talk.messages().iter().filter_map(|message| message.get("method")?.as_str()).map(|method| {
        match method {
            "ping" | "notifications/message" => Found::Holds,
            other => Found::Broken(
                Kind::ExtraReply,
                format!("`{}` came before `notifications/initialized`", short(other)),
            ),
        }
    }))
}

/// C-01: a cancel of what is not there is ignored.
pub(super) fn stray_cancels(probe: &mut Probe<'_>) -> Found {
    let params = [
        json!({"requestId": 987_654}),
        json!({"requestId": "framegate"}),
        json!({}),
        json!({"requestId": null}),
    ];
    told((|| {
        probe.ready()?;
        for params in &params {
            let line = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
            probe.say_unanswered("a cancel of what is not there", &line)?;
        }
        Ok(Found::Holds)
    })())
}

/// C-03: a cancel of `initialize` leaves a server that still answers.
pub(super) fn cancelled_initialize(probe: &mut Probe<'_>) -> Found {
    let id = probe.talk.write_bare("initialize", Some(&initialize(probe.revision.name())));
    let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
    probe.say("a cancel of `initialize`", &cancel.to_string());
    told(probe.alive("a cancelled `initialize`").map(|()| Found::Holds))
}

fn short(text: &str) -> String {
    text.escape_debug().take(60).collect()
}
