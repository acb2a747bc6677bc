//! What `e2e/clients/setup.sh` installs below `.test-env/`, and what happens when it is not there.
//!
//! Belongs here: finding it. Does not belong here: what it is used for.

use std::path::PathBuf;

use crate::{binary, shared};

/// The folder that `name` is installed in; `None`, said loudly on stderr, where it is not and need not be.
///
/// # Panics
/// If it is not installed although [`shared::VARIABLE`] is set, as in CI: then a test that was meant to run would not.
#[must_use]
pub fn folder(name: &str) -> Option<PathBuf> {
    let folder = binary::workspace().join(".test-env").join(name);
    if folder.join("installed").exists() {
        return Some(folder);
    }
    assert!(
        std::env::var_os(shared::VARIABLE).is_none(),
        "`{name}` is not installed: run e2e/clients/setup.sh"
    );
    eprintln!("SKIPPED: `{name}` is not installed: run e2e/clients/setup.sh");
    None
}
