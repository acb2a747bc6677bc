//! A secret in a file. Belongs here: opening it without side effects, judging the opened
//! descriptor, reading a bounded amount. Must not: judge the content.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::mem;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

#[cfg(target_os = "linux")]
use rustix::fs::{CWD, ResolveFlags};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
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
    let (file, follows_links) = match open_without_links(path, flags) {
        Some(file) => (file, false),
        None => (open(path, flags)?, true),
    };
    let stat = rustix::fs::fstat(&file).map_err(|_| FileFault::Unreadable)?;
    if !FileType::from_raw_mode(stat.st_mode).is_file() {
        return Err(FileFault::NotRegular);
    }
    if !is_own(stat.st_uid) {
        return Err(FileFault::ForeignOwner);
    }
    match stat.st_mode & 0o077 {
        0 => {}
        0o040 if allow_group_read => {}
        0o040 => return Err(FileFault::GroupReadable),
        _ => return Err(FileFault::OpenToOthers),
    }
    folders_are_safe(path)?;
    if follows_links {
        folders_are_safe(&place(path, &file).map_err(|_| FileFault::Unreadable)?)?;
    }
    match usize::try_from(stat.st_size) {
        Ok(0) => Err(FileFault::Empty),
        Ok(length @ ..=Source::MAX_BYTES) => Ok((file, length)),
        _ => Err(FileFault::TooLarge),
    }
}

/// Opens the file if there is no symbolic link in `path`: then it lies where the path says, and need not be asked
/// where (openat2(2), since Linux 5.6).
#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> Option<File> {
    let resolve = ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve).ok().map(File::from)
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(_: &Path, _: OFlags) -> Option<File> {
    None
}

fn open(path: &Path, flags: OFlags) -> Result<File, FileFault> {
    rustix::fs::open(path, flags, Mode::empty()).map(File::from).map_err(|error| match error {
        Errno::NOENT | Errno::NOTDIR => FileFault::Missing,
        Errno::NXIO => FileFault::NotRegular,
        _ => FileFault::Unreadable,
    })
}

/// A file of `length` bytes. The buffer has its whole length at once, because a vector that grows leaves unzeroed
/// copies behind.
fn content(mut file: impl Read, length: usize) -> Result<Secret, FileFault> {
    // One byte more than there should be: it shows that there is more.
    let mut buffer = Zeroizing::new(vec![0; length.saturating_add(1)]);
    let mut count: usize = 0;
    // A read that could give more than the file's length and gives exactly that has met the end.
    while count < length {
        let rest = buffer.get_mut(count..).unwrap_or_default();
        match file.read(rest) {
            Ok(0) => break,
            Ok(more) => count = count.saturating_add(more),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return Err(FileFault::Unreadable),
        }
    }
    if count != length {
        return Err(FileFault::Changed);
    }
    buffer.truncate(length);
    if buffer.last() == Some(&b'\n') {
        buffer.pop();
    }
    if buffer.is_empty() {
        return Err(FileFault::Empty);
    }
    Ok(Secret::new(mem::take(&mut *buffer)))
}

/// Every folder above `path`. One that everyone may write to lets anyone swap the file, unless it is sticky (as
/// `/tmp`) and the entry belongs to its owner.
fn folders_are_safe(path: &Path) -> Result<(), FileFault> {
    for folder in path.ancestors().skip(1) {
        let mode = rustix::fs::stat(folder).map_err(|_| FileFault::Unreadable)?.st_mode;
        let open = mode & 0o1002 == 0o002;
        if FileType::from_raw_mode(mode).is_dir() && open {
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

    #[test]
    fn a_file_that_comes_in_pieces_is_read_whole() {
        let read = |length| {
            content((&b"ab"[..]).chain(&b"cd"[..]), length).map(|secret| secret.expose_bytes().to_vec())
        };
        assert_eq!(read(4), Ok(b"abcd".to_vec()));
        assert_eq!(read(3), Err(FileFault::Changed));
        assert_eq!(read(5), Err(FileFault::Changed));
    }
}
