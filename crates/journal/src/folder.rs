//! The journal's folder: opening it and the files in it without being led astray.
//!
//! Belongs here: flags, owners, modes, and judging the *opened* descriptor.
//! Does not belong here: what files hold.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::error::{Fault, JournalError};
use crate::escape::printable;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An opened folder. Every file is opened relative to this descriptor, so that a folder which is
/// swapped later is not used.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: File,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder to write in it; makes it (0700) if it is missing, but not the folders above it.
    pub(crate) fn open_or_create(path: &Path) -> Result<Self, JournalError> {
        let created = match rustix::fs::mkdir(path, Mode::RWXU) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(folder_error(path, errno.into())),
        };
        let folder = Self::open(path)?;
        if created {
            folder.sync_parent().map_err(|errno| folder_error(path, errno.into()))?;
        }
        folder.judge().map_err(|fault| folder_error(path, fault))?;
        Ok(folder)
    }

    /// Opens the folder to read it.
    pub(crate) fn open(path: &Path) -> Result<Self, JournalError> {
        let descriptor = rustix::fs::open(path, FOLDER, Mode::empty()).map_err(|errno| {
            let fault = if errno == Errno::LOOP { Fault::NotFolder } else { errno.into() };
            folder_error(path, fault)
        })?;
        Ok(Self { descriptor: File::from(descriptor), path: path.to_owned() })
    }

    fn judge(&self) -> Result<(), Fault> {
        let metadata = self.descriptor.metadata().map_err(Fault::Io)?;
        let mode = metadata.mode() & 0o7777;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(Fault::ForeignOwner);
        }
        if mode & 0o022 != 0 {
            return Err(Fault::OpenToOthers(mode));
        }
        Ok(())
    }

    fn sync_parent(&self) -> Result<(), Errno> {
        let parent = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            Some(_) | None => Path::new("."),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::fsync(rustix::fs::open(parent, flags, Mode::empty())?)
    }

    /// Brings the folder's entries to the disk.
    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        rustix::fs::fsync(&self.descriptor).map_err(|errno| folder_error(&self.path, errno.into()))
    }

    /// Makes a new file (0600) that only this process will write to. The entry is not synced yet.
    pub(crate) fn create(&self, name: &str) -> Result<File, JournalError> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let file = self.open_file(name, flags)?;
        judge_private(&file).map_err(|fault| file_error(name, fault))?;
        Ok(file)
    }

    /// Opens a regular file to read it, whoever owns it.
    pub(crate) fn read(&self, name: &str) -> Result<File, JournalError> {
        self.open_file(name, OFlags::RDONLY)
    }

    /// Opens a file to read it that nobody else may have read or written; `None` if there is none.
    pub(crate) fn read_private(&self, name: &str) -> Result<Option<File>, JournalError> {
        match self.open_file(name, OFlags::RDONLY) {
            Ok(file) => {
                judge_private(&file).map_err(|fault| file_error(name, fault))?;
                Ok(Some(file))
            }
            Err(JournalError::File { fault: Fault::Io(error), .. })
                if error.kind() == std::io::ErrorKind::NotFound =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn open_file(&self, name: &str, flags: OFlags) -> Result<File, JournalError> {
        // Without NONBLOCK, opening a pipe would wait for its other end.
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = match rustix::fs::openat(&self.descriptor, name, flags, mode) {
            Ok(descriptor) => File::from(descriptor),
            // A socket, or a pipe opened for writing without a reader.
            Err(Errno::NXIO) => return Err(file_error(name, Fault::NotRegular)),
            Err(errno) => return Err(file_error(name, errno.into())),
        };
        let metadata = file.metadata().map_err(|error| file_error(name, Fault::Io(error)))?;
        if !metadata.is_file() {
            return Err(file_error(name, Fault::NotRegular));
        }
        Ok(file)
    }

    /// Gives a second name to a file; `false` if that name is taken.
    pub(crate) fn link(&self, from: &str, to: &str) -> Result<bool, JournalError> {
        let folder = self.descriptor.as_fd();
        match rustix::fs::linkat(folder, from, folder, to, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(file_error(to, errno.into())),
        }
    }

    /// Removes a name.
    pub(crate) fn unlink(&self, name: &str) -> Result<(), JournalError> {
        rustix::fs::unlinkat(&self.descriptor, name, AtFlags::empty())
            .map_err(|errno| file_error(name, errno.into()))
    }

    /// The names in the folder that end so, in order. Names that are not UTF-8 are none of ours.
    pub(crate) fn names(&self, suffixes: &[&str]) -> Result<Vec<String>, JournalError> {
        let fail = |errno: Errno| folder_error(&self.path, errno.into());
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(&self.descriptor).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if suffixes.iter().any(|suffix| name.ends_with(suffix)) {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }
}

fn judge_private(file: &File) -> Result<(), Fault> {
    let metadata = file.metadata().map_err(Fault::Io)?;
    if metadata.uid() != rustix::process::geteuid().as_raw() {
        return Err(Fault::ForeignOwner);
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(Fault::OpenToOthers(metadata.mode() & 0o7777));
    }
    Ok(())
}

fn folder_error(path: &Path, fault: Fault) -> JournalError {
    JournalError::Folder { path: printable(&path.to_string_lossy()), fault }
}

pub(crate) fn file_error(name: &str, fault: Fault) -> JournalError {
    JournalError::File { file: printable(name), fault }
}
