//! Request ids: echoed exactly, used once in the handshake era.

use framegate_e2e::client;

use super::{REVISION, Revision, Session, end, json, marker, recorder};

#[test]
fn ids_are_echoed_with_type_and_digits() {
    let stage = recorder("ids");
    let mut session = Session::start(&stage);
    session.last_id = 500;
    session.ready(REVISION);
    let long = format!("\"{}\"", "x".repeat(1024));
    let ids = [
        "0",
        "-1",
        "7",
        "\"7\"",
        "9007199254740993",
        "9223372036854775807",
        "-9223372036854775808",
        "\"\"",
        "\"a\\\"b\\\\c\"",
        "\"é🙂\"",
        "\" \"",
        "\"null\"",
        &long,
    ];
    for id in ids {
        session.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n").as_bytes());
    }
    let ended = session.end();
    let text = String::from_utf8(ended.stdout).expect("UTF-8");
    for (line, id) in text.lines().skip(2).zip(ids) {
        // Digits as they came; strings may be escaped otherwise.
        let reply: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let sent: serde_json::Value = serde_json::from_str(id).expect("JSON");
        assert_eq!(reply["id"], sent, "{line}");
        assert!(sent.is_string() || line.contains(&format!("\"id\":{id},")), "{id}: {line}");
    }
    assert_eq!(text.lines().count(), 2 + ids.len());
}

#[test]
fn a_finished_id_cannot_be_used_again_in_the_handshake_era() {
    let stage = recorder("reuse");
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    session.call(REVISION, "probe_write", marker("mk-once"));
    session.last_id -= 1;
    let id = session.start_call(REVISION, "probe_write", marker("mk-twice"));
    let again = session.wait_line("the refusal", |line| line["id"] == id && line["error"].is_object());
    assert_eq!(again["error"]["code"], -32600);
    assert!(session.call(REVISION, "probe_write", marker("mk-next"))["result"].is_object());
    end(session);
    assert_eq!((stage.executed("mk-once"), stage.executed("mk-twice"), stage.executed("mk-next")), (1, 0, 1));
}

#[test]
fn a_finished_id_is_free_again_in_the_stateless_era() {
    let stage = recorder("reuse-modern");
    let mut session = Session::start(&stage);
    session.ready(Revision::V2026_07_28);
    let call = |marker_text: &str| {
        let params = client::modern(client::call_params("probe_write", marker(marker_text)));
        client::request(&json!("same"), "tools/call", Some(params))
    };
    session.send(&call("mk-1"));
    session.reply(&json!("same"));
    session.send(&call("mk-2"));
    session.wait_lines(3);
    end(session);
    assert_eq!((stage.executed("mk-1"), stage.executed("mk-2")), (1, 1));
}
