//! Targets without the caller's home and network: `--isolate`.
//!
//! Belongs here: entering it, the home that targets get. Does not belong here: how a target is started.
//!
//! The bench itself enters, so that its recorders listen on the same loopback that targets reach.

mod network;

use std::io;
use std::path::Path;

use tempfile::TempDir;

/// Variables that lead to a user's folders (XDG Base Directory Specification).
pub(crate) const XDG: &[&str] =
    &["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"];

/// A temporary home, and a network that is loopback only. Dropped, the home is removed; the network stays as it is.
#[derive(Debug)]
pub struct Isolation {
    home: TempDir,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum IsolationError {
    /// The system gives no network of one's own.
    #[error(
        "the network cannot be cut off ({0}): that takes user namespaces, or CAP_SYS_ADMIN; without --isolate, run the check \
         in a container or a virtual machine that has no network"
    )]
    Network(#[source] io::Error),
    /// No temporary folder can be made.
    #[error("a temporary home cannot be made: {0}")]
    Home(#[source] io::Error),
}

impl Isolation {
    /// Takes this process's network away but for loopback. It must have one thread.
    ///
    /// # Errors
    /// If the system refuses; then nothing may be started, since it would not be isolated.
    pub fn enter() -> Result<Self, IsolationError> {
        let home = TempDir::with_prefix("framegate-home-").map_err(IsolationError::Home)?;
        network::cut_off().map_err(IsolationError::Network)?;
        Ok(Self { home })
    }

    /// The home of its targets.
    #[must_use]
    pub fn home(&self) -> &Path {
        self.home.path()
    }
}
