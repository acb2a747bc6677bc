//! What becomes of a message that is legal now.
//!
//! Belongs here: the door type `Admitted` and the other ways in which a message is dealt with.
//! Does not belong here: deciding whether it is legal.

use std::sync::Arc;

use framegate_wire::Refusal;
use framegate_wire::message::{CallParams, Reply, RequestId, Revision};

use super::ticket::Ticket;
use crate::authorization::Principal;
use crate::schema::ProgressToken;

/// A legal message, by what it leads to.
#[derive(Debug)]
pub enum Admission<'a> {
    /// A request that is answered at once, without any action.
    Answer(Reply),
    /// A batch that is settled at once: its answer, and the refusals of its members.
    Batch(Option<Reply>, Vec<Refusal>),
    /// A tool call, for the next door.
    Call(Admitted<'a>),
    /// A call was cancelled: the number of its ticket.
    Cancel(u64),
    /// Nothing to do, and nothing to say: a notification or response of no consequence.
    Ignore {
        /// Whether the method is unknown, or a response answers no question of ours.
        unknown: bool,
    },
}

/// A tool call that is legal now, with its ticket. Made only by [`super::State::admit`].
#[derive(Debug)]
#[must_use = "an admitted call must be checked"]
pub struct Admitted<'a> {
    call: AdmittedCall<'a>,
    ticket: Ticket,
}

/// The call, still as the peer wrote it.
#[derive(Debug)]
pub(crate) struct AdmittedCall<'a> {
    pub(crate) request: RequestId,
    pub(crate) revision: Revision,
    pub(crate) principal: Arc<Principal>,
    pub(crate) claimed_client: Option<Arc<str>>,
    pub(crate) params: CallParams<'a>,
    pub(crate) progress: Option<ProgressToken>,
}

impl<'a> Admitted<'a> {
    pub(super) const fn new(call: AdmittedCall<'a>, ticket: Ticket) -> Self {
        Self { call, ticket }
    }

    pub(crate) fn into_parts(self) -> (AdmittedCall<'a>, Ticket) {
        (self.call, self.ticket)
    }
}
