//! Tools: their list, calls, results (T).
//!
//! Belongs here: what a tool's own schema and the revision ask for. Does not belong here: hostile arguments.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::probe::{Probe, described, has_code, told};
use super::transcript::Transcript;
use super::{Found, all, schema};

/// The longest name (2025-11-25, server/tools, "Tool Names").
const MAX_NAME: usize = 128;

fn no_call() -> Found {
    Found::Untold("no call succeeded; give one with --call".to_owned())
}

/// T-01: who has tools says so.
pub(super) fn declared(session: &Transcript) -> Found {
    match session.tools.is_empty() || session.capabilities.get("tools").is_some() {
        true => Found::Holds,
        false => Found::wrong("there are tools, and the capability `tools` is not declared"),
    }
}

/// T-03: names are short, of few characters, and unique.
pub(super) fn names(session: &Transcript) -> Found {
    let mut known = BTreeSet::new();
    let is_plain = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(plain)
    };
    all(session.tools.iter().filter_map(|tool| tool.get("name")?.as_str()).map(|name| {
        if !is_plain(name) {
            return Found::wrong(format!(
                "a tool's name is not of 1 to {MAX_NAME} characters of A-Z a-z 0-9 _ - .: {:.60}",
                name.escape_debug().to_string()
            ));
        }
        match known.insert(name.to_owned()) {
            true => Found::Holds,
            false => Found::wrong(format!("two tools are called `{name}`")),
        }
    }))
}

/// T-04: a tool that does not exist is an error of the protocol.
pub(super) fn unknown(session: &Transcript) -> Found {
    match session.unknown_tool() {
        None => Found::unanswered("a call of a tool that does not exist"),
        Some(answer) if answer.get("error").is_some() => Found::Holds,
        Some(answer) => Found::wrong(format!(
            "a call of a tool that does not exist had {}; expected error -32602",
            described(answer)
        )),
    }
}

/// T-05: a call that is none has no success. Who refuses it may end the session: each is sent to a process of its own.
pub(super) fn malformed(probe: &mut Probe<'_>) -> Found {
    let calls = [
        ("no name", json!({"arguments": {}})),
        ("a number as name", json!({"name": 7, "arguments": {}})),
        ("an array as arguments", json!({"name": "framegate-no-such", "arguments": []})),
    ];
    all(calls.iter().map(|(what, params)| {
        told(answer_of_another(probe, params).map(|answer| {
            let succeeded =
                answer.get("result").is_some_and(|result| result.get("isError") != Some(&Value::Bool(true)));
            match succeeded {
                true => Found::wrong(format!("a call with {what} had a success")),
                false => Found::Holds,
            }
        }))
    }))
}

fn answer_of_another(probe: &Probe<'_>, params: &Value) -> Result<Value, Found> {
    let mut other = probe.another().map_err(|_| Found::unanswered("another process"))?;
    other.ready()?;
    other.ask("tools/call", Some(params))
}

/// T-09: structured content is what the tool published.
pub(super) fn structured(session: &Transcript) -> Found {
    let mut any = false;
    let found = all(session.calls().filter_map(|(name, result)| {
        let tool =
            session.tools.iter().find(|tool| tool.get("name").and_then(Value::as_str) == Some(name))?;
        let published = tool.get("outputSchema")?;
        any = true;
        let Some(structured) = result.get("structuredContent") else {
            return Some(Found::wrong(format!(
                "`{name}` publishes an `outputSchema`, and gave no `structuredContent`"
            )));
        };
        let fault = schema::fault_by(published, structured)?;
        Some(Found::wrong(format!("`structuredContent` of `{name}` is not what it publishes: {fault}")))
    }));
    if any { found } else { Found::Untold("no tool that was called publishes an `outputSchema`".to_owned()) }
}

/// T-10: structured content is there as text as well.
pub(super) fn text_copy(session: &Transcript) -> Found {
    let mut any = false;
    let found = all(session.calls().filter_map(|(name, result)| {
        let structured = result.get("structuredContent")?;
        any = true;
        let blocks = result.get("content").and_then(Value::as_array);
        let texts = blocks.into_iter().flatten().filter_map(|block| block.get("text")?.as_str());
        let copied =
            texts.filter_map(|text| serde_json::from_str::<Value>(text).ok()).any(|copy| &copy == structured);
        (!copied)
            .then(|| Found::wrong(format!("no text block of `{name}` is its `structuredContent` as JSON")))
    }));
    if any { found } else { Found::Untold("no call had structured content".to_owned()) }
}

/// T-11: a cursor that was never given out is refused, and lists have an end.
pub(super) fn cursors(session: &Transcript) -> Found {
    if !session.list_ends {
        return Found::wrong("`tools/list` gives a next page a hundred times");
    }
    match session.bad_cursor() {
        None => Found::unanswered("`tools/list` with a cursor that was never given out"),
        Some(answer) if has_code(answer, -32602) => Found::Holds,
        Some(answer) => Found::wrong(format!(
            "`tools/list` with a cursor that was never given out had {}; expected error -32602",
            described(answer)
        )),
    }
}

/// T-12: without declared tasks, `task` is ignored.
pub(super) fn undeclared_task(probe: &mut Probe<'_>) -> Found {
    told((|| {
        probe.ready()?;
        let listed = probe.ask("tools/list", None)?;
        let Some((tool, arguments)) = probe.harmless(&listed).pop() else { return Ok(no_call()) };
        let declared = probe
            .talk
            .messages()
            .iter()
            .any(|message| message.pointer("/result/capabilities/tasks/requests/tools/call").is_some());
        if declared {
            return Ok(Found::Untold("the server declares tasks".to_owned()));
        }
        let bare = probe.ask("tools/call", Some(&json!({"name": tool, "arguments": arguments})))?;
        if !is_success(&bare) {
            return Ok(no_call());
        }
        let params = json!({"name": tool, "arguments": arguments, "task": {"ttl": 1000}});
        let answer = probe.ask("tools/call", Some(&params))?;
        Ok(match is_success(&answer) {
            true => Found::Holds,
            false => Found::wrong(format!(
                "a call with `task` had {}; it must be a plain call",
                described(&answer)
            )),
        })
    })())
}

/// Whether it is the result of a call that did what it says.
fn is_success(answer: &Value) -> bool {
    answer.get("result").is_some_and(|result| {
        result.get("isError") != Some(&Value::Bool(true)) && result.get("content").is_some()
    })
}
