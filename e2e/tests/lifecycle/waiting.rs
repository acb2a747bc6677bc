//! While actions run: cancelling, progress, the bounds on what runs and waits.

use framegate_e2e::client::{call_params, modern, request};
use framegate_e2e::target::Answer;

use super::{REVISION, Revision, Session, end, json, live, marker};

fn hold(stage: &framegate_e2e::stage::Stage) {
    stage.target().script([Answer::Hold(Box::new(Answer::ok()))]);
}

#[test]
fn a_cancelled_call_gets_no_reply_and_its_outcome_is_recorded() {
    for revision in [REVISION, Revision::V2026_07_28] {
        let stage = live("cancel");
        hold(&stage);
        let mut session = Session::start(&stage);
        session.ready(revision);
        let id = session.start_call(revision, "probe_write", marker("mk-open"));
        stage.target().wait_requests(1);
        session.notify("notifications/cancelled", Some(json!({ "requestId": id })));
        // Answered: what was sent before was taken in before the target answers.
        session.ask("tools/list", revision.is_modern().then(|| modern(json!({}))));
        stage.target().release();
        let after = session.call(revision, "probe_write", marker("mk-after"));
        assert!(after["result"].is_object(), "{after}");
        let ended = session.end();
        assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
        assert!(!ended.replies.iter().any(|reply| reply["id"] == id), "{revision}: {:#?}", ended.replies);
        assert_eq!((ended.journal.count("intent"), ended.journal.count("outcome")), (2, 2), "{revision}");
        assert_eq!(stage.executed("mk-open"), 1, "{revision}");
    }
}

#[test]
fn a_call_cancelled_while_it_waits_never_starts() {
    let stage = live("cancel-queued");
    hold(&stage);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let start = |session: &mut Session<'_>, name| session.start_call(REVISION, "probe_write", marker(name));
    let running = ["mk-1", "mk-2"].map(|name| start(&mut session, name));
    stage.target().wait_requests(2);
    let waiting = start(&mut session, "mk-waiting");
    let behind = start(&mut session, "mk-behind");
    session.notify("notifications/cancelled", Some(json!({ "requestId": waiting })));
    // Its place is free again, at once: two may wait.
    let last = start(&mut session, "mk-last");
    session.ask("ping", None);
    stage.target().release();
    for id in running.iter().chain([&behind, &last]) {
        assert_ne!(session.reply(id)["result"]["isError"], json!(true));
    }
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!((stage.executed("mk-waiting"), stage.traces().connections, stage.traces().lookups), (0, 4, 4));
    assert!(!ended.replies.iter().any(|reply| reply["id"] == waiting), "{:#?}", ended.replies);
}

#[test]
fn cancelling_what_is_unknown_or_finished_does_nothing() {
    let stage = live("cancel-nothing");
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    session.call(REVISION, "probe_write", marker("mk-1"));
    for params in [
        json!({ "requestId": session.last_id }),
        json!({ "requestId": 99 }),
        json!({ "requestId": "x" }),
        json!({}),
    ] {
        session.notify("notifications/cancelled", Some(params));
    }
    assert!(session.call(REVISION, "probe_write", marker("mk-2"))["result"].is_object());
    end(session);
}

#[test]
fn ping_and_lists_are_served_while_calls_run() {
    let stage = live("served");
    hold(&stage);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let id = session.start_call(REVISION, "probe_write", marker("mk-open"));
    stage.target().wait_requests(1);
    assert_eq!(session.ask("ping", None)["result"], json!({}));
    assert!(session.ask("tools/list", None)["result"]["tools"].is_array());
    stage.target().release();
    session.reply(&id);
    end(session);
}

#[test]
fn more_calls_than_can_wait_are_told_so_at_once() {
    let stage = live("busy");
    hold(&stage);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let ids: Vec<_> = (0..6)
        .map(|number| session.start_call(REVISION, "probe_write", marker(&format!("mk-{number}"))))
        .collect();
    for id in &ids[4..] {
        let result = session.reply(id)["result"].clone();
        assert_eq!(
            (&result["isError"], &result["_meta"]["framegate/reason"]),
            (&json!(true), &json!("busy")),
            "{result}"
        );
    }
    stage.target().release();
    for id in &ids[..4] {
        session.reply(id);
    }
    end(session);
    assert_eq!(stage.target().requests().len(), 4);
}

#[test]
fn a_long_action_tells_its_progress_to_a_client_that_gave_a_token() {
    for revision in [REVISION, Revision::V2026_07_28] {
        let stage = live("progress");
        hold(&stage);
        let mut session = Session::start(&stage);
        session.ready(revision);
        let mut params = call_params("probe_write", marker("mk-open"));
        if revision.is_modern() {
            params = modern(params);
        }
        params["_meta"]["progressToken"] = json!("token");
        let id = session.fresh_id();
        session.send(&request(&id, "tools/call", Some(params)));
        session.wait_line("progress", |line| line["params"]["progressToken"] == "token");
        stage.target().release();
        session.reply(&id);
        end(session);
    }
}

#[test]
fn no_token_no_progress() {
    let stage = live("no-progress");
    hold(&stage);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let id = session.start_call(REVISION, "probe_write", marker("mk-open"));
    stage.target().wait_requests(1);
    std::thread::sleep(std::time::Duration::from_secs(3));
    stage.target().release();
    session.reply(&id);
    let ended = session.end();
    assert_eq!(ended.replies.len(), 3, "{:#?}", ended.replies);
}

#[test]
fn a_call_past_its_deadline_is_an_error_and_frees_its_place() {
    let stage = live("deadline");
    stage.configure("tool.probe_write", "deadline_seconds = 1");
    hold(&stage);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let result = session.call(REVISION, "probe_write", marker("mk-late"))["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    stage.target().release();
    assert!(session.call(REVISION, "probe_write", marker("mk-next"))["result"].is_object());
    let ended = session.end();
    assert_eq!(ended.journal.outcomes().get("unknown"), Some(&1), "{:?}", ended.journal.outcomes());
}
