//! Where the data shared between checkouts is found, and what happens when it is not.
//!
//! Belongs here: the environment variable and its rule. Does not belong here: reading the data.

use std::path::PathBuf;
use std::sync::Once;

/// The variable that names a folder holding `cases/` and `external/`.
pub const VARIABLE: &str = "FRAMEGATE_SHARED";

/// The folder `name` below the shared data; `None`, said loudly on stderr, if there is none here.
///
/// # Panics
/// If the variable is set but the folder is missing: then a test that was meant to run would not.
#[must_use]
pub fn folder(name: &str) -> Option<PathBuf> {
    static SAID: Once = Once::new();
    let Some(root) = std::env::var_os(VARIABLE) else {
        SAID.call_once(|| {
            eprintln!("SKIPPED: {VARIABLE} is not set, so whatever needs `{name}` is not checked here");
        });
        return None;
    };
    let folder = PathBuf::from(root).join(name);
    assert!(folder.exists(), "{VARIABLE} is set, but `{}` does not exist", folder.display());
    Some(folder)
}
