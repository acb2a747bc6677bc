//! The file of refusals: in full, then in sums, never more than its bound.
//!
//! Belongs here: the rate, the bound, the counts.
//! Does not belong here: the file of actions; nothing here can delay or displace an intent.

use core::time::Duration;
use std::collections::BTreeMap;

use framegate_gate::session::RefusalNote;
use framegate_wire::Reason;

use crate::encode::Body;
use crate::error::{JournalError, Operation};
use crate::fingerprint::Fingerprinter;
use crate::lines::Lines;
use crate::record::{Claimed, RefusalRecord, RefusalSummary, bounded, kind, word};

/// Refusals recorded one by one in each minute.
const IN_FULL: u32 = 100;
const MINUTE: Duration = Duration::from_secs(60);
/// Bytes at the end of the file that only summaries may use.
const SUMMARY_RESERVE: u64 = 16 * 1024;
/// Bytes of the longest excerpt that is kept: 24 bytes, each shown in at most four.
const EXCERPT_BYTES: usize = 96;

/// One refused frame or call, as the pump tells of it.
#[derive(Clone, Debug)]
pub struct Refused {
    /// What the session noted: why, where, which request, tool and rule.
    pub note: RefusalNote,
    /// The line of the input, counted from 1.
    pub line: u64,
    /// Bytes of the line.
    pub length: usize,
    /// The line's fingerprint, from [`Fingerprinter::fingerprint`].
    pub fingerprint: String,
    /// The masked excerpt (`framegate_wire::frame::excerpt`).
    pub excerpt: String,
}

impl Refused {
    fn record(self, fingerprinter: &Fingerprinter) -> RefusalRecord {
        let RefusalNote { refusal, request, tool, rule } = self.note;
        let reason = refusal.reason();
        RefusalRecord {
            reason: reason.code().to_owned(),
            door: reason.door().name().to_owned(),
            line: self.line,
            offset: u64::try_from(refusal.offset()).unwrap_or(u64::MAX),
            length: u64::try_from(self.length).unwrap_or(u64::MAX),
            fingerprint: word(&self.fingerprint),
            excerpt: bounded(&self.excerpt, EXCERPT_BYTES),
            request: request.map(|request| Claimed::new(&request.to_string(), fingerprinter)),
            tool: tool.as_deref().map(word),
            rule: rule.map(|rule| word(&rule.to_string())),
        }
    }
}

/// Counts by reason.
type Counts = BTreeMap<Reason, u64>;

/// The file of refusals.
pub(crate) struct Refusals {
    lines: Lines,
    limit: u64,
    /// All refusals of the run.
    total: Counts,
    /// Those that no record tells of yet.
    pending: Counts,
    pending_since: Duration,
    minute_start: Duration,
    in_full: u32,
}

impl Refusals {
    pub(crate) fn new(lines: Lines, limit: u64) -> Self {
        Self {
            lines,
            limit,
            total: Counts::new(),
            pending: Counts::new(),
            pending_since: Duration::ZERO,
            minute_start: Duration::ZERO,
            in_full: 0,
        }
    }

    /// Records or counts one refusal.
    pub(crate) fn refuse(
        &mut self,
        refused: Refused,
        at: &dyn Fn() -> String,
        now: Duration,
        fingerprinter: &Fingerprinter,
    ) -> Result<(), JournalError> {
        let reason = refused.note.refusal.reason();
        count(&mut self.total, reason);
        let summarised = self.tick(at, now);
        let in_full = self.in_full < IN_FULL && self.lines.ready().is_ok();
        let recorded = if in_full {
            self.in_full = self.in_full.saturating_add(1);
            let record = refused.record(fingerprinter);
            self.append(kind::REFUSAL, &record, at, self.limit.saturating_sub(SUMMARY_RESERVE))
        } else {
            Ok(false)
        };
        if !matches!(recorded, Ok(true)) {
            if self.pending.is_empty() {
                self.pending_since = now;
            }
            count(&mut self.pending, reason);
        }
        summarised.and(recorded.map(|_| ()))
    }

    /// Writes the summary of a minute that is over.
    pub(crate) fn tick(&mut self, at: &dyn Fn() -> String, now: Duration) -> Result<(), JournalError> {
        if now.saturating_sub(self.minute_start) < MINUTE {
            return Ok(());
        }
        self.minute_start = now;
        self.in_full = 0;
        // What does not fit before the last summary's place stays pending for it.
        self.summarise(at, now, self.limit.saturating_sub(SUMMARY_RESERVE.saturating_div(2)))
    }

    /// Writes the last summary. Returns all refusals by reason, and how many no record tells of.
    pub(crate) fn finish(
        &mut self,
        at: &dyn Fn() -> String,
        now: Duration,
        sync: bool,
    ) -> (BTreeMap<String, u64>, u64, Result<(), JournalError>) {
        let mut result = self.summarise(at, now, self.limit);
        if sync && result.is_ok() && self.lines.ready().is_ok() {
            result = self.lines.sync();
        }
        (by_code(&self.total), sum(&self.pending), result)
    }

    fn summarise(&mut self, at: &dyn Fn() -> String, now: Duration, limit: u64) -> Result<(), JournalError> {
        if self.pending.is_empty() || self.lines.ready().is_err() {
            return Ok(());
        }
        let summary = RefusalSummary {
            count: sum(&self.pending),
            reasons: by_code(&self.pending),
            seconds: now.saturating_sub(self.pending_since).as_secs(),
        };
        if self.append(kind::REFUSAL_SUMMARY, &summary, at, limit)? {
            self.pending.clear();
        }
        Ok(())
    }

    /// Appends a record if it ends before the limit; says whether it did.
    fn append<T: serde::Serialize>(
        &mut self,
        kind: &'static str,
        members: &T,
        at: &dyn Fn() -> String,
        limit: u64,
    ) -> Result<bool, JournalError> {
        let body = Body::new(kind, members).map_err(|source| JournalError::Io {
            operation: Operation::Encode,
            file: self.lines.file().to_owned(),
            source,
        })?;
        let batch = [body];
        let at = at();
        let length = u64::try_from(self.lines.encode(&at, &batch).len()).unwrap_or(u64::MAX);
        if self.lines.size().saturating_add(length) > limit {
            return Ok(false);
        }
        self.lines.append(&at, &batch, false).map(|()| true)
    }
}

fn count(counts: &mut Counts, reason: Reason) {
    let entry = counts.entry(reason).or_default();
    *entry = entry.saturating_add(1);
}

fn sum(counts: &Counts) -> u64 {
    counts.values().fold(0, |total, count| total.saturating_add(*count))
}

fn by_code(counts: &Counts) -> BTreeMap<String, u64> {
    counts.iter().map(|(reason, count)| (reason.code().to_owned(), *count)).collect()
}
