//! Opening a file that decides what may be done.
//!
//! Belongs here: who may have written the file, by its owner, its mode, and the folders and links on
//! the way to it; a bounded read that never waits.
//! Does not belong here: what is in the file.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::fault::printable;
use super::group;

/// Why a file is not used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileFault {
    /// It was replaced while it was looked at.
    #[error("was replaced while it was read")]
    Changed,
    /// A folder on the way to it can be written by others, who could replace the file.
    #[error("lies under `{folder}`, which other users can write to", folder = shown(.0))]
    FolderOpen(PathBuf),
    /// Something on the way to it, in a folder that all can write to, belongs to another user.
    #[error("is reached through `{entry}`, which belongs to another user", entry = shown(.0))]
    ForeignEntry(PathBuf),
    /// It is owned by neither this process's user nor root.
    #[error("belongs to another user")]
    ForeignOwner,
    /// Its mode lets a group with other members write.
    #[error("can be written by its group; run `chmod g-w` on it")]
    GroupWritable,
    /// It does not exist.
    #[error("does not exist")]
    Missing,
    /// It is a folder, a pipe, a device or a socket.
    #[error("is not a regular file")]
    NotRegular,
    /// Its mode lets everyone write.
    #[error("can be written by everyone; run `chmod o-w` on it")]
    OtherWritable,
    /// It is larger than the bound.
    #[error("is larger than {limit} bytes", limit = .0)]
    TooLarge(usize),
    /// Symbolic links lead in a circle, or too far.
    #[error("is behind too many symbolic links")]
    TooManyLinks,
    /// It cannot be opened or read.
    #[error("cannot be read")]
    Unreadable,
}

/// As many links as the kernel follows (`path_resolution(7)`).
const MAX_LINKS: u32 = 40;

/// Reads the file at an absolute `path`, at most `limit` bytes.
///
/// The opened descriptor is judged, not the path, so that what was judged is what is read. Opening
/// neither waits for a pipe's writer nor acquires a terminal.
///
/// # Errors
/// [`FileFault`].
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, FileFault> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(open_fault)?;
    let file = File::from(descriptor);
    let metadata = file.metadata().map_err(|_| FileFault::Unreadable)?;
    if !metadata.is_file() {
        return Err(FileFault::NotRegular);
    }
    judge_file(&metadata)?;
    let reached = walk(path)?;
    if (reached.dev(), reached.ino()) != (metadata.dev(), metadata.ino()) {
        return Err(FileFault::Changed);
    }
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    file.take(bound).read_to_end(&mut bytes).map_err(|_| FileFault::Unreadable)?;
    if bytes.len() > limit {
        return Err(FileFault::TooLarge(limit));
    }
    Ok(bytes)
}

fn open_fault(error: Errno) -> FileFault {
    match error {
        Errno::NOENT | Errno::NOTDIR => FileFault::Missing,
        Errno::LOOP => FileFault::TooManyLinks,
        // A socket, or a device without a driver.
        Errno::NXIO | Errno::NODEV => FileFault::NotRegular,
        _ => FileFault::Unreadable,
    }
}

fn judge_file(metadata: &Metadata) -> Result<(), FileFault> {
    if !is_trusted(metadata.uid()) {
        return Err(FileFault::ForeignOwner);
    }
    if metadata.mode() & 0o002 != 0 {
        return Err(FileFault::OtherWritable);
    }
    if metadata.mode() & 0o020 != 0 && !group::is_private(metadata.gid(), metadata.uid()) {
        return Err(FileFault::GroupWritable);
    }
    Ok(())
}

/// Follows `path` as the kernel does and judges every folder and link on the way.
fn walk(path: &Path) -> Result<Metadata, FileFault> {
    let mut at = PathBuf::from("/");
    let mut pending: Vec<OsString> = parts(path);
    let mut links: u32 = 0;
    let mut shared = folder_is_shared(&at, &stat(&at)?)?;
    while let Some(part) = pending.pop() {
        if part == ".." {
            at.pop();
            shared = folder_is_shared(&at, &stat(&at)?)?;
            continue;
        }
        let entry = at.join(&part);
        let metadata = stat(&entry)?;
        // In a folder like /tmp, anyone may have put this here.
        if shared && !is_trusted(metadata.uid()) {
            return Err(FileFault::ForeignEntry(entry));
        }
        if metadata.is_symlink() {
            links = links.saturating_add(1);
            if links > MAX_LINKS {
                return Err(FileFault::TooManyLinks);
            }
            let target = std::fs::read_link(&entry).map_err(|_| FileFault::Unreadable)?;
            if target.is_absolute() {
                at = PathBuf::from("/");
                shared = folder_is_shared(&at, &stat(&at)?)?;
            }
            pending.extend(parts(&target));
        } else if metadata.is_dir() {
            shared = folder_is_shared(&entry, &metadata)?;
            at = entry;
        } else if pending.is_empty() {
            return Ok(metadata);
        } else {
            return Err(FileFault::Missing);
        }
    }
    Err(FileFault::NotRegular)
}

/// The parts of a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter_map(|component| match component {
        Component::Normal(part) => Some(part.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    let mut parts: Vec<OsString> = parts.collect();
    parts.reverse();
    parts
}

fn stat(path: &Path) -> Result<Metadata, FileFault> {
    std::fs::symlink_metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => FileFault::Missing,
        _ => FileFault::Unreadable,
    })
}

/// Whether others may create entries in a folder. Without the sticky bit they could also replace
/// entries, and that is a fault.
fn folder_is_shared(path: &Path, metadata: &Metadata) -> Result<bool, FileFault> {
    let mode = metadata.mode();
    let by_group = mode & 0o020 != 0 && !group::is_private(metadata.gid(), metadata.uid());
    let shared = mode & 0o002 != 0 || by_group;
    if shared && mode & 0o1000 == 0 {
        return Err(FileFault::FolderOpen(path.to_owned()));
    }
    Ok(shared)
}

fn is_trusted(owner: u32) -> bool {
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
