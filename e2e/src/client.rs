//! A client that speaks plain MCP: handshakes of all five revisions, requests, notifications.
//!
//! Belongs here: building messages and asking for their replies.
//! Does not belong here: hostile bytes (tests bring those), waiting and judging (`session`).

use framegate_wire::message::Revision;
use serde_json::{Value, json};

use crate::session::Session;

/// The `_meta` of a request of the stateless era.
#[must_use]
pub fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": Revision::V2026_07_28.name(),
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "e2e", "version": "1" },
    })
}

/// A request.
#[must_use]
pub fn request(id: &Value, method: &str, params: Option<Value>) -> Value {
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
    if let Some(params) = params {
        message["params"] = params;
    }
    message
}

/// `initialize` for a revision of the handshake era.
#[must_use]
pub fn initialize(id: &Value, version: &str) -> Value {
    let params = json!({
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": { "name": "e2e", "version": "1" },
    });
    request(id, "initialize", Some(params))
}

/// The parameters of `tools/call`.
#[must_use]
pub fn call_params(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// Adds the `_meta` of the stateless era to parameters.
#[must_use]
pub fn modern(mut params: Value) -> Value {
    params["_meta"] = meta();
    params
}

impl Session<'_> {
    /// An id that this session has not used: small integers from 1.
    pub fn fresh_id(&mut self) -> Value {
        self.last_id += 1;
        self.last_id.into()
    }

    /// Sends a request and waits for its reply.
    pub fn ask(&mut self, method: &str, params: Option<Value>) -> Value {
        let id = self.fresh_id();
        self.send(&request(&id, method, params));
        self.reply(&id)
    }

    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Option<Value>) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        if let Some(params) = params {
            message["params"] = params;
        }
        self.send(&message);
    }

    /// Asks for a handshake in `version` and returns the reply.
    pub fn initialize(&mut self, version: &str) -> Value {
        let id = self.fresh_id();
        self.send(&initialize(&id, version));
        self.reply(&id)
    }

    /// Brings the session to where calls are served: a whole handshake, or the stateless era pinned by
    /// a list. The list is asked for in every revision, so that results are judged by what it says.
    pub fn ready(&mut self, revision: Revision) {
        if revision.is_modern() {
            self.ask("tools/list", Some(modern(json!({}))));
            return;
        }
        let reply = self.initialize(revision.name());
        if reply["result"]["protocolVersion"] != revision.name() {
            self.process().fail(&format!("`initialize` for {revision} answered by {reply}"));
        }
        self.notify("notifications/initialized", None);
        self.ask("tools/list", None);
    }

    /// Sends a call and returns its id.
    pub fn start_call(&mut self, revision: Revision, tool: &str, arguments: Value) -> Value {
        let id = self.fresh_id();
        let params = call_params(tool, arguments);
        let params = if revision.is_modern() { modern(params) } else { params };
        self.send(&request(&id, "tools/call", Some(params)));
        id
    }

    /// Sends a call and waits for its reply.
    pub fn call(&mut self, revision: Revision, tool: &str, arguments: Value) -> Value {
        let id = self.start_call(revision, tool, arguments);
        self.reply(&id)
    }
}
