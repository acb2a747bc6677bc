//! Every operation on the file of actions fails once, in every way it can.
//!
//! Belongs here: "no `Recorded` comes out, or its intent is on disk", and what follows a failure.
//! Does not belong here: damage to files that were written well.

use std::fs;
use std::io;
use std::sync::{Arc, Mutex};

use super::{ManualClock, STEM, done, journal_on, negotiated, options, permits, refused, start, stop};
use crate::error::{JournalError, Operation};
use crate::journal::ACTIONS_SUFFIX;
use crate::read::read_folder;
use crate::sink::{Sink, State};
use crate::{CommitFailure, Journal, Receipt, Record};
use framegate_wire::Reason;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The operation fails with this error and does nothing.
    Error(rustix::io::Errno),
    /// A write stores half of the bytes, then the next fails.
    HalfThenFull,
    /// A write stores one byte and says so.
    OneByte,
    /// The operation is interrupted once.
    Interrupted,
    /// A write stores nothing and reports no error.
    Nothing,
    /// The file is deleted behind our back.
    Deleted,
    /// The file is cut behind our back.
    Truncated,
}

impl Fault {
    const ALL: [Self; 8] = [
        Self::Error(rustix::io::Errno::NOSPC),
        Self::Error(rustix::io::Errno::IO),
        Self::HalfThenFull,
        Self::OneByte,
        Self::Interrupted,
        Self::Nothing,
        Self::Deleted,
        Self::Truncated,
    ];

    /// Faults that a writer must get over.
    fn is_harmless_for_a_write(self) -> bool {
        matches!(self, Self::OneByte | Self::Interrupted)
    }
}

/// What would be left after the power fails, and what happened.
#[derive(Debug, Default)]
struct Disk {
    content: Vec<u8>,
    synced: usize,
    operations: Vec<Operation>,
    fault: Option<(usize, Fault)>,
    full: bool,
    deleted: bool,
}

#[derive(Clone, Debug, Default)]
struct FaultyFile(Arc<Mutex<Disk>>);

impl FaultyFile {
    fn with(operation: usize, fault: Fault) -> Self {
        let file = Self::default();
        file.0.lock().unwrap().fault = Some((operation, fault));
        file
    }

    fn step(disk: &mut Disk, operation: Operation) -> Option<Fault> {
        let number = disk.operations.len();
        disk.operations.push(operation);
        disk.fault.filter(|(at, _)| *at == number).map(|(_, fault)| fault)
    }

    fn holds_synced(&self, intent: &str) -> bool {
        let disk = self.0.lock().unwrap();
        let synced = String::from_utf8(disk.content[..disk.synced].to_vec()).unwrap();
        let wanted = format!("\"intent\":\"{intent}\"");
        synced.split_inclusive('\n').any(|line| line.contains(&wanted) && line.ends_with("\"}\n"))
    }

    fn operations(&self) -> usize {
        self.0.lock().unwrap().operations.len()
    }
}

impl Sink for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.0.lock().unwrap();
        let fault = Self::step(&mut disk, Operation::Write);
        if disk.full {
            return Err(rustix::io::Errno::NOSPC.into());
        }
        let count = match fault {
            Some(Fault::Error(errno)) => return Err(errno.into()),
            Some(Fault::Interrupted) => return Err(io::ErrorKind::Interrupted.into()),
            Some(Fault::Nothing) => 0,
            Some(Fault::OneByte) => 1,
            Some(Fault::HalfThenFull) => {
                disk.full = true;
                bytes.len() / 2
            }
            Some(Fault::Deleted) => {
                disk.deleted = true;
                bytes.len()
            }
            Some(Fault::Truncated) => {
                disk.content.clear();
                disk.synced = 0;
                bytes.len()
            }
            None => bytes.len(),
        };
        disk.content.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut disk = self.0.lock().unwrap();
        match Self::step(&mut disk, Operation::Sync) {
            Some(Fault::Error(errno)) => return Err(errno.into()),
            Some(Fault::Deleted) => disk.deleted = true,
            Some(Fault::Truncated) => disk.content.clear(),
            _ => {}
        }
        disk.synced = disk.content.len();
        Ok(())
    }

    fn state(&self) -> io::Result<State> {
        let mut disk = self.0.lock().unwrap();
        match Self::step(&mut disk, Operation::Verify) {
            Some(Fault::Error(errno)) => return Err(errno.into()),
            Some(Fault::Deleted) => disk.deleted = true,
            Some(Fault::Truncated) => disk.content.clear(),
            _ => {}
        }
        Ok(State { links: u64::from(!disk.deleted), size: disk.content.len() as u64 })
    }

    fn reserve(&mut self, _offset: u64, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn release(&mut self, _size: u64) -> io::Result<()> {
        Ok(())
    }
}

fn journal(actions: &FaultyFile, sync: bool) -> Journal {
    let mut options = options("unused".as_ref());
    options.sync = sync;
    let refusals = FaultyFile::default();
    journal_on(Box::new(actions.clone()), Box::new(refusals), &ManualClock::new(), &options)
}

/// A whole session. Returns the receipts that were left open by a failure, and whether all went well.
fn session(journal: &mut Journal, file: &FaultyFile) -> Result<(), JournalError> {
    journal.start(&start())?;
    journal.negotiated(&negotiated(Some("peer")))?;
    for batch in [&["1", "2"][..], &["3"]] {
        let mut receipts: Vec<Receipt> = Vec::new();
        for (recorded, receipt) in journal.commit(permits(batch)).map_err(|failure| failure.into_parts().1)? {
            assert!(
                file.holds_synced(recorded.intent()),
                "{} is performed but not on disk",
                recorded.intent()
            );
            assert_eq!(recorded.intent(), receipt.intent());
            receipts.push(receipt);
        }
        for receipt in receipts {
            let number = receipt.ticket();
            let (ticket, written) = journal.close(receipt, &done());
            assert_eq!(ticket.number(), number);
            written?;
        }
    }
    Ok(())
}

#[test]
fn a_recorded_intent_is_on_disk_before_anyone_holds_it() {
    let file = FaultyFile::default();
    session(&mut journal(&file, true), &file).unwrap();
    assert!(file.holds_synced("0123456789ab-3"));
}

#[test]
fn without_sync_nothing_is_synced() {
    let file = FaultyFile::default();
    let mut journal = journal(&file, false);
    journal.start(&start()).unwrap();
    assert_eq!(journal.commit(permits(&["1"])).unwrap().len(), 1);
    journal.stop(&stop()).unwrap();
    let disk = file.0.lock().unwrap();
    assert!(!disk.operations.contains(&Operation::Sync));
    assert_eq!(disk.synced, 0);
}

#[test]
fn a_batch_is_one_write_and_one_sync() {
    let file = FaultyFile::default();
    let mut journal = journal(&file, true);
    journal.start(&start()).unwrap();
    let before = file.operations();
    let pairs = journal.commit(permits(&["1", "2", "3"])).unwrap();
    assert_eq!(pairs.len(), 3);
    let disk = file.0.lock().unwrap();
    assert_eq!(disk.operations[before..], [Operation::Write, Operation::Sync, Operation::Verify]);
}

#[test]
fn whatever_fails_no_recorded_comes_out_or_it_is_on_disk() {
    let clean = FaultyFile::default();
    session(&mut journal(&clean, true), &clean).unwrap();
    let operations = clean.0.lock().unwrap().operations.clone();
    assert!(operations.len() >= 16, "{operations:?}");

    let mut failures = 0;
    for (number, operation) in operations.iter().enumerate() {
        for fault in Fault::ALL {
            let file = FaultyFile::with(number, fault);
            let mut journal = journal(&file, true);
            let result = session(&mut journal, &file);

            let effective = match operation {
                // Cutting an empty file does nothing.
                Operation::Write if number == 0 && fault == Fault::Truncated => false,
                Operation::Write => !fault.is_harmless_for_a_write(),
                _ => matches!(fault, Fault::Error(_) | Fault::Deleted | Fault::Truncated),
            };
            assert_eq!(result.is_err(), effective, "{operation} {number}, {fault:?}: {result:?}");
            if fault == Fault::Nothing && effective {
                let operation = Operation::Write;
                assert!(
                    matches!(result, Err(JournalError::Io { operation: found, .. }) if found == operation)
                );
            }
            if effective {
                failures += 1;
                nothing_is_recorded_after(&mut journal, &file);
            }
            what_is_left_reads(&file, fault);
        }
    }
    assert!(failures > 75, "{failures}");
}

/// The file is not touched again, later commits fail at once and give their tickets back.
fn nothing_is_recorded_after(journal: &mut Journal, file: &FaultyFile) {
    let before = file.operations();
    for _ in 0..2 {
        let failure: CommitFailure = journal.commit(permits(&["8", "9"])).unwrap_err();
        let (tickets, cause) = failure.into_parts();
        assert_eq!(tickets.len(), 2);
        assert!(matches!(cause, JournalError::Failed { .. } | JournalError::NotStarted), "{cause}");
    }
    assert!(journal.commit(Vec::new()).is_err());
    assert!(journal.negotiated(&negotiated(None)).is_err());
    journal.refuse(refused(Reason::JsonSyntax)).unwrap();
    assert_eq!(file.operations(), before);
}

/// Half a record is never glued to another one: what is left reads, with a cut at the end at most.
fn what_is_left_reads(file: &FaultyFile, fault: Fault) {
    if fault == Fault::Truncated {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(format!("{STEM}{ACTIONS_SUFFIX}"));
    fs::write(path, &file.0.lock().unwrap().content).unwrap();
    let view = read_folder(folder.path()).unwrap();
    assert!(view.cuts().len() <= 1);
    if fault.is_harmless_for_a_write() {
        let count =
            view.entries().iter().filter(|entry| matches!(entry.record(), Record::Outcome(_))).count();
        assert_eq!((count, view.cuts().len()), (3, 0));
    }
}

#[test]
fn a_failed_commit_gives_back_the_tickets_in_order_and_says_why() {
    // start: write, verify; commit: write
    let file = FaultyFile::with(2, Fault::Error(rustix::io::Errno::NOSPC));
    let mut journal = journal(&file, true);
    journal.start(&start()).unwrap();
    let permits = permits(&["a", "b", "c"]);
    let numbers: Vec<u64> = permits.iter().map(framegate_gate::authorization::Permit::ticket).collect();
    let failure = journal.commit(permits).unwrap_err();
    assert_eq!(
        failure.to_string(),
        format!(
            "the intent is not recorded, so nothing is performed: cannot write the journal file `{STEM}{ACTIONS_SUFFIX}`: No space left on device (os error 28)"
        )
    );
    let (tickets, _) = failure.into_parts();
    assert_eq!(tickets.iter().map(|ticket| ticket.number()).collect::<Vec<_>>(), numbers);
}

#[test]
fn an_outcome_that_cannot_be_written_still_gives_its_ticket_back() {
    // start 0-1, commit 2-4, close 5
    let file = FaultyFile::with(5, Fault::Error(rustix::io::Errno::IO));
    let mut journal = journal(&file, true);
    journal.start(&start()).unwrap();
    let (_recorded, receipt) = journal.commit(permits(&["a"])).unwrap().pop().unwrap();
    let number = receipt.ticket();
    let (ticket, written) = journal.close(receipt, &done());
    assert_eq!(ticket.number(), number);
    assert!(matches!(written, Err(JournalError::Io { operation: Operation::Write, .. })));
    assert!(journal.commit(permits(&["b"])).is_err());
    assert!(journal.stop(&stop()).is_err());
}

#[test]
fn nothing_is_recorded_before_start() {
    let file = FaultyFile::default();
    let mut journal = journal(&file, true);
    let (tickets, cause) = journal.commit(permits(&["a"])).unwrap_err().into_parts();
    assert_eq!(tickets.len(), 1);
    assert!(matches!(cause, JournalError::NotStarted));
    assert!(journal.negotiated(&negotiated(None)).is_err());
    assert_eq!(file.operations(), 0);
}

#[test]
fn refusals_that_cannot_be_written_are_counted_and_cost_no_intent() {
    let actions = FaultyFile::default();
    let refusals = FaultyFile::with(0, Fault::HalfThenFull);
    let options = options("unused".as_ref());
    let mut journal =
        journal_on(Box::new(actions.clone()), Box::new(refusals.clone()), &ManualClock::new(), &options);
    journal.start(&start()).unwrap();
    assert!(journal.refuse(refused(Reason::JsonSyntax)).is_err());
    let operations = refusals.operations();
    for _ in 0..9 {
        journal.refuse(refused(Reason::JsonNoise)).unwrap();
    }
    assert_eq!(refusals.operations(), operations, "a file that failed is not used again");
    assert_eq!(journal.commit(permits(&["1"])).unwrap().len(), 1);
    journal.stop(&stop()).unwrap();
    let content = String::from_utf8(actions.0.lock().unwrap().content.clone()).unwrap();
    assert!(
        content.contains(r#""refusals":{"json-noise":9,"json-syntax":1},"refusals_unrecorded":10"#),
        "{content}"
    );
}

#[test]
fn a_journal_and_its_doors_can_cross_threads() {
    fn is_send<T: Send>() {}
    is_send::<Journal>();
    is_send::<crate::Recorded>();
    is_send::<Receipt>();
    is_send::<CommitFailure>();
}
