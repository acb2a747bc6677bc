//! A case: the frame, its valid twin, the state it is sent in, what must come of it.
//!
//! Belongs here: the format of the corpus files, as types.
//! Does not belong here: sending frames, judging programs.

use serde::Deserialize;
use serde_json::Value;

use crate::boundaries::boundaries;
use crate::error::{CorpusError, ExpectationError};
use crate::template::{Template, Values, open_call};

/// A frame with what must come of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// Names the case; unique in the corpus, kebab-case.
    pub id: String,
    /// The reason that must stop the frame; `None` for a frame that must pass.
    pub reason: Option<String>,
    /// What the case is about, in one line.
    pub gist: String,
    /// The requirements, hostile items (`H-..`) and attacks that it exercises.
    pub covers: Vec<String>,
    /// What has been said in the session before anything of this case is sent.
    pub phase: Phase,
    /// The protocol revision of the session, or of the request in the modern era.
    pub revision: Revision,
    /// What the surroundings must do for the case to happen; `None` if its bytes alone are enough.
    pub needs: Option<String>,
    /// What is sent before the frame, in order.
    pub before: Vec<Before>,
    /// Whether the frame is a whole call of `probe_write` that differs from its twin only in the fault.
    pub complete_call: bool,
    /// What answers the frame (of several lines: the first that is refused, or the last that passes).
    pub reply: Reply,
    /// The refusals that follow in the same frame while the session stays open, in order.
    pub also_reasons: Vec<Also>,
    /// Whether the input ends right behind the frame.
    pub ends_input: bool,
    /// Whether the session goes on although the reason alone would end it (a member of a batch).
    pub stays: bool,
    /// How many actions the frame itself leads to: 0 for every refusal.
    pub executes: u32,
    /// The state in which the twin runs, where that is the difference.
    pub twin_phase: Phase,
    frame: Template,
    twin: Option<Template>,
    then: Option<Template>,
    splits: Splits,
}

/// What has been said in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Nothing.
    New,
    /// `initialize` was answered.
    Initializing,
    /// `initialize` was answered and `notifications/initialized` sent.
    Ready,
    /// A modern `tools/list` was answered: the stateless era is pinned.
    Modern,
}

/// A protocol revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
pub enum Revision {
    /// 2024-11-05
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// 2025-03-26
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// 2025-06-18
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// 2025-11-25
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// 2026-07-28
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// Every revision, oldest first.
    pub const ALL: [Self; 5] =
        [Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The protocol version string.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// Whether requests stand alone, without a handshake.
    #[must_use]
    pub const fn is_modern(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }
}

/// Something that is sent before the frame.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    frame: Template,
    /// Whether the executor keeps the call open until the case is over.
    #[serde(default)]
    pub hold: bool,
    /// How many times it is sent; `${n}` counts from 0.
    #[serde(default = "one")]
    pub times: u32,
    /// How many actions each of them leads to.
    #[serde(default)]
    pub executes: u32,
}

impl Before {
    /// The bytes of the `n`th, counted from 0.
    #[must_use]
    pub fn frame(&self, values: &Values, n: u32) -> Vec<u8> {
        self.frame.render_nth(values, n)
    }
}

/// A refusal that follows in the same frame.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Also {
    /// Its reason.
    pub reason: String,
    /// What answers it.
    pub reply: Reply,
}

/// What answers a frame: of several lines, the first that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "RawReply")]
pub struct Reply {
    /// What kind of answer.
    pub outcome: Outcome,
    /// Its id.
    pub id: ReplyId,
    /// Whether it comes as the one member of an array (2025-03-26).
    pub in_batch: bool,
}

/// What kind of answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// None.
    Silence,
    /// An `error` with this code.
    Error(i64),
    /// A `result` with `isError: true` (a denial, or arguments refused from 2025-11-25 on).
    IsError,
    /// A `result`; of a call, whatever the executor made of it.
    Result,
}

/// The id of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyId {
    /// There is no answer.
    None,
    /// `${id}`.
    Echo,
    /// `null` or no member: see [`Case::unreadable_id`].
    Unreadable,
    /// This JSON text, to be compared as a value: integers by their digits, strings decoded.
    Json(Template),
}

impl Reply {
    /// The id of the answer as JSON text, if there is one that could be read.
    #[must_use]
    pub fn id_json(&self, values: &Values) -> Option<String> {
        match &self.id {
            ReplyId::None | ReplyId::Unreadable => None,
            ReplyId::Echo => Some(values.id.to_string()),
            ReplyId::Json(text) => String::from_utf8(text.render(values)).ok(),
        }
    }
}

/// How the id of an error is written when the frame's own could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadableId {
    /// `"id": null`: before negotiation, and up to 2025-06-18.
    Null,
    /// No `id` member: from 2025-11-25 on.
    Absent,
}

/// Where a frame is cut when it is sent in pieces.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "Value")]
enum Splits {
    Boundaries,
    Every,
    At(Vec<usize>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReply {
    code: Value,
    id: Value,
    #[serde(default)]
    in_batch: bool,
}

impl TryFrom<RawReply> for Reply {
    type Error = ExpectationError;

    fn try_from(raw: RawReply) -> Result<Self, ExpectationError> {
        let outcome = match &raw.code {
            Value::Null => Outcome::Silence,
            Value::Number(code) => Outcome::Error(code.as_i64().ok_or(ExpectationError::Code)?),
            Value::String(word) if word == "is_error" => Outcome::IsError,
            Value::String(word) if word == "result" => Outcome::Result,
            _ => return Err(ExpectationError::Code),
        };
        let id = match &raw.id {
            Value::String(word) if word == "none" => ReplyId::None,
            Value::String(word) if word == "echo" => ReplyId::Echo,
            Value::String(word) if word == "unreadable" => ReplyId::Unreadable,
            Value::Object(json) if json.len() == 1 => {
                let parts = json.get("json").ok_or(ExpectationError::Id)?;
                ReplyId::Json(Template::deserialize(parts).map_err(|_| ExpectationError::Id)?)
            }
            _ => return Err(ExpectationError::Id),
        };
        if (outcome == Outcome::Silence) != (id == ReplyId::None) {
            return Err(ExpectationError::Id);
        }
        Ok(Self { outcome, id, in_batch: raw.in_batch })
    }
}

impl TryFrom<Value> for Splits {
    type Error = ExpectationError;

    fn try_from(value: Value) -> Result<Self, ExpectationError> {
        match value {
            Value::String(word) if word == "every" => Ok(Self::Every),
            Value::Array(offsets) => offsets
                .iter()
                .map(|offset| offset.as_u64().and_then(|offset| usize::try_from(offset).ok()))
                .collect::<Option<_>>()
                .map(Self::At)
                .ok_or(ExpectationError::Splits),
            _ => Err(ExpectationError::Splits),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawCase {
    id: String,
    gist: String,
    covers: Vec<String>,
    phase: Phase,
    #[serde(default)]
    revision: Option<Revision>,
    #[serde(default)]
    needs: Option<String>,
    #[serde(default)]
    before: Vec<Before>,
    frame: Template,
    #[serde(default)]
    twin: Option<Template>,
    #[serde(default)]
    twin_phase: Option<Phase>,
    #[serde(default)]
    complete_call: bool,
    reply: Reply,
    #[serde(default)]
    also_reasons: Vec<Also>,
    #[serde(default)]
    then: Option<Template>,
    #[serde(default)]
    ends_input: bool,
    #[serde(default)]
    stays: bool,
    #[serde(default)]
    splits: Option<Splits>,
    #[serde(default)]
    executes: Option<u32>,
}

const fn one() -> u32 {
    1
}

impl Case {
    /// The bytes of the frame.
    #[must_use]
    pub fn frame(&self, values: &Values) -> Vec<u8> {
        self.frame.render(values)
    }

    /// The bytes of the valid form, which must execute exactly once in [`Case::twin_phase`].
    #[must_use]
    pub fn twin(&self, values: &Values) -> Vec<u8> {
        match &self.twin {
            Some(twin) => twin.render(values),
            None => self.plain_call(values),
        }
    }

    /// The frame with its holes left open: see [`Template::open`].
    #[must_use]
    pub fn open_frame(&self) -> Option<Vec<u8>> {
        self.frame.open()
    }

    /// The twin with its holes left open: see [`Template::open`].
    #[must_use]
    pub fn open_twin(&self) -> Option<Vec<u8>> {
        match &self.twin {
            Some(twin) => twin.open(),
            None => Some(format!("{}\n", open_call(self.revision.is_modern())).into_bytes()),
        }
    }

    /// A plain valid call in this case's era: the default twin, and the good call behind a frame.
    #[must_use]
    pub fn plain_call(&self, values: &Values) -> Vec<u8> {
        let mut line = values.call(self.revision.is_modern()).into_bytes();
        line.push(b'\n');
        line
    }

    /// What follows the frame in the same write: it runs only if the session stays open.
    #[must_use]
    pub fn then(&self, values: &Values) -> Option<Vec<u8>> {
        self.then.as_ref().map(|template| template.render(values))
    }

    /// Where to cut the frame's bytes, ascending, each within `1..bytes.len()`.
    #[must_use]
    pub fn cuts(&self, bytes: &[u8]) -> Vec<usize> {
        match &self.splits {
            Splits::Boundaries => boundaries(bytes),
            Splits::Every => (1..bytes.len()).collect(),
            Splits::At(offsets) => {
                offsets.iter().copied().filter(|offset| (1..bytes.len()).contains(offset)).collect()
            }
        }
    }

    /// How an id that could not be read is answered in this case's state.
    #[must_use]
    pub fn unreadable_id(&self) -> UnreadableId {
        if self.phase == Phase::New || self.revision <= Revision::V2025_06_18 {
            UnreadableId::Null
        } else {
            UnreadableId::Absent
        }
    }
}

/// Reads a corpus file: the cases of the reason that the file is named after, or of `valid`.
///
/// # Errors
/// [`CorpusError`] for anything but an array of cases.
pub fn read(file: &str, text: &str) -> Result<Vec<Case>, CorpusError> {
    let raw: Vec<RawCase> =
        serde_json::from_str(text).map_err(|source| CorpusError::Json { file: file.to_owned(), source })?;
    let reason = (file != crate::VALID).then(|| file.to_owned());
    Ok(raw.into_iter().map(|raw| raw.case(reason.clone())).collect())
}

impl RawCase {
    fn case(self, reason: Option<String>) -> Case {
        let modern = self.phase == Phase::Modern;
        let default = if modern { Revision::V2026_07_28 } else { Revision::V2025_06_18 };
        let executes = u32::from(reason.is_none());
        Case {
            id: self.id,
            reason,
            gist: self.gist,
            covers: self.covers,
            phase: self.phase,
            revision: self.revision.unwrap_or(default),
            needs: self.needs,
            before: self.before,
            complete_call: self.complete_call,
            reply: self.reply,
            also_reasons: self.also_reasons,
            ends_input: self.ends_input,
            stays: self.stays,
            executes: self.executes.unwrap_or(executes),
            twin_phase: self.twin_phase.unwrap_or(self.phase),
            frame: self.frame,
            twin: self.twin,
            then: self.then,
            splits: self.splits.unwrap_or(Splits::Boundaries),
        }
    }
}
