//! Zero actions: every hostile frame of the corpus, through the release binary, leaves no trace.
//!
//! Each case runs with the recorder and with a live target reached by name, under `close` (a good call
//! behind it must not run) and under `continue` (it must run, and inherit nothing): whole, byte by
//! byte, cut at every boundary that matters, and in one write with what follows. Its twin runs in the
//! same state, exactly once, with exactly one look-up.

use framegate_corpus::{Case, Phase, Values, cases, valid};
use framegate_e2e::parallel;
use framegate_e2e::session::Session;
use framegate_e2e::stage::{Executor, OnInvalidFrame, Stage, Traces};

#[path = "zero_actions/expect.rs"]
mod expect;
#[path = "zero_actions/run.rs"]
mod run;
#[path = "zero_actions/splits.rs"]
mod splits;
#[path = "zero_actions/twins.rs"]
mod twins;

use run::{Delivery, Job};

/// Cases that cannot be brought about from outside, by reason or name, and where they are tested.
const ELSEWHERE: [(&str, &str); 4] = [
    ("ids-exhausted", "crates/gate: a session that remembers few ids"),
    ("journal-unavailable", "e2e/tests/process/disk.rs and crates/journal: full disks"),
    // A cancelled call is given up at once, so its ticket may settle before the next line is read.
    ("in-flight-after-cancel", "crates/gate: schedules of call, cancel, settle"),
    ("in-flight-modern-after-cancel", "crates/gate: schedules of call, cancel, settle"),
];

/// The cases that can be sent; those that cannot are named.
fn sendable() -> Vec<Case> {
    let (elsewhere, sendable): (Vec<_>, Vec<_>) = cases().into_iter().partition(|case| {
        ELSEWHERE.iter().any(|(name, _)| case.reason.as_deref() == Some(*name) || case.id == *name)
    });
    for (name, place) in ELSEWHERE {
        let count =
            elsewhere.iter().filter(|case| case.reason.as_deref() == Some(name) || case.id == name).count();
        assert!(count > 0, "`{name}` names no case any more");
        eprintln!("not sent here: {count} of `{name}`: {place}");
    }
    sendable
}

fn everything(executor: Executor, profile: OnInvalidFrame, delivery: Delivery) {
    let cases = sendable();
    assert!(cases.len() >= 200, "only {} cases", cases.len());
    let jobs: Vec<Job<'_>> =
        cases.iter().map(|case| Job { case, executor, profile, delivery }).filter(Job::is_possible).collect();
    parallel::run(&jobs, || stage(executor, profile), |stage, job| job.run(stage));
    eprintln!("{} cases of {}: {executor:?}, {profile:?}, {delivery:?}", jobs.len(), cases.len());
}

fn stage(executor: Executor, profile: OnInvalidFrame) -> Stage {
    Stage::new("zero-actions", executor, profile)
}

#[test]
fn recorder_close() {
    everything(Executor::Recorder, OnInvalidFrame::Close, Delivery::Whole);
}

#[test]
fn recorder_continue() {
    everything(Executor::Recorder, OnInvalidFrame::Continue, Delivery::Whole);
}

#[test]
fn live_close() {
    everything(Executor::Live, OnInvalidFrame::Close, Delivery::Whole);
}

#[test]
fn live_continue() {
    everything(Executor::Live, OnInvalidFrame::Continue, Delivery::Whole);
}

#[test]
fn in_one_write_with_a_good_call_under_close() {
    everything(Executor::Recorder, OnInvalidFrame::Close, Delivery::Coalesced);
}

#[test]
fn in_one_write_with_a_good_call_under_continue() {
    everything(Executor::Recorder, OnInvalidFrame::Continue, Delivery::Coalesced);
}

#[test]
fn byte_by_byte() {
    everything(Executor::Recorder, OnInvalidFrame::Close, Delivery::Bytewise);
}

#[test]
fn frames_that_must_pass_do() {
    let cases = valid();
    for executor in [Executor::Recorder, Executor::Live] {
        let jobs: Vec<Job<'_>> = cases
            .iter()
            .map(|case| Job { case, executor, profile: OnInvalidFrame::Close, delivery: Delivery::Whole })
            .filter(Job::is_possible)
            .collect();
        parallel::run(&jobs, || stage(executor, OnInvalidFrame::Close), |stage, job| job.run(stage));
    }
}
