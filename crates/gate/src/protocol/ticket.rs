//! The ticket of one admitted call.
//!
//! Belongs here: an internal number that no peer can choose.
//! Does not belong here: wire ids.

/// The right and the duty to settle one call. Made only by admitting a call, never cloned.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a ticket must be settled"]
pub struct Ticket(u64);

impl Ticket {
    pub(super) const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The ticket's number, unique in its session.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.0
    }
}
