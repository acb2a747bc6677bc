//! A journal for people and for programs.
//!
//! Belongs here: wording and alignment, as pure functions of what was read and of a given time.
//! Does not belong here: reading, terminals, colours.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::io;
use std::time::SystemTime;

use crate::encode::write_export;
use crate::escape::printable;
use crate::read::{Entry, Found, View};
use crate::record::{Claimed, IntentRecord, OutcomeRecord, Record, RefusalRecord};

/// Digits of a digest that are shown.
const SHORT_DIGEST: usize = 12;

/// The journal, one line a call, a refusal or an event, oldest first.
///
/// Every line begins with words of this program and of the configuration; what a peer chose comes last, in
/// printable ASCII.
#[must_use]
pub fn text(view: &View, now: SystemTime) -> String {
    let mut out = String::new();
    for entry in view.entries() {
        let Some((verb, rest)) = line(view, entry.record()) else {
            continue;
        };
        let age = age(entry.at(), now);
        let (at, run) = (clock(entry), entry.run());
        // Writing to a `String` cannot fail.
        let _ = writeln!(out, "{age:>12}  {at}  {run:<12}  {verb:<9}  {}", printable(&rest));
    }
    for cut in view.cuts() {
        let (file, line, bytes) = (&cut.file, cut.line, cut.bytes);
        let _ = writeln!(
            out,
            "note: `{file}` ends inside line {line} ({bytes} bytes of it): what that record said is unknown"
        );
    }
    out
}

/// One call or refusal, every part on a line of its own.
#[must_use]
pub fn explain(found: &Found<'_>, now: SystemTime) -> String {
    let (title, entry, parts) = match found {
        Found::Intent { entry, intent, outcome } => {
            let title = format!("call of {} on {}: allowed", intent.tool, intent.target);
            (title, entry, explain_intent(intent, *outcome))
        }
        Found::Refusal { entry, refusal } => {
            let title = format!("refused at the {} door: {}", refusal.door, refusal.reason);
            (title, entry, explain_refusal(refusal))
        }
    };
    let mut out = format!("{}\n", printable(&title));
    let when = format!("{} UTC, {}, run {}", clock(entry), age(entry.at(), now), entry.run());
    for (name, value) in [("when", when)].into_iter().chain(parts) {
        let _ = writeln!(out, "  {name:<12}{}", printable(&value));
    }
    out
}

/// The journal as JSON lines for programs: the records as they stand in the files, each with its `run`, in
/// time order; then a line of kind `cut` for each file whose last record is cut.
///
/// # Errors
/// When a record cannot be encoded again.
pub fn json_lines(view: &View) -> io::Result<String> {
    let mut out = Vec::new();
    for entry in view.entries() {
        let at = format!("{:.6}", entry.at);
        write_export(&mut out, entry.run(), entry.sequence(), &at, &entry.record().body()?);
    }
    let mut out = String::from_utf8(out).map_err(io::Error::other)?;
    for cut in view.cuts() {
        let line = serde_json::json!({"kind": "cut", "file": cut.file, "line": cut.line, "bytes": cut.bytes});
        let _ = writeln!(out, "{line}");
    }
    Ok(out)
}

/// A verb and the rest of the line; `None` for an outcome, which is told with its intent.
fn line(view: &View, record: &Record) -> Option<(&'static str, String)> {
    Some(match record {
        Record::Start(start) => {
            let mut rest = format!(
                "{}, client {}, framegate {}, process {}, config {}",
                start.mode.name(),
                start.client,
                start.version,
                start.pid,
                short(&start.config)
            );
            if !start.sync {
                rest.push_str(", intents not synced");
            }
            if start.reserved == 0 {
                rest.push_str(", no disk space set aside");
            }
            ("started", rest)
        }
        Record::Negotiated(negotiated) => {
            let claim = negotiated.claimed_client.as_ref().map(claimed);
            let claim = claim.map(|claim| format!(", peer calls itself {claim}")).unwrap_or_default();
            ("speaks", format!("{} ({}){claim}", negotiated.revision, negotiated.era))
        }
        Record::Intent(intent) => {
            let outcome = outcome(view.outcome(&intent.intent));
            let rest = format!(
                "{} on {}: {outcome}; {}; rule {}; {}",
                intent.tool, intent.target, intent.intent, intent.rule, intent.summary
            );
            ("called", rest)
        }
        Record::Outcome(_) => return None,
        Record::Recovery(recovery) => {
            let finding = match recovery.finding.as_str() {
                "cut" => "ended without a stop record, inside another record",
                "no-stop" => "ended without a stop record",
                "unreadable" => "has no end that can be read",
                other => other,
            };
            ("noted", format!("the run before, {}, {finding}", recovery.file))
        }
        Record::Stop(stop) => {
            let rest = format!(
                "exit code {}, {}; {} frames, {} permits ({}), {} refusals",
                stop.exit_code,
                stop.reason,
                stop.frames,
                stop.permits,
                counts(&stop.outcomes),
                stop.refusals.values().fold(0_u64, |sum, count| sum.saturating_add(*count)),
            );
            ("stopped", rest)
        }
        Record::Refusal(refusal) => ("refused", refusal_line(refusal)),
        Record::RefusalSummary(summary) => {
            let rest =
                format!("{} more in {} s: {}", summary.count, summary.seconds, counts(&summary.reasons));
            ("refused", rest)
        }
    })
}

fn refusal_line(refusal: &RefusalRecord) -> String {
    let mut rest = format!("{} at the {} door", refusal.reason, refusal.door);
    if let Some(tool) = &refusal.tool {
        let _ = write!(rest, ", tool {tool}");
    }
    if let Some(rule) = &refusal.rule {
        let _ = write!(rest, ", rule {rule}");
    }
    let _ = write!(rest, "; {}", place(refusal));
    rest
}

fn place(refusal: &RefusalRecord) -> String {
    format!("line {}, byte {} of {}: `{}`", refusal.line, refusal.offset, refusal.length, refusal.excerpt)
}

fn explain_intent(intent: &IntentRecord, found: Option<&OutcomeRecord>) -> Vec<(&'static str, String)> {
    let mut parts = vec![
        ("intent", intent.intent.clone()),
        ("action", intent.summary.clone()),
        ("outcome", outcome(found)),
        ("rule", intent.rule.clone()),
        ("client", intent.client.clone()),
        ("config", intent.config.clone()),
        ("revision", intent.revision.clone()),
        ("arguments", format!("keyed digest {}", intent.arguments_digest)),
    ];
    if let Some(claim) = &intent.claimed_client {
        parts.push(("peer", format!("calls itself {}", claimed(claim))));
    }
    parts.push(("request", intent_request(&intent.request)));
    parts
}

fn explain_refusal(refusal: &RefusalRecord) -> Vec<(&'static str, String)> {
    let mut parts = Vec::new();
    if let Some(reason) = framegate_wire::Reason::from_code(&refusal.reason) {
        parts.push(("reason", reason.summary().to_owned()));
    }
    parts.extend(refusal.tool.clone().map(|tool| ("tool", tool)));
    parts.extend(refusal.rule.clone().map(|rule| ("rule", rule)));
    parts.push(("effect", "nothing was performed".to_owned()));
    parts.push(("fingerprint", refusal.fingerprint.clone()));
    parts.extend(refusal.request.as_ref().map(|request| ("request", intent_request(request))));
    parts.push(("place", place(refusal)));
    parts
}

/// Request ids are JSON text already.
fn intent_request(request: &Claimed) -> String {
    if request.is_cut() { claimed(request) } else { request.text.clone() }
}

fn claimed(claim: &Claimed) -> String {
    let more = if claim.is_cut() { format!("… ({} bytes)", claim.length) } else { String::new() };
    format!("`{}`{more}", claim.text)
}

fn outcome(found: Option<&OutcomeRecord>) -> String {
    match found {
        Some(outcome) => {
            format!("{} after {} ms, {} bytes", outcome.status, outcome.milliseconds, outcome.length)
        }
        None => "no outcome recorded, so it may have happened or may be running".to_owned(),
    }
}

fn counts(counts: &BTreeMap<String, u64>) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    counts.join(", ")
}

fn short(digest: &str) -> String {
    digest.chars().take(SHORT_DIGEST).collect()
}

/// `2026-03-01 12:00:05`, UTC.
fn clock(entry: &Entry) -> String {
    format!("{:.0}", entry.at).replace('T', " ").trim_end_matches('Z').to_owned()
}

fn age(at: SystemTime, now: SystemTime) -> String {
    const MINUTE: u64 = 60;
    const HOUR: u64 = 60 * MINUTE;
    const DAY: u64 = 24 * HOUR;
    let Ok(age) = now.duration_since(at) else {
        return "later".to_owned();
    };
    let (count, unit) = match age.as_secs() {
        0 => return "now".to_owned(),
        seconds @ 1..MINUTE => (seconds, "s"),
        seconds @ MINUTE..HOUR => (seconds.checked_div(MINUTE).unwrap_or(0), "min"),
        seconds @ HOUR..DAY => (seconds.checked_div(HOUR).unwrap_or(0), "h"),
        seconds => (seconds.checked_div(DAY).unwrap_or(0), "days"),
    };
    let unit = if count == 1 && unit == "days" { "day" } else { unit };
    format!("{count} {unit} ago")
}
