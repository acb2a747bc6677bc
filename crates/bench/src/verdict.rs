//! What became of a case.
//!
//! Belongs here: verdicts and kinds of failure, their names.
//! Does not belong here: how they are found.

use serde::{Serialize, Serializer};

/// The verdict of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Everything that must hold was seen to hold.
    Pass,
    /// Something that must hold does not.
    Fail(Kind),
    /// The protocol leaves the point open, and the target took the dangerous side.
    PolicyGap(Kind),
    /// Nothing can be said: what would have shown a failure was not seen to work.
    Inconclusive(String),
    /// The target ended with a failure.
    Unavailable(String),
    /// The target lives and answers no more.
    Hung,
    /// The case does not apply here.
    Skipped(String),
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A refused frame had an effect.
    EffectObserved,
    /// The same, after the target had already answered what followed.
    EffectLate,
    /// stdout holds bytes that are no message.
    StdoutDirty,
    /// An answer is not what it must be.
    WrongReply,
    /// A request that must be answered was not.
    MissingReply,
    /// An answer came that nobody asked for.
    ExtraReply,
    /// A secret came out.
    Leak,
    /// A descendant outlived the target.
    OrphanProcess,
    /// The target did not end when it must.
    NoExit,
    /// The target used a processor with nothing to do.
    Busy,
    /// Valid frames vanished.
    FrameLost,
}

impl Verdict {
    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail(_) => "fail",
            Self::PolicyGap(_) => "policy-gap",
            Self::Inconclusive(_) => "inconclusive",
            Self::Unavailable(_) => "unavailable",
            Self::Hung => "hung",
            Self::Skipped(_) => "skipped",
        }
    }

    /// What failed, if it did.
    #[must_use]
    pub const fn kind(&self) -> Option<Kind> {
        match self {
            Self::Fail(kind) | Self::PolicyGap(kind) => Some(*kind),
            _ => None,
        }
    }

    /// Why nothing more is known, where that is so.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Inconclusive(why) | Self::Unavailable(why) | Self::Skipped(why) => Some(why),
            _ => None,
        }
    }

    /// Whether the run fails by it.
    #[must_use]
    pub const fn is_failure(&self) -> bool {
        matches!(self, Self::Fail(_) | Self::Unavailable(_) | Self::Hung)
    }
}

impl Kind {
    /// Every kind.
    pub const ALL: &[Self] = &[
        Self::EffectObserved,
        Self::EffectLate,
        Self::StdoutDirty,
        Self::WrongReply,
        Self::MissingReply,
        Self::ExtraReply,
        Self::Leak,
        Self::OrphanProcess,
        Self::NoExit,
        Self::Busy,
        Self::FrameLost,
    ];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EffectObserved => "effect-observed",
            Self::EffectLate => "effect-late",
            Self::StdoutDirty => "stdout-dirty",
            Self::WrongReply => "wrong-reply",
            Self::MissingReply => "missing-reply",
            Self::ExtraReply => "extra-reply",
            Self::Leak => "leak",
            Self::OrphanProcess => "orphan-process",
            Self::NoExit => "no-exit",
            Self::Busy => "busy",
            Self::FrameLost => "frame-lost",
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
