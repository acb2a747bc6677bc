//! Is this message legal now?
//!
//! Belongs here: what was said before in this session, the revision and era in use, ids in flight.
//! Does not belong here: tool arguments, policy, time-outs of actions.

mod admitted;
mod answer;
mod batch;
mod era;
mod ids;
mod method;
mod pending;
mod state;
mod ticket;

pub use admitted::{Admission, Admitted};
pub use era::Negotiated;
pub use state::{ProtocolOptions, ProtocolRefusal, State};
pub use ticket::Ticket;

pub(crate) use answer::call_result;
