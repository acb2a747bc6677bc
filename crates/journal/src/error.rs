//! What can go wrong with a journal.
//!
//! Belongs here: the crate's one error enum and its parts.
//! Does not belong here: what a caller does about it.

use core::fmt;
use std::io;

/// A journal that cannot be opened, written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The folder is not one to trust.
    #[error("the journal folder `{path}` cannot be used: {fault}")]
    Folder {
        /// The folder, escaped.
        path: String,
        /// What is wrong with it.
        #[source]
        fault: Fault,
    },
    /// A file in the folder is not one to trust.
    #[error("the journal file `{file}` cannot be used: {fault}")]
    File {
        /// The file's name, escaped.
        file: String,
        /// What is wrong with it.
        #[source]
        fault: Fault,
    },
    /// The operating system refused an operation.
    #[error("cannot {operation} the journal file `{file}`: {source}")]
    Io {
        /// What was tried.
        operation: Operation,
        /// The file's name, escaped.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// An earlier operation failed: what the file holds is no longer certain, so it is not used again.
    #[error("the journal file `{file}` is not used any more: an earlier attempt to {operation} it failed")]
    Failed {
        /// What failed.
        operation: Operation,
        /// The file's name, escaped.
        file: String,
    },
    /// Nothing may be recorded before the `start` record.
    #[error("the journal has no start record yet")]
    NotStarted,
    /// The operating system gave no randomness.
    #[error("no randomness for the journal: {0}")]
    Randomness(#[source] getrandom::Error),
    /// A record that is read back is not sound.
    #[error("the journal file `{file}` is not sound at line {line}: {fault}")]
    Record {
        /// The file's name, escaped.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        fault: RecordFault,
    },
}

/// Why a folder or file is not used.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// It exists already.
    #[error("it exists already")]
    Exists,
    /// It is a symbolic link.
    #[error("it is a symbolic link")]
    SymbolicLink,
    /// It is not a folder; a symbolic link to one is not followed.
    #[error("it is not a folder (symbolic links are not followed)")]
    NotFolder,
    /// It is a pipe, a device, a socket or a folder.
    #[error("it is not a regular file")]
    NotRegular,
    /// It belongs to another user.
    #[error("it belongs to another user")]
    ForeignOwner,
    /// Its group or others may write to it, or, for a file, read it.
    #[error("its mode {0:04o} opens it to others; remove their permissions with chmod")]
    OpenToOthers(u32),
    /// A key has a fixed length.
    #[error("it does not hold exactly 32 bytes")]
    KeyLength,
    /// The operating system refused.
    #[error("{0}")]
    Io(#[source] io::Error),
}

impl From<rustix::io::Errno> for Fault {
    fn from(errno: rustix::io::Errno) -> Self {
        match errno {
            rustix::io::Errno::EXIST => Self::Exists,
            rustix::io::Errno::LOOP => Self::SymbolicLink,
            rustix::io::Errno::NOTDIR => Self::NotFolder,
            _ => Self::Io(errno.into()),
        }
    }
}

/// What was done with a file when it failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Building a record.
    Encode,
    /// Reading.
    Read,
    /// Appending records.
    Write,
    /// Bringing them to the disk.
    Sync,
    /// Making sure that they are in the file that has the name.
    Verify,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encode => "encode a record for",
            Self::Read => "read",
            Self::Write => "write",
            Self::Sync => "sync",
            Self::Verify => "verify",
        })
    }
}

/// Why a line is not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordFault {
    /// No record is so long.
    #[error("the line is too long to be a record")]
    TooLong,
    /// The line is not what was written.
    #[error("its checksum is missing or wrong")]
    Checksum,
    /// The line is not a JSON object with the header of a record.
    #[error("it is not a record")]
    Malformed,
    /// The record was written in a format that this version cannot read.
    #[error("it has format version {0}, which this version cannot read")]
    Version(u64),
    /// A record is missing, doubled or moved.
    #[error("its sequence number is {found} instead of {expected}")]
    Sequence {
        /// The number that must come here.
        expected: u64,
        /// The number found.
        found: u64,
    },
    /// The kind does not exist in this format version, or not in this file.
    #[error("its kind does not belong in this file")]
    Kind,
    /// The record does not hold what its kind holds.
    #[error("its members are not those of its kind")]
    Members,
    /// A file of actions begins with its `start` record.
    #[error("the file does not begin with a start record")]
    NoStart,
}
