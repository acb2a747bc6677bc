//! stdout gets one owner, first thing in the process.
//!
//! Belongs here: private copies of descriptors 0 and 1, what stands in their place, merged streams.
//! Does not belong here: reading and writing.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, major, minor};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use super::inherit::mark_close_on_exec;

/// The lowest number for a private copy: far from those that careless code writes to.
const PRIVATE: i32 = 10;

/// The protocol's own descriptors. Nobody else has them.
#[derive(Debug)]
pub struct Protocol {
    /// Where requests come from.
    pub input: File,
    /// Where replies go.
    pub output: File,
}

/// Where diagnostics can go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Diagnostics {
    /// stderr is a stream of its own.
    Stderr,
    /// stdout and stderr were one stream (`2>&1`): nothing may be written to it but the protocol.
    Merged,
}

/// Why the standard descriptors cannot carry the protocol.
#[derive(Debug, thiserror::Error)]
pub enum TakeoverError {
    /// stdout is closed or `/dev/null`.
    #[error("stdout is closed or /dev/null: replies would be lost")]
    NoOutput,
    /// stdout cannot be written to.
    #[error("stdout is not open for writing")]
    NotWritable,
    /// The operating system refused.
    #[error("cannot take over the standard descriptors: {0}")]
    System(#[from] io::Error),
}

/// Moves the protocol to private descriptors and puts harmless ones in their place: descriptor 1 becomes
/// stderr, descriptor 0 `/dev/null`. If stdout and stderr are one stream, 1 and 2 both become `/dev/null`.
///
/// To be called before anything else runs in the process.
///
/// # Errors
/// [`TakeoverError`]; nothing may be read then.
pub fn take_over() -> Result<(Protocol, Diagnostics), TakeoverError> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
    // The standard library opens `/dev/null` in place of a descriptor that was closed at start.
    if is_null(stdout.as_fd())? {
        return Err(TakeoverError::NoOutput);
    }
    let mode = fcntl_getfl(&stdout).map_err(io::Error::from)?;
    if !mode.intersects(OFlags::WRONLY | OFlags::RDWR) {
        return Err(TakeoverError::NotWritable);
    }
    mark_close_on_exec();
    let input = private_copy(stdin.as_fd())?;
    let output = private_copy(stdout.as_fd())?;
    let merged = is_same(stdout.as_fd(), stderr.as_fd())?;
    dup2_stdin(&null).map_err(io::Error::from)?;
    if merged {
        dup2_stdout(&null).map_err(io::Error::from)?;
        dup2_stderr(&null).map_err(io::Error::from)?;
    } else {
        dup2_stdout(&stderr).map_err(io::Error::from)?;
    }
    let diagnostics = if merged { Diagnostics::Merged } else { Diagnostics::Stderr };
    Ok((Protocol { input: File::from(input), output: File::from(output) }, diagnostics))
}

fn private_copy(descriptor: impl AsFd) -> io::Result<OwnedFd> {
    fcntl_dupfd_cloexec(descriptor, PRIVATE).map_err(io::Error::from)
}

/// Whether the descriptor is the null device.
fn is_null(descriptor: impl AsFd) -> io::Result<bool> {
    let status = fstat(descriptor).map_err(io::Error::from)?;
    let is_device = FileType::from_raw_mode(status.st_mode) == FileType::CharacterDevice;
    Ok(is_device && major(status.st_rdev) == 1 && minor(status.st_rdev) == 3)
}

/// Whether two descriptors are one pipe, socket, terminal or file.
fn is_same(one: impl AsFd, other: impl AsFd) -> io::Result<bool> {
    let (one, other) = (fstat(one).map_err(io::Error::from)?, fstat(other).map_err(io::Error::from)?);
    Ok(one.st_dev == other.st_dev && one.st_ino == other.st_ino)
}
