//! The session from outside: frames in, steps out.
//!
//! Belongs here: scripts of frames with what each must lead to, in every phase and revision.
//! Does not belong here: single doors.

use core::time::Duration;
use std::sync::Arc;

use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use framegate_wire::{Limits, Reason};
use serde_json::{Value, json};

use super::{Close, Input, OnInvalidFrame, Session, SessionOptions, Step};
use crate::Moment;
use crate::action::{Origin, Scheme};
use crate::authorization::{Permit, Policy, Principal, Question, RuleId, Verdict};
use crate::outcome::Outcome;
use crate::schema::{
    Catalog, HttpDeclaration, ParameterDeclaration, ParameterType, ResultDeclaration, ToolDeclaration,
};

/// Allows `allowed`, has no rule for anything else.
struct OneTool;

impl Policy for OneTool {
    fn judge(&self, question: Question) -> Verdict {
        if question.call().tool().name() == "allowed" {
            question.allow(RuleId::Named("the-rule".into()))
        } else {
            question.deny(RuleId::NoRule)
        }
    }
}

fn tool(name: &str) -> ToolDeclaration {
    ToolDeclaration {
        name: name.to_owned(),
        title: None,
        description: "does".to_owned(),
        parameters: vec![ParameterDeclaration {
            name: "marker".to_owned(),
            description: None,
            kind: ParameterType::Word { max_length: None, pattern: None },
            required: true,
            default: None,
        }],
        ignore_arguments: Vec::new(),
        result: ResultDeclaration::default(),
        http: HttpDeclaration {
            target: "t".to_owned(),
            origin: Origin::new(Scheme::Https, "t.test".into(), 443),
            method: "POST".to_owned(),
            path: "/{marker}".to_owned(),
            query: Vec::new(),
            headers: Vec::new(),
            open_query: None,
            cursor: None,
            save: None,
            redirects: Vec::new(),
            body: None,
            reserved_names: Vec::new(),
        },
    }
}

struct Driver {
    session: Session,
    reader: Reader,
}

impl Driver {
    fn new(adjust: impl FnOnce(&mut SessionOptions)) -> Self {
        let mut options = SessionOptions {
            limits: Limits::default(),
            on_invalid_frame: OnInvalidFrame::Continue,
            max_refusals: 16,
            revisions: Revision::ALL.to_vec(),
            max_used_ids: 100,
            permit_lifetime: Duration::from_secs(60),
            config: "digest".into(),
            principal: Arc::new(Principal::new("client".to_owned(), 1)),
            server_version: "0",
            instructions: None,
        };
        adjust(&mut options);
        let reader = Reader::new(&options.limits);
        let catalog = Arc::new(Catalog::compile(vec![tool("allowed"), tool("denied")]).unwrap());
        Self { session: Session::new(options, catalog, Arc::new(OneTool)), reader }
    }

    /// A session with a finished handshake.
    fn ready(revision: &str) -> Self {
        let mut driver = Self::new(|_| ());
        driver.handshake(revision);
        driver
    }

    fn handshake(&mut self, revision: &str) {
        let step = self.frame(&initialize("init", revision));
        assert_eq!(step.replies.len(), 1);
        let step = self.frame(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert!(step.replies.is_empty());
    }

    fn frame(&mut self, line: &str) -> Step {
        self.reader.push(line.as_bytes());
        self.reader.push(b"\n");
        match self.reader.next().unwrap() {
            Ok(frame) => self.session.receive(Input::Frame(frame), Moment::default()),
            Err(refusal) => self.session.receive(Input::Refused(refusal), Moment::default()),
        }
    }

    /// What a frame leads to, in a few words: `run TOOL`, or the reply's essentials.
    fn judge(&mut self, line: &str) -> String {
        let step = self.frame(line);
        let permits: Vec<_> = step.permits.into_iter().collect();
        let mut words: Vec<_> =
            permits.iter().map(|permit| format!("run {}", permit.granted().call().tool().name())).collect();
        for permit in permits {
            let _ = self.session.settle(permit.surrender(), &Outcome::done("done".to_owned(), None));
        }
        for reply in &step.replies {
            words.push(essentials(&parse(reply)));
        }
        words.extend(step.close.map(|close| format!("{close:?}")));
        if words.is_empty() { "silence".to_owned() } else { words.join("; ") }
    }
}

fn parse(reply: &framegate_wire::message::Reply) -> Value {
    let mut line = Vec::new();
    reply.write(&mut line);
    serde_json::from_slice(&line).unwrap()
}

fn essentials(reply: &Value) -> String {
    if let Some(replies) = reply.as_array() {
        return format!("[{}]", replies.iter().map(essentials).collect::<Vec<_>>().join(", "));
    }
    let id = reply.get("id").map_or("no id".to_owned(), Value::to_string);
    match (reply.get("error"), reply.pointer("/result/isError")) {
        (Some(error), _) => {
            format!("{id}: {} {}", error["code"], error["data"]["reason"].as_str().unwrap_or("-"))
        }
        (None, Some(Value::Bool(true))) => {
            format!("{id}: isError {}", reply["result"]["_meta"]["framegate/reason"])
        }
        (None, _) => format!("{id}: ok"),
    }
}

fn initialize(id: &str, revision: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
        "protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "n", "version": "v"},
    }})
    .to_string()
}

fn call(id: u32, tool: &str) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": {"marker": "m"}}}).to_string()
}

fn modern(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

#[test]
fn a_call_runs_only_after_the_handshake() {
    let mut driver = Driver::new(|_| ());
    assert_eq!(driver.judge(&call(1, "allowed")), "1: -32600 not-initialized");
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), "silence");
    assert_eq!(driver.judge(&call(2, "allowed")), "2: -32600 not-initialized");
    assert_eq!(driver.judge(&initialize("i", "2025-06-18")), "\"i\": ok");
    assert_eq!(driver.judge(&call(3, "allowed")), "3: -32600 not-ready");
    assert_eq!(
        driver.judge(r#"{"jsonrpc":"2.0","id":4,"method":"notifications/initialized"}"#),
        "4: -32600 notification-with-id"
    );
    assert_eq!(driver.judge(&call(5, "allowed")), "5: -32600 not-ready");
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#), "silence");
    assert_eq!(driver.judge(&call(6, "allowed")), "run allowed");
    assert_eq!(driver.judge(&initialize("j", "2025-06-18")), "\"j\": -32600 initialized-already");
    assert_eq!(driver.judge(&call(7, "allowed")), "run allowed");
}

#[test]
fn every_revision_is_negotiated_as_asked_or_the_latest_of_its_era() {
    for (asked, given) in [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let mut driver = Driver::new(|_| ());
        let step = driver.frame(&initialize("i", asked));
        assert_eq!(parse(&step.replies[0])["result"]["protocolVersion"], given);
        assert_eq!(step.negotiated.unwrap().revision.name(), given);
    }
}

#[test]
fn refusals_at_each_door_are_worded_per_revision() {
    let unreadable =
        [("2024-11-05", "null"), ("2025-03-26", "null"), ("2025-06-18", "null"), ("2025-11-25", "no id")];
    for (revision, id) in unreadable {
        let mut driver = Driver::ready(revision);
        assert_eq!(driver.judge("noise"), format!("{id}: -32700 json-noise"));
        let wrong = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"allowed","arguments":{"marker":7}}}"#;
        let expected =
            if revision == "2025-11-25" { "1: isError \"argument-type\"" } else { "1: -32602 argument-type" };
        assert_eq!(driver.judge(wrong), expected);
        assert_eq!(driver.judge(&call(2, "missing")), "2: -32602 tool-unknown");
        assert_eq!(driver.judge(&call(3, "denied")), "3: isError \"policy-no-rule\"");
        assert_eq!(driver.judge(&call(4, "allowed")), "run allowed");
    }
}

#[test]
fn the_default_profile_closes_and_nothing_runs_afterwards() {
    let mut driver = Driver::new(|options| options.on_invalid_frame = OnInvalidFrame::Close);
    driver.handshake("2025-06-18");
    let step = driver.frame("noise");
    let reply = parse(&step.replies[0]);
    assert_eq!(reply["error"]["data"]["session"], "closed");
    assert!(reply["error"]["data"]["next"].as_str().unwrap().contains("start the server again"));
    assert_eq!(step.close, Some(Close::Refused(Reason::JsonNoise)));
    assert_eq!(driver.judge(&call(1, "allowed")), "silence");
}

#[test]
fn lost_framing_closes_under_both_profiles_and_the_limit_of_refusals_too() {
    let mut driver = Driver::ready("2025-06-18");
    assert_eq!(
        driver.judge("Content-Length: 12"),
        "null: -32700 framing-content-length; Refused(FramingContentLength)"
    );
    let mut driver = Driver::ready("2025-06-18");
    for _ in 0..15 {
        assert_eq!(driver.judge("noise"), "null: -32700 json-noise");
        // Refusals are counted for the session: good frames between them do not reset the count.
        assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#), "silence");
    }
    let step = driver.frame("noise");
    assert_eq!(step.close, Some(Close::Refused(Reason::RefusalLimit)));
    let noted: Vec<_> = step.refusals.iter().map(|note| note.refusal.reason()).collect();
    assert_eq!(noted, [Reason::JsonNoise, Reason::RefusalLimit]);
}

#[test]
fn an_unterminated_last_line_is_neither_run_nor_answered() {
    let mut driver = Driver::ready("2025-06-18");
    driver.reader.push(call(1, "allowed").as_bytes());
    driver.reader.end();
    let Some(Err(refusal)) = driver.reader.next() else { panic!("not refused") };
    let step = driver.session.receive(Input::Refused(refusal), Moment::default());
    assert!(step.replies.is_empty() && step.permits.is_empty());
    assert_eq!(step.close, Some(Close::Refused(Reason::FrameUnterminated)));
}

#[test]
fn the_first_admitted_request_pins_the_era() {
    let mut driver = Driver::new(|_| ());
    assert_eq!(driver.judge(&modern(1, "server/discover", json!({}))), "1: ok");
    // A refused request pins nothing.
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#), "2: -32602 meta-missing");
    assert_eq!(driver.judge(&modern(3, "tools/list", json!({"cursor": "x"}))), "3: -32602 cursor-unknown");
    assert_eq!(driver.judge(&initialize("i", "2025-06-18")), "\"i\": ok");
    assert_eq!(driver.judge(&modern(4, "tools/list", json!({}))), "4: -32600 era-conflict");

    let mut driver = Driver::new(|_| ());
    assert_eq!(
        driver.judge(&modern(1, "tools/call", json!({"name": "allowed", "arguments": {"marker": "m"}}))),
        "run allowed"
    );
    assert_eq!(driver.judge(&call(2, "allowed")), "2: -32602 meta-missing");
    assert_eq!(driver.judge(&initialize("i", "2025-06-18")), "\"i\": -32022 version-unsupported");
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#), "3: -32601 method-unknown");
    assert_eq!(driver.judge("noise"), "no id: -32700 json-noise");
    // An id may be used again once it was answered.
    assert_eq!(driver.judge(&modern(1, "tools/list", json!({}))), "1: ok");
}

#[test]
fn a_frame_that_claims_both_eras_is_refused() {
    let mut driver = Driver::new(|_| ());
    let mut both: Value = serde_json::from_str(&initialize("i", "2025-06-18")).unwrap();
    both["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    assert_eq!(driver.judge(&both.to_string()), "\"i\": -32600 era-both");
    assert_eq!(driver.judge(&initialize("i", "2025-06-18")), "\"i\": ok");
}

#[test]
fn narrowed_revisions_are_kept() {
    let mut driver = Driver::new(|options| options.revisions = vec![Revision::V2026_07_28]);
    let step = driver.frame(&initialize("i", "2025-06-18"));
    let reply = parse(&step.replies[0]);
    assert_eq!(reply["error"]["code"], -32022);
    assert_eq!(reply["error"]["data"]["supported"], json!(["2026-07-28"]));
    assert_eq!(reply["error"]["data"]["requested"], "2025-06-18");
    let mut driver = Driver::new(|options| options.revisions = vec![Revision::V2025_03_26]);
    assert_eq!(driver.judge(&modern(1, "server/discover", json!({}))), "1: -32601 method-unknown");
    assert_eq!(driver.judge(&modern(2, "tools/list", json!({}))), "2: -32022 version-unsupported");
    let step = driver.frame(&initialize("i", "2025-11-25"));
    assert_eq!(parse(&step.replies[0])["result"]["protocolVersion"], "2025-03-26");
}

/// Leaves the call unsettled.
fn hold(driver: &mut Driver, id: u32) -> Permit {
    let mut step = driver.frame(&call(id, "allowed"));
    assert!(step.replies.is_empty());
    step.permits.pop().unwrap()
}

#[test]
fn an_id_in_flight_is_busy_until_its_ticket_is_settled() {
    let mut driver = Driver::ready("2025-06-18");
    let permit = hold(&mut driver, 7);
    assert_eq!(driver.judge(&call(7, "allowed")), "null: -32600 id-in-flight");
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","id":7,"method":"no/such"}"#), "null: -32600 id-in-flight");
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#), "8: ok");
    let reply = driver.session.settle(permit.surrender(), &Outcome::done("x".to_owned(), None)).unwrap();
    assert_eq!(essentials(&parse(&reply)), "7: ok");
    assert_eq!(driver.judge(&call(7, "allowed")), "7: -32600 id-used");
    assert_eq!(driver.judge(&call(9, "allowed")), "run allowed");
}

#[test]
fn after_a_cancel_nothing_is_sent_and_the_id_stays_busy() {
    let mut driver = Driver::new(|_| ());
    let run = |driver: &mut Driver| {
        driver.frame(&modern(1, "tools/call", json!({"name": "allowed", "arguments": {"marker": "m"}})))
    };
    let permit = run(&mut driver).permits.pop().unwrap();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let step = driver.frame(cancel);
    assert_eq!(step.cancels, [permit.ticket()]);
    assert!(driver.frame(cancel).cancels.is_empty());
    assert_eq!(essentials(&parse(&run(&mut driver).replies[0])), "no id: -32600 id-in-flight");
    assert!(driver.session.progress(permit.ticket(), "x").is_none());
    assert_eq!(driver.session.settle(permit.surrender(), &Outcome::unknown("x".to_owned())), None);
    assert_eq!(run(&mut driver).permits.len(), 1);
}

#[test]
fn cancelling_what_is_not_in_flight_changes_nothing() {
    let mut driver = Driver::ready("2025-06-18");
    for params in [r#"{"requestId":99}"#, r#"{"requestId":null}"#, "{}", "[]", "null"] {
        let step = driver
            .frame(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#));
        assert!(step.cancels.is_empty() && step.replies.is_empty() && step.close.is_none());
    }
}

#[test]
fn progress_goes_up_and_only_to_who_asked() {
    let mut driver = Driver::ready("2025-06-18");
    let asked = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"allowed","arguments":{"marker":"m"},"_meta":{"progressToken":"p"}}}"#;
    let permit = driver.frame(asked).permits.pop().unwrap();
    for expected in 1..=2 {
        let progress = parse(&driver.session.progress(permit.ticket(), "m").unwrap());
        assert_eq!(progress["params"], json!({"progressToken": "p", "progress": expected, "message": "m"}));
    }
    let silent = hold(&mut driver, 2);
    assert!(driver.session.progress(silent.ticket(), "m").is_none());
    let _ = driver.session.settle(permit.surrender(), &Outcome::done(String::new(), None));
    assert!(driver.session.progress(1, "m").is_none());
    let _ = silent.surrender();
}

#[test]
fn a_batch_is_settled_at_once_and_changes_nothing() {
    let mut driver = Driver::ready("2025-03-26");
    let batch = |driver: &mut Driver, members: &[&str]| driver.judge(&format!("[{}]", members.join(",")));
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(batch(&mut driver, &[]), "null: -32600 batch-empty");
    assert_eq!(batch(&mut driver, &[ping]), "[1: ok]");
    assert_eq!(batch(&mut driver, &[ping, ping]), "null: -32600 batch-ids");
    assert_eq!(batch(&mut driver, &[r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#]), "silence");
    assert_eq!(
        batch(&mut driver, &[&call(2, "allowed"), ping, "5", "[]", &initialize("i", "2024-11-05")]),
        "[2: -32600 batch-method, 1: ok, null: -32600 message-not-object, null: -32600 message-batch, \"i\": -32600 batch-method]"
    );
    let many: Vec<_> =
        (0..101).map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    assert_eq!(batch(&mut driver, &many), "null: -32600 batch-too-long");
    let held = hold(&mut driver, 50);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":50}}"#;
    assert_eq!(
        batch(&mut driver, &[cancel, r#"{"jsonrpc":"2.0","id":50,"method":"ping"}"#]),
        "[null: -32600 id-in-flight]"
    );
    assert!(driver.session.settle(held.surrender(), &Outcome::done(String::new(), None)).is_some());
    assert_eq!(driver.judge(&call(1, "allowed")), "run allowed");
}

#[test]
fn an_array_is_no_message_in_any_other_revision() {
    for revision in ["2024-11-05", "2025-06-18"] {
        assert_eq!(
            Driver::ready(revision).judge(&format!("[{}]", call(1, "allowed"))),
            "null: -32600 message-batch"
        );
    }
    assert_eq!(Driver::ready("2025-11-25").judge("[]"), "no id: -32600 message-batch");
}

#[test]
fn used_ids_are_bounded() {
    let mut driver = Driver::new(|options| options.max_used_ids = 2);
    driver.handshake("2025-06-18");
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#), "\"a\": ok");
    assert_eq!(driver.judge(r#"{"jsonrpc":"2.0","id":"b","method":"ping"}"#), "\"b\": -32600 ids-exhausted");
}

#[test]
fn a_permit_holds_until_its_end_and_under_its_configuration() {
    let mut driver = Driver::ready("2025-06-18");
    let permit = hold(&mut driver, 1);
    let end = Moment::since_start(Duration::from_secs(60));
    assert!(permit.holds(Moment::since_start(Duration::from_secs(59)), "digest"));
    assert!(!permit.holds(end, "digest"));
    assert!(!permit.holds(Moment::default(), "another"));
    let reply = driver.session.withdraw(permit.surrender(), Reason::PermitExpired).unwrap();
    assert_eq!(essentials(&parse(&reply)), "1: isError \"permit-expired\"");
}

#[test]
fn errors_carry_no_structured_content() {
    let structured = json!({"a": 1});
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut driver = Driver::ready(revision);
        let permit = hold(&mut driver, 1);
        let reply = driver
            .session
            .settle(permit.surrender(), &Outcome::done("t".to_owned(), Some(structured.clone())));
        let has = parse(&reply.unwrap())["result"].get("structuredContent").is_some();
        assert_eq!(has, revision != "2025-03-26", "{revision}");
        let outcomes = [Outcome::failed, Outcome::unknown, Outcome::not_started, Outcome::simulated];
        for (id, outcome) in (2..).zip(outcomes) {
            let outcome = outcome("t".to_owned());
            let permit = hold(&mut driver, id);
            let reply = parse(&driver.session.settle(permit.surrender(), &outcome).unwrap());
            assert_eq!(reply["result"]["isError"], true);
            assert_eq!(reply["result"]["_meta"]["framegate/reason"], outcome.status().name());
            assert!(reply["result"].get("structuredContent").is_none());
        }
    }
}
