//! The program under test: the release binary, copied alone into an empty folder.
//!
//! Belongs here: finding and copying it. Does not belong here: starting it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The variable that names another binary to test.
pub const VARIABLE: &str = "FRAMEGATE_BIN";

/// The workspace's root folder.
#[must_use]
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("e2e lies in the workspace")
}

/// The folder that build products and kept transcripts lie in.
#[must_use]
pub fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// The copy of the program under test: the only file of its folder, made once a process.
///
/// # Panics
/// If there is no binary, with the command that builds it.
#[must_use]
pub fn program() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let source = std::env::var_os(VARIABLE)
            .map_or_else(|| target_folder().join("release/framegate"), PathBuf::from);
        assert!(
            source.is_file(),
            "there is no program to test at `{}`; build it with `cargo build --release -p framegate` \
             or name one in {VARIABLE}",
            source.display()
        );
        let folder =
            tempfile::Builder::new().prefix("framegate-alone-").tempdir().expect("a temporary folder").keep();
        let copy = folder.join("framegate");
        std::fs::copy(&source, &copy).expect("the program is copied");
        copy
    })
}
