//! Plain sessions: nothing hostile is sent, and only messages may come; the target ends when it must.
//!
//! Belongs here: launches, a session of sound requests, how a target ends.
//! Does not belong here: hostile frames.

use std::ffi::OsString;
use std::thread;
use std::time::Duration;

use framegate_corpus::{Phase, Revision};
use serde_json::{Value, json};

use super::talk::Left;
use super::{Level, Outcome, Talk};
use crate::judge::judge;
use crate::run::Bench;
use crate::target::{Launch, Stderr};
use crate::verdict::{Kind, Verdict};

/// The revision of plain sessions.
const SPOKEN: Revision = Revision::V2025_06_18;
/// Requests that are written at once behind a call.
const PINGS: usize = 10;
/// How long a target that should have ended is watched for using a processor.
const WATCHED: Duration = Duration::from_millis(500);
/// In [`WATCHED`], this many clock ticks of 10 ms are a busy process: one that waits uses none, and one that does not
/// gets a tenth of a processor even where many others want it.
const BUSY_TICKS: u64 = 5;

/// A plain session under one launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// As production starts it; its input ends.
    Session,
    /// The same; ended by SIGTERM while its input stays open.
    Terminated,
    /// Its stderr is a pipe that nobody reads any more.
    ClosedStderr,
    /// Its stderr is its stdout's pipe, as `2>&1` makes it.
    MergedStderr,
    /// No `HOME`.
    NoHome,
    /// `LANG` and `LC_ALL` are `C`.
    CLocale,
    /// Variables by which runtimes and libraries say more.
    Verbose,
}

/// Every plain session.
pub(crate) const PLAIN: &[Plain] = &[
    Plain::Session,
    Plain::Terminated,
    Plain::ClosedStderr,
    Plain::MergedStderr,
    Plain::NoHome,
    Plain::CLocale,
    Plain::Verbose,
];

const VERBOSE: &[(&str, &str)] = &[
    ("RUST_LOG", "trace"),
    ("RUST_BACKTRACE", "full"),
    ("NODE_DEBUG", "net,stream"),
    ("DEBUG", "*"),
    ("PYTHONVERBOSE", "1"),
    ("PYTHONWARNINGS", "always"),
    ("PYTHONDEVMODE", "1"),
    ("FORCE_COLOR", "1"),
    ("CLICOLOR_FORCE", "1"),
];

impl Plain {
    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Session => "plain/session",
            Self::Terminated => "plain/sigterm",
            Self::ClosedStderr => "launch/closed-stderr",
            Self::MergedStderr => "launch/merged-stderr",
            Self::NoHome => "launch/no-home",
            Self::CLocale => "launch/c-locale",
            Self::Verbose => "launch/verbose",
        }
    }

    const fn gist(self) -> &'static str {
        match self {
            Self::Session => "a session as production starts it: handshake, list, calls, pings, end of input",
            Self::Terminated => "the same, ended by SIGTERM",
            Self::ClosedStderr => "the same, with a stderr that nobody reads",
            Self::MergedStderr => "the same, with stderr on stdout's pipe (`2>&1`)",
            Self::NoHome => "the same, without HOME",
            Self::CLocale => "the same, with the C locale",
            Self::Verbose => "the same, with variables that make runtimes and libraries talk",
        }
    }

    const fn requirements(self) -> &'static [&'static str] {
        match self {
            Self::Session => &["S-01", "S-03", "S-04", "S-07", "S-08", "S-09", "S-11", "X-01", "X-06"],
            Self::Terminated => &["S-06", "X-02"],
            Self::ClosedStderr | Self::MergedStderr | Self::NoHome | Self::CLocale => &["S-01", "S-05"],
            Self::Verbose => &["S-01"],
        }
    }

    /// Whether it is about how the target ends. The other launches would only say the same again.
    const fn is_about_the_end(self) -> bool {
        matches!(self, Self::Session | Self::Terminated | Self::ClosedStderr)
    }

    /// Merged streams are the launcher's doing: no rule of the protocol forbids stderr to be used.
    const fn level(self) -> Level {
        match self {
            Self::MergedStderr => Level::Policy,
            _ => Level::Must,
        }
    }

    fn launch(self, launch: &mut Launch) {
        let set = |name: &str, value: &str| (OsString::from(name), Some(OsString::from(value)));
        match self {
            Self::Session | Self::Terminated => {}
            Self::ClosedStderr => launch.stderr = Stderr::Closed,
            Self::MergedStderr => launch.stderr = Stderr::Merged,
            Self::NoHome => launch.environment.push((OsString::from("HOME"), None)),
            Self::CLocale => launch.environment.extend([set("LANG", "C"), set("LC_ALL", "C")]),
            Self::Verbose => {
                launch.environment.extend(VERBOSE.iter().map(|(name, value)| set(name, value)));
            }
        }
    }
}

/// What a session showed, worst first.
struct Shown {
    verdict: Verdict,
    explanation: String,
}

impl Shown {
    fn fail(kind: Kind, explanation: impl Into<String>) -> Self {
        Self { verdict: Verdict::Fail(kind), explanation: explanation.into() }
    }
}

/// Runs one plain session.
pub(crate) fn run_plain(bench: &Bench<'_>, plain: Plain) -> Outcome {
    let mut outcome = Outcome {
        id: plain.id().to_owned(),
        gist: plain.gist().to_owned(),
        requirements: plain.requirements().iter().map(|id| (*id).to_owned()).collect(),
        level: plain.level(),
        verdict: Verdict::Pass,
        explanation: "only messages on stdout, every request answered once, a clean end".to_owned(),
        steps: Vec::new(),
        finding: None,
        sights: Vec::new(),
        bytes: None,
    };
    let (mut talk, folder) = match bench.start_as(|launch| plain.launch(launch)) {
        Ok(started) => started,
        Err(error) => {
            outcome.verdict = Verdict::Unavailable(format!("the target could not be started: {error}"));
            return outcome;
        }
    };
    let said = converse(bench, &mut talk, &folder);
    outcome.steps = talk.steps().to_vec();
    let ended = match &said {
        None if plain.is_about_the_end() => close(bench, &mut talk, plain),
        None | Some(_) => None,
    };
    let Left { bytes, sent, .. } = talk.stop();
    let finding = judge(&bytes.stdout, &sent, true).into_iter().find(|finding| !finding.code.is_warning());
    let shown = match (finding, said, ended) {
        // Bytes first: they explain what follows from them.
        (Some(finding), ..) => {
            let kind = match finding.code.requirement() {
                "S-08" => Kind::ExtraReply,
                "S-09" => Kind::ExtraReply,
                "S-11" => Kind::WrongReply,
                _ => Kind::StdoutDirty,
            };
            outcome.finding = Some(finding);
            Some(Shown::fail(kind, finding.code.summary()))
        }
        (None, Some(shown), _) | (None, None, Some(shown)) => Some(shown),
        (None, None, None) => None,
    };
    if let Some(Shown { verdict, explanation }) = shown {
        outcome.verdict = match (verdict, plain.level()) {
            (Verdict::Fail(kind), Level::Policy) => Verdict::PolicyGap(kind),
            (verdict, _) => verdict,
        };
        outcome.explanation = explanation;
        outcome.bytes = Some(bytes);
    }
    outcome
}

/// Sound requests, and what went otherwise than it must.
fn converse(bench: &Bench<'_>, talk: &mut Talk, folder: &crate::observe::Folder) -> Option<Shown> {
    if talk.reach(Phase::Ready, SPOKEN).is_none() {
        return Some(unanswered(bench, talk, "initialize"));
    }
    let listed = match talk.ask("tools/list", None) {
        None => return Some(unanswered(bench, talk, "tools/list")),
        Some(listed) => listed,
    };
    let mut written = Vec::new();
    for (tool, arguments) in harmless(bench, &listed, folder) {
        written.push(talk.write_request("tools/call", Some(&json!({"name": tool, "arguments": arguments}))));
    }
    written.push(talk.write_request("framegate/no-such-method", None));
    written.extend((0..PINGS).map(|_| talk.write_request("ping", None)));
    let missing = talk.missing(&written);
    if missing == 0 {
        return None;
    }
    if missing == written.len() {
        return Some(unanswered(bench, talk, "what follows the list"));
    }
    Some(Shown::fail(
        Kind::FrameLost,
        format!("{missing} of {} requests that were written at once were not answered", written.len()),
    ))
}

/// The calls that may be made, with arguments: those that were given, or tools that say they only read and need
/// no argument.
fn harmless(bench: &Bench<'_>, listed: &Value, folder: &crate::observe::Folder) -> Vec<(String, Value)> {
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

fn unanswered(bench: &Bench<'_>, talk: &mut Talk, what: &str) -> Shown {
    let ended = talk.running().wait_end(bench.options.timeout.min(Duration::from_secs(1)));
    let verdict = match ended {
        Some(ended) => Verdict::Unavailable(format!("the target ended with {ended}")),
        None => Verdict::Hung,
    };
    let explanation = match ended {
        Some(_) => format!("`{what}` was not answered"),
        None => format!(
            "`{what}` was not answered; the target is alive and silent: it may wait for something else, or read \
             another stdin than its own (a script that starts it with `&` gives it /dev/null)"
        ),
    };
    Shown { verdict, explanation }
}

/// Ends the session; what went otherwise than it must.
fn close(bench: &Bench<'_>, talk: &mut Talk, plain: Plain) -> Option<Shown> {
    let by_signal = plain == Plain::Terminated;
    let running = talk.running();
    if by_signal {
        running.terminate();
    } else {
        running.close_stdin();
    }
    let how = if by_signal { "SIGTERM" } else { "the end of its input" };
    let patience = bench.options.timeout;
    if running.wait_end(patience).is_none() {
        let before = running.processor_ticks();
        thread::sleep(WATCHED);
        let used = running.processor_ticks().zip(before).map(|(after, before)| after.saturating_sub(before));
        if used.is_some_and(|used| used >= BUSY_TICKS) {
            let text = format!("after {how} the target goes on, and uses a processor with nothing to do");
            return Some(Shown::fail(Kind::Busy, text));
        }
        let text = format!("the target did not end within {} s of {how}", patience.as_secs());
        return Some(Shown::fail(Kind::NoExit, text));
    }
    // Helpers that end with it are given a moment.
    let running = talk.running();
    let mut left = running.members();
    for _ in 0..40 {
        if left.is_empty() {
            return None;
        }
        thread::sleep(Duration::from_millis(25));
        left = running.members();
    }
    let names: Vec<_> = left.iter().map(|(number, name)| format!("{name} ({number})")).collect();
    Some(Shown::fail(Kind::OrphanProcess, format!("the target ended, and left behind: {}", names.join(", "))))
}
