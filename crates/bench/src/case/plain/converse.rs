//! Sound requests, all of which must be answered.
//!
//! Belongs here: what is asked in a plain session, calls that may be made. Does not belong here: launches, ends.

use std::time::Duration;

use serde_json::{Value, json};

use super::Shown;
use crate::bench::Bench;
use crate::case::Talk;
use crate::observe::{Folder, excerpt};
use crate::verdict::{Kind, Verdict};

/// Requests that are written at once behind a call.
const PINGS: usize = 10;
/// The most that is shown of tools' names, in bytes.
const NAMES_SHOWN: usize = 200;

/// Sound requests, and what went otherwise than it must.
pub(super) fn converse(bench: &Bench<'_>, talk: &mut Talk, folder: &Folder) -> Option<Shown> {
    if talk.negotiate().is_none() {
        return Some(unanswered(bench, talk, "`initialize` was not answered"));
    }
    let listed = match talk.ask("tools/list", None) {
        None => return Some(unanswered(bench, talk, "`tools/list` was not answered")),
        Some(listed) => listed,
    };
    let calls = harmless(bench, &listed, folder).into_iter().map(|(tool, arguments)| {
        let params = json!({"name": tool, "arguments": arguments});
        (talk.write_request("tools/call", Some(&params)), tool)
    });
    let calls: Vec<_> = calls.collect();
    let sign = talk.sign_of_life();
    let mut written = vec![talk.write_request("framegate/no-such-method", None)];
    written.extend((0..PINGS).map(|_| talk.write_request(sign, None)));
    let missing = talk.missing(&written).len();
    let is_any_call_answered = calls.iter().any(|(id, _)| talk.is_answered(*id));
    if missing == written.len() && !is_any_call_answered {
        return Some(unanswered(
            bench,
            talk,
            "nothing that is written at once behind `tools/list` was answered",
        ));
    }
    if missing > 0 {
        let text =
            format!("{missing} of {} requests that were written at once were not answered", written.len());
        return Some(Shown::fail(Kind::FrameLost, text));
    }
    // A call that nobody asked us to make may take as long as it likes.
    if bench.options.calls.is_empty() {
        return None;
    }
    let silent = talk.missing(&calls.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    let names: Vec<_> =
        calls.iter().filter(|(id, _)| silent.contains(id)).map(|(_, tool)| tool.as_str()).collect();
    let text = || {
        let names = excerpt(names.join(", ").as_bytes(), NAMES_SHOWN);
        format!("the call of {names} was not answered in time; where it is slow, give a longer --timeout")
    };
    (!names.is_empty()).then(|| Shown::fail(Kind::MissingReply, text()))
}

/// The calls that may be made, with arguments: those that were given, or tools that say they only read and need
/// no argument.
pub(in crate::case) fn harmless(bench: &Bench<'_>, listed: &Value, folder: &Folder) -> Vec<(String, Value)> {
    if !bench.options.calls.is_empty() {
        let calls = bench.options.calls.iter();
        let filled =
            calls.map(|call| (call.tool.clone(), bench.fill(&call.arguments, folder, &bench.marker())));
        return filled.filter_map(|(tool, text)| Some((tool, serde_json::from_str(&text).ok()?))).collect();
    }
    let tools = listed.pointer("/result/tools").and_then(Value::as_array);
    let reads = tools.into_iter().flatten().filter(|tool| {
        let needs = tool.pointer("/inputSchema/required").and_then(Value::as_array).map_or(0, Vec::len);
        tool.pointer("/annotations/readOnlyHint") == Some(&Value::Bool(true)) && needs == 0
    });
    reads.filter_map(|tool| Some((tool.get("name")?.as_str()?.to_owned(), json!({})))).collect()
}

pub(super) fn unanswered(bench: &Bench<'_>, talk: &mut Talk, what: &str) -> Shown {
    let ended = talk.running().wait_end(bench.options.timeout.min(Duration::from_secs(1)));
    let verdict = match ended {
        Some(ended) => Verdict::Unavailable(format!("the target ended with {ended}")),
        None => Verdict::Hung,
    };
    let is_cut = talk.running().look(|bytes| bytes.stdout_cut);
    let explanation = match ended {
        None if is_cut => format!("{what} within the part of stdout that is kept, the first 32 MiB"),
        Some(_) => what.to_owned(),
        None => format!(
            "{what}; the target is alive and silent: it may wait for something else, or read \
             another stdin than its own (a script that starts it with `&` gives it /dev/null)"
        ),
    };
    Shown { verdict, explanation }
}
