//! A secret in a file. Belongs here: opening it without side effects, judging the opened
//! descriptor, reading a bounded amount. Must not: judge the content.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use zeroize::Zeroizing;

use crate::error::{FileFault, VaultError};
use crate::{Secret, Source};

/// Opens the file and judges the *opened* descriptor, so that what was judged is what is read.
/// Opening neither blocks on a pipe nor acquires a terminal.
pub(crate) fn open(name: &str, path: &Path, allow_group_read: bool) -> Result<File, VaultError> {
    judged(path, allow_group_read).map_err(|fault| VaultError::file(name, path, fault))
}

/// Reads the file and removes exactly one line feed from its end.
pub(crate) fn read(name: &str, path: &Path, allow_group_read: bool) -> Result<Secret, VaultError> {
    let fault = |fault| VaultError::file(name, path, fault);
    let file = open(name, path, allow_group_read)?;
    let limit = Source::MAX_BYTES.saturating_add(1);
    // The whole capacity at once: a vector that grows leaves unzeroed copies behind.
    let mut buffer = Zeroizing::new(Vec::with_capacity(limit.saturating_add(1)));
    let bound = u64::try_from(limit).map_err(|_| fault(FileFault::TooLarge))?;
    file.take(bound).read_to_end(&mut buffer).map_err(|_| fault(FileFault::Unreadable))?;
    if buffer.len() > Source::MAX_BYTES {
        return Err(fault(FileFault::TooLarge));
    }
    let content = buffer.strip_suffix(b"\n").unwrap_or(&buffer);
    if content.is_empty() {
        return Err(fault(FileFault::Empty));
    }
    Ok(Secret::new(content.to_vec()))
}

fn judged(path: &Path, allow_group_read: bool) -> Result<File, FileFault> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let descriptor = rustix::fs::open(path, flags, Mode::empty()).map_err(|error| match error {
        rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR => FileFault::Missing,
        rustix::io::Errno::NXIO => FileFault::NotRegular,
        _ => FileFault::Unreadable,
    })?;
    let file = File::from(descriptor);
    let metadata = file.metadata().map_err(|_| FileFault::Unreadable)?;
    if !metadata.is_file() {
        return Err(FileFault::NotRegular);
    }
    if !is_own(metadata.uid()) {
        return Err(FileFault::ForeignOwner);
    }
    match metadata.mode() & 0o077 {
        0 => {}
        0o040 if allow_group_read => {}
        0o040 => return Err(FileFault::GroupReadable),
        _ => return Err(FileFault::OpenToOthers),
    }
    if metadata.len() == 0 {
        return Err(FileFault::Empty);
    }
    let limit = u64::try_from(Source::MAX_BYTES).map_err(|_| FileFault::TooLarge)?;
    if metadata.len() > limit {
        return Err(FileFault::TooLarge);
    }
    folders_are_safe(path)?;
    Ok(file)
}

/// Every folder on the way, as written and after symbolic links. One that everyone may write to
/// lets anyone swap the file, unless it is sticky (as `/tmp`) and the entry belongs to its owner.
fn folders_are_safe(path: &Path) -> Result<(), FileFault> {
    let resolved = path.canonicalize().map_err(|_| FileFault::Unreadable)?;
    for folder in path.ancestors().chain(resolved.ancestors()).skip(1) {
        let metadata = folder.metadata().map_err(|_| FileFault::Unreadable)?;
        let open = metadata.mode() & 0o1002 == 0o002;
        if metadata.is_dir() && open {
            return Err(FileFault::FolderOpenToOthers);
        }
    }
    Ok(())
}

fn is_own(owner: u32) -> bool {
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}
