//! The durable record: a permit becomes a recorded action only when its intent is on disk.
//!
//! Belongs here: the files of the journal, what a record says, the order of intent and outcome, keyed
//! fingerprints, reading the files back and showing them to people.
//! Does not belong here: whether an action is allowed, how it is performed, which thread writes.
//!
//! A journal is a folder. Each process owns two files in it and writes to no other:
//! `<time>-<pid>-<run>.actions.jsonl`, whose intents are synced before the act, and
//! `<time>-<pid>-<run>.refusals.jsonl`, bounded and unsynced, so that a flood of refusals costs no intent.
//! One record is one line of printable ASCII JSON that ends in a checksum of itself.

#![deny(missing_docs)]

mod clock;
mod encode;
mod error;
mod escape;
mod fingerprint;
mod folder;
mod journal;
mod lines;
mod read;
mod record;
mod recorded;
mod recovery;
mod refusals;
mod show;
mod sink;

pub use error::{Fault, JournalError, Operation, RecordFault};
pub use fingerprint::Fingerprinter;
pub use journal::{Journal, JournalOptions, Start, Stop};
pub use read::{Cut, Entry, Found, View, read_folder};
pub use record::{
    Claimed, IntentRecord, Mode, NegotiatedRecord, OutcomeRecord, Record, RecoveryRecord, RefusalRecord,
    RefusalSummary, StartRecord, StopRecord,
};
pub use recorded::{CommitFailure, Receipt, Recorded};
pub use refusals::Refused;
pub use show::{explain, json_lines, text};

#[cfg(test)]
mod tests;
