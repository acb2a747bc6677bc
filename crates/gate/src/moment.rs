//! Time as an argument: a monotonic instant that the caller reads from its clock.
//!
//! Belongs here: the type and its arithmetic, saturating.
//! Does not belong here: reading a clock.

use core::time::Duration;

/// Time since the start of the process, on a monotonic clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The instant this long after the start.
    #[must_use]
    pub const fn since_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// This instant plus a duration.
    #[must_use]
    pub const fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }

    /// The time from an earlier instant to this one; zero when `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}
