//! Appends whole records to one file, or nothing ever again.
//!
//! Belongs here: numbering, one write a batch, the sync, the space set aside, the first failure.
//! Does not belong here: what records say, the operating system.

use std::io;

use crate::encode::{Body, write_line};
use crate::error::{JournalError, Operation};
use crate::sink::Sink;

/// Bytes set aside at a time, so that a disk filled by others still takes intents and outcomes.
pub(crate) const RESERVE: u64 = 16 * 1024 * 1024;

/// When less than this is left of the space set aside, the next piece is asked for.
const RESERVE_MARGIN: u64 = 1024 * 1024;

/// Bytes that most lines stay below.
const TYPICAL_LINE: usize = 2_048;

/// One file of records.
///
/// After a write that failed, a later record could end up glued to half of an earlier one; after a sync
/// that failed, Linux may report the next one as good although data was lost. So the first failure is the
/// last operation.
pub(crate) struct Lines {
    sink: Box<dyn Sink>,
    file: String,
    /// The number of the last record.
    sequence: u64,
    size: u64,
    reserved: u64,
    reserving: bool,
    failed: Option<Operation>,
}

impl Lines {
    pub(crate) fn new(sink: Box<dyn Sink>, file: String) -> Self {
        Self { sink, file, sequence: 0, size: 0, reserved: 0, reserving: false, failed: None }
    }

    /// Sets space aside from now on, as far as the file system can; says how many bytes.
    pub(crate) fn reserve(&mut self) -> u64 {
        self.reserving = true;
        self.reserve_next(0);
        self.reserved
    }

    /// Whether no operation has failed yet.
    pub(crate) fn ready(&self) -> Result<(), JournalError> {
        match self.failed {
            None => Ok(()),
            Some(operation) => Err(JournalError::Failed { operation, file: self.file.clone() }),
        }
    }

    /// The file's name.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Bytes written.
    pub(crate) const fn size(&self) -> u64 {
        self.size
    }

    /// The bytes that these records would take now.
    pub(crate) fn encode(&self, at: &str, batch: &[Body]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(batch.len().saturating_mul(TYPICAL_LINE));
        let mut sequence = self.sequence;
        for body in batch {
            sequence = sequence.saturating_add(1);
            write_line(&mut bytes, sequence, at, body);
        }
        bytes
    }

    /// Appends all records of a batch, in one write, and syncs them if asked to.
    ///
    /// Only `Ok` says that they are in the file; after an error none, some or all of them may be.
    pub(crate) fn append(&mut self, at: &str, batch: &[Body], sync: bool) -> Result<(), JournalError> {
        self.ready()?;
        let bytes = self.encode(at, batch);
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.reserve_next(length);
        self.attempt(Operation::Write, |sink| write_all(sink, &bytes))?;
        self.size = self.size.saturating_add(length);
        self.sequence = self.sequence.saturating_add(u64::try_from(batch.len()).unwrap_or(u64::MAX));
        if sync {
            self.sync()?;
        }
        let size = self.size;
        self.attempt(Operation::Verify, |sink| {
            let state = sink.state()?;
            match (state.links, state.size == size) {
                (0, _) => Err(io::Error::other("the file was deleted")),
                (_, false) => Err(io::Error::other("the file was changed by somebody else")),
                (_, true) => Ok(()),
            }
        })
    }

    /// Brings everything to the disk.
    pub(crate) fn sync(&mut self) -> Result<(), JournalError> {
        self.ready()?;
        self.attempt(Operation::Sync, |sink| sink.sync())
    }

    /// Gives back the space that was set aside and not used. Best effort: nothing more is written.
    pub(crate) fn release(&mut self) {
        if self.reserved > 0 && self.failed.is_none() {
            let _ = self.sink.release(self.size);
        }
    }

    fn attempt(
        &mut self,
        operation: Operation,
        act: impl FnOnce(&mut dyn Sink) -> io::Result<()>,
    ) -> Result<(), JournalError> {
        act(self.sink.as_mut()).map_err(|source| {
            self.failed = Some(operation);
            JournalError::Io { operation, file: self.file.clone(), source }
        })
    }

    fn reserve_next(&mut self, length: u64) {
        let wanted = self.size.saturating_add(length).saturating_add(RESERVE_MARGIN);
        while self.reserving && wanted > self.reserved {
            match self.sink.reserve(self.reserved, RESERVE) {
                Ok(()) => self.reserved = self.reserved.saturating_add(RESERVE),
                // The file system cannot, or has no such piece left: writing still may succeed.
                Err(_) => self.reserving = false,
            }
        }
    }
}

fn write_all(sink: &mut dyn Sink, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match sink.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = bytes.get(count..).ok_or(io::ErrorKind::InvalidData)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
