//! What each kind of record says.
//!
//! Belongs here: the members of records, as they are written and read, and the bounds of their texts.
//! Does not belong here: lines, files, when a record is written.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::encode::Body;
use crate::fingerprint::{Domain, Fingerprinter};

/// Bytes of the longest text from a peer that is kept, before escaping.
const CLAIMED_BYTES: usize = 128;
/// Bytes of the longest word of the configuration that is kept.
const WORD_BYTES: usize = 256;
/// Bytes of the longest summary of an action that is kept; the whole action is under its digest.
const SUMMARY_BYTES: usize = 1024;

/// Text that a peer chose: a bounded beginning, and the length and keyed digest of all of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claimed {
    /// At most the first 128 bytes.
    pub text: String,
    /// Bytes of the whole text.
    pub length: u64,
    /// Keyed digest of the whole text.
    pub digest: String,
}

impl Claimed {
    pub(crate) fn new(text: &str, fingerprinter: &Fingerprinter) -> Self {
        Self {
            text: beginning(text, CLAIMED_BYTES).to_owned(),
            length: u64::try_from(text.len()).unwrap_or(u64::MAX),
            digest: fingerprinter.digest(Domain::Text, &[text.as_bytes()]),
        }
    }

    /// Whether a part of the text was left out.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        u64::try_from(self.text.len()).is_ok_and(|kept| kept < self.length)
    }
}

/// A word of the configuration, or of this program. Over-long ones end in `…`.
pub(crate) fn word(text: &str) -> String {
    bounded(text, WORD_BYTES)
}

/// The summary of an action. Over-long ones end in `…`.
pub(crate) fn summary(text: &str) -> String {
    bounded(text, SUMMARY_BYTES)
}

pub(crate) fn bounded(text: &str, limit: usize) -> String {
    let kept = beginning(text, limit);
    if kept.len() == text.len() { kept.to_owned() } else { format!("{kept}…") }
}

fn beginning(text: &str, limit: usize) -> &str {
    text.get(..text.floor_char_boundary(limit)).unwrap_or_default()
}

/// Whether actions reach their targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// They do.
    Live,
    /// They are written down instead.
    Recorder,
}

impl Mode {
    /// The name used in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Recorder => "recorder",
        }
    }
}

/// `start`: the first record of a file of actions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRecord {
    /// The version of Framegate.
    pub version: String,
    /// Whether actions reach their targets.
    pub mode: Mode,
    /// The configured name of the client: the principal.
    pub client: String,
    /// The operating system user.
    pub uid: u32,
    /// The process.
    pub pid: u32,
    /// Digest of the configuration and policy: SHA-256, hexadecimal.
    pub config: String,
    /// Whether intents are synced before the act.
    pub sync: bool,
    /// The protocol revisions that are served.
    pub revisions: Vec<String>,
    /// Bytes of disk set aside for intents and outcomes; 0 where the file system cannot.
    pub reserved: u64,
}

/// `negotiated`: what the session speaks from here on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NegotiatedRecord {
    /// The protocol revision.
    pub revision: String,
    /// `handshake` or `stateless`.
    pub era: String,
    /// What the peer calls itself; never the principal.
    pub claimed_client: Option<Claimed>,
}

/// `intent`: written, and synced, before the act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentRecord {
    /// The intent's id, unique in the folder: the run, a hyphen, the number of the intent in the run.
    pub intent: String,
    /// The request's id as JSON text.
    pub request: Claimed,
    /// The number of the call's ticket in its session.
    pub ticket: u64,
    /// How many redirects of this ticket's call led here.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub hop: u64,
    /// The tool.
    pub tool: String,
    /// The target.
    pub target: String,
    /// The kind of action.
    pub action: String,
    /// The action in one line: words of the configuration and rendered values.
    pub summary: String,
    /// Keyed digest of the typed arguments.
    pub arguments_digest: String,
    /// Keyed digest of the rendered action.
    pub action_digest: String,
    /// The rule that allowed it.
    pub rule: String,
    /// The configured name of the client: the principal.
    pub client: String,
    /// What the peer calls itself; never the principal.
    pub claimed_client: Option<Claimed>,
    /// The protocol revision of the request.
    pub revision: String,
    /// Digest of the configuration and policy that the permit was given under.
    pub config: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// `outcome`: what became of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutcomeRecord {
    /// The intent's id.
    pub intent: String,
    /// `done`, `failed`, `unknown`, `not-started` or `simulated`.
    pub status: String,
    /// Keyed digest of the result given to the agent.
    pub result_digest: String,
    /// Bytes of the result's text.
    pub length: u64,
    /// How many times the target's credential was found in the answer, and masked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub secret_hits: u64,
    /// Whether the answer was withheld because the target's answers repeated its credential too often.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub withheld: bool,
    /// From the recorded intent to the outcome.
    pub milliseconds: u64,
}

/// `recovery`: what a start found of the run before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecoveryRecord {
    /// The file of the run.
    pub file: String,
    /// `no-stop`: it ended without a `stop` record. `cut`: moreover, its last record is cut.
    pub finding: String,
}

/// `stop`: the last record of a run that ended on its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopRecord {
    /// The exit code.
    pub exit_code: u8,
    /// Why the run ended.
    pub reason: String,
    /// Frames received, refused ones included.
    pub frames: u64,
    /// Intents recorded.
    pub permits: u64,
    /// Outcomes by status.
    pub outcomes: BTreeMap<String, u64>,
    /// Refusals by reason.
    pub refusals: BTreeMap<String, u64>,
    /// Refusals that neither a record nor a summary tells of.
    pub refusals_unrecorded: u64,
}

/// `refusal`: one refused frame or call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalRecord {
    /// The reason's code.
    pub reason: String,
    /// The door that gave it.
    pub door: String,
    /// The line of the input, counted from 1.
    pub line: u64,
    /// The first wrong byte of that line, counted from 0.
    pub offset: u64,
    /// Bytes of the line.
    pub length: u64,
    /// Keyed fingerprint of the line.
    pub fingerprint: String,
    /// A few bytes of the line, strings masked.
    pub excerpt: String,
    /// The request's id as JSON text, where the line was read so far.
    pub request: Option<Claimed>,
    /// The tool, where the line named a declared one.
    pub tool: Option<String>,
    /// The rule that denied it.
    pub rule: Option<String>,
}

/// `refusal-summary`: refusals beyond those that are recorded one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RefusalSummary {
    /// How many.
    pub count: u64,
    /// How many by reason.
    pub reasons: BTreeMap<String, u64>,
    /// The time that it covers.
    pub seconds: u64,
}

/// One record of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// `start`
    Start(StartRecord),
    /// `negotiated`
    Negotiated(NegotiatedRecord),
    /// `intent`
    Intent(IntentRecord),
    /// `outcome`
    Outcome(OutcomeRecord),
    /// `recovery`
    Recovery(RecoveryRecord),
    /// `stop`
    Stop(StopRecord),
    /// `refusal`
    Refusal(RefusalRecord),
    /// `refusal-summary`
    RefusalSummary(RefusalSummary),
}

impl Record {
    /// The kind, as it is written.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Start(_) => kind::START,
            Self::Negotiated(_) => kind::NEGOTIATED,
            Self::Intent(_) => kind::INTENT,
            Self::Outcome(_) => kind::OUTCOME,
            Self::Recovery(_) => kind::RECOVERY,
            Self::Stop(_) => kind::STOP,
            Self::Refusal(_) => kind::REFUSAL,
            Self::RefusalSummary(_) => kind::REFUSAL_SUMMARY,
        }
    }

    pub(crate) fn body(&self) -> std::io::Result<Body> {
        match self {
            Self::Start(record) => Body::new(self.kind(), record),
            Self::Negotiated(record) => Body::new(self.kind(), record),
            Self::Intent(record) => Body::new(self.kind(), record),
            Self::Outcome(record) => Body::new(self.kind(), record),
            Self::Recovery(record) => Body::new(self.kind(), record),
            Self::Stop(record) => Body::new(self.kind(), record),
            Self::Refusal(record) => Body::new(self.kind(), record),
            Self::RefusalSummary(record) => Body::new(self.kind(), record),
        }
    }
}

pub(crate) mod kind {
    //! The names of the kinds of records.

    pub(crate) const START: &str = "start";
    pub(crate) const NEGOTIATED: &str = "negotiated";
    pub(crate) const INTENT: &str = "intent";
    pub(crate) const OUTCOME: &str = "outcome";
    pub(crate) const RECOVERY: &str = "recovery";
    pub(crate) const STOP: &str = "stop";
    pub(crate) const REFUSAL: &str = "refusal";
    pub(crate) const REFUSAL_SUMMARY: &str = "refusal-summary";
}
