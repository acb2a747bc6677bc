//! The rest of long answers, kept for a while so that an agent can read on without another request.
//!
//! Belongs here: what is kept, how much, where pages end, who may read them.
//! Does not belong here: how an answer is read or shown.

use std::collections::VecDeque;
use std::sync::Mutex;

use framegate_gate::action::HttpAction;
use framegate_vault::Redacted;
use serde_json::{Map, Value};

/// How many answers are kept.
const MAX_ANSWERS: usize = 16;
/// How many bytes of bodies are kept, all together.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The most that is read of an answer that is to be kept; a placeholder that reaches over its end still fits.
pub(super) const LONGEST: usize = MAX_BYTES - 64 * 1024;

/// An answer whose body did not fit into one result.
pub(super) struct Kept {
    /// The tool that asked.
    pub(super) tool: String,
    /// What it asked.
    pub(super) action: HttpAction,
    /// Whether the target said that it succeeded.
    pub(super) is_success: bool,
    /// The result without its body.
    pub(super) envelope: Map<String, Value>,
    /// The body, masked.
    pub(super) body: Redacted<'static>,
    /// Whether the body is longer than what was read.
    pub(super) cut: bool,
    /// The longest page, in bytes.
    pub(super) limit: usize,
}

/// A page of a kept answer.
pub(super) struct Page<'a> {
    pub(super) kept: &'a Kept,
    pub(super) bytes: &'a [u8],
    /// Whether all pages together are text.
    pub(super) is_text: bool,
    /// Asks for the page after this one, if there is one.
    pub(super) next: Option<String>,
}

/// The answers that are kept, oldest first.
#[derive(Default)]
pub(super) struct Pages(Mutex<VecDeque<(String, Kept)>>);

impl Pages {
    /// Keeps an answer; gives its name. `None` if it is too long to keep, or cannot be named.
    pub(super) fn keep(&self, mut kept: Kept) -> Option<String> {
        if kept.cut {
            leave_out_split_character(&mut kept.body);
        }
        let mut random = [0; 8];
        getrandom::fill(&mut random).ok()?;
        // Long enough that nobody comes upon the answer of another call; the call must be the same anyway.
        let name = format!("{:016x}", u64::from_be_bytes(random));
        let mut answers = self.0.lock().ok()?;
        if kept.body.bytes.len() > MAX_BYTES {
            return None;
        }
        answers.push_back((name.clone(), kept));
        let size = |answers: &VecDeque<(String, Kept)>| {
            answers.iter().map(|(_, kept)| kept.body.bytes.len()).fold(0, usize::saturating_add)
        };
        while answers.len() > MAX_ANSWERS || size(&answers) > MAX_BYTES {
            answers.pop_front();
        }
        Some(name)
    }

    /// Shows the page at `cursor` of the answer to this very call. `None` if there is no such page.
    pub(super) fn read<T>(
        &self,
        tool: &str,
        action: &HttpAction,
        cursor: &str,
        show: impl FnOnce(Page<'_>) -> T,
    ) -> Option<T> {
        let (name, number) = cursor.split_once('-')?;
        let number: usize = number.parse().ok()?;
        let answers = self.0.lock().ok()?;
        let (_, kept) = answers.iter().find(|(kept_as, _)| kept_as == name)?;
        if kept.tool != tool || !kept.action.asks_the_same(action) {
            return None;
        }
        page(kept, name, number).map(show)
    }
}

/// A text that was cut inside a character is a text all the same.
fn leave_out_split_character(body: &mut Redacted<'static>) {
    let whole = match core::str::from_utf8(&body.bytes) {
        Err(fault) if fault.error_len().is_none() => fault.valid_up_to(),
        _ => return,
    };
    body.bytes.to_mut().truncate(whole);
}

/// The page of this number, counted from 0.
fn page<'a>(kept: &'a Kept, name: &str, number: usize) -> Option<Page<'a>> {
    let text = core::str::from_utf8(&kept.body.bytes).ok();
    let mut start = 0;
    for _ in 0..number {
        start = end(kept, text, start);
    }
    let end = end(kept, text, start);
    let bytes = kept.body.bytes.get(start..end).filter(|bytes| !bytes.is_empty())?;
    let more = end < kept.body.bytes.len();
    let next = more.then(|| format!("{name}-{}", number.saturating_add(1)));
    Some(Page { kept, bytes, is_text: text.is_some(), next })
}

/// Where the page that starts at `start` ends: no placeholder and no character is split.
fn end(kept: &Kept, text: Option<&str>, start: usize) -> usize {
    let length = kept.body.bytes.len();
    let cut = start.saturating_add(kept.limit).min(length);
    let split = kept.body.redactions.iter().find(|redaction| redaction.start < cut && cut < redaction.end);
    let end = split.map_or(cut, |redaction| redaction.end);
    let whole = text.map_or(end, |text| text.floor_char_boundary(end));
    // A limit is longer than any character, so that pages never stand still.
    if whole > start { whole } else { end }
}
