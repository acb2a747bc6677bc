//! End of input and SIGTERM in every phase: exit 0, whole messages, no lost reply, honest records.

use std::time::Duration;

use framegate_e2e::session::Ended;
use framegate_e2e::target::Answer;
use framegate_wire::message::Revision;
use rustix::process::Signal;

use super::{REVISION, Session, live, marker, recorder};

type Phase = (&'static str, fn(&mut Session<'_>));

/// Every phase a session can be in while nothing is under way.
const PHASES: [Phase; 6] = [
    ("before anything", |_| {}),
    ("in the middle of a line", |session| session.write(b"{\"jsonrpc\":\"2.0\",")),
    ("after ping", |session| drop(session.ask("ping", None))),
    ("while initializing", |session| drop(session.initialize(REVISION.name()))),
    ("when ready", |session| session.ready(REVISION)),
    ("in the stateless era", |session| session.ready(Revision::V2026_07_28)),
];

#[test]
fn end_of_input_in_every_phase() {
    for (phase, reach) in PHASES {
        let stage = recorder("eof");
        let mut session = Session::start(&stage);
        reach(&mut session);
        let ended = session.end();
        let code = if phase == "in the middle of a line" { 65 } else { 0 };
        assert_eq!(ended.code(), Some(code), "{phase}: {}", ended.stderr);
        assert_eq!(ended.journal.exit_code(), u64::try_from(code).ok(), "{phase}");
    }
}

#[test]
fn sigterm_in_every_phase() {
    for (phase, reach) in PHASES {
        let stage = recorder("sigterm");
        let mut session = Session::start(&stage);
        reach(&mut session);
        // Only a program that has taken its signals over can end cleanly by one.
        wait_for_start(&mut session);
        let ended = session.terminate();
        assert_eq!(ended.code(), Some(0), "{phase}: {}", ended.stderr);
        assert_eq!(ended.journal.exit_code(), Some(0), "{phase}");
    }
}

fn wait_for_start(session: &mut Session<'_>) {
    let deadline = std::time::Instant::now() + framegate_e2e::process::DEADLINE;
    while session.stage().journal().count("start") == 0 {
        assert!(std::time::Instant::now() < deadline, "no start record");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Ends a session whose call is open at the target, which then answers.
fn while_a_call_runs(name: &str, end: impl FnOnce(&mut Session<'_>)) -> Ended {
    let stage = live(name);
    stage.target().script([Answer::Hold(Box::new(Answer::ok()))]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let id = session.start_call(REVISION, "probe_write", marker("mk-open"));
    stage.target().wait_requests(1);
    end(&mut session);
    stage.target().release();
    session.reply(&id);
    let ended = session.wait_end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.journal.outcomes().get("done"), Some(&1), "{:?}", ended.journal.outcomes());
    ended
}

#[test]
fn end_of_input_while_a_call_runs_loses_no_reply() {
    while_a_call_runs("eof-open-call", |session| session.process().close_stdin());
}

#[test]
fn sigterm_while_a_call_runs_loses_no_reply() {
    while_a_call_runs("sigterm-open-call", |session| session.process().signal(Signal::TERM));
}

#[test]
fn a_second_sigterm_changes_nothing() {
    while_a_call_runs("sigterm-twice", |session| {
        session.process().signal(Signal::TERM);
        session.process().signal(Signal::TERM);
    });
}

/// Ends a session whose call is open at a target that never answers: it is abandoned, recorded, answered.
fn abandoned(name: &str, grace_seconds: u32, end: impl FnOnce(&mut Session<'_>)) {
    let stage = live(name);
    stage.configure("limits", &format!("grace_seconds = {grace_seconds}"));
    stage.target().script([Answer::Hold(Box::new(Answer::ok()))]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let id = session.start_call(REVISION, "probe_write", marker("mk-open"));
    stage.target().wait_requests(1);
    end(&mut session);
    session.reply(&id);
    let ended = session.wait_end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.journal.outcomes().get("unknown"), Some(&1), "{:?}", ended.journal.outcomes());
}

#[test]
fn a_call_that_outlasts_the_grace_is_unknown() {
    abandoned("grace", 1, |session| session.process().close_stdin());
}

#[test]
fn without_any_grace_an_open_call_is_unknown_and_answered() {
    abandoned("no-grace", 0, |session| session.process().close_stdin());
}

/// As the official client libraries end a server: stdin is closed, then SIGTERM, then SIGKILL. The grace is
/// longer than any test waits, so only the signal can end it in time.
#[test]
fn a_signal_after_the_end_of_input_abandons_what_runs() {
    abandoned("signal-after-eof", 300, |session| {
        session.process().close_stdin();
        wait_for_end_of_input(session);
        session.process().signal(Signal::TERM);
    });
}

/// The thread that reads stdin ends with it.
fn wait_for_end_of_input(session: &mut Session<'_>) {
    let tasks = format!("/proc/{}/task", session.process().id());
    let reads = || {
        std::fs::read_dir(&tasks).expect("a process").flatten().any(|task| {
            std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "stdin")
        })
    };
    let deadline = std::time::Instant::now() + framegate_e2e::process::DEADLINE;
    while reads() {
        assert!(std::time::Instant::now() < deadline, "stdin is still read");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn calls_that_wait_at_the_end_never_start() {
    let stage = live("queue-at-end");
    stage.target().script([Answer::Hold(Box::new(Answer::ok()))]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    for number in 0..4 {
        session.start_call(REVISION, "probe_write", marker(&format!("mk-{number}")));
    }
    stage.target().wait_requests(2);
    // All four are in the gateway once something behind them is answered.
    session.ask("ping", None);
    session.process().close_stdin();
    stage.target().release();
    let ended = session.wait_end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(stage.target().requests().len(), 2, "what had not started does not start");
    assert_eq!(stage.target().connections(), 2);
}

#[test]
fn many_calls_at_the_end_of_input_are_all_answered() {
    let stage = recorder("eof-many");
    stage.edit_config(|text| text.replace("max_queued = 2", "max_queued = 1000"));
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    for _ in 0..300 {
        session.ask("ping", None);
    }
    for number in 0..200 {
        session.start_call(REVISION, "probe_write", marker(&format!("mk-{number}")));
    }
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.replies.len(), 502);
}

#[test]
fn a_long_idle_start_says_nothing_and_costs_nothing() {
    let stage = recorder("idle");
    let mut session = Session::start(&stage);
    wait_for_start(&mut session);
    let before = session.process().processor_ticks().expect("it runs");
    std::thread::sleep(Duration::from_secs(4));
    let after = session.process().processor_ticks().expect("it runs");
    assert!(after - before <= 10, "{} ticks of processor time while idle", after - before);
    assert_eq!(session.process().stdout().bytes(), b"");
    super::talk(&mut session);
    assert_eq!(session.end().code(), Some(0));
}
