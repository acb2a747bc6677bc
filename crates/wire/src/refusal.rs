//! A refusal as data: the reason and the place, never the bytes.
//!
//! Belongs here: what every door of `wire` and `gate` says when it stops input.
//! Does not belong here: wording for peers, records, fingerprints.

use crate::reason::Reason;

/// Why and where input was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a refusal must be answered or recorded"]
pub struct Refusal {
    reason: Reason,
    offset: usize,
}

impl Refusal {
    /// A refusal at a byte offset within the line, counted from 0.
    pub const fn new(reason: Reason, offset: usize) -> Self {
        Self { reason, offset }
    }

    /// Why.
    #[must_use]
    pub const fn reason(self) -> Reason {
        self.reason
    }

    /// The offset of the first wrong byte within the line, counted from 0.
    #[must_use]
    pub const fn offset(self) -> usize {
        self.offset
    }
}
