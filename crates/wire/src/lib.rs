//! Bytes to message: frames, strict JSON, the closed JSON-RPC envelope.
//!
//! Belongs here: everything that can be said about a line without knowing the session.
//! Does not belong here: session state, tools, policy, I/O, clocks, threads, the environment.

#![deny(missing_docs)]

pub mod frame;
pub mod json;
pub mod limits;
pub mod message;
pub mod reason;
pub mod refusal;

pub use limits::Limits;
pub use reason::{Door, Reason};
pub use refusal::Refusal;
