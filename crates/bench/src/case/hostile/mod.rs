//! Hostile frames: each is sent with a call inside, and must have no effect.
//!
//! Belongs here: which frames a target gets. Does not belong here: what is wrong with a frame (the corpus), recorders.
//!
//! A verdict needs the control: the frame's well-formed twin, in a process of its own, was seen by a recorder. What
//! no recorder sees when it happens proves nothing when it is not seen.

mod control;
mod group;
mod mutation;
mod violation;

use framegate_corpus::{Case, Phase, Revision, Values, cases};
use serde_json::Value;

use super::{Delivery, Level, Outcome};
use crate::bench::Bench;
use crate::observe::Folder;
use crate::options::Call;
use crate::verdict::Verdict;

pub(crate) use control::{Controls, Tried};
pub(crate) use group::run_group;
use mutation::{Mutation, SAMPLE_ID};
pub(crate) use mutation::{named as named_mutation, plan as plan_mutation, shrink};
pub(crate) use violation::plan as plan_violations;

/// A state and a revision: frames with the same one can share a control.
pub(crate) type State = (Phase, Revision);

/// A hostile frame, and which call is inside.
#[derive(Clone, Debug)]
pub(crate) struct HostileCase {
    pub(crate) id: String,
    gist: String,
    requirements: Vec<String>,
    level: Level,
    /// What has been said before it.
    state: State,
    /// What has been said before its well-formed twin, where that is the difference.
    twin_state: State,
    /// The well-formed call.
    call: Call,
    body: Body,
    delivery: Delivery,
    ends_input: bool,
}

/// What is wrong with a frame.
#[derive(Clone, Debug)]
enum Body {
    /// What the corpus says.
    Corpus(Box<Case>),
    /// The call has these arguments, which its tool's schema does not permit.
    Arguments(String),
    /// The call's bytes are changed.
    Mutation(Mutation),
}

/// The frames of the corpus that any server can be given with these calls inside.
pub(crate) fn plan(calls: &[Call], deliveries: &[Delivery]) -> Vec<HostileCase> {
    let mut planned = Vec::new();
    for case in cases().into_iter().filter(Case::is_general) {
        let reason = case.reason.as_deref().unwrap_or_default();
        for call in calls {
            for delivery in deliveries {
                planned.push(HostileCase {
                    id: format!("{reason}/{}{}{}", case.id, of_tool(call, calls), delivery.suffix()),
                    gist: case.gist.clone(),
                    requirements: case.covers.clone(),
                    level: Level::of(reason, &case.id),
                    state: (case.phase, case.revision),
                    twin_state: (case.twin_phase, case.revision),
                    call: call.clone(),
                    body: Body::Corpus(Box::new(case.clone())),
                    delivery: *delivery,
                    ends_input: case.ends_input,
                });
            }
        }
    }
    planned
}

/// What tells the cases of several tools apart.
fn of_tool(call: &Call, calls: &[Call]) -> String {
    if calls.len() > 1 { format!("@{}", call.tool) } else { String::new() }
}

/// Where calls are served.
const fn ready(revision: Revision) -> State {
    (if revision.is_modern() { Phase::Modern } else { Phase::Ready }, revision)
}

/// The revision that the corpus's frames are written for, where they differ in none.
pub(crate) const WRITTEN_FOR: Revision = Revision::V2025_06_18;
/// Refused for a rule that not every handshake has: 2025-03-26 knows batches.
const OF_ONE_REVISION: &str = "message-batch/";

impl HostileCase {
    /// The same frame in another revision with a handshake, if it breaks a rule of that too.
    pub(crate) fn carry_to(&mut self, revision: Revision) {
        if self.revision() == WRITTEN_FOR && !self.id.starts_with(OF_ONE_REVISION) {
            self.gist.push_str(&format!(", in {}", revision.name()));
            self.state.1 = revision;
            self.twin_state.1 = revision;
        }
    }

    pub(crate) const fn state(&self) -> State {
        self.state
    }

    pub(crate) const fn revision(&self) -> Revision {
        self.state.1
    }

    /// Whether the texts leave open that it must be refused.
    pub(crate) fn is_policy(&self) -> bool {
        self.level == Level::Policy
    }

    /// The state that the twin runs in, and the call: what a control is made for.
    fn control_key(&self) -> (State, Call) {
        (self.twin_state, self.call.clone())
    }

    /// The frame's bytes.
    fn frame(&self, bench: &Bench<'_>, folder: &Folder, marker: &str, id: i64) -> Vec<u8> {
        let values = self.values(bench, folder, marker, id);
        match &self.body {
            Body::Corpus(case) => case.frame(&values),
            Body::Arguments(arguments) => {
                let arguments = bench.fill(arguments, folder, marker);
                self.plain(&Values { arguments, ..values })
            }
            Body::Mutation(mutation) => mutation.apply(&self.plain(&values)),
        }
    }

    /// The id that the frame gets, from one that is unused.
    fn request_id(&self, unused: i64) -> i64 {
        match self.body {
            Body::Mutation(_) => SAMPLE_ID.saturating_add(unused),
            Body::Corpus(_) | Body::Arguments(_) => unused,
        }
    }

    /// The bytes of its well-formed twin.
    fn twin(&self, bench: &Bench<'_>, folder: &Folder, marker: &str, id: i64) -> Vec<u8> {
        let values = self.values(bench, folder, marker, id);
        match &self.body {
            Body::Corpus(case) => case.twin(&values),
            Body::Arguments(_) | Body::Mutation(_) => self.plain(&values),
        }
    }

    fn plain(&self, values: &Values) -> Vec<u8> {
        let mut line = values.call(self.revision().is_modern()).into_bytes();
        line.push(b'\n');
        line
    }

    fn values(&self, bench: &Bench<'_>, folder: &Folder, marker: &str, id: i64) -> Values {
        // The marker's place stays open: a frame may hold the arguments with another.
        let arguments = bench.fill(&self.call.arguments, folder, "${marker}");
        // The name stands inside a JSON string.
        let quoted = Value::from(self.call.tool.as_str()).to_string();
        let tool =
            quoted.strip_prefix('"').and_then(|tool| tool.strip_suffix('"')).unwrap_or_default().to_owned();
        Values::new(marker, id).with_call(tool, arguments)
    }

    fn outcome(&self, verdict: Verdict, explanation: String) -> Outcome {
        let plain = Outcome::new(self.id.clone(), self.gist.clone(), self.requirements.clone(), self.level);
        Outcome { verdict, explanation, ..plain }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn frames_for_any_server_are_many_and_name_its_tool() {
        let call =
            Call { tool: "write_file".to_owned(), arguments: "{\"path\":\"{effect.file}\"}".to_owned() };
        let planned = plan(std::slice::from_ref(&call), &[Delivery::Whole]);
        assert!(planned.len() >= 200, "{}", planned.len());
        for planned in &planned {
            let values = Values::new("m", 1).with_call("write_file", "{\"path\":\"m\"}");
            let Body::Corpus(case) = &planned.body else { panic!("{}", planned.id) };
            let frame = case.frame(&values);
            assert!(!frame.windows(6).any(|window| window == b"probe_"), "{}", planned.id);
        }
        let ids: BTreeSet<_> = planned.iter().map(|planned| &planned.id).collect();
        assert_eq!(ids.len(), planned.len(), "ids are unique");
    }

    #[test]
    fn frames_are_carried_to_another_handshake_unless_only_one_forbids_them() {
        let call = Call { tool: "t".to_owned(), arguments: "{}".to_owned() };
        let mut planned = plan(&[call], &[Delivery::Whole]);
        planned.iter_mut().for_each(|case| case.carry_to(Revision::V2024_11_05));
        let of = |revision| planned.iter().filter(move |case| case.revision() == revision);
        assert!(of(Revision::V2024_11_05).count() > 150);
        assert!(
            of(WRITTEN_FOR).count() > 0 && of(WRITTEN_FOR).all(|case| case.id.starts_with(OF_ONE_REVISION))
        );
        assert!(of(Revision::V2026_07_28).count() > 0, "an era without a handshake keeps its own");
        assert!(of(Revision::V2024_11_05).all(|case| case.twin_state.1 == Revision::V2024_11_05));
    }

    #[test]
    fn every_reason_of_the_plan_has_a_level_that_was_chosen() {
        let call = Call { tool: "t".to_owned(), arguments: "{}".to_owned() };
        let planned = plan(&[call], &[Delivery::Whole]);
        let of = |level| planned.iter().filter(|planned| planned.level == level).count();
        assert!(of(Level::Must) > 150 && of(Level::Should) > 40 && of(Level::Policy) > 20);
    }
}
