//! What a run found, and the forms in which it is told.
//!
//! Belongs here: the report as data; terminal, HTML, and what programs read.
//! Does not belong here: verdicts.

mod forms;
mod github;
mod html;
mod launched;
mod replay;
mod several;
mod terminal;

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::attribution::Sdk;
use crate::case::{Level, Outcome, Step, plan_plain};
use crate::observe::{Sight, excerpt};
use crate::options::{Call, Options, Unasked};
use crate::target::Passage;
use crate::verdict::{Kind, Verdict};

pub use forms::{json, junit, markdown, sarif, tap};
pub use github::github;
pub use html::html;
pub use launched::{Launched, Variable};
use replay::{quoted, replay};
pub use several::{Line, table};
pub use terminal::terminal;

/// The version of the JSON report's form.
pub const FORMAT: u32 = 1;
/// The most that is shown of a line with wrong bytes, in bytes; the evidence has all.
const SHOWN: usize = 400;
/// The most that is shown of a server's name, in bytes.
const NAME_SHOWN: usize = 100;
/// Every verdict's name, in the order in which they are told.
const VERDICTS: [&str; 7] = ["pass", "fail", "policy-gap", "inconclusive", "unavailable", "hung", "skipped"];

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: u32,
    /// The bench's version.
    pub framegate: &'static str,
    /// The server's name in the client's configuration that it is from, if it is from one.
    pub server: Option<String>,
    /// The target's command as it was given.
    pub command: Vec<String>,
    /// Whose way of starting servers was taken.
    pub client: &'static str,
    /// The profile's name.
    pub profile: &'static str,
    /// Whether the target answered the plain session. If it did not, nothing else was run.
    pub answers: bool,
    /// The observers that saw a positive control: the proof that verdicts about effects stand on.
    pub observers: Vec<&'static str>,
    /// By what system calls were observed (`seccomp`, `strace`), if they were.
    pub tracer: Option<&'static str>,
    /// What this run does not prove.
    pub not_verified: Vec<String>,
    /// How long it took, in milliseconds.
    pub milliseconds: u64,
    /// Whether a call was asked for and no observer saw it when it was well-formed, or not one that was required: what
    /// was asked for is not proved then.
    pub unproven: bool,
    /// The kit that the target is built on, if it could be told.
    pub sdk: Option<Sdk>,
    /// Entries of the expectations that no failure answers to.
    pub stale: Vec<String>,
    /// Whether only some cases of the profile were asked for.
    pub is_part: bool,
    /// Every case, by id.
    pub cases: Vec<CaseReport>,
}

/// One case.
#[derive(Clone, Debug, Serialize)]
pub struct CaseReport {
    /// Its id, as `--only` takes it.
    pub id: String,
    /// What it is about.
    pub gist: String,
    /// Requirements that it exercises.
    pub requirements: Vec<String>,
    /// How binding they are.
    pub level: Level,
    /// The verdict's name.
    pub verdict: &'static str,
    /// What failed.
    pub kind: Option<Kind>,
    /// What was expected and what was seen.
    pub explanation: String,
    /// Why the failure is allowed for, if it is expected.
    pub expected: Option<String>,
    /// The kit that is known for this failure.
    pub cause: Option<String>,
    /// What helps against that.
    pub remedy: Option<String>,
    /// Everything else, where something is wrong.
    pub evidence: Option<Evidence>,
    /// Whether the run fails by it.
    #[serde(skip)]
    pub is_failure: bool,
}

/// What shows a failure.
#[derive(Clone, Debug, Serialize)]
pub struct Evidence {
    /// What was done, in order.
    pub steps: Vec<Step>,
    /// The first wrong byte of stdout.
    pub first_wrong: Option<FirstWrong>,
    /// Effects that were seen.
    pub effects: Vec<Sight>,
    /// The end of stderr, escaped.
    pub stderr: String,
    /// A command that runs this case alone.
    pub replay: String,
    /// How the target was started, where it was.
    pub launch: Option<Launched>,
    /// When what came and went.
    #[serde(skip)]
    pub passages: Vec<Passage>,
    /// What was sent, at most 1 MiB.
    #[serde(skip)]
    pub stdin_bytes: Vec<u8>,
    /// What came, to at most 1 MiB behind the first wrong byte.
    #[serde(skip)]
    pub stdout_bytes: Vec<u8>,
    /// What came on stderr, at most the last 1 MiB.
    #[serde(skip)]
    pub stderr_bytes: Vec<u8>,
}

/// The first wrong byte.
#[derive(Clone, Debug, Serialize)]
pub struct FirstWrong {
    /// Counted from the start of stdout.
    pub offset: usize,
    /// The code of what is wrong.
    pub code: &'static str,
    /// The line that it stands in, escaped; at most its beginning.
    pub line: String,
    /// Where in that escaped line it stands, in characters; none if it is beyond what is shown.
    pub caret: Option<usize>,
    /// The bytes from there on, in hexadecimal.
    pub hex: String,
}

/// What verdicts about effects stand on.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// Who saw a positive control.
    pub(crate) observers: Vec<&'static str>,
    /// By what system calls were observed.
    pub(crate) tracer: Option<&'static str>,
    /// Why they were not, if they were not.
    pub(crate) unobserved: Option<String>,
    /// How many hostile frames were planned.
    pub(crate) frames: usize,
    /// Calls that were made up, of which nothing was seen, and why.
    pub(crate) unseen: Vec<(Call, String)>,
}

impl Report {
    /// `calls` are those that were made: the options', or those that were chosen.
    pub(crate) fn new(
        options: &Options,
        calls: &[Call],
        outcomes: Vec<Outcome>,
        Proof { observers, tracer, unobserved, frames, unseen }: Proof,
        took: Duration,
        answers: bool,
    ) -> Self {
        let mut not_verified = Vec::new();
        if !options.profile.is_hostile() && options.only.is_empty() {
            not_verified
                .push(format!("effects: the profile `{}` sends nothing hostile", options.profile.name()));
        } else if !answers {
            not_verified.push("effects: the target does not answer, so no hostile frame was sent".to_owned());
        } else if calls.is_empty() {
            let which = match options.unasked {
                Unasked::Reading => "no tool that says that it only reads",
                Unasked::All => "no tool",
            };
            not_verified.push(format!(
                "effects: no `--call` was given, and {which} has an effect that is seen; so no hostile frame was sent"
            ));
            not_verified.extend(unseen.into_iter().map(|(call, why)| {
                format!(
                    "effects of the tool {}, called with {}: {why}",
                    shown_name(&call.tool),
                    call.arguments
                )
            }));
        } else if frames == 0 {
            not_verified.push("effects: no hostile frame is among the cases".to_owned());
        } else if observers.is_empty() {
            not_verified.push("effects: no observer saw the effect of a well-formed call".to_owned());
        } else {
            not_verified.push(format!("effects that only others than {} could see", observers.join(" and ")));
        }
        if let Some(why) = unobserved {
            not_verified.push(format!("effects that only system calls show: {why}"));
        }
        if options.home.is_some() {
            not_verified.push(
                "the launch as production has it: the home is a temporary folder, the network is loopback only (--isolate)"
                    .to_owned(),
            );
        }
        let is_unseen =
            observers.is_empty() && !options.calls.is_empty() && outcomes.iter().any(Outcome::needs_proof);
        let lacking = options.required_proof.filter(|required| answers && !required.is_given(&observers));
        if let Some(required) = lacking {
            not_verified.push(format!("required, and not seen: a well-formed call, by {}", required.name()));
        }
        let unproven = is_unseen || lacking.is_some();
        Self {
            unproven,
            format: FORMAT,
            framegate: env!("CARGO_PKG_VERSION"),
            server: options.origin.server().map(str::to_owned),
            client: options.client.name(),
            command: options
                .command
                .iter()
                .map(|part| options.environment.masked_text(part.to_string_lossy().into_owned()))
                .collect(),
            profile: options.profile.name(),
            answers,
            observers,
            tracer,
            not_verified,
            sdk: None,
            stale: Vec::new(),
            is_part: !options.only.is_empty() || !options.revisions.is_empty(),
            milliseconds: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            cases: outcomes.into_iter().map(|outcome| CaseReport::new(options, calls, outcome)).collect(),
        }
    }

    /// The report of a target that could not be started: the plain session is unavailable, and nothing else was run.
    #[must_use]
    pub fn unstarted(options: &Options, why: String) -> Self {
        let unavailable = |outcome| Outcome { verdict: Verdict::Unavailable(why), ..outcome };
        let outcomes =
            plan_plain(&[]).first().map(|plain| unavailable(plain.outcome())).into_iter().collect();
        Self::new(options, &[], outcomes, Proof::default(), Duration::ZERO, false)
    }

    /// The bench's name, and the server's where there may be several.
    fn title(&self) -> String {
        match &self.server {
            Some(server) => format!("framegate check: {}", shown_name(server)),
            None => "framegate check".to_owned(),
        }
    }

    /// Whether a case failed that was not expected to, an expectation is stale, the target did not answer, or what was
    /// asked for is not proved.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        !self.answers
            || self.unproven
            || !self.stale.is_empty()
            || self.cases.iter().any(|case| case.is_failure)
    }

    /// How many cases have this verdict.
    #[must_use]
    pub fn count(&self, verdict: &str) -> usize {
        self.cases.iter().filter(|case| case.verdict == verdict).count()
    }
}

impl CaseReport {
    fn new(options: &Options, calls: &[Call], outcome: Outcome) -> Self {
        let is_wrong = !matches!(outcome.verdict, Verdict::Pass | Verdict::Skipped(_));
        let why = outcome.verdict.why().map(str::to_owned);
        let explanation = match (outcome.explanation.is_empty(), why) {
            (_, None) => outcome.explanation,
            (true, Some(why)) => why,
            (false, Some(why)) => format!("{}; {why}", outcome.explanation),
        };
        let hidden = &options.environment;
        let evidence = is_wrong.then(|| {
            let bytes = outcome.bytes.unwrap_or_default();
            let (stdout, stderr) = (hidden.masked(bytes.stdout), hidden.masked(bytes.stderr));
            let mask = |sight: Sight| Sight { what: hidden.masked_text(sight.what), ..sight };
            let tail = stderr.len().saturating_sub(2_000);
            Evidence {
                steps: outcome.steps,
                first_wrong: outcome.finding.map(|finding| FirstWrong::new(&finding, &stdout)),
                effects: outcome.sights.into_iter().map(mask).collect(),
                stderr: excerpt(stderr.get(tail..).unwrap_or_default(), usize::MAX),
                replay: replay(options, calls, &outcome.id),
                launch: bytes.launch.as_ref().map(|launch| Launched::new(launch, options)),
                passages: bytes.passages,
                stdin_bytes: bytes.stdin,
                stdout_bytes: stdout,
                stderr_bytes: stderr,
            }
        });
        Self {
            id: outcome.id,
            gist: outcome.gist,
            requirements: outcome.requirements,
            level: outcome.level,
            verdict: outcome.verdict.name(),
            kind: outcome.verdict.kind(),
            explanation: hidden.masked_text(explanation),
            expected: None,
            cause: None,
            remedy: None,
            evidence,
            is_failure: outcome.verdict.is_failure(),
        }
    }
}

impl FirstWrong {
    fn new(finding: &crate::judge::Finding, stdout: &[u8]) -> Self {
        let line = stdout.get(finding.line_start..finding.line_end).unwrap_or_default();
        let before = stdout.get(finding.line_start..finding.offset).unwrap_or_default();
        let caret = (before.len() < SHOWN).then(|| excerpt(before, SHOWN).chars().count());
        let behind = stdout.get(finding.offset..).unwrap_or_default();
        let hex: Vec<_> = behind.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        Self {
            offset: finding.offset,
            code: finding.code.name(),
            line: excerpt(line, SHOWN),
            caret,
            hex: hex.join(" "),
        }
    }
}

/// A server's name for a line of text: whoever wrote the configuration chose it.
fn shown_name(name: &str) -> String {
    excerpt(name.as_bytes(), NAME_SHOWN)
}

/// The report as a JSON value.
fn value(report: &Report) -> Value {
    serde_json::to_value(report).unwrap_or_default()
}

#[cfg(test)]
pub(crate) mod tests;
