//! Secrets: the type, its providers and the redactor.
//!
//! Belongs here: how a secret is held, where it comes from, which secrets are too weak to be
//! masked, and how every known spelling of a secret is removed from bytes that leave the process.
//! Must not: know what a secret is used for, targets, tools, or the protocol.
//!
//! A [`Secret`] has no `Debug`, `Display`, `Clone` or `Serialize`. Its bytes are reached only
//! through the two `expose_*` methods, so that one search lists every opening.

mod environment;
mod error;
mod file;
mod redact;
mod secret;
mod source;
mod strength;

pub use environment::Environment;
pub use error::{FileFault, VaultError, Weakness};
pub use redact::{Ending, Redacted, Redaction, RedactionStream, Redactor, Watched};
pub use secret::Secret;
pub use source::Source;
