//! The journal's clocks: wall time for records, monotonic time for durations.
//!
//! Belongs here: reading both, and the stand-in that tests turn by hand.
//! Does not belong here: how times are written.

use core::time::Duration;
use std::time::{Instant, SystemTime};

use jiff::Timestamp;

/// Wall time is only ever written down; every decision is made on monotonic time.
pub(crate) trait Clock: Send {
    /// The time of day, UTC.
    fn wall(&self) -> Timestamp;

    /// The monotonic time since an arbitrary start.
    fn elapsed(&self) -> Duration;
}

/// The clocks of the operating system.
#[derive(Debug)]
pub(crate) struct SystemClock {
    start: Instant,
}

impl SystemClock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    fn wall(&self) -> Timestamp {
        // Fails only for years that RFC 3339 cannot write.
        Timestamp::try_from(SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH)
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}
