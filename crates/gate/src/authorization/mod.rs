//! Is this checked call allowed for this client?
//!
//! Belongs here: who asks, the question put to policy, its verdict, the permit or denial that follows.
//! Does not belong here: a policy language, pipes, files, processes.

mod decide;
mod permit;
mod policy;
mod principal;

pub use decide::authorize;
pub use permit::{Denial, Granted, Permit, PermitTerms};
pub use policy::{Policy, Question, RuleId, Verdict};
pub use principal::Principal;
