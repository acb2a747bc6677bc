//! A session with declared tools and a policy of its own, for tests, benchmarks and fuzz targets.
//!
//! Belongs here: tools, policy and options that they share.
//! Does not belong here: what any of them asserts.

use core::time::Duration;
use std::sync::Arc;

use framegate_gate::action::{Origin, Scheme};
use framegate_gate::authorization::{Policy, Principal, Question, RuleId, Verdict};
use framegate_gate::schema::{
    BodyDeclaration, Catalog, HttpDeclaration, ParameterDeclaration, ParameterType, ResultDeclaration,
    ToolDeclaration,
};
use framegate_gate::session::{OnInvalidFrame, SessionOptions};
use framegate_wire::Limits;
use framegate_wire::message::Revision;
use serde_json::json;

/// The rule of [`AllowAllBut`].
pub(crate) const RULE: &str = "allow-all-but";

/// Allows every tool but one.
pub(crate) struct AllowAllBut(pub(crate) &'static str);

impl Policy for AllowAllBut {
    fn judge(&self, question: Question) -> Verdict {
        if question.call().tool().name() == self.0 {
            question.deny(RuleId::NoRule)
        } else {
            question.allow(RuleId::Named(RULE.into()))
        }
    }
}

/// A tool of a usual size: a path, a query and a body of six parameters.
pub(crate) fn tool(name: &str) -> ToolDeclaration {
    let parameter = |name: &str, kind, required| ParameterDeclaration {
        name: name.to_owned(),
        description: None,
        kind,
        required,
        default: None,
    };
    let word = || ParameterType::Word { max_length: None, pattern: None };
    ToolDeclaration {
        name: name.to_owned(),
        title: None,
        description: "Writes a note".to_owned(),
        parameters: vec![
            parameter("marker", word(), true),
            parameter("note", ParameterType::Text { max_length: None }, false),
            parameter(
                "count",
                ParameterType::Int { min: Some(0), max: Some(100), string_form: false },
                false,
            ),
            parameter(
                "state",
                ParameterType::Enum { values: vec!["open".to_owned(), "closed".to_owned()] },
                false,
            ),
            parameter(
                "labels",
                ParameterType::List { item: Box::new(word()), min_items: None, max_items: None },
                false,
            ),
            parameter("done", ParameterType::Bool, false),
        ],
        ignore_arguments: Vec::new(),
        result: ResultDeclaration::default(),
        http: HttpDeclaration {
            target: "notes".to_owned(),
            origin: Origin::new(Scheme::Https, "notes.test".into(), 443),
            method: "POST".to_owned(),
            path: "/notes/{marker}".to_owned(),
            query: vec![("state".to_owned(), "{state}".to_owned())],
            headers: Vec::new(),
            open_query: None,
            cursor: None,
            save: None,
            redirects: Vec::new(),
            body: Some(BodyDeclaration::Json(
                json!({"note": "{note}", "count": "{count}", "labels": "{labels}", "done": "{done}"}),
            )),
            reserved_names: Vec::new(),
        },
    }
}

/// Bounds as a default configuration has them.
pub(crate) fn options() -> SessionOptions {
    SessionOptions {
        limits: Limits::default(),
        on_invalid_frame: OnInvalidFrame::Continue,
        max_refusals: 16,
        revisions: Revision::ALL.to_vec(),
        max_used_ids: 65_536,
        permit_lifetime: Duration::from_secs(60),
        config: "digest".into(),
        principal: Arc::new(Principal::new("tester".to_owned(), 1)),
        server_version: "0",
        instructions: None,
    }
}

/// The tools of these names.
pub(crate) fn catalog(tools: &[&str]) -> Arc<Catalog> {
    Arc::new(Catalog::compile(tools.iter().map(|name| tool(name)).collect()).unwrap())
}
