//! One run: the plan, its order, the report.
//!
//! Belongs here: what all cases share, workers, progress. Does not belong here: a case's verdict.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use crate::attribution::attribute;
use crate::bench::Bench;
use crate::case::{
    ConformanceCase, Controls, HostileCase, Outcome, Plain, run_conformance, run_group, run_plain,
};
use crate::mutate;
use crate::observe::Tracer;
use crate::options::Options;
use crate::plan::Plan;
use crate::report::{Proof, Report};
use crate::target::Interrupt;
use crate::verdict::Verdict;

/// How many cases a worker takes at once.
const GROUP: usize = 40;

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target's command cannot be started.
    #[error("the target could not be started: `{}`: {fault}", program.escape_debug())]
    Start {
        /// The program, as it was given.
        program: String,
        /// Why.
        #[source]
        fault: io::Error,
    },
    /// Something that the bench itself needs.
    #[error("the bench could not be set up: {0}")]
    SetUp(#[source] io::Error),
    /// The run was interrupted; every target was killed.
    #[error("interrupted; every target was ended")]
    Interrupted,
    /// No case has one of the ids.
    #[error(
        "no case has the id `{}`; `framegate check --list` prints every id, and `*` stands for any characters",
        .0.escape_debug()
    )]
    NoSuchCase(String),
}

/// What a run tells while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What will be done.
    Plan {
        /// How many plain sessions.
        plain: usize,
        /// How many checks of the revisions' texts.
        conformance: usize,
        /// How many hostile frames.
        hostile: usize,
        /// How many targets run at once.
        jobs: usize,
        /// The tools that are called.
        tools: Vec<String>,
    },
    /// A case is over.
    Done {
        /// How many are.
        done: usize,
        /// Of how many.
        all: usize,
        /// Its id.
        id: String,
        /// Its verdict's name.
        verdict: &'static str,
    },
}

enum Work {
    Plain(Plain),
    Conformance(ConformanceCase),
    Group(Vec<HostileCase>),
}

/// The id of every case that would be run, without running any.
///
/// # Errors
/// As for [`run`].
pub fn list(options: &Options, interrupt: &Interrupt) -> Result<Vec<String>, RunError> {
    let bench = Bench::new(options, interrupt).map_err(RunError::SetUp)?;
    Ok(Plan::make(&bench)?.ids())
}

/// Runs the plan.
///
/// # Errors
/// If the target's command cannot be started at all, or the bench itself cannot be set up.
pub fn run(
    options: &Options,
    interrupt: &Interrupt,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Report, RunError> {
    let begun = Instant::now();
    let bench = Bench::new(options, interrupt).map_err(RunError::SetUp)?;
    // A command that does not exist fails here, and not in every case.
    let program =
        || options.command.first().map(|part| part.to_string_lossy().into_owned()).unwrap_or_default();
    let started = match options.folder.as_ref().filter(|folder| !folder.is_dir()) {
        None => bench.start_as(|_| {}).map(drop),
        Some(_) => Err(io::Error::new(io::ErrorKind::NotFound, "its working folder does not exist")),
    };
    started.map_err(|fault| RunError::Start { program: program(), fault })?;
    let Plan { plain, conformance, hostile, calls, unseen } = Plan::make(&bench)?;
    let checks = conformance.iter().map(|case| case.ids().len()).sum::<usize>();
    let all = plain.len().saturating_add(checks).saturating_add(hostile.len());
    progress(Progress::Plan {
        plain: plain.len(),
        conformance: checks,
        hostile: hostile.len(),
        jobs: options.jobs.max(1),
        tools: calls.iter().map(|call| call.tool.clone()).collect(),
    });
    let count = AtomicUsize::new(0);
    let done = |outcome: &Outcome| {
        let done = count.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        progress(Progress::Done { done, all, id: outcome.id.clone(), verdict: outcome.verdict.name() });
    };
    // The plain session first: a target that does not even answer it is not given anything else.
    let mut outcomes = Vec::new();
    let mut work: VecDeque<Work> = plain.into_iter().map(Work::Plain).collect();
    if let Some(Work::Plain(first)) = work.front().filter(|_| work.len() > 1) {
        let outcome = run_plain(&bench, first);
        if interrupt.is_interrupted() {
            return Err(RunError::Interrupted);
        }
        done(&outcome);
        let answers = !matches!(outcome.verdict, Verdict::Unavailable(_) | Verdict::Hung);
        outcomes.push(outcome);
        work.pop_front();
        if !answers {
            return Ok(Report::new(options, &calls, outcomes, Proof::default(), begun.elapsed(), false));
        }
    }
    let frames = hostile.len();
    let controls = Controls::run(&bench, &hostile);
    work.extend(conformance.into_iter().map(Work::Conformance));
    work.extend(groups(hostile).into_iter().map(Work::Group));
    let queue = Mutex::new(work);
    let results = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                loop {
                    if interrupt.is_interrupted() {
                        return;
                    }
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
                    let outcomes = match next {
                        None => return,
                        Some(Work::Plain(plain)) => {
                            let outcome = run_plain(&bench, &plain);
                            done(&outcome);
                            vec![outcome]
                        }
                        Some(Work::Conformance(case)) => {
                            let outcomes = run_conformance(&bench, &case);
                            outcomes.iter().for_each(&done);
                            outcomes
                        }
                        Some(Work::Group(group)) => run_group(&bench, &controls, &group, &done),
                    };
                    results.lock().unwrap_or_else(PoisonError::into_inner).extend(outcomes);
                }
            });
        }
    });
    if interrupt.is_interrupted() {
        return Err(RunError::Interrupted);
    }
    outcomes.extend(results.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mut observers = controls.observers();
    if let Some(mutation) = options.mutation {
        let (mutated, seen) = mutate::run(&bench, &calls, mutation);
        outcomes.extend(mutated);
        observers.extend(seen);
    }
    observers.sort_unstable();
    observers.dedup();
    let tracer = bench.tracer.as_ref().ok().map(Tracer::name);
    let proof = Proof { observers, tracer, unobserved: bench.tracer.as_ref().err().cloned(), frames, unseen };
    outcomes.sort_by(|left, right| left.id.cmp(&right.id));
    let mut report = Report::new(options, &calls, outcomes, proof, begun.elapsed(), true);
    if let Some(sdk) = bench.sdk() {
        attribute(&mut report, sdk);
    }
    Ok(report)
}

/// Cases of one state together, in pieces that several workers can share.
fn groups(hostile: Vec<HostileCase>) -> Vec<Vec<HostileCase>> {
    let mut by_state: Vec<(_, Vec<HostileCase>)> = Vec::new();
    for case in hostile {
        let state = case.state();
        match by_state.iter_mut().find(|(known, _)| *known == state) {
            Some((_, cases)) => cases.push(case),
            None => by_state.push((state, vec![case])),
        }
    }
    by_state
        .into_iter()
        .flat_map(|(_, cases)| cases.chunks(GROUP).map(<[_]>::to_vec).collect::<Vec<_>>())
        .collect()
}
