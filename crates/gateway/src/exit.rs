//! The exit codes of `framegate`, as documented in the guide (BSD `sysexits` where one fits).
//!
//! Belongs here: the numbers and what they mean.
//! Does not belong here: when a command ends with which.

/// A clean end.
pub const OK: u8 = 0;
/// A check or demonstration found failures.
pub const FINDINGS: u8 = 1;
/// The command line is wrong.
pub const USAGE: u8 = 2;
/// A refused frame closed the session, or a journal is not sound.
pub const DATA: u8 = 65;
/// A needed service is missing.
pub const UNAVAILABLE: u8 = 69;
/// An internal error.
pub const INTERNAL: u8 = 70;
/// Input or output failed: the reader of stdout is gone, a journal cannot be written.
pub const IO: u8 = 74;
/// The configuration is faulty.
pub const CONFIGURATION: u8 = 78;
