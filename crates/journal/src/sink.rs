//! The file that records go to, as the few operations that can fail.
//!
//! Belongs here: the operations on an opened file, and nothing that remembers.
//! Does not belong here: what is done when one fails.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;

/// What a file is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// How many names it has; none once it is deleted.
    pub(crate) links: u64,
    /// Its length in bytes.
    pub(crate) size: u64,
}

/// An append-only file. A trait so that tests can make every operation fail.
pub(crate) trait Sink: Send {
    /// Appends a part of the bytes and says how many.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Brings what was written to the disk.
    fn sync(&mut self) -> io::Result<()>;

    /// What the file is now.
    fn state(&self) -> io::Result<State>;

    /// Sets disk space aside beyond the end, without making the file longer.
    fn reserve(&mut self, offset: u64, length: u64) -> io::Result<()>;

    /// Gives back the space beyond this length.
    fn release(&mut self, size: u64) -> io::Result<()>;
}

impl Sink for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::Write::write(self, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.flush().and_then(|()| self.sync_data())
    }

    fn state(&self) -> io::Result<State> {
        let metadata = self.metadata()?;
        Ok(State { links: metadata.nlink(), size: metadata.len() })
    }

    #[cfg(target_os = "linux")]
    fn reserve(&mut self, offset: u64, length: u64) -> io::Result<()> {
        Ok(rustix::fs::fallocate(&*self, rustix::fs::FallocateFlags::KEEP_SIZE, offset, length)?)
    }

    #[cfg(not(target_os = "linux"))]
    fn reserve(&mut self, _offset: u64, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn release(&mut self, size: u64) -> io::Result<()> {
        self.set_len(size)
    }
}
