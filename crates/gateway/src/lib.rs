//! framegate mcp: configuration, ownership of stdio, the pump and the executors.
//!
//! Belongs here: everything with a descriptor, a thread, a socket or a clock.
//! Does not belong here: what a message means, whether a call is allowed, arguments of the command line.

#[cfg(not(unix))]
compile_error!(
    "framegate needs a Unix: it takes over descriptors 0 and 1 and checks owners and modes of files, and has no \
     tested equivalent for that elsewhere"
);

pub mod assemble;
pub mod config;
pub mod executor;
pub mod exit;
pub mod log;
pub mod net;
pub mod serve;
pub mod stdio;
