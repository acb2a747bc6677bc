//! Hostile frames: each is sent with a call inside, and must have no effect.
//!
//! Belongs here: which frames of the corpus a target gets, positive controls, one frame's verdict.
//! Does not belong here: what is wrong with a frame (the corpus), recorders.
//!
//! A verdict needs the control: the frame's well-formed twin, in a process of its own, was seen by a recorder. What
//! no recorder sees when it happens proves nothing when it is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use framegate_corpus::{Case, Phase, Revision, Values, cases};
use serde_json::json;

use super::talk::Left;
use super::{Delivery, Level, Outcome, Talk};
use crate::judge::{Code, judge};
use crate::observe::{Folder, Sight, Watch, excerpt, holds};
use crate::options::Call;
use crate::run::Bench;
use crate::verdict::{Kind, Verdict};

/// How long a handler that runs on after the sign of life is given before its effects are looked for. Effects that
/// come later are found when the process ends.
const QUIET: Duration = Duration::from_millis(60);
/// Between two looks for a control's effect.
const LOOK: Duration = Duration::from_millis(5);
/// A session that ends with this code says that its input was refused (sysexits.h, EX_DATAERR).
const DATA: i32 = 65;
/// How much of a control's answer is shown, in bytes.
const ANSWER_SHOWN: usize = 300;
/// How many frames one process gets at most.
const FRAMES_A_PROCESS: usize = 40;

/// A state and a revision: frames with the same one can share a control.
pub(crate) type State = (Phase, Revision);

/// A hostile frame, and which call is inside.
#[derive(Clone, Debug)]
pub(crate) struct HostileCase {
    pub(crate) id: String,
    case: Case,
    call: Call,
    delivery: Delivery,
}

/// The frames that any server can be given with these calls inside.
pub(crate) fn plan(calls: &[Call], deliveries: &[Delivery]) -> Vec<HostileCase> {
    let several = calls.len() > 1;
    let mut planned = Vec::new();
    for case in cases().into_iter().filter(is_general) {
        for call in calls {
            let reason = case.reason.as_deref().unwrap_or_default();
            let tool = if several { format!("@{}", call.tool) } else { String::new() };
            for delivery in deliveries {
                planned.push(HostileCase {
                    id: format!("{reason}/{}{tool}{}", case.id, delivery.suffix()),
                    case: case.clone(),
                    call: call.clone(),
                    delivery: *delivery,
                });
            }
        }
    }
    planned
}

/// Arguments that no frame of the corpus brings itself.
const ARGUMENTS: &str = "{\"framegate\":\"m\"}";

/// Whether a case says something about servers other than our own: its frame is a whole call, needs no
/// surroundings, and is refused before the tool's own arguments are looked at.
fn is_general(case: &Case) -> bool {
    let reason = case.reason.as_deref().unwrap_or_default();
    let own = ["argument-", "policy-", "batch-too-long", "frame-too-long", "tool-unknown", "json-members"];
    // Some frames and twins are about the fixture's own tool and its arguments.
    let calls_any_tool = || {
        let values = Values::new("m", 1).with_call("t", ARGUMENTS);
        let frame = String::from_utf8_lossy(&case.frame(&values)).to_ascii_lowercase();
        !frame.contains("probe_") && holds(&case.twin(&values), ARGUMENTS.as_bytes())
    };
    case.complete_call
        && case.needs.is_none()
        && case.before.is_empty()
        && !own.iter().any(|start| reason.starts_with(start))
        && calls_any_tool()
}

impl HostileCase {
    pub(crate) fn state(&self) -> State {
        (self.case.phase, self.case.revision)
    }

    fn level(&self) -> Level {
        Level::of(self.case.reason.as_deref().unwrap_or_default(), &self.case.id)
    }

    /// The state that the twin runs in, and the call: what a control is made for.
    fn control_key(&self) -> (State, Call) {
        ((self.case.twin_phase, self.case.revision), self.call.clone())
    }

    fn values(&self, bench: &Bench<'_>, folder: &Folder, marker: &str, id: i64) -> Values {
        let arguments = bench.fill(&self.call.arguments, folder, marker);
        Values::new(marker, id).with_call(self.call.tool.clone(), arguments)
    }

    fn outcome(&self, verdict: Verdict, explanation: String) -> Outcome {
        Outcome {
            id: self.id.clone(),
            gist: self.case.gist.clone(),
            requirements: self.case.covers.clone(),
            level: self.level(),
            verdict,
            explanation,
            steps: Vec::new(),
            finding: None,
            sights: Vec::new(),
            bytes: None,
        }
    }
}

/// What a positive control showed.
#[derive(Clone, Debug)]
pub(crate) enum Control {
    /// The well-formed call was seen by these observers.
    Seen(Vec<&'static str>),
    /// It was not; why nothing can be said then.
    Unseen(String),
    /// The target does not speak this revision.
    Unspoken,
}

/// The controls of a run.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    by_state: BTreeMap<String, Control>,
    noise: Noise,
}

impl Controls {
    /// Runs every control that these cases need, one process each.
    pub(crate) fn run(bench: &Bench<'_>, planned: &[HostileCase]) -> Self {
        let noise = if planned.is_empty() { Noise::default() } else { Noise::of(bench) };
        let mut by_state = BTreeMap::new();
        for case in planned {
            let key = case.control_key();
            by_state.entry(name(&key)).or_insert_with(|| control(bench, &noise, case));
        }
        Self { by_state, noise }
    }

    fn of(&self, case: &HostileCase) -> Control {
        let unseen = || Control::Unseen("no control was run".to_owned());
        self.by_state.get(&name(&case.control_key())).cloned().unwrap_or_else(unseen)
    }

    /// The calls, of these, of which an effect is seen: one that is not can only be inconclusive.
    pub(crate) fn seen(bench: &Bench<'_>, calls: Vec<Call>) -> Vec<Call> {
        let noise = Noise::of(bench);
        let is_seen = |call: &Call| {
            let planned = plan(std::slice::from_ref(call), &[Delivery::Whole]);
            let ready =
                planned.into_iter().find(|case| case.state() == (Phase::Ready, Revision::V2025_06_18));
            ready.is_some_and(|case| matches!(control(bench, &noise, &case), Control::Seen(_)))
        };
        calls.into_iter().find(is_seen).into_iter().collect()
    }

    /// The observers that saw any control.
    pub(crate) fn observers(&self) -> Vec<&'static str> {
        let mut all: Vec<_> = self
            .by_state
            .values()
            .filter_map(|control| match control {
                Control::Seen(observers) => Some(observers.clone()),
                Control::Unseen(_) | Control::Unspoken => None,
            })
            .flatten()
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

fn name(((phase, revision), call): &(State, Call)) -> String {
    format!("{phase:?} {} {} {}", revision.name(), call.tool, call.arguments)
}

fn control(bench: &Bench<'_>, noise: &Noise, case: &HostileCase) -> Control {
    let unstarted = |error| Control::Unseen(format!("the target could not be started: {error}"));
    if case.case.revision.is_modern() {
        // Before anything else is said, and in a process of its own: the answer may pin the era.
        let (mut talk, _folder) = match bench.start() {
            Ok(started) => started,
            Err(error) => return unstarted(error),
        };
        if !talk.is_modern() {
            return Control::Unspoken;
        }
    }
    let (mut talk, folder) = match bench.start() {
        Ok(started) => started,
        Err(error) => return unstarted(error),
    };
    if talk.reach(case.case.twin_phase, case.case.revision).is_none() {
        return Control::Unspoken;
    }
    let (marker, id) = (bench.marker(), talk.take_id());
    talk.send("the well-formed call", &case.case.twin(&case.values(bench, &folder, &marker, id)));
    let answer = talk.answer(id);
    let begun = Instant::now();
    let patience = bench.options.timeout.min(Duration::from_secs(2));
    loop {
        let sights = sights(bench, noise, &marker, &folder, talk.running().watch().as_deref());
        if !sights.is_empty() {
            let mut observers: Vec<_> = sights.iter().map(|sight| sight.observer).collect();
            observers.sort_unstable();
            observers.dedup();
            return Control::Seen(observers);
        }
        if begun.elapsed() > patience {
            let answer = match answer {
                Some(answer) => {
                    format!("was answered ({})", excerpt(answer.to_string().as_bytes(), ANSWER_SHOWN))
                }
                None => "was not answered".to_owned(),
            };
            return Control::Unseen(format!(
                "the well-formed call {answer}, and no observer saw an effect of it"
            ));
        }
        thread::sleep(LOOK);
    }
}

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
                by_syscalls_only = observers == ["syscalls"];
                None
            }
            Control::Unseen(why) => Some(Verdict::Inconclusive(why)),
            Control::Unspoken => {
                Some(Verdict::Skipped(format!("the target does not speak {}", case.case.revision.name())))
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
        let is_stable = matches!(case.case.phase, Phase::Ready | Phase::Modern);
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
    let reached = talk.reach(case.case.phase, case.case.revision);
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
    let (marker, revision) = (bench.marker(), case.case.revision);
    let Open { talk, folder, frames } = open;
    talk.begin_case();
    let id = talk.take_id();
    let begin = talk.stdout_length();
    talk.skip_to(begin);
    frames.push(Sent { outcome, marker: marker.clone(), begin, by_syscalls_only: false });
    let frame = case.case.frame(&case.values(bench, folder, &marker, id));
    match case.delivery {
        Delivery::Whole => talk.send("the hostile frame", &frame),
        delivery => talk.send_cut("the hostile frame", &frame, &delivery.cuts(&frame)),
    };
    let alive = if case.case.ends_input {
        talk.running().close_stdin();
        talk.running().wait_end(bench.options.timeout);
        false
    } else {
        talk.is_alive(revision)
    };
    thread::sleep(QUIET);
    let sights = sights(bench, noise, &marker, folder, talk.running().watch().as_deref());
    let ended = if alive { None } else { talk.running().wait_end(bench.options.timeout) };
    let (verdict, explanation) = match (alive, ended) {
        _ if !sights.is_empty() => {
            let what = "the frame must be refused, and the call inside it was carried out".to_owned();
            (effect(case, Kind::EffectObserved), what)
        }
        (true, _) => (Verdict::Pass, "refused without an effect; the session goes on".to_owned()),
        (false, Some(end)) if end.is_clean() || end.code == Some(DATA) => {
            (Verdict::Pass, format!("refused without an effect; the session ended with {end}"))
        }
        (false, Some(end)) => (
            Verdict::Unavailable(format!("the target ended with {end}")),
            "the frame ended the target".to_owned(),
        ),
        (false, None) if case.case.ends_input => {
            (Verdict::Pass, "refused without an effect; the target outlives its input".to_owned())
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
    match case.level() {
        Level::Must | Level::Should => Verdict::Fail(kind),
        Level::Policy => Verdict::PolicyGap(kind),
    }
}

/// Ends a process and judges what only then is known: all of its bytes, and effects that came late.
fn end(bench: &Bench<'_>, noise: &Noise, open: Open, outcomes: &mut [Outcome]) {
    let Open { talk, folder, frames } = open;
    let Left { bytes, sent, watch } = talk.finish();
    for finding in judge(&bytes.stdout, &sent, true) {
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
            outcome.bytes = Some(bytes.clone());
        }
    }
}

/// Effects that carry the marker, without what this target does with any input.
fn sights(
    bench: &Bench<'_>,
    noise: &Noise,
    marker: &str,
    folder: &Folder,
    watch: Option<&Watch>,
) -> Vec<Sight> {
    let mut sights = bench.recorders.sights(marker, folder, watch);
    sights.retain(|sight| !noise.0.contains(&place(sight, marker, folder)));
    sights
}

/// Where an effect was seen, whichever process and marker it was.
fn place(sight: &Sight, marker: &str, folder: &Folder) -> String {
    sight.signature(marker).replace(&*folder.path().to_string_lossy(), "{folder}")
}

/// Effects that are none of a call: a server that writes what it could not read into a log puts markers there too.
#[derive(Debug, Default)]
struct Noise(BTreeSet<String>);

impl Noise {
    /// What the target does with an unknown method and with a line that is no message, both without a call.
    fn of(bench: &Bench<'_>) -> Self {
        let Ok((mut talk, folder)) = bench.start() else { return Self::default() };
        if talk.reach(Phase::Ready, Revision::V2025_06_18).is_none() {
            return Self::default();
        }
        let marker = bench.marker();
        talk.ask("framegate/no-such-method", Some(&json!({ "of": marker })));
        talk.send("a line without a call", format!("framegate noise {marker}\n").as_bytes());
        talk.is_alive(Revision::V2025_06_18);
        let Left { watch, .. } = talk.finish();
        let seen = bench.recorders.sights(&marker, &folder, watch.as_deref());
        Self(seen.iter().map(|sight| place(sight, &marker, &folder)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_for_any_server_are_many_and_name_its_tool() {
        let call =
            Call { tool: "write_file".to_owned(), arguments: "{\"path\":\"{effect.file}\"}".to_owned() };
        let planned = plan(std::slice::from_ref(&call), &[Delivery::Whole]);
        assert!(planned.len() >= 200, "{}", planned.len());
        for planned in &planned {
            let values = Values::new("m", 1).with_call("write_file", "{\"path\":\"m\"}");
            let frame = planned.case.frame(&values);
            assert!(!frame.windows(6).any(|window| window == b"probe_"), "{}", planned.id);
        }
        let ids: BTreeSet<_> = planned.iter().map(|planned| &planned.id).collect();
        assert_eq!(ids.len(), planned.len(), "ids are unique");
    }

    #[test]
    fn every_reason_of_the_plan_has_a_level_that_was_chosen() {
        let call = Call { tool: "t".to_owned(), arguments: "{}".to_owned() };
        let planned = plan(&[call], &[Delivery::Whole]);
        let of = |level| {
            planned
                .iter()
                .filter(|planned| planned.outcome(Verdict::Pass, String::new()).level == level)
                .count()
        };
        assert!(of(Level::Must) > 150 && of(Level::Should) > 40 && of(Level::Policy) > 20);
    }
}
