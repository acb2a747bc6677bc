//! 2026-07-28: every request stands alone, and the two eras do not mix.

use framegate_e2e::client::{call_params, meta, modern, request};

use super::{REVISION, Revision, Session, end, json, marker, recorder};

const MODERN: Revision = Revision::V2026_07_28;

#[test]
fn discover_is_always_served_and_pins_nothing() {
    let stage = recorder("discover");
    let mut session = Session::start(&stage);
    let result = session.ask("server/discover", Some(modern(json!({}))))["result"].clone();
    let versions = result["supportedVersions"].as_array().expect("versions");
    assert!(versions.contains(&json!("2026-07-28")), "{result}");
    session.ready(REVISION);
    assert!(session.ask("server/discover", Some(modern(json!({}))))["result"].is_object());
    end(session);
}

#[test]
fn a_session_of_the_stateless_era() {
    let stage = recorder("stateless");
    let mut session = Session::start(&stage);
    session.ready(MODERN);
    assert!(session.call(MODERN, "probe_write", marker("mk-modern"))["result"].is_object());
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.journal.negotiated(), ["2026-07-28"]);
    assert_eq!(stage.executed("mk-modern"), 1);
}

#[test]
fn a_call_may_be_the_first_request() {
    let stage = recorder("first-call");
    let mut session = Session::start(&stage);
    assert!(session.call(MODERN, "probe_write", marker("mk-first"))["result"].is_object());
    end(session);
    assert_eq!(stage.executed("mk-first"), 1);
}

#[test]
fn client_info_is_optional_and_the_rest_is_not() {
    let stage = recorder("meta");
    let mut session = Session::start(&stage);
    let mut without = modern(call_params("probe_write", marker("mk-no-info")));
    without["_meta"].as_object_mut().expect("an object").remove("io.modelcontextprotocol/clientInfo");
    assert!(session.ask("tools/call", Some(without))["result"].is_object());
    for (member, value) in [
        ("io.modelcontextprotocol/protocolVersion", None),
        ("io.modelcontextprotocol/clientCapabilities", None),
        ("io.modelcontextprotocol/protocolVersion", Some(json!(20_260_728))),
        ("io.modelcontextprotocol/clientCapabilities", Some(json!([]))),
    ] {
        let mut wrong = modern(call_params("probe_write", marker("mk-wrong")));
        let object = wrong["_meta"].as_object_mut().expect("an object");
        object.remove(member);
        object.extend(value.map(|value| (member.to_owned(), value)));
        assert_eq!(session.ask("tools/call", Some(wrong.clone()))["error"]["code"], -32602, "{wrong}");
    }
    let bare = session.ask("tools/call", Some(call_params("probe_write", marker("mk-wrong"))));
    assert_eq!(bare["error"]["code"], -32602, "no memory of an earlier `_meta`: {bare}");
    end(session);
    assert_eq!((stage.executed("mk-no-info"), stage.executed("mk-wrong")), (1, 0));
}

#[test]
fn an_unserved_version_is_told_with_those_that_are() {
    for version in ["2027-01-01", "2025-06-18", ""] {
        let stage = recorder("version");
        let mut session = Session::start(&stage);
        let mut params = modern(json!({}));
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let error = session.ask("tools/list", Some(params))["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["requested"]),
            (&json!(-32022), &json!(version)),
            "{error}"
        );
        assert!(
            error["data"]["supported"]
                .as_array()
                .is_some_and(|supported| supported.contains(&json!("2026-07-28"))),
            "{error}"
        );
        end(session);
    }
}

#[test]
fn removed_methods_are_unknown_once_the_era_is_pinned() {
    let stage = recorder("removed");
    let mut session = Session::start(&stage);
    session.ready(MODERN);
    for method in ["ping", "logging/setLevel", "resources/subscribe", "subscriptions/listen"] {
        assert_eq!(session.ask(method, Some(modern(json!({}))))["error"]["code"], -32601, "{method}");
    }
    end(session);
}

#[test]
fn eras_do_not_mix() {
    let stage = recorder("eras");
    let mut session = Session::start(&stage);
    session.ready(MODERN);
    let late = session.initialize("2025-06-18");
    assert_eq!(late["error"]["code"], -32022, "{late}");
    assert!(late["error"]["data"]["supported"].is_array(), "{late}");
    end(session);

    let stage = recorder("eras-handshake");
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let foreign = session.call(MODERN, "probe_write", marker("mk-foreign"));
    assert_eq!(foreign["error"]["code"], -32600, "{foreign}");
    end(session);
    assert_eq!(stage.executed("mk-foreign"), 0);
}

#[test]
fn a_refused_request_pins_no_era() {
    let stage = recorder("pins-nothing");
    let mut session = Session::start(&stage);
    let id = session.fresh_id();
    session.send(&request(
        &id,
        "tools/list",
        Some(json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })),
    ));
    assert_eq!(session.reply(&id)["error"]["code"], -32602);
    session.ready(REVISION);
    assert!(session.call(REVISION, "probe_write", marker("mk-after"))["result"].is_object());
    end(session);
}

#[test]
fn what_a_client_calls_itself_is_recorded_and_decides_nothing() {
    let stage = recorder("claimed");
    let mut session = Session::start(&stage);
    for name in ["trusted", "corpus", "Framegate::Client::\"trusted\""] {
        let mut params = modern(call_params("probe_trusted", marker("mk-claimed")));
        params["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({ "name": name, "version": "1" });
        let reply = session.ask("tools/call", Some(params));
        assert_eq!(reply["result"]["isError"], true, "{name}: {reply}");
    }
    assert!(meta().is_object());
    end(session);
    assert_eq!(stage.executed("mk-claimed"), 0);
}
