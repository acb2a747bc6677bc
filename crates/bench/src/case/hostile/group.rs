//! Hostile frames, one after the other, in as few processes as their targets allow.
//!
//! Belongs here: sending a frame, its verdict. Does not belong here: which frames, controls.

use std::thread;
use std::time::Duration;

use framegate_corpus::Phase;

use super::control::{Control, Controls, Noise, sights};
use super::{Delivery, HostileCase};
use crate::bench::Bench;
use crate::case::talk::Left;
use crate::case::{Level, Outcome, Talk};
use crate::judge::{Code, judge};
use crate::observe::{Folder, SYSTEM_CALLS};
use crate::verdict::{Kind, Verdict};

/// How long a handler that runs on after the sign of life is given before its effects are looked for. Effects that
/// come later are found when the process ends.
const QUIET: Duration = Duration::from_millis(60);
/// A session that ends with this code says that its input was refused (sysexits.h, EX_DATAERR).
const DATA: i32 = 65;
/// How many frames one process gets at most.
const FRAMES_A_PROCESS: usize = 40;

/// A frame that was sent, and what was seen of it so far.
struct Sent {
    outcome: usize,
    marker: String,
    begin: usize,
    /// Whether only observed system calls showed the control.
    by_syscalls_only: bool,
}

/// A process that is given one frame after the other.
struct Open {
    talk: Talk,
    folder: Folder,
    frames: Vec<Sent>,
}

/// Runs cases of one state, in as few processes as their targets allow.
pub(crate) fn run_group(
    bench: &Bench<'_>,
    controls: &Controls,
    group: &[HostileCase],
    done: &(dyn Fn(&Outcome) + Sync),
) -> Vec<Outcome> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut current: Option<Open> = None;
    for case in group {
        let mut by_syscalls_only = false;
        let refused = match controls.of(case) {
            Control::Seen(observers) => {
                by_syscalls_only = observers.iter().all(|observer| SYSTEM_CALLS.contains(observer));
                None
            }
            Control::Unseen(why) => Some(Verdict::Inconclusive(why)),
            Control::Unspoken => {
                Some(Verdict::Skipped(format!("the target does not speak {}", case.revision().name())))
            }
        };
        if let Some(verdict) = refused {
            outcomes.push(case.outcome(verdict, String::new()));
            continue;
        }
        let mut open = match current.take() {
            Some(open) => open,
            None => match begin(bench, case) {
                Ok(open) => open,
                Err(why) => {
                    outcomes.push(case.outcome(Verdict::Unavailable(why), String::new()));
                    continue;
                }
            },
        };
        let (outcome, goes_on) = send(bench, &controls.noise, &mut open, case, outcomes.len());
        outcomes.push(outcome);
        if let Some(frame) = open.frames.last_mut() {
            frame.by_syscalls_only = by_syscalls_only;
        }
        // A state that a frame may have changed is not used again.
        let is_stable = matches!(case.state().0, Phase::Ready | Phase::Modern);
        if goes_on && is_stable && open.frames.len() < FRAMES_A_PROCESS {
            current = Some(open);
        } else {
            end(bench, &controls.noise, open, &mut outcomes);
        }
    }
    if let Some(open) = current {
        end(bench, &controls.noise, open, &mut outcomes);
    }
    for outcome in &outcomes {
        done(outcome);
    }
    outcomes
}

fn begin(bench: &Bench<'_>, case: &HostileCase) -> Result<Open, String> {
    let (mut talk, folder) = bench.start().map_err(|error| error.to_string())?;
    let reached = talk.reach(case.state().0, case.revision());
    reached.ok_or_else(|| "the handshake was not answered, though the control's was".to_owned())?;
    Ok(Open { talk, folder, frames: Vec::new() })
}

/// Sends one frame; its outcome so far, and whether the process can take another.
fn send(
    bench: &Bench<'_>,
    noise: &Noise,
    open: &mut Open,
    case: &HostileCase,
    outcome: usize,
) -> (Outcome, bool) {
    let marker = bench.marker();
    let Open { talk, folder, frames } = open;
    talk.begin_case();
    let id = case.request_id(talk.take_id());
    let begin = talk.stdout_length();
    talk.skip_to(begin);
    frames.push(Sent { outcome, marker: marker.clone(), begin, by_syscalls_only: false });
    let frame = case.frame(bench, folder, &marker, id);
    match case.delivery {
        Delivery::Whole => talk.send("the hostile frame", &frame),
        delivery => talk.send_cut("the hostile frame", &frame, &delivery.cuts(&frame)),
    };
    let alive = if case.ends_input {
        talk.running().close_stdin();
        talk.running().wait_end(bench.options.timeout);
        false
    } else {
        talk.is_alive()
    };
    thread::sleep(QUIET);
    let sights = sights(bench, noise, &marker, folder, talk.running().watch().as_deref());
    let ended = if alive { None } else { talk.running().wait_end(bench.options.timeout) };
    let (verdict, explanation) = match (alive, ended) {
        _ if !sights.is_empty() => {
            let what = "the frame must be refused, and the call inside it was carried out".to_owned();
            (effect(case, Kind::EffectObserved), what)
        }
        (true, _) => (Verdict::Pass, "no effect of the call was seen; the session goes on".to_owned()),
        (false, Some(end)) if end.is_clean() || end.code == Some(DATA) => {
            (Verdict::Pass, format!("no effect of the call was seen; the session ended with {end}"))
        }
        (false, Some(end)) => (
            Verdict::Unavailable(format!("the target ended with {end}")),
            "the frame ended the target".to_owned(),
        ),
        (false, None) if case.ends_input => {
            (Verdict::Pass, "no effect of the call was seen; the target outlives its input".to_owned())
        }
        (false, None) => {
            (Verdict::Hung, "what was sent behind the frame is not answered any more".to_owned())
        }
    };
    let mut outcome = case.outcome(verdict, explanation);
    outcome.sights = sights;
    outcome.steps = talk.steps().to_vec();
    (outcome, alive)
}

fn effect(case: &HostileCase, kind: Kind) -> Verdict {
    match case.level {
        Level::Must | Level::Should => Verdict::Fail(kind),
        Level::Policy => Verdict::PolicyGap(kind),
    }
}

/// Ends a process and judges what only then is known: all of its bytes, and effects that came late.
fn end(bench: &Bench<'_>, noise: &Noise, open: Open, outcomes: &mut [Outcome]) {
    let Open { talk, folder, frames } = open;
    let left = talk.finish();
    let ends_whole = left.must_end_whole();
    let Left { bytes, sent, watch, .. } = left;
    let findings = judge(&bytes.stdout, &sent, ends_whole);
    let first_wrong = findings.first().map(|finding| finding.offset);
    for finding in findings {
        // A hostile id may be answered with whatever was read of it.
        let of_reply = matches!(finding.code, Code::DuplicateResponse | Code::IdType | Code::UnknownId);
        if of_reply || finding.code.is_warning() {
            continue;
        }
        let frame = frames.iter().rev().find(|frame| frame.begin <= finding.offset).or(frames.first());
        let Some(outcome) = frame.and_then(|frame| outcomes.get_mut(frame.outcome)) else { continue };
        if outcome.finding.is_none() && !outcome.verdict.is_failure() {
            outcome.verdict = Verdict::Fail(Kind::StdoutDirty);
            finding.code.summary().clone_into(&mut outcome.explanation);
            outcome.finding = Some(finding);
        }
    }
    let blind = watch.as_ref().and_then(|watch| watch.blind());
    let evidence = bytes.evidence(first_wrong);
    for frame in &frames {
        let Some(outcome) = outcomes.get_mut(frame.outcome) else { continue };
        let late = if outcome.sights.is_empty() {
            sights(bench, noise, &frame.marker, &folder, watch.as_deref())
        } else {
            Vec::new()
        };
        if !late.is_empty() {
            outcome.verdict = match outcome.level {
                Level::Must | Level::Should => Verdict::Fail(Kind::EffectLate),
                Level::Policy => Verdict::PolicyGap(Kind::EffectLate),
            };
            "the call inside the frame was carried out after the target had answered what came behind it"
                .clone_into(&mut outcome.explanation);
            outcome.sights = late;
        }
        // What would have shown an effect may not have.
        if let Some(blind) =
            blind.as_ref().filter(|_| frame.by_syscalls_only && outcome.verdict == Verdict::Pass)
        {
            outcome.verdict = Verdict::Inconclusive(blind.clone());
        }
        if outcome.verdict.is_failure() || outcome.verdict.kind().is_some() {
            outcome.bytes = Some(evidence.clone());
        }
    }
}
