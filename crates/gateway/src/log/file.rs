//! A log file of bounded size.
//!
//! Belongs here: opening, rotating by size, keeping a number of old files.
//! Does not belong here: what is written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::config::LogFile;

/// The file, `FILE.1` (the youngest of the old ones), `FILE.2`, and so on.
#[derive(Debug)]
pub(super) struct Rotating {
    path: PathBuf,
    max_bytes: u64,
    keep: u32,
    file: File,
    length: u64,
}

impl Rotating {
    pub(super) fn open(settings: &LogFile, protocol: &File) -> io::Result<Self> {
        let (file, length) = open(&settings.path)?;
        let (ours, theirs) = (file.metadata()?, protocol.metadata()?);
        if (ours.dev(), ours.ino()) == (theirs.dev(), theirs.ino()) {
            return Err(io::Error::other("it is the protocol's output"));
        }
        let LogFile { path, max_bytes, keep } = settings.clone();
        Ok(Self { path, max_bytes, keep, file, length })
    }

    /// Appends a line; a line that cannot be written is lost.
    pub(super) fn write(&mut self, line: &[u8]) {
        let added = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.length > 0 && self.length.saturating_add(added) > self.max_bytes {
            self.rotate();
        }
        if self.file.write_all(line).is_ok() {
            self.length = self.length.saturating_add(added);
        }
    }

    fn rotate(&mut self) {
        for number in (1..self.keep).rev() {
            let _ = fs::rename(self.numbered(number), self.numbered(number.saturating_add(1)));
        }
        let moved = if self.keep == 0 {
            fs::remove_file(&self.path)
        } else {
            fs::rename(&self.path, self.numbered(1))
        };
        // Without a new file the old one goes on growing: better long than lost.
        if let (Ok(()), Ok((file, length))) = (moved, open(&self.path)) {
            self.file = file;
            self.length = length;
        }
    }

    fn numbered(&self, number: u32) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    }
}

/// Opens for appending, readable by the owner only, never through a symbolic link, never a device.
fn open(path: &Path) -> io::Result<(File, u64)> {
    let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).unwrap_or_default();
    let file = OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok((file, metadata.len()))
}
