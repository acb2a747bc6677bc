//! Message to permit: is it legal now, are its arguments what the tool declares, is it allowed?
//!
//! Belongs here: everything that decides, as pure functions of the messages, the declared tools, the
//! policy and a given time. Each door consumes the type of the door before it.
//! Does not belong here: I/O, clocks, threads, the environment, how an action is performed.

pub mod action;
pub mod authorization;
pub mod moment;
pub mod outcome;
pub mod protocol;
pub mod schema;
pub mod session;

pub use moment::Moment;
