//! The body of an answer as a file.
//!
//! Belongs here: the place beneath the declared root, writing as the body comes, giving the file its name at the end.
//! Does not belong here: which file an agent may name, what is told of it.
//!
//! The file has no name while it is written (O_TMPFILE, open(2)): nobody reads half of it, and what is given up is gone.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};

use framegate_gate::action::LocalFile;
use framegate_vault::Redactor;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, linkat, open, openat, openat2, statat};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::upload::hexadecimal;

/// Why a file cannot be made. An agent reads it: it says nothing of what else is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SaveError {
    #[error("the root of its files cannot be opened")]
    Root,
    #[error("its folder is not there, or lies behind a symbolic link")]
    Folder,
    #[error("there is a file of this name already")]
    Exists,
    #[error("no file can be made in its folder")]
    Folderless,
}

/// Why a body is not kept as a file, though the target gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotSaved {
    TooLong,
    RepeatsSecret,
    Disk,
    Exists,
}

impl NotSaved {
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::TooLong => "it is longer than what may be saved; nothing was saved",
            Self::RepeatsSecret => "it repeats a credential; nothing was saved",
            Self::Disk => "it could not be written to the disk; nothing was saved",
            Self::Exists => "a file of this name came to be meanwhile; nothing was saved",
        }
    }
}

/// A file that was saved.
#[derive(Debug)]
pub(super) struct Saved {
    pub(super) bytes: u64,
    /// Of its content, in lower-case hexadecimal.
    pub(super) sha256: String,
}

/// A place for a file that is not there yet.
#[derive(Debug)]
pub(super) struct Place {
    folder: OwnedFd,
    name: String,
    file: File,
    limit: u64,
}

impl Place {
    /// Finds the place, before anything is sent. No component of the path beneath the root may be a symbolic link, or
    /// lead out of the root (openat2(2)).
    pub(super) fn find(file: &LocalFile, limit: u64) -> Result<Self, SaveError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let root = open(file.root(), flags, Mode::empty()).map_err(|_| SaveError::Root)?;
        let (folder, name) = file.path().rsplit_once('/').unwrap_or((".", file.path()));
        let folder = openat2(&root, folder, flags, Mode::empty(), beneath).map_err(|_| SaveError::Folder)?;
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {}
            Ok(_) => return Err(SaveError::Exists),
            Err(_) => return Err(SaveError::Folderless),
        }
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let made = openat(&folder, ".", flags, Mode::RUSR | Mode::WUSR).map_err(|_| SaveError::Folderless)?;
        Ok(Self { folder, name: name.to_owned(), file: File::from(made), limit })
    }

    /// Writes the body to its end and gives the file its name.
    pub(super) async fn fill(
        &self,
        mut body: Incoming,
        redactor: &Redactor,
    ) -> Result<Result<Saved, NotSaved>, hyper::Error> {
        let mut net = redactor.stream();
        let (mut digest, mut length) = (Sha256::new(), 0_u64);
        let mut searched = Vec::new();
        let mut found = false;
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            length = length.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX));
            if length > self.limit {
                return Ok(Err(NotSaved::TooLong));
            }
            searched.clear();
            found |= !net.push(&data, &mut searched).is_empty();
            digest.update(&data);
            if (&self.file).write_all(&data).is_err() {
                return Ok(Err(NotSaved::Disk));
            }
        }
        let ending = net.finish(&mut searched);
        if found || ending.suspected || !ending.redactions.is_empty() {
            return Ok(Err(NotSaved::RepeatsSecret));
        }
        Ok(self.name_it().map(|()| Saved { bytes: length, sha256: hexadecimal(&digest.finalize()) }))
    }

    fn name_it(&self) -> Result<(), NotSaved> {
        self.file.sync_data().map_err(|_| NotSaved::Disk)?;
        let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        linkat(CWD, unnamed, &self.folder, &self.name, AtFlags::SYMLINK_FOLLOW).map_err(|fault| match fault {
            Errno::EXIST => NotSaved::Exists,
            _ => NotSaved::Disk,
        })
    }
}
