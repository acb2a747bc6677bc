//! Who asks: fixed at start, never taken from what a peer says of itself.
//!
//! Belongs here: the principal's parts.
//! Does not belong here: `clientInfo`, which is claimed text.

/// The client that this process serves, and the operating system user that it runs as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    client: String,
    user: u32,
}

impl Principal {
    /// A principal from `--client` or the configuration, and the process's user id.
    #[must_use]
    pub const fn new(client: String, user: u32) -> Self {
        Self { client, user }
    }

    /// The client's configured name.
    #[must_use]
    pub fn client(&self) -> &str {
        &self.client
    }

    /// The operating system user id of this process.
    #[must_use]
    pub const fn user(&self) -> u32 {
        self.user
    }
}
