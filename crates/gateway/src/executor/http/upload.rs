//! A file as the body of a request.
//!
//! Belongs here: opening a file beneath its declared root, reading all of it within bounds.
//! Does not belong here: which file an agent may name, sending.

use std::fs::File;
use std::io::Read as _;

use bytes::Bytes;
use framegate_gate::action::LocalFile;
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

/// The longest file that is sent, in bytes.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Why a file cannot be sent. An agent reads it: it says nothing of what else is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum UploadError {
    #[error("the root of its files cannot be opened")]
    Root,
    #[error("there is no such file, or it lies behind a symbolic link")]
    Missing,
    #[error("it is no regular file")]
    NotRegular,
    #[error("it cannot be read")]
    Unreadable,
    #[error("it is longer than {MAX_BYTES} bytes")]
    TooLong,
}

/// A file that was read.
pub(super) struct Upload {
    pub(super) bytes: Bytes,
    /// Of these bytes, in lower-case hexadecimal.
    pub(super) sha256: String,
}

/// Reads the file. No component of its path beneath the root may be a symbolic link, or lead out of the root: the
/// kernel sees to it while it opens the file (openat2(2)).
pub(super) fn read(file: &LocalFile) -> Result<Upload, UploadError> {
    let folder = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = open(file.root(), folder, Mode::empty()).map_err(|_| UploadError::Root)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = openat2(&root, file.path(), flags, Mode::empty(), beneath).map_err(|fault| match fault {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV => UploadError::Missing,
        Errno::NXIO | Errno::ISDIR => UploadError::NotRegular,
        _ => UploadError::Unreadable,
    })?;
    let opened = File::from(opened);
    let metadata = opened.metadata().map_err(|_| UploadError::Unreadable)?;
    if !metadata.is_file() {
        return Err(UploadError::NotRegular);
    }
    let bound = u64::try_from(MAX_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    opened.take(bound).read_to_end(&mut bytes).map_err(|_| UploadError::Unreadable)?;
    if bytes.len() > MAX_BYTES {
        return Err(UploadError::TooLong);
    }
    let sha256 = hexadecimal(&Sha256::digest(&bytes));
    Ok(Upload { bytes: bytes.into(), sha256 })
}

/// Bytes in lower-case hexadecimal.
pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
