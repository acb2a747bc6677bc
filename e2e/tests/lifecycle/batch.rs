//! Batches: a boundary of 2025-03-26 that authorises no action.

use framegate_e2e::client::{call_params, initialize, request};
use framegate_e2e::session::parse_lines;

use super::{LEGACY, Revision, Session, Value, end, json, marker, recorder};

const BATCHES: Revision = Revision::V2025_03_26;

/// Sends one batch, then a ping, and returns what came in between.
fn batch(stage_name: &str, batch: &Value) -> Vec<Value> {
    let stage = recorder(stage_name);
    let mut session = Session::start(&stage);
    session.ready(BATCHES);
    let before = session.lines().len();
    session.send(batch);
    session.ask("ping", None);
    let lines = session.lines();
    assert!(session.call(BATCHES, "probe_write", marker("mk-after"))["result"].is_object());
    end(session);
    assert_eq!(stage.executed("mk-batch"), 0);
    assert_eq!(stage.executed("mk-after"), 1);
    lines[before..lines.len() - 1].to_vec()
}

#[test]
fn members_are_answered_in_one_array() {
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/unheard-of" });
    let replies = batch(
        "batch-mixed",
        &json!([request(&json!("a"), "ping", None), note, request(&json!("b"), "tools/list", None)]),
    );
    let members = replies[0].as_array().expect("an array");
    assert_eq!((replies.len(), members.len()), (1, 2), "{replies:#?}");
}

#[test]
fn notifications_alone_get_no_reply() {
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/unheard-of" });
    assert_eq!(batch("batch-notes", &json!([note, note])), [] as [Value; 0]);
}

#[test]
fn an_empty_batch_is_one_error() {
    let replies = batch("batch-empty", &json!([]));
    assert_eq!(
        (replies.len(), &replies[0]["error"]["code"], &replies[0]["id"]),
        (1, &json!(-32600), &Value::Null)
    );
}

#[test]
fn repeated_ids_settle_nothing() {
    let ping = request(&json!("a"), "ping", None);
    let replies = batch("batch-ids", &json!([ping, ping]));
    assert_eq!((replies.len(), &replies[0]["error"]["code"]), (1, &json!(-32600)), "{replies:#?}");
}

#[test]
fn calls_and_handshakes_inside_are_refused_and_change_nothing() {
    let call = request(&json!("call"), "tools/call", Some(call_params("probe_write", marker("mk-batch"))));
    let replies = batch(
        "batch-call",
        &json!([call, request(&json!("a"), "ping", None), initialize(&json!("i"), "2024-11-05")]),
    );
    let members = replies[0].as_array().expect("an array");
    let code = |id: &str| {
        members.iter().find(|member| member["id"] == id).map(|member| member["error"]["code"].clone())
    };
    assert_eq!(
        (code("call"), code("i"), code("a")),
        (Some(json!(-32600)), Some(json!(-32600)), Some(Value::Null)),
        "{replies:#?}"
    );
}

#[test]
fn an_initialized_or_cancelled_inside_changes_no_state() {
    let stage = recorder("batch-state");
    let mut session = Session::start(&stage);
    session.initialize(BATCHES.name());
    session.send(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]));
    let call = session.call(BATCHES, "probe_write", marker("mk-batch"));
    assert_eq!(call["error"]["code"], -32600, "{call}");
    end(session);
    assert_eq!(stage.executed("mk-batch"), 0);
}

#[test]
fn an_array_is_no_message_in_any_other_revision() {
    for revision in LEGACY.into_iter().chain([Revision::V2026_07_28]).filter(|revision| *revision != BATCHES)
    {
        let stage = recorder("batch-elsewhere");
        let mut session = Session::start(&stage);
        session.ready(revision);
        session.send(&json!([request(&json!("a"), "ping", None)]));
        let ended = session.wait_end();
        assert_eq!(ended.code(), Some(65), "{revision}: {}", ended.stderr);
        assert_eq!(
            ended.journal.refused(),
            [("message".to_owned(), "message-batch".to_owned())],
            "{revision}"
        );
        let last = parse_lines(&ended.stdout).pop().expect("a reply");
        assert_eq!(
            (&last["error"]["code"], &last["error"]["data"]["session"]),
            (&json!(-32600), &json!("closed")),
            "{revision}"
        );
    }
}
