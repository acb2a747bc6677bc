//! Redirects of a target that may be followed: one request a hop, one intent a hop, one answer.
//!
//! Belongs here: the hops as the target and the journal see them.
//! Does not belong here: which locations are followed, which the schema door tests.

use framegate_e2e::stage::write_private;
use framegate_e2e::target::Answer;

use super::{REVISION, Session, end, json, live, marker};

fn to(location: &str) -> Answer {
    let head = format!(
        "HTTP/1.1 303 See Other\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    Answer::Raw(head.into_bytes())
}

#[test]
fn each_hop_is_one_request_with_an_intent_of_its_own() {
    let stage = live("redirects");
    stage.configure("target.probe", "redirects = \"same-origin\"");
    stage.target().script([to("/b"), to("/c?x=1"), Answer::ok()]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let reply = session.call(REVISION, "probe_write", marker("mk-1"));
    assert_eq!(reply["result"]["structuredContent"]["status"], 200, "{reply}");
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let lines: Vec<String> = stage.target().requests().iter().map(|request| request.line()).collect();
    assert_eq!(lines[1..], ["GET /b HTTP/1.1", "GET /c?x=1 HTTP/1.1"], "{lines:?}");
    assert!(lines[0].starts_with("POST "), "{lines:?}");
    assert_eq!(stage.executed("mk-1"), 1, "the body goes to the first place only");
    let hops: Vec<u64> =
        ended.journal.kind("intent").map(|intent| intent["hop"].as_u64().unwrap_or(0)).collect();
    assert_eq!((hops, ended.journal.count("outcome")), (vec![0, 1, 2], 3));
    assert_eq!(ended.replies.iter().filter(|other| other["id"] == reply["id"]).count(), 1);
    let shown = serde_json::to_string(&ended.journal.kind("intent").collect::<Vec<_>>()).expect("JSON");
    assert!(!shown.contains("/c"), "a target's path is in no summary: {shown}");
}

#[test]
fn a_hop_that_policy_denies_is_not_sent_and_the_redirect_is_the_answer() {
    let stage = live("redirect-denied");
    stage.configure("target.probe", "redirects = \"same-origin\"");
    stage.edit_config(|text| text.replace("[\"policy.cedar\"]", "[\"policy.cedar\", \"hops.cedar\"]"));
    write_private(
        &stage.config().with_file_name("hops.cedar"),
        "@id(\"no-hops\") forbid (principal, action == Framegate::Action::\"probe_write\", resource)\n\
         when { context.request.path_segments.contains(\"admin\") };\n",
    );
    stage.target().script([to("/admin"), Answer::ok()]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let reply = session.call(REVISION, "probe_write", marker("mk-1"));
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    assert!(
        reply["result"]["content"][0]["text"].as_str().expect("text").contains("redirect_not_followed"),
        "{reply}"
    );
    let ended = session.end();
    assert_eq!((stage.target().requests().len(), ended.journal.count("intent")), (1, 1));
    assert_eq!(ended.journal.refused(), [("authorization".to_owned(), "policy-forbid".to_owned())]);
}

#[test]
fn a_call_that_is_cancelled_before_its_next_hop_goes_no_further() {
    let stage = live("redirect-cancelled");
    stage.configure("target.probe", "redirects = \"same-origin\"");
    stage.target().script([Answer::Hold(Box::new(to("/b"))), Answer::ok()]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let id = session.start_call(REVISION, "probe_write", marker("mk-1"));
    stage.target().wait_requests(1);
    session.notify("notifications/cancelled", Some(json!({ "requestId": id })));
    session.ask("ping", None);
    stage.target().release();
    session.ask("ping", None);
    end(session);
    assert_eq!(stage.target().requests().len(), 1);
}
