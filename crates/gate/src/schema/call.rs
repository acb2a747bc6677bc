//! A call whose arguments are what the tool declares, with the action that they make.
//!
//! Belongs here: the door type `Checked` and what it wraps.
//! Does not belong here: checking, rendering, judging.

use std::sync::Arc;

use framegate_wire::message::{RequestId, Revision};

use super::catalog::Tool;
use crate::action::{Action, Arguments};
use crate::authorization::Principal;
use crate::protocol::Ticket;

/// A progress token as the peer wrote it: a string or an integer, kept as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgressToken(serde_json::Value);

impl ProgressToken {
    pub(crate) const fn new(token: serde_json::Value) -> Self {
        Self(token)
    }

    /// The token for a progress notification.
    #[must_use]
    pub const fn json(&self) -> &serde_json::Value {
        &self.0
    }
}

/// A checked call as data: who asks, the tool, the typed arguments, the rendered action.
#[derive(Debug)]
pub struct Call {
    pub(super) request: RequestId,
    pub(super) revision: Revision,
    pub(super) principal: Arc<Principal>,
    pub(super) claimed_client: Option<Arc<str>>,
    pub(super) tool: Arc<Tool>,
    pub(super) arguments: Arguments,
    pub(super) action: Action,
    /// The requests whose redirects led here, oldest first.
    pub(super) trail: Vec<String>,
    pub(super) progress: Option<ProgressToken>,
}

impl Call {
    /// The id of the request, as the peer wrote it.
    #[must_use]
    pub const fn request(&self) -> &RequestId {
        &self.request
    }

    /// The revision that the request was made in.
    #[must_use]
    pub const fn revision(&self) -> Revision {
        self.revision
    }

    /// Who asks.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// What the peer calls itself; a claim, never a principal.
    #[must_use]
    pub fn claimed_client(&self) -> Option<&str> {
        self.claimed_client.as_deref()
    }

    /// The tool.
    #[must_use]
    pub fn tool(&self) -> &Tool {
        &self.tool
    }

    /// The typed arguments, defaults filled in.
    #[must_use]
    pub const fn arguments(&self) -> &Arguments {
        &self.arguments
    }

    /// The rendered action.
    #[must_use]
    pub const fn action(&self) -> &Action {
        &self.action
    }

    /// How many redirects led to this action; 0 for what the agent asked for.
    #[must_use]
    pub fn hop(&self) -> usize {
        self.trail.len()
    }

    /// Where to send progress, if the peer asked for it.
    #[must_use]
    pub const fn progress(&self) -> Option<&ProgressToken> {
        self.progress.as_ref()
    }
}

/// A call that has passed the schema door. Made only by [`super::check()`], and of a redirect of a call that has
/// passed; owned from here on.
#[derive(Debug)]
#[must_use = "a checked call must be judged"]
pub struct Checked {
    call: Arc<Call>,
    ticket: Ticket,
}

impl Checked {
    pub(super) fn new(call: Call, ticket: Ticket) -> Self {
        Self { call: Arc::new(call), ticket }
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    pub(crate) fn into_parts(self) -> (Arc<Call>, Ticket) {
        (self.call, self.ticket)
    }
}
