//! framegate mcp: configuration, ownership of stdio, the pump and the executors.
//!
//! Belongs here: everything with a descriptor, a thread, a socket or a clock.
//! Does not belong here: what a message means, whether a call is allowed, arguments of the command line.

pub mod assemble;
pub mod config;
pub mod executor;
pub mod exit;
pub mod log;
pub mod net;
pub mod serve;
pub mod stdio;
