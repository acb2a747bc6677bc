//! What became of a permitted action.
//!
//! Belongs here: the five outcomes and what an agent may be told of each.
//! Does not belong here: how the action was performed, or how the reply is worded per revision.

use core::fmt;

use serde_json::Value;

/// What is known of a permitted action once it has been dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// The target did it.
    Done,
    /// The target answered that it did not.
    Failed,
    /// It may have happened: nobody can say.
    Unknown,
    /// Nothing reached the outside: no look-up, no connection.
    NotStarted,
    /// Written down by the recorder instead of performed.
    Simulated,
}

impl Status {
    /// The stable name used in records and replies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
            Self::NotStarted => "not-started",
            Self::Simulated => "simulated",
        }
    }
}

/// The outcome of one permitted action.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    status: Status,
    text: String,
    structured: Option<Value>,
    redirect: Option<Redirect>,
    secret_hits: u64,
    withheld: bool,
}

/// Where a target sends the caller on to, as it wrote it.
#[derive(Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The status (RFC 9110, 15.4).
    pub status: u16,
    /// The location.
    pub location: String,
}

impl fmt::Debug for Redirect {
    /// Without the location, which can repeat what was sent.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redirect").field("status", &self.status).finish_non_exhaustive()
    }
}

impl Outcome {
    const fn of(status: Status, text: String, structured: Option<Value>) -> Self {
        Self { status, text, structured, redirect: None, secret_hits: 0, withheld: false }
    }

    /// The target did it: text for the agent, and the same as structured content.
    #[must_use]
    pub const fn done(text: String, structured: Option<Value>) -> Self {
        Self::of(Status::Done, text, structured)
    }

    /// The target answered that it did not.
    #[must_use]
    pub const fn failed(text: String) -> Self {
        Self::of(Status::Failed, text, None)
    }

    /// It may have happened.
    #[must_use]
    pub const fn unknown(text: String) -> Self {
        Self::of(Status::Unknown, text, None)
    }

    /// Nothing reached the outside.
    #[must_use]
    pub const fn not_started(text: String) -> Self {
        Self::of(Status::NotStarted, text, None)
    }

    /// Written down instead of performed.
    #[must_use]
    pub const fn simulated(text: String) -> Self {
        Self::of(Status::Simulated, text, None)
    }

    /// The same, with where the target sends the caller on to.
    #[must_use]
    pub fn with_redirect(self, redirect: Redirect) -> Self {
        Self { redirect: Some(redirect), ..self }
    }

    /// The same, with how many times a credential was found in the answer, and whether the answer is withheld for it.
    #[must_use]
    pub fn with_secret_hits(self, secret_hits: u64, withheld: bool) -> Self {
        Self { secret_hits, withheld, ..self }
    }

    /// How many times a credential was found in the answer, and masked.
    #[must_use]
    pub const fn secret_hits(&self) -> u64 {
        self.secret_hits
    }

    /// Whether the answer is withheld because its target's answers repeated a credential too often.
    #[must_use]
    pub const fn is_withheld(&self) -> bool {
        self.withheld
    }

    /// Where the target sends the caller on to, if the executor found that it could be followed.
    #[must_use]
    pub const fn redirect(&self) -> Option<&Redirect> {
        self.redirect.as_ref()
    }

    /// What is known.
    #[must_use]
    pub const fn status(&self) -> Status {
        self.status
    }

    /// The text for the agent. Never holds a secret: executors redact before they build an outcome.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The structured content; present only when the status is `done`.
    #[must_use]
    pub const fn structured(&self) -> Option<&Value> {
        self.structured.as_ref()
    }
}
