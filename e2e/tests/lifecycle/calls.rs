//! Calls that reach the target: the request, the result in each revision, failures, large answers.

use framegate_e2e::target::{Answer, Target};

use super::{LEGACY, REVISION, Revision, Session, end, json, live, marker, recorder};

#[test]
fn one_call_is_one_request_with_the_credential_that_nobody_else_sees() {
    let stage = live("request");
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let reply =
        session.call(REVISION, "probe_write", json!({ "marker": "mk-1", "note": "café\n\"quoted\"" }));
    assert!(reply["result"]["isError"] != true, "{reply}");
    end(session);
    let requests = stage.target().requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(request.line(), "POST /write HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {}", stage.canary().value())));
    let body: serde_json::Value = serde_json::from_slice(request.body()).expect("JSON");
    assert_eq!(body, json!({ "marker": "mk-1", "note": "café\n\"quoted\"" }));
    assert_eq!((stage.traces().connections, stage.traces().lookups), (1, 1));
}

#[test]
fn results_have_text_in_every_revision_and_structure_from_2025_06_18_on() {
    for revision in LEGACY.into_iter().chain([Revision::V2026_07_28]) {
        let stage = live("results");
        stage.target().script([Answer::Body(200, "application/json", "{\"n\":9007199254740993}".into())]);
        let mut session = Session::start(&stage);
        session.ready(revision);
        let result = session.call(revision, "probe_read", json!({}))["result"].clone();
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(text.contains("9007199254740993"), "{revision}: digits are kept: {text}");
        assert_eq!(
            result["structuredContent"].is_object(),
            revision >= Revision::V2025_06_18,
            "{revision}: {result}"
        );
        end(session);
    }
}

#[test]
fn a_target_that_refuses_is_an_error_in_the_result() {
    for status in [400, 401, 404, 500, 503] {
        let stage = live("refusing");
        stage.target().script([Answer::Body(status, "application/json", "{\"why\":\"no\"}".into())]);
        let mut session = Session::start(&stage);
        session.ready(REVISION);
        let result = session.call(REVISION, "probe_write", marker("mk-1"))["result"].clone();
        assert_eq!(result["isError"], true, "{status}: {result}");
        assert!(
            result["content"][0]["text"].as_str().expect("text").contains(&status.to_string()),
            "{result}"
        );
        let ended = session.end();
        assert_eq!(
            ended.journal.outcomes().get("failed"),
            Some(&1),
            "{status}: {:?}",
            ended.journal.outcomes()
        );
    }
}

#[test]
fn a_connection_that_ends_before_the_answer_is_unknown_and_not_tried_again() {
    let stage = live("cut");
    stage.target().script([Answer::Close]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let result = session.call(REVISION, "probe_write", marker("mk-1"))["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    let ended = session.end();
    assert_eq!(ended.journal.outcomes().get("unknown"), Some(&1), "{:?}", ended.journal.outcomes());
    assert_eq!((stage.traces().connections, stage.target().requests().len()), (1, 1));
}

#[test]
fn a_redirect_is_not_followed() {
    let stage = live("redirect");
    let other = Target::start(false);
    let location = format!(
        "HTTP/1.1 307 Elsewhere\r\nlocation: http://{}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        other.address()
    );
    stage.target().script([Answer::Raw(location.into_bytes())]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let reply = session.call(REVISION, "probe_write", marker("mk-1"));
    let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("307"), "{reply}");
    end(session);
    assert_eq!((other.connections(), stage.target().requests().len()), (0, 1));
    stage.canary().assert_absent("another server", &other.received());
}

#[test]
fn an_answer_that_is_too_large_is_cut_and_says_so() {
    let stage = live("large");
    stage.target().script([Answer::Body(200, "text/plain", "0123456789".repeat(200_000))]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let reply = session.call(REVISION, "probe_write", marker("mk-1"));
    let text = reply["result"]["content"].to_string();
    assert!(text.len() < 400_000, "{} bytes", text.len());
    assert!(
        text.contains("truncated") || text.contains("too large") || text.contains("limit"),
        "{:.300}",
        text
    );
    end(session);
}

#[test]
fn an_answer_that_holds_the_credential_is_masked() {
    let stage = live("echo");
    let body = json!({ "you_sent": format!("Bearer {}", stage.canary().value()) }).to_string();
    stage.target().script([Answer::Body(200, "application/json", body)]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let reply = session.call(REVISION, "probe_write", marker("mk-1"));
    assert!(
        reply["result"]["content"][0]["text"].as_str().is_some_and(|text| text.contains("you_sent")),
        "{reply}"
    );
    // The end of the session searches everything for the credential.
    end(session);
}

#[test]
fn hostile_answers_stay_inside_one_line() {
    let stage = live("hostile-answer");
    let body = "a\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\r\n\u{2028}\u{85}\u{0}b".to_owned();
    stage.target().script([
        Answer::Body(200, "text/plain; charset=utf-8", body),
        Answer::Raw(
            b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\n\xff\xfe\x00\x01".to_vec(),
        ),
        Answer::Raw(b"not HTTP at all\r\n\r\n".to_vec()),
        Answer::Raw(
            b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\nconnection: close\r\n\r\nabcd"
                .to_vec(),
        ),
    ]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    for number in 0..4 {
        assert!(session.call(REVISION, "probe_write", marker(&format!("mk-{number}")))["result"].is_object());
    }
    end(session);
    assert_eq!(stage.target().requests().len(), 4);
}

#[test]
fn denials_reach_the_caller_as_text_that_names_the_reason() {
    for (tool, reason) in [("probe_unruled", "policy-no-rule"), ("probe_forbidden", "policy-forbid")] {
        let stage = live("denied");
        let mut session = Session::start(&stage);
        session.ready(REVISION);
        let result = session.call(REVISION, tool, marker("mk-denied"))["result"].clone();
        assert_eq!(result["isError"], true, "{result}");
        assert_eq!(result["_meta"]["framegate/reason"], reason, "{result}");
        assert!(!result["content"][0]["text"].as_str().expect("text").is_empty());
        let ended = session.end();
        assert_eq!(ended.journal.refused(), [("authorization".to_owned(), reason.to_owned())]);
        assert_eq!(stage.traces(), framegate_e2e::stage::Traces::default());
    }
}

#[test]
fn the_recorder_says_that_nothing_was_performed() {
    let stage = recorder("recorded");
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let result = session.call(REVISION, "probe_write", marker("mk-1"))["result"].clone();
    assert_eq!(result["isError"], true, "{result}");
    assert!(result["content"][0]["text"].as_str().is_some_and(|text| text.contains("performed")), "{result}");
    let ended = session.end();
    assert_eq!(ended.journal.outcomes().get("simulated"), Some(&1));
    assert_eq!(stage.recorded().len(), 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(stage.folder().join("record-0.jsonl")).expect("a record file").permissions(),
    );
    assert_eq!(mode & 0o777, 0o600, "{mode:o}");
}
