//! `initialize`, `notifications/initialized`, and what is served before, between and after.

use super::{LEGACY, REVISION, Revision, Session, end, json, marker, recorder};

#[test]
fn every_handshake_revision_is_echoed_and_recorded() {
    for revision in LEGACY {
        let stage = recorder("echoed");
        let mut session = Session::start(&stage);
        session.ready(revision);
        let reply = session.call(revision, "probe_write", marker("mk-call"));
        assert!(reply["result"].is_object(), "{revision}: {reply}");
        let ended = session.end();
        assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
        assert_eq!(ended.journal.negotiated(), [revision.name()]);
    }
}

#[test]
fn versions_that_have_no_handshake_here_get_the_latest_that_has() {
    for version in ["1999-01-01", "", "2026-07-28", "2030-01-01", "2025-06-18 ", "DRAFT-2026"] {
        let stage = recorder("other-version");
        let mut session = Session::start(&stage);
        let reply = session.initialize(version);
        assert_eq!(reply["result"]["protocolVersion"], "2025-11-25", "{version:?}: {reply}");
        end(session);
    }
}

#[test]
fn the_reply_names_the_server_and_declares_tools() {
    let stage = recorder("reply");
    let mut session = Session::start(&stage);
    let result = session.initialize(REVISION.name())["result"].clone();
    assert_eq!(result["serverInfo"]["name"], "framegate");
    assert!(result["capabilities"]["tools"].is_object(), "{result}");
    end(session);
}

#[test]
fn before_initialize_only_ping_and_discover_are_served() {
    let stage = recorder("before");
    let mut session = Session::start(&stage);
    assert_eq!(session.ask("ping", None)["result"], json!({}));
    assert_eq!(session.ask("tools/list", None)["error"]["code"], -32600);
    let call = session.call(REVISION, "probe_write", marker("mk-early"));
    assert_eq!(call["error"]["code"], -32600);
    session.ready(REVISION);
    end(session);
    assert_eq!(stage.executed("mk-early"), 0);
}

#[test]
fn between_the_answer_and_initialized_lists_are_served_and_calls_are_not() {
    let stage = recorder("between");
    let mut session = Session::start(&stage);
    session.initialize(REVISION.name());
    assert!(session.ask("tools/list", None)["result"]["tools"].is_array());
    assert_eq!(session.ask("ping", None)["result"], json!({}));
    let call = session.call(REVISION, "probe_write", marker("mk-early"));
    assert_eq!(call["error"]["code"], -32600);
    session.notify("notifications/initialized", None);
    assert!(session.call(REVISION, "probe_write", marker("mk-ready"))["result"].is_object());
    end(session);
    assert_eq!((stage.executed("mk-early"), stage.executed("mk-ready")), (0, 1));
}

#[test]
fn a_second_initialize_changes_nothing() {
    for second in ["2025-06-18", "2024-11-05", "2026-07-28"] {
        let stage = recorder("second");
        let mut session = Session::start(&stage);
        session.ready(REVISION);
        assert_eq!(session.initialize(second)["error"]["code"], -32600, "{second}");
        assert!(session.call(REVISION, "probe_write", marker("mk-after"))["result"].is_object());
        let ended = session.end();
        assert_eq!(ended.journal.negotiated(), [REVISION.name()]);
    }
}

#[test]
fn initialize_without_its_members_is_refused_and_can_be_said_again() {
    for params in [json!({}), json!({ "protocolVersion": 1 }), json!({ "protocolVersion": "2025-06-18" })] {
        let stage = recorder("malformed");
        let mut session = Session::start(&stage);
        assert_eq!(session.ask("initialize", Some(params.clone()))["error"]["code"], -32602, "{params}");
        session.ready(REVISION);
        end(session);
    }
}

#[test]
fn revisions_can_be_narrowed() {
    let stage = recorder("narrowed");
    stage.configure("session", "revisions = [\"2025-03-26\", \"2025-06-18\"]");
    let mut session = Session::start(&stage);
    let reply = session.initialize("2025-11-25");
    assert_eq!(reply["result"]["protocolVersion"], "2025-06-18", "{reply}");
    end(session);
}

#[test]
fn tools_are_listed_alike_in_every_process_and_after_calls() {
    let stage = recorder("list");
    let mut lists = Vec::new();
    for _ in 0..2 {
        let mut session = Session::start(&stage);
        session.ready(REVISION);
        lists.push(session.ask("tools/list", None)["result"].clone());
        session.call(REVISION, "probe_write", marker("mk-between"));
        lists.push(session.ask("tools/list", None)["result"].clone());
        end(session);
    }
    assert!(lists.windows(2).all(|pair| pair[0] == pair[1]));
    let tools = lists[0]["tools"].as_array().expect("tools");
    assert!(tools.iter().all(|tool| tool["inputSchema"]["additionalProperties"] == false), "{tools:#?}");
}

#[test]
fn capability_probes_are_unknown_methods_and_harmless() {
    for revision in LEGACY.into_iter().chain([Revision::V2026_07_28]) {
        let stage = recorder("probes");
        let mut session = Session::start(&stage);
        session.ready(revision);
        for method in
            ["resources/list", "prompts/list", "logging/setLevel", "completion/complete", "tasks/list"]
        {
            let params =
                if revision.is_modern() { framegate_e2e::client::modern(json!({})) } else { json!({}) };
            assert_eq!(session.ask(method, Some(params))["error"]["code"], -32601, "{revision} {method}");
        }
        session.notify("notifications/roots/list_changed", None);
        assert!(session.call(revision, "probe_write", marker("mk-after"))["result"].is_object());
        end(session);
    }
}
