//! The file that `framegate init` writes.
//!
//! Belongs here: the commented starter, which loads as it is.
//! Does not belong here: where it is written to.

/// A commented configuration to begin with. It loads as it is and needs no secret.
pub const STARTER: &str = include_str!("starter.toml");
