//! The door type that the executor takes, and its counterpart that the pump keeps.
//!
//! Belongs here: `Recorded` and `Receipt`, made in one place, and what comes back when recording fails.
//! Does not belong here: writing.

use core::time::Duration;
use std::sync::Arc;

use framegate_gate::authorization::{Granted, Permit};
use framegate_gate::protocol::Ticket;

use crate::error::JournalError;

/// An action whose intent is on disk. Made only by [`crate::Journal::commit`], never cloned: the one thing
/// that an executor takes, and takes by value.
#[derive(Debug)]
#[must_use = "a recorded action is performed, or its receipt closed as not started"]
pub struct Recorded {
    granted: Granted,
    intent: Arc<str>,
}

impl Recorded {
    /// What is permitted: the call, its action, the rule, the terms.
    #[must_use]
    pub const fn granted(&self) -> &Granted {
        &self.granted
    }

    /// The intent's id in the journal.
    #[must_use]
    pub fn intent(&self) -> &str {
        &self.intent
    }
}

/// The duty to record the outcome of an intent. It stays with the pump, so that an executor that panics
/// still settles. Made only by [`crate::Journal::commit`], never cloned.
#[derive(Debug)]
#[must_use = "a receipt is closed with the outcome"]
pub struct Receipt {
    pub(crate) ticket: Ticket,
    pub(crate) intent: Arc<str>,
    pub(crate) recorded_at: Duration,
}

impl Receipt {
    /// The intent's id in the journal.
    #[must_use]
    pub fn intent(&self) -> &str {
        &self.intent
    }

    /// The number of the ticket that this receipt holds.
    #[must_use]
    pub const fn ticket(&self) -> u64 {
        self.ticket.number()
    }
}

/// Splits a permit whose intent is on disk. The only maker of both types.
pub(crate) fn record(permit: Permit, intent: Arc<str>, recorded_at: Duration) -> (Recorded, Receipt) {
    let (granted, ticket) = permit.into_parts();
    let recorded = Recorded { granted, intent: Arc::clone(&intent) };
    (recorded, Receipt { ticket, intent, recorded_at })
}

/// The intents could not be recorded: nothing of the batch may be performed.
///
/// Some of them may be on disk all the same; they have no outcome and read as such.
#[derive(Debug, thiserror::Error)]
#[error("the intent is not recorded, so nothing is performed: {cause}")]
#[must_use = "the tickets must be settled"]
pub struct CommitFailure {
    pub(crate) tickets: Vec<Ticket>,
    #[source]
    pub(crate) cause: JournalError,
}

impl CommitFailure {
    /// The tickets of the batch, in its order, to be settled; and why.
    #[must_use]
    pub fn into_parts(self) -> (Vec<Ticket>, JournalError) {
        (self.tickets, self.cause)
    }
}
