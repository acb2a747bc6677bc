//! A watched folder: what a target finds and writes there.
//!
//! Belongs here: files that it is started with; names and contents beneath one folder, searched for a marker.
//! Does not belong here: other places; a folder is what the operator pointed the target at.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use tempfile::TempDir;

use super::{Sight, excerpt, holds};

/// The most that is read of a file, in bytes, and how many entries are looked at.
const MAX_FILE: u64 = 4 * 1024 * 1024;
const MAX_ENTRIES: usize = 10_000;

/// A folder of its own, removed with the value.
#[derive(Debug)]
pub(crate) struct Folder {
    folder: TempDir,
}

impl Folder {
    pub(crate) fn make() -> io::Result<Self> {
        Ok(Self { folder: tempfile::Builder::new().prefix("framegate-check-").tempdir()? })
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file that the target is to find here, readable by its owner only.
    pub(crate) fn provide(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path().join(name);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    }

    /// Every entry whose name or content holds the marker.
    pub(crate) fn sights(&self, marker: &str) -> Vec<Sight> {
        let mut sights = Vec::new();
        let mut folders = vec![self.path().to_owned()];
        let mut left = MAX_ENTRIES;
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                left = left.saturating_sub(1);
                if left == 0 {
                    return sights;
                }
                let path = entry.path();
                let relative = path.strip_prefix(self.path()).unwrap_or(&path).to_string_lossy().into_owned();
                let Ok(kind) = entry.file_type() else { continue };
                let in_name = holds(relative.as_bytes(), marker.as_bytes());
                let in_content = kind.is_file() && content_holds(&path, marker);
                if in_name || in_content {
                    let what = if in_name { "exists" } else { "holds the marker" };
                    sights.push(Sight {
                        observer: "folder",
                        what: format!("{} {what}", excerpt(relative.as_bytes(), 200)),
                    });
                }
                if kind.is_dir() {
                    folders.push(path);
                }
            }
        }
        sights
    }
}

fn content_holds(path: &Path, marker: &str) -> bool {
    let small = fs::metadata(path).is_ok_and(|metadata| metadata.len() <= MAX_FILE);
    small && fs::read(path).is_ok_and(|content| holds(&content, marker.as_bytes()))
}
