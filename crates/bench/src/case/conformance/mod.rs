//! Conformance: what the texts of each revision ask of a server, by the ids of `requirements/`.
//!
//! Belongs here: which check runs in which revision, how one is run, its verdict.
//! Does not belong here: what a check looks at (the files beside this one), effects of hostile frames.

mod ids;
mod lifecycle;
mod messages;
mod modern;
mod probe;
mod results;
mod schema;
mod table;
mod tools;
mod transcript;

use framegate_corpus::Revision;

use super::{Level, Outcome};
use crate::bench::{Bench, Speech};
use crate::target::Snapshot;
use crate::verdict::{Kind, Verdict};

use probe::Probe;
use transcript::Transcript;

/// What the ids begin with.
const FOLDER: &str = "conformance";

/// One check.
#[derive(Debug)]
struct Check {
    /// The requirement's id.
    id: &'static str,
    gist: &'static str,
    level: Level,
    revisions: &'static [Revision],
    how: How,
}

/// What a check looks at.
#[derive(Clone, Copy, Debug)]
enum How {
    /// A session that uses everything that is offered, after it is over.
    Session(fn(&Transcript) -> Found),
    /// A process of its own, in which nothing was said yet.
    Probe(fn(&mut Probe<'_>) -> Found),
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Holds,
    /// What was expected and what came instead.
    Broken(Kind, String),
    /// Why the target gave no occasion to see it.
    Untold(String),
}

impl Found {
    fn wrong(text: impl Into<String>) -> Self {
        Self::Broken(Kind::WrongReply, text.into())
    }

    fn unanswered(what: &str) -> Self {
        Self::Broken(Kind::MissingReply, format!("{what} was not answered"))
    }
}

/// The first thing that does not hold, if any.
fn all(found: impl IntoIterator<Item = Found>) -> Found {
    let mut untold = None;
    for found in found {
        match found {
            Found::Holds => {}
            Found::Broken(..) => return found,
            Found::Untold(_) => untold = untold.or(Some(found)),
        }
    }
    untold.unwrap_or(Found::Holds)
}

/// The checks of one revision that share a session, or one that has its own.
#[derive(Clone, Debug)]
pub(crate) struct ConformanceCase {
    revision: Revision,
    checks: Vec<&'static Check>,
}

impl ConformanceCase {
    /// Its cases' ids.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.checks.iter().map(|check| id(check, self.revision)).collect()
    }

    /// Without the cases of which this is not true; `None` if nothing is left.
    pub(crate) fn only(mut self, wanted: impl Fn(&str) -> bool) -> Option<Self> {
        self.checks.retain(|check| wanted(&id(check, self.revision)));
        (!self.checks.is_empty()).then_some(self)
    }
}

fn id(check: &Check, revision: Revision) -> String {
    format!("{FOLDER}/{}@{}", check.id, revision.name())
}

/// Every check of these revisions.
pub(crate) fn plan(revisions: &[Revision]) -> Vec<ConformanceCase> {
    let mut planned = Vec::new();
    for revision in revisions.iter().copied() {
        let here = || table::CHECKS.iter().filter(|check| check.revisions.contains(&revision));
        let (shared, own): (Vec<_>, Vec<_>) = here().partition(|check| matches!(check.how, How::Session(_)));
        planned.push(ConformanceCase { revision, checks: shared });
        planned.extend(own.into_iter().map(|check| ConformanceCase { revision, checks: vec![check] }));
    }
    planned
}

/// Runs it. Whether the target speaks the revision is known before, from a process of its own.
pub(crate) fn run(bench: &Bench<'_>, case: &ConformanceCase) -> Vec<Outcome> {
    let revision = case.revision;
    let outcome = |check: &Check| {
        let requirements = vec![check.id.to_owned()];
        Outcome::new(id(check, revision), check.gist.to_owned(), requirements, check.level)
    };
    let all_are = |verdict: Verdict| -> Vec<Outcome> {
        let with = |check: &&Check| Outcome { verdict: verdict.clone(), ..outcome(check) };
        case.checks.iter().map(with).collect()
    };
    match bench.speech(revision) {
        Speech::Spoken => {}
        Speech::Refused => {
            return all_are(Verdict::Skipped(format!("the target does not speak {}", revision.name())));
        }
        Speech::Silent => {
            return all_are(Verdict::Inconclusive("`initialize` was not answered in time".to_owned()));
        }
    }
    let shares = case.checks.iter().any(|check| matches!(check.how, How::Session(_)));
    let transcript = if shares { Some(Transcript::record(bench, revision)) } else { None };
    let mut outcomes = Vec::new();
    for check in &case.checks {
        let (found, steps, bytes) = match (check.how, &transcript) {
            (How::Session(look), Some(Ok(transcript))) => {
                (look(transcript), transcript.steps.clone(), Some(transcript.bytes.clone()))
            }
            (How::Session(_), Some(Err(why))) => return all_are(Verdict::Unavailable(why.clone())),
            (How::Session(_), None) => continue,
            (How::Probe(probe), _) => match Probe::start(bench, revision) {
                Err(error) => return all_are(Verdict::Unavailable(error.to_string())),
                Ok(mut started) => {
                    let found = probe(&mut started);
                    let (steps, bytes) = started.stop();
                    (found, steps, Some(bytes))
                }
            },
        };
        outcomes.push(judged(outcome(check), found, steps, bytes));
    }
    outcomes
}

fn judged(mut outcome: Outcome, found: Found, steps: Vec<super::Step>, bytes: Option<Snapshot>) -> Outcome {
    match found {
        Found::Holds => "as the revision's text has it".clone_into(&mut outcome.explanation),
        Found::Untold(why) => outcome.verdict = Verdict::Skipped(why),
        Found::Broken(kind, what) => {
            outcome.verdict = match outcome.level {
                Level::Must => Verdict::Fail(kind),
                Level::Should | Level::Policy => Verdict::PolicyGap(kind),
            };
            outcome.explanation = what;
            outcome.steps = steps;
            outcome.bytes = bytes;
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique_and_every_revision_has_checks() {
        let planned = plan(&Revision::ALL);
        let ids: Vec<_> = planned.iter().flat_map(ConformanceCase::ids).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
        for revision in Revision::ALL {
            assert!(ids.iter().filter(|id| id.ends_with(revision.name())).count() > 20, "{revision:?}");
        }
    }
}
