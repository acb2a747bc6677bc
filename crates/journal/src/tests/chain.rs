//! Permits, made the one way there is: raw lines through every door.
//!
//! Belongs here: a catalog of one tool, a policy that allows it, a session in phase ready.
//! Does not belong here: tests.

use core::time::Duration;
use std::sync::Arc;

use framegate_gate::Moment;
use framegate_gate::action::{Origin, Scheme};
use framegate_gate::authorization::{Permit, Policy, Principal, Question, RuleId, Verdict};
use framegate_gate::schema::{
    BodyDeclaration, Catalog, HttpDeclaration, ParameterDeclaration, ParameterType, ResultDeclaration,
    ToolDeclaration,
};
use framegate_gate::session::{Input, OnInvalidFrame, Session, SessionOptions};
use framegate_wire::Limits;
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use serde_json::json;

struct AllowProbes;

impl Policy for AllowProbes {
    fn judge(&self, question: Question) -> Verdict {
        question.allow(RuleId::Named("allow-probes".into()))
    }
}

fn catalog() -> Catalog {
    let marker = ParameterDeclaration {
        name: "marker".to_owned(),
        description: None,
        kind: ParameterType::Word { max_length: None, pattern: None },
        required: true,
        default: None,
    };
    let http = HttpDeclaration {
        target: "probe".to_owned(),
        origin: Origin::new(Scheme::Http, "127.0.0.1".into(), 8080),
        method: "POST".to_owned(),
        path: "/write".to_owned(),
        query: Vec::new(),
        headers: Vec::new(),
        open_query: None,
        cursor: None,
        save: None,
        redirects: Vec::new(),
        body: Some(BodyDeclaration::Json(json!({"marker": "{marker}"}))),
        reserved_names: Vec::new(),
    };
    let tool = ToolDeclaration {
        name: "probe_write".to_owned(),
        title: None,
        description: "Writes a marker".to_owned(),
        parameters: vec![marker],
        ignore_arguments: Vec::new(),
        result: ResultDeclaration::default(),
        http,
    };
    Catalog::compile(vec![tool]).unwrap()
}

/// One permit for a call of `probe_write` under each of these request ids, all of one session.
pub(crate) fn permits(requests: &[&str]) -> Vec<Permit> {
    let options = SessionOptions {
        limits: Limits::default(),
        on_invalid_frame: OnInvalidFrame::Close,
        max_refusals: 16,
        revisions: Revision::ALL.to_vec(),
        max_used_ids: 1000,
        permit_lifetime: Duration::from_secs(60),
        config: "c0ffee".into(),
        principal: Arc::new(Principal::new("tester".to_owned(), 0)),
        server_version: "0.1.0",
        instructions: None,
    };
    let mut session = Session::new(options, Arc::new(catalog()), Arc::new(AllowProbes));
    let client = json!({"name": "harness", "version": "1"});
    let initialize = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
    let mut lines = vec![
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
    ];
    let params = json!({"name": "probe_write", "arguments": {"marker": "marker-of-the-call"}});
    lines.extend(
        requests
            .iter()
            .map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params.clone()})),
    );

    let mut reader = Reader::new(&Limits::default());
    let mut permits = Vec::new();
    for line in lines {
        reader.push(format!("{line}\n").as_bytes());
        let frame = reader.next().unwrap().unwrap();
        let step = session.receive(Input::Frame(frame), Moment::default());
        assert_eq!(step.refusals, []);
        permits.extend(step.permits);
    }
    assert_eq!(permits.len(), requests.len());
    permits
}
