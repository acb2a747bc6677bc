//! Reading a journal's folder back.
//!
//! Belongs here: every process's files as one view in time order, what is tolerated, finding a record.
//! Does not belong here: wording for people.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::encode::{MAX_LINE, Parts, read_line};
use crate::error::{JournalError, Operation, RecordFault};
use crate::escape::printable;
use crate::folder::Folder;
use crate::journal::{ACTIONS_SUFFIX, REFUSALS_SUFFIX};
use crate::record::{IntentRecord, OutcomeRecord, Record, RefusalRecord, kind};

/// One record and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub(crate) run: String,
    pub(crate) sequence: u64,
    pub(crate) at: Timestamp,
    pub(crate) record: Record,
}

impl Entry {
    /// The run that wrote it.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Its number in its file, counted from 1.
    #[must_use]
    pub const fn sequence(&self) -> u64 {
        self.sequence
    }

    /// When it was written, by the wall clock of then.
    #[must_use]
    pub fn at(&self) -> SystemTime {
        // Fails only for years that the operating system's clock cannot show.
        SystemTime::try_from(self.at).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// What it says.
    #[must_use]
    pub const fn record(&self) -> &Record {
        &self.record
    }
}

/// A last record that was not written to its end: a crash, a full disk, or a process that is writing now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The file, escaped.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// Bytes of it that are there.
    pub bytes: u64,
}

/// All records of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    entries: Vec<Entry>,
    cuts: Vec<Cut>,
    /// The place of each intent's outcome among the entries.
    outcomes: HashMap<String, usize>,
}

/// What [`View::find`] finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// An intent, and its outcome if one is recorded.
    Intent {
        /// Where it stands.
        entry: &'a Entry,
        /// The intent.
        intent: &'a IntentRecord,
        /// Its outcome.
        outcome: Option<&'a OutcomeRecord>,
    },
    /// A refusal.
    Refusal {
        /// Where it stands.
        entry: &'a Entry,
        /// The refusal.
        refusal: &'a RefusalRecord,
    },
}

impl View {
    /// The records, oldest first; those of one file stay in the order in which they were written.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The files whose last record is cut. What the cut record said is unknown.
    #[must_use]
    pub fn cuts(&self) -> &[Cut] {
        &self.cuts
    }

    /// The outcome of an intent. `None`: no outcome is recorded, so the action may or may not have happened,
    /// or is still running.
    #[must_use]
    pub fn outcome(&self, intent: &str) -> Option<&OutcomeRecord> {
        match &self.entries.get(*self.outcomes.get(intent)?)?.record {
            Record::Outcome(outcome) => Some(outcome),
            _ => None,
        }
    }

    pub(crate) fn new(entries: Vec<Entry>, cuts: Vec<Cut>) -> Self {
        let outcomes = entries.iter().enumerate().filter_map(|(place, entry)| match &entry.record {
            Record::Outcome(outcome) => Some((outcome.intent.clone(), place)),
            _ => None,
        });
        let outcomes = outcomes.collect();
        Self { entries, cuts, outcomes }
    }

    /// Finds the newest intent with this id, or the newest intent or refusal of a request with this id, written
    /// as JSON or as its bare text. Without an id, the newest refusal.
    #[must_use]
    pub fn find(&self, id: Option<&str>) -> Option<Found<'_>> {
        let is = |request: &str| {
            id.is_some_and(|id| {
                request == id || request.strip_prefix('"').and_then(|text| text.strip_suffix('"')) == Some(id)
            })
        };
        self.entries.iter().rev().find_map(|entry| match &entry.record {
            Record::Intent(intent) if Some(intent.intent.as_str()) == id || is(&intent.request.text) => {
                let outcome = self.outcome(&intent.intent);
                Some(Found::Intent { entry, intent, outcome })
            }
            Record::Refusal(refusal) => {
                let matches =
                    id.is_none() || refusal.request.as_ref().is_some_and(|request| is(&request.text));
                matches.then_some(Found::Refusal { entry, refusal })
            }
            _ => None,
        })
    }
}

/// Reads every file of a journal's folder.
///
/// A file's last record may be cut, which the view says; every other record must be sound. A checksum shows
/// damage, not a forgery: who can write to the folder can write records.
///
/// # Errors
/// When the folder or a file in it cannot be read, is not what it should be, or holds a record that is not
/// sound, with file and line.
pub fn read_folder(path: &Path) -> Result<View, JournalError> {
    let folder = Folder::open(path)?;
    let mut files = Vec::new();
    let mut cuts = Vec::new();
    for name in folder.names(&[ACTIONS_SUFFIX, REFUSALS_SUFFIX])? {
        let reader = FileReader::open(&folder, &name)?;
        files.push(reader.read(&mut cuts)?);
    }
    Ok(View::new(merge(files), cuts))
}

/// Merges by time without ever changing the order within a file: where a clock was set back, a record counts
/// as late as the one before it.
fn merge(files: Vec<Vec<Entry>>) -> Vec<Entry> {
    let mut dated: Vec<(Timestamp, Entry)> = Vec::new();
    for file in files {
        let mut latest = Timestamp::MIN;
        for entry in file {
            latest = latest.max(entry.at);
            dated.push((latest, entry));
        }
    }
    dated.sort_by_key(|(at, _)| *at);
    dated.into_iter().map(|(_, entry)| entry).collect()
}

struct FileReader {
    lines: BufReader<std::fs::File>,
    file: String,
    run: String,
    is_actions: bool,
    line: u64,
}

impl FileReader {
    fn open(folder: &Folder, name: &str) -> Result<Self, JournalError> {
        let lines = BufReader::new(folder.read(name)?);
        let is_actions = name.ends_with(ACTIONS_SUFFIX);
        let stem = name.strip_suffix(if is_actions { ACTIONS_SUFFIX } else { REFUSALS_SUFFIX });
        let run = stem.and_then(|stem| stem.rsplit('-').next()).unwrap_or_default();
        Ok(Self { lines, file: printable(name), run: printable(run), is_actions, line: 0 })
    }

    fn read(mut self, cuts: &mut Vec<Cut>) -> Result<Vec<Entry>, JournalError> {
        let limit = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
        let mut entries = Vec::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            self.line = self.line.saturating_add(1);
            let read = self.lines.by_ref().take(limit).read_until(b'\n', &mut line);
            read.map_err(|source| JournalError::Io {
                operation: Operation::Read,
                file: self.file.clone(),
                source,
            })?;
            if line.is_empty() {
                return Ok(entries);
            }
            let Some(text) = line.strip_suffix(b"\n") else {
                if line.len() >= MAX_LINE {
                    return Err(self.fault(RecordFault::TooLong));
                }
                let bytes = u64::try_from(line.len()).unwrap_or(u64::MAX);
                cuts.push(Cut { file: self.file, line: self.line, bytes });
                return Ok(entries);
            };
            let entry = self.entry(text).map_err(|fault| self.fault(fault))?;
            entries.push(entry);
        }
    }

    fn entry(&self, text: &[u8]) -> Result<Entry, RecordFault> {
        let Parts { sequence, at, kind, members } = read_line(text)?;
        if sequence != self.line {
            return Err(RecordFault::Sequence { expected: self.line, found: sequence });
        }
        let at = at.parse().map_err(|_| RecordFault::Malformed)?;
        if self.is_actions && (self.line == 1) != (kind == kind::START) {
            return Err(if self.line == 1 { RecordFault::NoStart } else { RecordFault::Kind });
        }
        let record = if self.is_actions { action(&kind, members)? } else { refusal(&kind, members)? };
        Ok(Entry { run: self.run.clone(), sequence, at, record })
    }

    fn fault(&self, fault: RecordFault) -> JournalError {
        JournalError::Record { file: self.file.clone(), line: self.line, fault }
    }
}

fn action(kind: &str, members: Map<String, Value>) -> Result<Record, RecordFault> {
    match kind {
        kind::START => read(members).map(Record::Start),
        kind::NEGOTIATED => read(members).map(Record::Negotiated),
        kind::INTENT => read(members).map(Record::Intent),
        kind::OUTCOME => read(members).map(Record::Outcome),
        kind::RECOVERY => read(members).map(Record::Recovery),
        kind::STOP => read(members).map(Record::Stop),
        _ => Err(RecordFault::Kind),
    }
}

fn refusal(kind: &str, members: Map<String, Value>) -> Result<Record, RecordFault> {
    match kind {
        kind::REFUSAL => read(members).map(Record::Refusal),
        kind::REFUSAL_SUMMARY => read(members).map(Record::RefusalSummary),
        _ => Err(RecordFault::Kind),
    }
}

fn read<T: DeserializeOwned>(members: Map<String, Value>) -> Result<T, RecordFault> {
    serde_json::from_value(Value::Object(members)).map_err(|_| RecordFault::Members)
}
