//! Cases: what is done with a target, and what came of it.
//!
//! Belongs here: conversations, hostile frames, plain sessions. Does not belong here: processes, recorders, reports.

mod choose;
mod conformance;
mod delivery;
mod hostile;
mod level;
mod plain;
mod talk;

use crate::judge::Finding;
use crate::observe::Sight;
use crate::target::Snapshot;
use crate::verdict::Verdict;

pub(crate) use choose::unasked_calls;
pub(crate) use conformance::{ConformanceCase, plan as plan_conformance, run as run_conformance};
pub(crate) use delivery::Delivery;
pub(crate) use hostile::{
    Controls, HostileCase, Tried, WRITTEN_FOR, named_mutation, plan as plan_hostile, plan_mutation,
    plan_violations, run_group, shrink,
};
pub use level::Level;
pub(crate) use plain::{Plain, plan as plan_plain, run as run_plain};
pub(crate) use talk::{Talk, initialize_as, version};

/// What was done in a case, for whoever does it again by hand.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    /// What.
    pub what: String,
    /// The bytes that were sent, escaped.
    pub bytes: String,
}

/// What came of a case.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) id: String,
    pub(crate) gist: String,
    pub(crate) requirements: Vec<String>,
    pub(crate) level: Level,
    pub(crate) verdict: Verdict,
    /// What was expected and what was seen instead, in one line.
    pub(crate) explanation: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) finding: Option<Finding>,
    pub(crate) sights: Vec<Sight>,
    /// The target's bytes, where the case failed.
    pub(crate) bytes: Option<Snapshot>,
}

impl Outcome {
    /// One that holds, and says nothing yet.
    pub(crate) fn new(id: String, gist: String, requirements: Vec<String>, level: Level) -> Self {
        Self {
            id,
            gist,
            requirements,
            level,
            verdict: Verdict::Pass,
            explanation: String::new(),
            steps: Vec::new(),
            finding: None,
            sights: Vec::new(),
            bytes: None,
        }
    }

    /// Whether both break the same rule in the same way.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.gist == other.gist && self.verdict == other.verdict
    }

    /// Whether the case could say nothing for want of a control that was seen.
    pub(crate) fn needs_proof(&self) -> bool {
        matches!(self.verdict, Verdict::Inconclusive(_))
    }
}
