//! Why a command ends badly, with its exit code.
//!
//! Belongs here: the one type that every command returns on failure, and how it is shown.
//! Does not belong here: what failed.

use framegate_gateway::exit;

/// A failed command: what to tell people, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    text: String,
}

impl Failure {
    pub(crate) fn new(code: u8, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(exit::USAGE, text)
    }

    pub(crate) fn configuration(text: impl Into<String>) -> Self {
        Self::new(exit::CONFIGURATION, text)
    }

    pub(crate) fn io(text: impl Into<String>) -> Self {
        Self::new(exit::IO, text)
    }

    pub(crate) const fn code(&self) -> u8 {
        self.code
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}
