//! A peer that sends raw frames through every door of a session, so that what is judged is what the gate
//! makes of bytes. A question cannot be made in any other way.

use core::time::Duration;
use std::sync::Arc;

use framegate_gate::Moment;
use framegate_gate::action::Action;
use framegate_gate::authorization::{Policy, Principal, RuleId};
use framegate_gate::outcome::Outcome;
use framegate_gate::schema::Catalog;
use framegate_gate::session::{Input, OnInvalidFrame, Session, SessionOptions, Step};
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use framegate_wire::{Limits, Reason};
use serde_json::{Value, json};

/// What became of a call.
#[derive(Debug, PartialEq)]
pub(crate) enum Judged {
    Allowed(String, Box<Action>),
    Denied(RuleId),
    /// Stopped before policy was asked.
    Refused(Reason),
}

impl Judged {
    /// The rule that allowed it.
    #[track_caller]
    pub(crate) fn allowed_by(self) -> String {
        match self {
            Self::Allowed(rule, _) => rule,
            other => panic!("not allowed: {other:?}"),
        }
    }

    /// The rendered action of a call that was allowed.
    #[track_caller]
    pub(crate) fn action(self) -> Action {
        match self {
            Self::Allowed(_, action) => *action,
            other => panic!("not allowed: {other:?}"),
        }
    }

    pub(crate) fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed(..))
    }

    pub(crate) fn denied_by(rule: &str) -> Self {
        Self::Denied(RuleId::Named(Arc::from(rule)))
    }
}

pub(crate) struct Peer {
    reader: Reader,
    session: Session,
    next_id: u64,
    modern: bool,
}

impl Peer {
    /// A peer of 2025-06-18 that calls itself this, served as the client `client` of user 1000.
    pub(crate) fn legacy(
        policy: Arc<dyn Policy>,
        catalog: Arc<Catalog>,
        client: &str,
        claimed: &str,
    ) -> Self {
        let mut peer = Self::new(policy, catalog, client, false);
        let info = json!({"name": claimed, "version": "1"});
        let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info}});
        assert_eq!(peer.send(&initialize.to_string()).refusals, []);
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(peer.send(&initialized.to_string()).refusals, []);
        peer
    }

    /// A peer of 2026-07-28: it says with each request what it calls itself, if at all.
    pub(crate) fn modern(policy: Arc<dyn Policy>, catalog: Arc<Catalog>, client: &str) -> Self {
        Self::new(policy, catalog, client, true)
    }

    fn new(policy: Arc<dyn Policy>, catalog: Arc<Catalog>, client: &str, modern: bool) -> Self {
        let options = SessionOptions {
            limits: Limits::default(),
            on_invalid_frame: OnInvalidFrame::Continue,
            max_refusals: 1_000_000,
            revisions: Revision::ALL.to_vec(),
            max_used_ids: 1_000_000,
            permit_lifetime: Duration::from_secs(60),
            config: Arc::from("digest"),
            principal: Arc::new(Principal::new(client.to_owned(), 1000)),
            server_version: "test",
            instructions: None,
        };
        let reader = Reader::new(&options.limits);
        Self { reader, session: Session::new(options, catalog, policy), next_id: 1, modern }
    }

    /// Calls a tool with arguments written as JSON text.
    pub(crate) fn call(&mut self, tool: &str, arguments: &str) -> Judged {
        self.call_as(tool, arguments, None)
    }

    /// Like `call`; a modern peer calls itself `claimed` in this request only.
    pub(crate) fn call_as(&mut self, tool: &str, arguments: &str, claimed: Option<&str>) -> Judged {
        let mut meta = serde_json::Map::new();
        if self.modern {
            meta.insert("io.modelcontextprotocol/protocolVersion".to_owned(), json!("2026-07-28"));
            meta.insert("io.modelcontextprotocol/clientCapabilities".to_owned(), json!({}));
            if let Some(name) = claimed {
                let info = json!({"name": name, "version": "1"});
                meta.insert("io.modelcontextprotocol/clientInfo".to_owned(), info);
            }
        }
        let (id, tool, meta) = (self.next_id, json!(tool), Value::Object(meta));
        self.next_id += 1;
        // Arguments are inserted as text: number spellings matter.
        let frame = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{tool},"arguments":{arguments},"_meta":{meta}}}}}"#
        );
        let mut step = self.send(&frame);
        match step.permits.pop() {
            Some(permit) => {
                let (granted, ticket) = permit.into_parts();
                let reply = self.session.settle(ticket, &Outcome::simulated("done".to_owned()));
                assert!(reply.is_some(), "a permitted call is answered");
                let RuleId::Named(rule) = granted.rule() else { panic!("a permit names its rule") };
                Judged::Allowed(rule.to_string(), Box::new(granted.call().action().clone()))
            }
            None => {
                let refusal = step.refusals.pop().expect("neither a permit nor a refusal");
                refusal.rule.map_or(Judged::Refused(refusal.refusal.reason()), Judged::Denied)
            }
        }
    }

    fn send(&mut self, frame: &str) -> Step {
        self.reader.push(frame.as_bytes());
        self.reader.push(b"\n");
        let frame = self.reader.next().expect("a whole line").expect("a frame");
        self.session.receive(Input::Frame(frame), Moment::default())
    }
}
