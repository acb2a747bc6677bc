//! What goes into a session and what comes out of it.
//!
//! Belongs here: inputs, steps, and the notes of refusals.
//! Does not belong here: deciding.

use std::sync::Arc;

use framegate_wire::frame::Frame;
use framegate_wire::message::{Reply, RequestId};
use framegate_wire::{Reason, Refusal};

use crate::authorization::{Permit, RuleId};
use crate::protocol::Negotiated;

/// What a session is told.
#[derive(Debug)]
pub enum Input<'a> {
    /// A frame was read.
    Frame(Frame<'a>),
    /// The bytes of a line were no frame.
    Refused(Refusal),
    /// The input ended.
    End,
}

/// What a session wants done, in this order: record refusals, send replies, cancel, start permits.
#[derive(Debug, Default)]
#[must_use = "a step holds replies and permits"]
pub struct Step {
    /// Replies to send.
    pub replies: Vec<Reply>,
    /// Permits to record and perform.
    pub permits: Vec<Permit>,
    /// Refusals to record.
    pub refusals: Vec<RefusalNote>,
    /// Tickets whose requests were cancelled.
    pub cancels: Vec<u64>,
    /// Set once, when a revision has come into use.
    pub negotiated: Option<Negotiated>,
    /// How many unknown notifications and unasked responses were dropped.
    pub dropped: u32,
    /// Set when the session ends: nothing more is read.
    pub close: Option<Close>,
}

impl Step {
    pub(super) fn batch(reply: Option<Reply>, refusals: Vec<Refusal>) -> Self {
        Self {
            replies: reply.into_iter().collect(),
            refusals: refusals.into_iter().map(RefusalNote::from).collect(),
            ..Self::default()
        }
    }
}

/// Why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// The input ended between frames.
    EndOfInput,
    /// A refused frame closed it.
    Refused(Reason),
}

/// A refusal, for the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusalNote {
    /// The reason and the place in the line.
    pub refusal: Refusal,
    /// The id of the request, if it could be read.
    pub request: Option<RequestId>,
    /// The declared tool that was called, if the call came that far.
    pub tool: Option<Arc<str>>,
    /// The rule that denied it, if policy was asked.
    pub rule: Option<RuleId>,
}

impl From<Refusal> for RefusalNote {
    fn from(refusal: Refusal) -> Self {
        Self { refusal, request: None, tool: None, rule: None }
    }
}
