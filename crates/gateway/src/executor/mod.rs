//! Performing recorded actions.
//!
//! Belongs here: the one trait that takes `Recorded`, and who implements it.
//! Does not belong here: why an action was allowed, JSON from the agent.

#[cfg(test)]
mod fixture;
pub mod http;
mod record;

use std::pin::Pin;

use framegate_gate::outcome::Outcome;
use framegate_journal::Recorded;

pub use record::{RecordError, Recorder};

/// A future that an executor returns.
pub type Performing<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Performs actions whose intent is on disk; it can be given nothing else.
pub trait Executor: Send + Sync {
    /// Performs the action once. Never retries. Dropping the future abandons the action, whose outcome is
    /// then unknown.
    fn perform(&self, recorded: Recorded) -> Performing<'_>;

    /// Whether performing never waits for anything: then it is done on the spot, without a task.
    fn is_immediate(&self) -> bool {
        false
    }
}
