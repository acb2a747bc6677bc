//! A secret in a file. Belongs here: opening it without side effects, judging the opened
//! descriptor, reading a bounded amount. Must not: judge the content.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use zeroize::Zeroizing;

use crate::error::{FileFault, VaultError};
use crate::{Secret, Source};

/// Whether the file can be opened and may be used; nothing of it is read.
pub(crate) fn check(name: &str, path: &Path, allow_group_read: bool) -> Result<(), VaultError> {
    judged(path, allow_group_read).map(|_| ()).map_err(|fault| VaultError::file(name, path, fault))
}

/// Reads the file and removes exactly one line feed from its end.
pub(crate) fn read(name: &str, path: &Path, allow_group_read: bool) -> Result<Secret, VaultError> {
    judged(path, allow_group_read)
        .and_then(|(file, length)| content(file, length))
        .map_err(|fault| VaultError::file(name, path, fault))
}

/// Opens the file and judges the *opened* descriptor, so that what was judged is what is read; gives its length
/// too. Opening neither blocks on a pipe nor acquires a terminal.
fn judged(path: &Path, allow_group_read: bool) -> Result<(File, usize), FileFault> {
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
    folders_are_safe(path, &file)?;
    match usize::try_from(metadata.len()) {
        Ok(0) => Err(FileFault::Empty),
        Ok(length @ ..=Source::MAX_BYTES) => Ok((file, length)),
        _ => Err(FileFault::TooLarge),
    }
}

/// A file of `length` bytes. The buffer has its whole capacity at once, because a vector that grows leaves unzeroed
/// copies behind, and no more than that, because all of it is zeroed byte by byte.
fn content(file: impl Read, length: usize) -> Result<Secret, FileFault> {
    // One byte more than there should be: it shows that there is more.
    let bound = length.saturating_add(1);
    let mut buffer = Zeroizing::new(Vec::with_capacity(bound));
    let limit = u64::try_from(bound).map_err(|_| FileFault::TooLarge)?;
    file.take(limit).read_to_end(&mut buffer).map_err(|_| FileFault::Unreadable)?;
    if buffer.len() != length {
        return Err(FileFault::Changed);
    }
    let content = buffer.strip_suffix(b"\n").unwrap_or(&buffer);
    if content.is_empty() {
        return Err(FileFault::Empty);
    }
    Ok(Secret::new(content.to_vec()))
}

/// Every folder on the way, as written and after symbolic links. One that everyone may write to
/// lets anyone swap the file, unless it is sticky (as `/tmp`) and the entry belongs to its owner.
fn folders_are_safe(path: &Path, file: &File) -> Result<(), FileFault> {
    let resolved = place(path, file).map_err(|_| FileFault::Unreadable)?;
    let linked = (resolved != path).then_some(&*resolved);
    for folder in [Some(path), linked].into_iter().flatten().flat_map(|path| path.ancestors().skip(1)) {
        let metadata = folder.metadata().map_err(|_| FileFault::Unreadable)?;
        let open = metadata.mode() & 0o1002 == 0o002;
        if metadata.is_dir() && open {
            return Err(FileFault::FolderOpenToOthers);
        }
    }
    Ok(())
}

/// Where the opened file lies, without symbolic links. Without `/proc` the path is followed once more instead.
fn place(path: &Path, file: &File) -> io::Result<PathBuf> {
    fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).or_else(|_| path.canonicalize())
}

fn is_own(owner: u32) -> bool {
    owner == 0 || owner == rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_changes_while_it_is_read_is_not_half_a_secret() {
        let read = |bytes: &[u8], length| content(bytes, length).map(|secret| secret.expose_bytes().to_vec());
        assert_eq!(read(b"abc\n", 4), Ok(b"abc".to_vec()));
        assert_eq!(read(b"abc", 4), Err(FileFault::Changed));
        assert_eq!(read(b"abcde", 4), Err(FileFault::Changed));
        assert_eq!(read(b"\n", 1), Err(FileFault::Empty));
    }
}
