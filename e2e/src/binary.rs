//! The program under test: the release binary, copied alone into an empty folder.
//!
//! Belongs here: finding and copying it. Does not belong here: starting it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

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

/// The copy of the program under test: the only file of its folder, below the build folder. Made
/// anew for every build of the program, and used by every test process.
///
/// # Panics
/// If there is no binary, with the command that builds it.
#[must_use]
pub fn program() -> &'static Path {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    COPY.get_or_init(|| {
        let source = std::env::var_os(VARIABLE)
            .map_or_else(|| target_folder().join("release/framegate"), PathBuf::from);
        let Ok(metadata) = source.metadata() else {
            panic!(
                "there is no program to test at `{}`; build it with `cargo build --release -p framegate` or name one in {VARIABLE}",
                source.display()
            );
        };
        let changed = metadata.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let build = format!("{}-{}", metadata.len(), changed.unwrap_or_default().as_nanos());
        let copies = target_folder().join("e2e-alone");
        let folder = copies.join(build);
        if !folder.join("framegate").exists() {
            // Made aside and moved into place whole: another test process may do the same.
            std::fs::create_dir_all(&copies).expect("the build folder can be written");
            let aside = tempfile::tempdir_in(&copies).expect("the build folder can be written");
            std::fs::copy(&source, aside.path().join("framegate")).expect("the program is copied");
            if std::fs::rename(aside.path(), &folder).is_ok() {
                let _ = aside.keep();
            }
        }
        folder.join("framegate")
    })
}
