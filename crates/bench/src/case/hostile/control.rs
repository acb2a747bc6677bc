//! Positive controls: the well-formed call is seen by somebody, in a process of its own.
//!
//! Belongs here: running controls, what a target does with any input. Does not belong here: hostile frames.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::{Duration, Instant};

use framegate_corpus::Phase;
use serde_json::json;

use super::{HostileCase, State, plan};
use crate::bench::{Bench, Speech};
use crate::case::Delivery;
use crate::case::talk::Left;
use crate::observe::{Folder, Sight, Watch, excerpt};
use crate::options::Call;

/// Between two looks for a control's effect.
const LOOK: Duration = Duration::from_millis(5);
/// How much of a control's answer is shown, in bytes.
const ANSWER_SHOWN: usize = 300;

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

/// Calls that were made up, by what came of their controls.
#[derive(Debug, Default)]
pub(crate) struct Tried {
    pub(crate) seen: Vec<Call>,
    /// Those of tools of which nothing was seen, and why nothing can be said.
    pub(crate) unseen: Vec<(Call, String)>,
}

/// The controls of a run.
#[derive(Debug, Default)]
pub(crate) struct Controls {
    by_state: BTreeMap<String, Control>,
    pub(super) noise: Noise,
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

    pub(super) fn of(&self, case: &HostileCase) -> Control {
        let unseen = || Control::Unseen("no control was run".to_owned());
        self.by_state.get(&name(&case.control_key())).cloned().unwrap_or_else(unseen)
    }

    /// Tries these calls until as many tools as are `enough` have an effect that is seen: one that has none can only be
    /// inconclusive.
    pub(crate) fn try_calls(bench: &Bench<'_>, calls: Vec<Call>, enough: usize) -> Tried {
        let noise = Noise::of(bench);
        let mut tried = Tried::default();
        let Some(revision) = bench.start().ok().and_then(|(mut talk, _folder)| talk.negotiate()) else {
            return tried;
        };
        let state = (if revision.is_modern() { Phase::Modern } else { Phase::Ready }, revision);
        for call in calls {
            let is_known = tried.seen.iter().any(|seen| seen.tool == call.tool);
            if is_known || tried.seen.len() >= enough {
                continue;
            }
            let planned = plan(std::slice::from_ref(&call), &[Delivery::Whole]);
            let ready = planned.into_iter().find(|case| case.state() == state);
            match ready.map(|case| control(bench, &noise, &case)) {
                Some(Control::Seen(_)) => tried.seen.push(call),
                Some(Control::Unseen(why)) => tried.unseen.push((call, why)),
                Some(Control::Unspoken) | None => {}
            }
        }
        let Tried { seen, unseen } = &mut tried;
        unseen.retain(|(call, _)| seen.iter().all(|seen| seen.tool != call.tool));
        tried
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
    match bench.speech(case.revision()) {
        Speech::Spoken => {}
        Speech::Refused => return Control::Unspoken,
        Speech::Silent => return Control::Unseen("`initialize` was not answered in time".to_owned()),
    }
    let (mut talk, folder) = match bench.start() {
        Ok(started) => started,
        Err(error) => return unstarted(error),
    };
    if talk.reach(case.twin_state.0, case.revision()).is_none() {
        return Control::Unseen("the handshake was not answered a second time".to_owned());
    }
    let (marker, id) = (bench.marker(), talk.take_id());
    talk.send("the well-formed call", &case.twin(bench, &folder, &marker, id));
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

/// Effects that carry the marker, without what this target does with any input.
pub(super) fn sights(
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
pub(super) struct Noise(BTreeSet<String>);

impl Noise {
    /// What the target does with an unknown method and with a line that is no message, both without a call.
    fn of(bench: &Bench<'_>) -> Self {
        let Ok((mut talk, folder)) = bench.start() else { return Self::default() };
        if talk.negotiate().is_none() {
            return Self::default();
        }
        let marker = bench.marker();
        talk.ask("framegate/no-such-method", Some(&json!({ "of": marker })));
        talk.send("a line without a call", format!("framegate noise {marker}\n").as_bytes());
        talk.is_alive();
        let Left { watch, .. } = talk.finish();
        let seen = bench.recorders.sights(&marker, &folder, watch.as_deref());
        Self(seen.iter().map(|sight| place(sight, &marker, &folder)).collect())
    }
}
