//! Calls whose tickets are not settled yet.
//!
//! Belongs here: which wire id is busy, which ticket was cancelled, where progress goes.
//! Does not belong here: how a call is performed.

use std::collections::HashMap;
use std::sync::Arc;

use framegate_wire::message::{Reply, RequestId, Revision};
use serde_json::json;

use super::ticket::Ticket;
use crate::schema::{Call, ProgressToken};

/// One unsettled call.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) request: RequestId,
    pub(super) revision: Revision,
    pub(super) cancelled: bool,
    progress: Option<ProgressToken>,
    steps: u64,
    /// What is being performed, if a redirect of it may be followed.
    call: Option<Arc<Call>>,
}

/// All unsettled calls. A wire id stays busy until its ticket is settled, cancelled or not, so that an
/// outcome can never be taken for the answer to a later call.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    by_ticket: HashMap<u64, Pending>,
    by_request: HashMap<RequestId, u64>,
    last_ticket: u64,
}

impl PendingCalls {
    pub(super) fn len(&self) -> usize {
        self.by_ticket.len()
    }

    pub(super) fn is_busy(&self, request: &RequestId) -> bool {
        self.by_request.contains_key(request)
    }

    pub(super) fn open(
        &mut self,
        request: RequestId,
        revision: Revision,
        progress: Option<ProgressToken>,
    ) -> Ticket {
        self.last_ticket = self.last_ticket.saturating_add(1);
        let number = self.last_ticket;
        self.by_request.insert(request.clone(), number);
        self.by_ticket
            .insert(number, Pending { request, revision, cancelled: false, progress, steps: 0, call: None });
        Ticket::new(number)
    }

    /// Consumes the ticket and frees the wire id.
    pub(super) fn settle(&mut self, ticket: Ticket) -> Option<Pending> {
        let pending = self.by_ticket.remove(&ticket.number())?;
        self.by_request.remove(&pending.request);
        Some(pending)
    }

    /// Marks the call of this wire id as cancelled; its ticket's number, unless it was already.
    pub(super) fn cancel(&mut self, request: &RequestId) -> Option<u64> {
        let number = *self.by_request.get(request)?;
        let pending = self.by_ticket.get_mut(&number)?;
        if core::mem::replace(&mut pending.cancelled, true) { None } else { Some(number) }
    }

    /// Remembers what is being performed.
    pub(super) fn remember(&mut self, ticket: u64, call: Arc<Call>) {
        if let Some(pending) = self.by_ticket.get_mut(&ticket) {
            pending.call = Some(call);
        }
    }

    /// What is being performed, unless it was cancelled.
    pub(super) fn call(&self, ticket: u64) -> Option<Arc<Call>> {
        let pending = self.by_ticket.get(&ticket).filter(|pending| !pending.cancelled)?;
        pending.call.clone()
    }

    /// A progress notification, if one may be sent.
    pub(super) fn progress(&mut self, ticket: u64, message: &str) -> Option<Reply> {
        let pending = self.by_ticket.get_mut(&ticket).filter(|pending| !pending.cancelled)?;
        let token = pending.progress.as_ref()?;
        pending.steps = pending.steps.saturating_add(1);
        let mut params = json!({"progressToken": token.json(), "progress": pending.steps});
        if let (true, Some(members)) = (pending.revision >= Revision::V2025_03_26, params.as_object_mut()) {
            members.insert("message".to_owned(), json!(message));
        }
        Some(Reply::notification("notifications/progress", params))
    }
}
