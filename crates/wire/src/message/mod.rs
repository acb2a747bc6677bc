//! The closed JSON-RPC envelope, and the shapes of MCP messages per revision and direction.
//!
//! Belongs here: what a message is, its id rules, the shape of `params`, replies.
//! Does not belong here: session state, tools, whether a message is legal now.

mod envelope;
mod id;
mod reply;
mod revision;
mod shape;

pub use envelope::{Batch, Incoming, MessageRefusal, Notification, Params, Request, Response, read};
pub use id::RequestId;
pub use reply::{ErrorId, Reply};
pub use revision::Revision;
pub use shape::{
    CallParams, CancelParams, META_CAPABILITIES, META_CLIENT_INFO, META_SERVER_INFO, META_VERSION,
};

#[cfg(test)]
mod tests;
