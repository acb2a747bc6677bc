//! Plain sessions: nothing hostile is sent, and only messages may come; the target ends when it must.
//!
//! Belongs here: running one, its verdict. Does not belong here: hostile frames.

mod canary;
mod converse;
mod end;
mod launches;
mod launching;

use std::thread;
use std::time::Duration;

use super::talk::Left;
use super::{Level, Outcome, Talk};
use crate::bench::Bench;
use crate::judge::judge;
use crate::observe::Folder;
use crate::verdict::{Kind, Verdict};

pub(super) use converse::harmless;

use converse::{converse, unanswered};
use end::close;
use launches::{OPERATORS, ROWS};
use launching::Launching;

/// How long a target is left alone before the first byte.
const IDLE: Duration = Duration::from_millis(1_500);
/// How many requests are in flight when the input ends.
const IN_FLIGHT: usize = 20;

/// A plain session under one launch.
#[derive(Clone, Copy, Debug)]
struct Row {
    id: &'static str,
    gist: &'static str,
    requirements: &'static [&'static str],
    level: Level,
    launching: Launching,
    play: Play,
    end: End,
}

/// A plain session.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    row: &'static Row,
    /// An operator's own launch: its name, and what a shell does before the target, which is `"$@"`.
    script: Option<(String, String)>,
}

impl Plain {
    pub(crate) fn id(&self) -> String {
        match &self.script {
            Some((name, _)) => format!("{}/{name}", self.row.id),
            None => self.row.id.to_owned(),
        }
    }

    /// The outcome that says nothing yet.
    pub(crate) fn outcome(&self) -> Outcome {
        let requirements = self.row.requirements.iter().map(|id| (*id).to_owned()).collect();
        Outcome::new(self.id(), self.row.gist.to_owned(), requirements, self.row.level)
    }
}

/// Every plain session. The first is what a target must be able to do for anything else to be sent.
pub(crate) fn plan(scripts: &[(String, String)]) -> Vec<Plain> {
    let own = ROWS.iter().map(|row| Plain { row, script: None });
    let given = scripts.iter().map(|script| Plain { row: &OPERATORS, script: Some(script.clone()) });
    own.chain(given).collect()
}

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Play {
    /// Handshake, list, calls, pings.
    Session,
    Nothing,
    /// `initialize` and its answer.
    Handshake,
    /// Handshake, and requests whose answers are not waited for.
    InFlight,
    /// Nothing for a while, then the session.
    Idle,
    /// Handshake; then nobody reads, and requests follow.
    Unheard,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// It is killed: other sessions say how it ends.
    Left,
    Input,
    Terminated,
    Interrupted,
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
pub(crate) fn run(bench: &Bench<'_>, case: &Plain) -> Outcome {
    let plain = case.row;
    let mut outcome = case.outcome();
    "only messages on stdout, every request answered once, a clean end".clone_into(&mut outcome.explanation);
    if let Some(why) = plain.launching.refused(&bench.options.command, bench.options.folder.as_deref()) {
        outcome.verdict = Verdict::Skipped(why);
        return outcome;
    }
    // A variable that the caller or a configuration sets stays what it is.
    let configured = bench.options.environment.names().map(str::to_owned);
    let without: Vec<_> = bench.options.without_canaries.iter().cloned().chain(configured).collect();
    let (mut talk, folder) = match bench.start_as(|launch| {
        plain.launching.change(launch, &without);
        if let Some((_, script)) = &case.script {
            launch.command = launching::scripted(script, &launch.command);
        }
    }) {
        Ok(started) => started,
        Err(error) => {
            outcome.verdict = Verdict::Unavailable(format!("the target could not be started: {error}"));
            return outcome;
        }
    };
    let said = play(bench, &mut talk, &folder, plain.play);
    outcome.steps = talk.steps().to_vec();
    let ended = if said.is_none() { close(bench, &mut talk, plain.end) } else { None };
    let left = talk.stop();
    // Whoever stopped reading saw half a line.
    let ends_whole = plain.play != Play::Unheard && left.must_end_whole();
    let Left { bytes, sent, .. } = left;
    let finding =
        judge(&bytes.stdout, &sent, ends_whole).into_iter().find(|finding| !finding.code.is_warning());
    let leaked = || match plain.launching {
        Launching::Canaries => canary::leaked(&without, &bytes, &folder, &bench.recorders),
        _ => None,
    };
    let shown = match (finding, said, ended) {
        // Bytes first: they explain what follows from them.
        (Some(finding), ..) => {
            let kind = match finding.code.requirement() {
                "S-08" | "S-09" => Kind::ExtraReply,
                "S-11" => Kind::WrongReply,
                _ => Kind::StdoutDirty,
            };
            outcome.finding = Some(finding);
            Some(Shown::fail(kind, finding.code.summary()))
        }
        (None, Some(shown), _) => Some(deprived(plain.launching, shown)),
        (None, None, Some(shown)) => Some(shown),
        (None, None, None) => leaked().map(|(name, place)| {
            Shown::fail(Kind::Leak, format!("the value of the variable {name} came out {place}"))
        }),
    };
    if let Some(Shown { verdict, explanation }) = shown {
        outcome.verdict = match (verdict, plain.level) {
            (Verdict::Fail(kind), Level::Policy) => Verdict::PolicyGap(kind),
            (Verdict::Hung, Level::Policy) => Verdict::PolicyGap(Kind::MissingReply),
            (verdict, _) => verdict,
        };
        outcome.explanation = explanation;
        outcome.bytes = Some(bytes.evidence(outcome.finding.map(|finding| finding.offset)));
    }
    outcome
}

/// A target that ends for want of something that it needs, and says nothing on stdout, has done nothing wrong.
fn deprived(launching: Launching, shown: Shown) -> Shown {
    match (launching.deprives(), shown.verdict) {
        (Some(what), Verdict::Unavailable(how)) => {
            let why = format!("{how} without {what}; its stdout stayed clean");
            Shown { verdict: Verdict::Inconclusive(why), explanation: String::new() }
        }
        (_, verdict) => Shown { verdict, ..shown },
    }
}

/// Says what is to be said; what went otherwise than it must.
fn play(bench: &Bench<'_>, talk: &mut Talk, folder: &Folder, play: Play) -> Option<Shown> {
    match play {
        Play::Session => converse(bench, talk, folder),
        Play::Nothing => None,
        Play::Idle => {
            thread::sleep(IDLE);
            converse(bench, talk, folder)
        }
        Play::Handshake => {
            talk.shake_hands().is_none().then(|| unanswered(bench, talk, "`initialize` was not answered"))
        }
        Play::InFlight => {
            if talk.negotiate().is_none() {
                return Some(unanswered(bench, talk, "`initialize` was not answered"));
            }
            let sign = talk.sign_of_life();
            for _ in 0..IN_FLIGHT {
                talk.write_request("tools/list", None);
                talk.write_request(sign, None);
            }
            None
        }
        Play::Unheard => {
            if talk.negotiate().is_none() {
                return Some(unanswered(bench, talk, "`initialize` was not answered"));
            }
            let sign = talk.sign_of_life();
            talk.running().stop_listening();
            // The first answer is still read; behind it the pipe has no reader.
            let first = talk.write_request(sign, None);
            let _ = talk.answer(first);
            if !talk.running().wait_unread(bench.options.timeout) {
                return Some(unanswered(bench, talk, &format!("`{sign}` was not answered")));
            }
            for _ in 0..IN_FLIGHT {
                talk.write_request(sign, None);
            }
            None
        }
    }
}
