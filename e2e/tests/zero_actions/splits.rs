//! Frames cut in two at every boundary that matters: the verdict depends on the bytes alone.

use framegate_wire::Reason;
use framegate_wire::reason::Closing;

use super::expect::Expected;
use super::run::{Delivery, Job, good_call, marker};
use super::{Case, Executor, OnInvalidFrame, Phase, Session, Stage, Values, parallel, sendable, valid};

/// Refusals that one session may hold here, and be recorded one by one.
const SHARED: usize = 80;

/// Cuts of one very long frame; of all others, every cut is made.
const LONG: (usize, usize) = (64 * 1024, 8);

#[test]
fn a_cut_changes_no_refusal() {
    let cases = sendable();
    let jobs: Vec<(&Case, Vec<usize>)> = cases
        .iter()
        .filter(|case| case.before.is_empty())
        .flat_map(|case| {
            let frame = case.frame(&Values::new(marker(&case.id), 910_001));
            let mut cuts = case.cuts(&frame);
            if frame.len() > LONG.0 {
                cuts.truncate(LONG.1);
            }
            let size = if shares(case) { SHARED / (1 + case.also_reasons.len()) } else { 1 };
            cuts.chunks(size).map(|cuts| (case, cuts.to_vec())).collect::<Vec<_>>()
        })
        .collect();
    let cuts: usize = jobs.iter().map(|(_, cuts)| cuts.len()).sum();
    parallel::run(&jobs, stage, |stage, (case, cuts)| run(stage, case, cuts));
    eprintln!("{cuts} cuts of {} cases in {} sessions", cases.len(), jobs.len());
}

#[test]
fn a_cut_changes_no_call() {
    let cases: Vec<Case> = valid()
        .into_iter()
        .filter(|case| case.executes > 0 && case.before.is_empty() && case.phase == Phase::Ready)
        .collect();
    assert!(!cases.is_empty());
    parallel::run(&cases, stage, |stage, case| {
        stage.forget();
        let name = format!("split-valid-{}", case.id);
        let mut session = Session::named(stage, &name, stage.launch());
        job(case).reach_phase(&mut session);
        let cuts = case.cuts(&case.frame(&Values::new(marker(&case.id), 910_000)));
        let answers = case.frame(&Values::new("m", 1)).iter().filter(|byte| **byte == b'\n').count();
        let (said, mut actions) = (session.lines().len(), 0);
        for (number, cut) in (0_i64..).zip(&cuts) {
            let values = Values::new(format!("{}-{number}", marker(&case.id)), 910_000 + 2 * number);
            // An id of the case's own can be used once in a session.
            if number > 0
                && !case.frame(&values).windows(6).any(|window| window == values.id.to_string().as_bytes())
            {
                break;
            }
            session.process().write_split(&case.frame(&values), &[*cut]);
            actions += 1;
            // One after the other: more than can wait would be told so.
            session.wait_lines(said + actions * answers);
        }
        let ended = session.end();
        assert_eq!(ended.code(), Some(0), "{name}: {}", ended.stderr);
        assert_eq!(
            ended.journal.count("intent"),
            actions * usize::try_from(case.executes).expect("small"),
            "{name}: intents"
        );
        assert_eq!(ended.journal.refused(), [], "{name}: refusals");
    });
}

fn stage() -> Stage {
    let stage = super::stage(Executor::Recorder, OnInvalidFrame::Continue);
    stage.configure("limits", "max_refusals = 1000");
    stage
}

fn job(case: &Case) -> Job<'_> {
    Job { case, executor: Executor::Recorder, profile: OnInvalidFrame::Continue, delivery: Delivery::Whole }
}

/// Whether the same case can be sent again in the session: it neither ends nor changes it.
fn shares(case: &Case) -> bool {
    let closing = case.reason.as_deref().and_then(Reason::from_code).map(Reason::closing);
    closing != Some(Closing::Always) && !case.ends_input
}

fn run(stage: &Stage, case: &Case, cuts: &[usize]) {
    stage.forget();
    let job = job(case);
    let name = format!("split-{}-{}", case.id, cuts[0]);
    let mut session = Session::named(stage, &name, stage.launch());
    job.reach_phase(&mut session);
    let before = stage.traces();
    let values = |number: i64| Values::new(marker(&case.id), 910_001 + 10 * number);
    for (number, cut) in (0_i64..).zip(cuts) {
        session.process().write_split(&case.frame(&values(number)), &[*cut]);
    }
    let ended = if case.ends_input {
        session.end()
    } else if job.closes() {
        session.write(&good_call(case, &values(0)));
        session.wait_end()
    } else {
        session.end()
    };
    let code = if job.closes() { 65 } else { 0 };
    assert_eq!(ended.code(), Some(code), "{name}: {}", ended.stderr);
    let expected = Expected::new(&job, &values(0));
    let mut refused = ended.journal.refused().into_iter();
    for cut in cuts {
        let these: Vec<_> = refused.by_ref().take(expected.refusals().len()).collect();
        assert_eq!(these, expected.refusals(), "{name}: refusals when cut at {cut}");
    }
    assert_eq!(refused.next(), None, "{name}: more refusals than frames");
    assert_eq!(stage.traces(), before, "{name}: traces");
    assert_eq!(ended.journal.count("intent"), 0, "{name}: intents");
}
