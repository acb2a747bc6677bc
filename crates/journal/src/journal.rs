//! The journal of one process.
//!
//! Belongs here: the order of records: start, intents before acts, outcomes after, stop.
//! Does not belong here: what a failure means to the session; threads.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use framegate_gate::action::TypedValue;
use framegate_gate::authorization::Permit;
use framegate_gate::outcome::Outcome;
use framegate_gate::protocol::{Negotiated, Ticket};
use framegate_wire::message::Revision;
use serde::Serialize;

use crate::clock::{Clock, SystemClock};
use crate::encode::Body;
use crate::error::{JournalError, Operation};
use crate::fingerprint::{Domain, Fingerprinter, random_name};
use crate::folder::Folder;
use crate::lines::Lines;
use crate::record::{
    Claimed, IntentRecord, Mode, NegotiatedRecord, OutcomeRecord, RecoveryRecord, StartRecord, StopRecord,
    kind, summary, word,
};
use crate::recorded::{CommitFailure, Receipt, Recorded, record};
use crate::recovery;
use crate::refusals::{Refusals, Refused};
use crate::sink::Sink;

pub(crate) const ACTIONS_SUFFIX: &str = ".actions.jsonl";
pub(crate) const REFUSALS_SUFFIX: &str = ".refusals.jsonl";

/// Where and how to keep the journal.
#[derive(Clone, Debug)]
pub struct JournalOptions {
    /// The folder. Made (0700) if it is missing, the folder above it is not.
    pub dir: PathBuf,
    /// Whether intents are brought to the disk before the act.
    pub sync: bool,
    /// Bytes of the longest file of refusals.
    pub max_refusal_bytes: u64,
}

/// What the `start` record says of this process.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The version of Framegate.
    pub version: &'a str,
    /// Whether actions reach their targets.
    pub mode: Mode,
    /// The configured name of the client.
    pub client: &'a str,
    /// Digest of the configuration and policy: SHA-256, hexadecimal.
    pub config: &'a str,
    /// The protocol revisions that are served.
    pub revisions: &'a [Revision],
}

/// What the `stop` record says, beside what the journal counted itself.
#[derive(Clone, Copy, Debug)]
pub struct Stop<'a> {
    /// The exit code.
    pub exit_code: u8,
    /// Why the run ends, in words of this program.
    pub reason: &'a str,
    /// Frames received, refused ones included.
    pub frames: u64,
}

/// The journal of one process: two files in a folder that it may share with other processes.
///
/// The first operation on the file of actions that fails is its last: from then on nothing is recorded, so
/// nothing is performed.
pub struct Journal {
    folder: Option<Folder>,
    actions: Lines,
    refusals: Refusals,
    fingerprinter: Fingerprinter,
    clock: Box<dyn Clock>,
    run: String,
    sync: bool,
    reserved: u64,
    started: bool,
    folder_synced: bool,
    permits: u64,
    outcomes: BTreeMap<&'static str, u64>,
}

impl core::fmt::Debug for Journal {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Journal").field("actions", &self.actions.file()).finish_non_exhaustive()
    }
}

/// The opened parts of a journal; tests put failing ones in their place.
pub(crate) struct Parts {
    pub(crate) actions: Box<dyn Sink>,
    pub(crate) refusals: Box<dyn Sink>,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) fingerprinter: Fingerprinter,
    pub(crate) stem: String,
    pub(crate) run: String,
}

impl Journal {
    /// Opens the folder, its key, and two new files of this process.
    ///
    /// # Errors
    /// When the folder is a symbolic link, another user's, or open to others; when the key is not a private
    /// regular file of 32 bytes; when the operating system refuses.
    pub fn open(options: &JournalOptions) -> Result<Self, JournalError> {
        let folder = Folder::open_or_create(&options.dir)?;
        let fingerprinter = Fingerprinter::open(&folder)?;
        let clock = SystemClock::new();
        let run = random_name()?;
        let time = format!("{:.0}", clock.wall()).replace(['-', ':'], "");
        let stem = format!("{time}-{}-{run}", std::process::id());
        let create = |suffix: &str| folder.create(&format!("{stem}{suffix}"));
        let actions: File = create(ACTIONS_SUFFIX)?;
        let refusals: File = create(REFUSALS_SUFFIX)?;
        let parts = Parts {
            actions: Box::new(actions),
            refusals: Box::new(refusals),
            clock: Box::new(clock),
            fingerprinter,
            stem,
            run,
        };
        let mut journal = Self::from_parts(parts, options);
        journal.folder = Some(folder);
        Ok(journal)
    }

    pub(crate) fn from_parts(parts: Parts, options: &JournalOptions) -> Self {
        let Parts { actions, refusals, clock, fingerprinter, stem, run } = parts;
        let mut actions = Lines::new(actions, format!("{stem}{ACTIONS_SUFFIX}"));
        let refusals = Lines::new(refusals, format!("{stem}{REFUSALS_SUFFIX}"));
        let reserved = actions.reserve();
        Self {
            folder: None,
            actions,
            refusals: Refusals::new(refusals, options.max_refusal_bytes),
            fingerprinter,
            clock,
            run,
            sync: options.sync,
            reserved,
            started: false,
            folder_synced: false,
            permits: 0,
            outcomes: BTreeMap::new(),
        }
    }

    /// Makes fingerprints under the key of this folder.
    #[must_use]
    pub fn fingerprinter(&self) -> Fingerprinter {
        self.fingerprinter.clone()
    }

    /// The name of this run: the part of its files' names that is its own, and the beginning of the ids of
    /// its intents.
    #[must_use]
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Writes the `start` record. Nothing else is recorded before it, and the first sync brings it to the disk.
    ///
    /// Returns what was found of the run before this one, if it did not end on its own; it is recorded too.
    ///
    /// # Errors
    /// When the records cannot be written.
    pub fn start(&mut self, start: &Start<'_>) -> Result<Option<RecoveryRecord>, JournalError> {
        let record = StartRecord {
            version: word(start.version),
            mode: start.mode,
            client: word(start.client),
            uid: rustix::process::geteuid().as_raw(),
            pid: std::process::id(),
            config: word(start.config),
            sync: self.sync,
            revisions: start.revisions.iter().map(|revision| revision.name().to_owned()).collect(),
            reserved: self.reserved,
        };
        let mut batch = vec![self.body(kind::START, &record)?];
        let found = self.folder.as_ref().and_then(|folder| recovery::look_back(folder, self.actions.file()));
        if let Some(found) = &found {
            batch.push(self.body(kind::RECOVERY, found)?);
        }
        self.actions.append(&self.now(), &batch, false)?;
        self.started = true;
        Ok(found)
    }

    /// Records what the session speaks from here on.
    ///
    /// # Errors
    /// When the record cannot be written; then nothing is recorded any more.
    pub fn negotiated(&mut self, negotiated: &Negotiated) -> Result<(), JournalError> {
        self.ready()?;
        let revision = negotiated.revision;
        let record = NegotiatedRecord {
            revision: revision.name().to_owned(),
            era: if revision.is_modern() { "stateless" } else { "handshake" }.to_owned(),
            claimed_client: self.claimed(negotiated.claimed_client.as_deref()),
        };
        let body = self.body(kind::NEGOTIATED, &record)?;
        self.actions.append(&self.now(), &[body], false)
    }

    /// Records the intents of a batch of permits: one write, then one sync, then the actions may begin.
    ///
    /// # Errors
    /// [`CommitFailure`] with every ticket of the batch: nothing of it may be performed, and every later
    /// commit fails at once.
    pub fn commit(&mut self, permits: Vec<Permit>) -> Result<Vec<(Recorded, Receipt)>, CommitFailure> {
        match self.record_intents(&permits) {
            Ok(intents) => {
                let recorded_at = self.clock.elapsed();
                let pairs = permits.into_iter().zip(intents);
                Ok(pairs.map(|(permit, intent)| record(permit, intent, recorded_at)).collect())
            }
            Err(cause) => {
                let tickets = permits.into_iter().map(Permit::surrender).collect();
                Err(CommitFailure { tickets, cause })
            }
        }
    }

    /// Records the outcome of an intent and gives its ticket back to be settled, recorded or not. The next
    /// sync covers the record: an outcome lost with the power reads as not recorded, which it is.
    pub fn close(&mut self, receipt: Receipt, outcome: &Outcome) -> (Ticket, Result<(), JournalError>) {
        let status = outcome.status().name();
        let count = self.outcomes.entry(status).or_default();
        *count = count.saturating_add(1);
        let structured = outcome.structured().map(ToString::to_string).unwrap_or_default();
        let parts = [outcome.text().as_bytes(), structured.as_bytes()];
        let milliseconds = self.clock.elapsed().saturating_sub(receipt.recorded_at).as_millis();
        let record = OutcomeRecord {
            intent: receipt.intent.to_string(),
            status: status.to_owned(),
            result_digest: self.fingerprinter.digest(Domain::Result, &parts),
            length: u64::try_from(outcome.text().len()).unwrap_or(u64::MAX),
            secret_hits: outcome.secret_hits(),
            withheld: outcome.is_withheld(),
            milliseconds: u64::try_from(milliseconds).unwrap_or(u64::MAX),
        };
        let written = self
            .body(kind::OUTCOME, &record)
            .and_then(|body| self.actions.append(&self.now(), &[body], false));
        (receipt.ticket, written)
    }

    /// Records a refusal, or counts it for the minute's summary.
    ///
    /// # Errors
    /// Once, when the file of refusals fails. Later refusals are counted for the `stop` record; actions are
    /// not affected.
    pub fn refuse(&mut self, refused: Refused) -> Result<(), JournalError> {
        let at = || time(&*self.clock);
        self.refusals.refuse(refused, &at, self.clock.elapsed(), &self.fingerprinter)
    }

    /// Writes the summary of refusals when its minute is over. To be called now and then.
    ///
    /// # Errors
    /// As [`Self::refuse`].
    pub fn tick(&mut self) -> Result<(), JournalError> {
        let at = || time(&*self.clock);
        self.refusals.tick(&at, self.clock.elapsed())
    }

    /// Writes the last summary and the `stop` record, brings both files to the disk, and gives the unused
    /// space back.
    ///
    /// # Errors
    /// When the `stop` record cannot be written.
    pub fn stop(mut self, stop: &Stop<'_>) -> Result<(), JournalError> {
        self.ready()?;
        let at = || time(&*self.clock);
        let now = self.clock.elapsed();
        let (refusals, refusals_unrecorded, finished) = self.refusals.finish(&at, now, self.sync);
        let outcomes = self.outcomes.iter().map(|(status, count)| ((*status).to_owned(), *count)).collect();
        let record = StopRecord {
            exit_code: stop.exit_code,
            reason: word(stop.reason),
            frames: stop.frames,
            permits: self.permits,
            outcomes,
            refusals,
            refusals_unrecorded,
        };
        let body = self.body(kind::STOP, &record)?;
        self.actions.append(&self.now(), &[body], self.sync)?;
        self.actions.release();
        finished
    }

    fn ready(&self) -> Result<(), JournalError> {
        self.actions.ready()?;
        if self.started { Ok(()) } else { Err(JournalError::NotStarted) }
    }

    fn record_intents(&mut self, permits: &[Permit]) -> Result<Vec<Arc<str>>, JournalError> {
        self.ready()?;
        let mut intents = Vec::with_capacity(permits.len());
        let mut batch = Vec::with_capacity(permits.len());
        for permit in permits {
            self.permits = self.permits.saturating_add(1);
            let intent: Arc<str> = format!("{}-{}", self.run, self.permits).into();
            batch.push(self.body(kind::INTENT, &self.intent_record(&intent, permit)?)?);
            intents.push(intent);
        }
        if !batch.is_empty() {
            self.sync_folder()?;
            self.actions.append(&self.now(), &batch, self.sync)?;
        }
        Ok(intents)
    }

    /// The files' names must be on the disk before the first intent is: a file that nobody finds records
    /// nothing. Not at start, so that a session that performs nothing waits for no disk.
    fn sync_folder(&mut self) -> Result<(), JournalError> {
        if let Some(folder) = self.folder.as_ref().filter(|_| self.sync && !self.folder_synced) {
            folder.sync()?;
        }
        self.folder_synced = true;
        Ok(())
    }

    fn intent_record(&self, intent: &str, permit: &Permit) -> Result<IntentRecord, JournalError> {
        let granted = permit.granted();
        let call = granted.call();
        let action = call.action();
        let arguments: BTreeMap<&str, &TypedValue> =
            call.arguments().iter().map(|(name, value)| (&**name, value)).collect();
        let digest = |domain, json: &[u8]| self.fingerprinter.digest(domain, &[json]);
        Ok(IntentRecord {
            intent: intent.to_owned(),
            request: Claimed::new(&call.request().to_string(), &self.fingerprinter),
            ticket: permit.ticket(),
            hop: u64::try_from(call.hop()).unwrap_or(u64::MAX),
            tool: word(call.tool().name()),
            target: word(action.target()),
            action: action.kind().to_owned(),
            summary: summary(&action.summary(call.hop())),
            arguments_digest: digest(Domain::Arguments, &self.json(&arguments)?),
            action_digest: digest(Domain::Action, &self.json(action)?),
            rule: word(&granted.rule().to_string()),
            client: word(call.principal().client()),
            claimed_client: self.claimed(call.claimed_client()),
            revision: call.revision().name().to_owned(),
            config: word(&granted.terms().config),
        })
    }

    fn claimed(&self, text: Option<&str>) -> Option<Claimed> {
        text.map(|text| Claimed::new(text, &self.fingerprinter))
    }

    fn now(&self) -> String {
        time(&*self.clock)
    }

    fn json<T: Serialize>(&self, value: &T) -> Result<Vec<u8>, JournalError> {
        serde_json::to_vec(value).map_err(|error| self.not_encoded(error.into()))
    }

    fn body<T: Serialize>(&self, kind: &'static str, members: &T) -> Result<Body, JournalError> {
        Body::new(kind, members).map_err(|source| self.not_encoded(source))
    }

    fn not_encoded(&self, source: io::Error) -> JournalError {
        JournalError::Io { operation: Operation::Encode, file: self.actions.file().to_owned(), source }
    }
}

/// RFC 3339 in UTC with microseconds.
fn time(clock: &dyn Clock) -> String {
    format!("{:.6}", clock.wall())
}
