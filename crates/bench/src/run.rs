//! One run: the plan, its order, the report.
//!
//! Belongs here: what all cases share, workers, progress. Does not belong here: a case's verdict.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use framegate_corpus::{Phase, Revision};

use crate::case::{
    Controls, Delivery, HostileCase, Outcome, PLAIN, Talk, plan, reading_calls, run_group, run_plain,
};
use crate::observe::{Folder, MARKER_PREFIX, Recorders, Watch};
use crate::options::{Call, Options, Profile};
use crate::report::{Proof, Report};
use crate::target::{Interrupt, Launch, Stderr};
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
    #[error("no case has the id `{0}`; `framegate corpus list` names the hostile ones")]
    NoSuchCase(String),
}

/// What a run tells while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// What will be done.
    Plan {
        /// How many plain sessions.
        plain: usize,
        /// How many hostile frames.
        hostile: usize,
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

/// What the cases of a run share.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    pub(crate) options: &'a Options,
    pub(crate) recorders: Recorders,
    interrupt: &'a Interrupt,
    /// Why system calls are not observed, if they are not.
    unobserved: Option<String>,
    /// Tells this run's markers from others'.
    number: u32,
    markers: AtomicU64,
}

impl<'a> Bench<'a> {
    fn new(options: &'a Options, interrupt: &'a Interrupt) -> io::Result<Self> {
        let mut random = [0; 4];
        getrandom::fill(&mut random).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Self {
            options,
            recorders: Recorders::start()?,
            interrupt,
            unobserved: Watch::probe().err(),
            number: u32::from_be_bytes(random),
            markers: AtomicU64::new(0),
        })
    }

    /// A marker that was never used; none is the beginning of another.
    pub(crate) fn marker(&self) -> String {
        let number = self.markers.fetch_add(1, Ordering::Relaxed);
        format!("{MARKER_PREFIX}{:08x}-{number:06}", self.number)
    }

    pub(crate) fn fill(&self, text: &str, folder: &Folder, marker: &str) -> String {
        self.recorders.fill(text, folder.path(), marker)
    }

    /// Starts the target with a folder of its own, its system calls observed where that is possible.
    pub(crate) fn start(&self) -> io::Result<(Talk, Folder)> {
        self.start_as(|launch| launch.observed = self.unobserved.is_none())
    }

    pub(crate) fn start_as(&self, change: impl FnOnce(&mut Launch)) -> io::Result<(Talk, Folder)> {
        let folder = Folder::make()?;
        let mut launch = Launch {
            command: self.options.command.iter().map(|part| self.fill_part(part, &folder)).collect(),
            environment: Vec::new(),
            stderr: Stderr::Kept,
            observed: false,
        };
        change(&mut launch);
        Ok((Talk::new(launch.start(self.interrupt)?, self.options.timeout), folder))
    }

    /// A call that may be made unasked, and whose effect is seen, if there is one.
    fn reading_calls(&self) -> Vec<Call> {
        let Ok((mut talk, _folder)) = self.start_as(|_| {}) else { return Vec::new() };
        let listed =
            talk.reach(Phase::Ready, Revision::V2025_06_18).and_then(|()| talk.ask("tools/list", None));
        drop(talk);
        listed.map(|listed| Controls::seen(self, reading_calls(&listed))).unwrap_or_default()
    }

    /// A part of the command; one that is no text has no placeholders.
    fn fill_part(&self, part: &OsString, folder: &Folder) -> OsString {
        match part.to_str() {
            Some(text) => OsString::from(self.fill(text, folder, "start")),
            None => OsString::from_vec(part.as_bytes().to_vec()),
        }
    }
}

enum Work {
    Plain(crate::case::Plain),
    Group(Vec<HostileCase>),
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
    drop(bench.start_as(|_| {}).map_err(|fault| RunError::Start { program: program(), fault })?);
    let wanted = |id: &str| options.only.is_empty() || options.only.iter().any(|only| only == id);
    let plain: Vec<_> = PLAIN.iter().copied().filter(|plain| wanted(plain.id())).collect();
    let calls = match options.profile {
        Profile::Stdout => Vec::new(),
        Profile::Quick | Profile::Boundary if options.calls.is_empty() => bench.reading_calls(),
        Profile::Quick | Profile::Boundary => options.calls.clone(),
    };
    let deliveries = match options.profile {
        Profile::Boundary => &[Delivery::Whole, Delivery::Cut, Delivery::Bytes][..],
        Profile::Stdout | Profile::Quick => &[Delivery::Whole],
    };
    let mut hostile = plan(&calls, deliveries);
    hostile.retain(|case| wanted(&case.id));
    for only in &options.only {
        if !plain.iter().any(|plain| plain.id() == only) && !hostile.iter().any(|case| &case.id == only) {
            return Err(RunError::NoSuchCase(only.clone()));
        }
    }
    let all = plain.len().saturating_add(hostile.len());
    progress(Progress::Plan {
        plain: plain.len(),
        hostile: hostile.len(),
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
        let outcome = run_plain(&bench, *first);
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
    let controls = Controls::run(&bench, &hostile);
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
                            let outcome = run_plain(&bench, plain);
                            done(&outcome);
                            vec![outcome]
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
    let proof = Proof { observers: controls.observers(), unobserved: bench.unobserved.clone() };
    outcomes.sort_by(|left, right| left.id.cmp(&right.id));
    Ok(Report::new(options, &calls, outcomes, proof, begun.elapsed(), true))
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
