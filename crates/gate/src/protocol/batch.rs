//! Batches of 2025-03-26: the one compatibility boundary, which authorises no action.
//!
//! Belongs here: settling an array at once, without changing any state.
//! Does not belong here: anything that could lead to an action.

use std::collections::HashSet;

use framegate_wire::message::{Batch, ErrorId, Incoming, MessageRefusal, Reply, Request, Revision};
use framegate_wire::{Reason, Refusal};
use serde_json::json;

use super::admitted::Admission;
use super::method::Method;
use super::state::{ProtocolRefusal, State, refuse};

impl State {
    /// Answers every member that can be answered without an action, and refuses the rest one by one.
    ///
    /// # Errors
    /// [`ProtocolRefusal`] when the array as a whole is refused: empty, too long, repeated ids.
    pub(super) fn settle_batch<'a>(&self, batch: Batch<'a>) -> Result<Admission<'a>, ProtocolRefusal> {
        if batch.is_empty() {
            return Err(self.refuse_unnamed(Refusal::new(Reason::BatchEmpty, 0)));
        }
        if batch.len() > self.limits.max_batch {
            return Err(self.refuse_unnamed(Refusal::new(Reason::BatchTooLong, 0)));
        }
        let members: Vec<_> = batch.read(&self.limits).collect();
        let mut ids = HashSet::new();
        let repeated = members.iter().any(|member| match member {
            Ok(Incoming::Request(request)) => !ids.insert(request.id().clone()),
            Ok(Incoming::Notification(_) | Incoming::Response(_) | Incoming::Batch(_)) => false,
            Err(refused) => refused.id().is_some_and(|id| !ids.insert(id.clone())),
        });
        if repeated {
            return Err(self.refuse_unnamed(Refusal::new(Reason::BatchIds, 0)));
        }
        let mut replies = Vec::new();
        let mut refusals = Vec::new();
        for member in members {
            match self.settle_member(member) {
                Ok(reply) => replies.extend(reply),
                Err((refusal, reply)) => {
                    refusals.push(refusal);
                    replies.extend(reply);
                }
            }
        }
        let reply = (!replies.is_empty()).then(|| self.bounded(replies));
        Ok(Admission::Batch(reply, refusals))
    }

    fn settle_member(
        &self,
        member: Result<Incoming<'_>, MessageRefusal>,
    ) -> Result<Option<Reply>, (Refusal, Option<Reply>)> {
        match member {
            Ok(Incoming::Notification(_) | Incoming::Response(_) | Incoming::Batch(_)) => Ok(None),
            Ok(Incoming::Request(request)) => self.settle_request(&request).map(Some).map_err(|refused| {
                let refusal = refused.refusal();
                (refusal, Some(error(refusal, refused.id())))
            }),
            Err(refused) => {
                let refusal = refused.refusal();
                let id = refused.id().cloned().map_or_else(|| self.unreadable_id(), ErrorId::Known);
                Err((refusal, refused.is_answered().then(|| error(refusal, &id))))
            }
        }
    }

    fn settle_request(&self, request: &Request<'_>) -> Result<Reply, ProtocolRefusal> {
        if self.pending.is_busy(request.id()) {
            return Err(self.refuse_unnamed(Refusal::new(Reason::IdInFlight, 0)));
        }
        match self.method(request)? {
            Method::Ping => {
                request.params().object().map_err(|refusal| refuse(request, refusal))?;
                Ok(Reply::result(request.id(), json!({})))
            }
            Method::ToolsList => self.list_reply(request, Revision::V2025_03_26),
            Method::Discover | Method::Initialize | Method::ToolsCall => {
                Err(refuse(request, Refusal::new(Reason::BatchMethod, 0)))
            }
        }
    }

    /// One array within the frame limit; when the answers do not fit, each is an error that says so.
    fn bounded(&self, replies: Vec<Reply>) -> Reply {
        let whole = Reply::batch(replies);
        if whole.line_length() <= self.limits.max_frame {
            whole
        } else {
            whole.replace_each_with_error("the answer to this batch is too large; send fewer requests")
        }
    }
}

fn error(refusal: Refusal, id: &ErrorId) -> Reply {
    let reason = refusal.reason();
    let data = json!({"reason": reason.code(), "door": reason.door().name()});
    Reply::error(id, reason.rpc_code(), reason.summary(), Some(data))
}
