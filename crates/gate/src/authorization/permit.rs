//! The permit: one permit, one deed.
//!
//! Belongs here: what a permit carries and until when it holds.
//! Does not belong here: how it is recorded or performed.

use std::sync::Arc;

use framegate_wire::Reason;

use super::policy::RuleId;
use crate::Moment;
use crate::protocol::Ticket;
use crate::schema::{Call, Checked};

/// The terms under which a permit is given.
#[derive(Clone, Debug)]
pub struct PermitTerms {
    /// When the permit ends.
    pub expires: Moment,
    /// The digest of the configuration and policy in force: SHA-256, lower-case hexadecimal.
    pub config: Arc<str>,
}

/// Permission to perform one action once. Made only by [`super::authorize`], never cloned.
#[derive(Debug)]
#[must_use = "a permit is spent by recording it"]
pub struct Permit {
    granted: Granted,
    ticket: Ticket,
}

impl Permit {
    pub(super) fn new(checked: Checked, rule: RuleId, terms: PermitTerms) -> Self {
        let (call, ticket) = checked.into_parts();
        Self { granted: Granted { call, rule, terms }, ticket }
    }

    /// What is permitted.
    #[must_use]
    pub const fn granted(&self) -> &Granted {
        &self.granted
    }

    /// The number of the ticket that this permit holds.
    #[must_use]
    pub const fn ticket(&self) -> u64 {
        self.ticket.number()
    }

    /// Whether the permit still holds at this time under this configuration.
    #[must_use]
    pub fn holds(&self, now: Moment, config: &str) -> bool {
        now < self.granted.terms.expires && *self.granted.terms.config == *config
    }

    /// Gives the permit up: nothing will be performed, the ticket must still be settled.
    pub fn surrender(self) -> Ticket {
        self.ticket
    }

    /// Splits the permit for the journal: what is to be done, and the ticket that settles it.
    #[must_use = "the ticket must be settled"]
    pub fn into_parts(self) -> (Granted, Ticket) {
        (self.granted, self.ticket)
    }
}

/// What a permit permits: the call, the rule that allowed it, the terms. They travel together.
#[derive(Debug)]
pub struct Granted {
    call: Arc<Call>,
    rule: RuleId,
    terms: PermitTerms,
}

impl Granted {
    /// The checked call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The checked call, for who may have to make the next one of it.
    pub(crate) fn shared_call(&self) -> Arc<Call> {
        Arc::clone(&self.call)
    }

    /// The rule that allowed it.
    #[must_use]
    pub const fn rule(&self) -> &RuleId {
        &self.rule
    }

    /// The terms.
    #[must_use]
    pub const fn terms(&self) -> &PermitTerms {
        &self.terms
    }
}

/// A checked call that policy did not allow. Holds the ticket, so that it is answered and freed.
#[derive(Debug)]
#[must_use = "a denial must be answered"]
pub struct Denial {
    call: Arc<Call>,
    ticket: Ticket,
    rule: RuleId,
    reason: Reason,
}

impl Denial {
    pub(super) fn new(checked: Checked, rule: RuleId, reason: Reason) -> Self {
        let (call, ticket) = checked.into_parts();
        Self { call, ticket, rule, reason }
    }

    /// The call.
    #[must_use]
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// The rule that denied it, or why none allowed it.
    #[must_use]
    pub const fn rule(&self) -> &RuleId {
        &self.rule
    }

    /// The reason.
    #[must_use]
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// The ticket, to settle the request.
    pub fn into_ticket(self) -> Ticket {
        self.ticket
    }
}
