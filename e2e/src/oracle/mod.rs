//! The stdout oracle: whether everything a server wrote was a protocol message it was allowed to write.
//!
//! Belongs here: the order of the checks, and how a failure is shown.
//! Does not belong here: what was asked (`ledger`), the official schemas (`schema`), one message (`message`).
//!
//! It sees bytes only, those that were written to the server and those that came back, so it judges
//! a session that a real client held just as it judges one of ours.

mod ledger;
mod message;
mod schema;

use std::fmt::Write as _;
use std::process::ExitStatus;

use framegate_wire::Limits;
use framegate_wire::frame::Reader;
use framegate_wire::json::Parser;

use crate::process;
use ledger::Ledger;

/// Which requests may be left without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answers {
    /// None, but those that were cancelled.
    All,
    /// Those that came after the last one that was answered: the session ended in between.
    Prefix,
    /// Any: the reader of the replies or the process was taken away.
    Any,
}

/// All that went over the pipes of one process.
#[derive(Clone, Copy, Debug)]
pub struct Transcript<'a> {
    /// What was written to stdin.
    pub stdin: &'a [u8],
    /// What came out of stdout.
    pub stdout: &'a [u8],
    /// Which requests may be unanswered.
    pub answers: Answers,
}

/// What is wrong with a transcript: where in stdout, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The offset of the first wrong byte in stdout.
    pub offset: usize,
    /// What is wrong there.
    pub why: String,
}

impl Fault {
    fn new(offset: usize, why: impl Into<String>) -> Self {
        Self { offset, why: why.into() }
    }
}

/// What an exit status allows to be left unanswered.
#[must_use]
pub fn answers_of(status: Option<ExitStatus>, terminated: bool) -> Answers {
    match status.and_then(|status| status.code()) {
        Some(0) if !terminated => Answers::All,
        Some(0 | 65) => Answers::Prefix,
        _ => Answers::Any,
    }
}

/// Judges a transcript.
///
/// # Errors
/// The first fault.
pub fn judge(transcript: &Transcript<'_>) -> Result<(), Fault> {
    let mut ledger = Ledger::read(transcript.stdin);
    // Wider than what the product accepts: its own replies may quote large results.
    let limits = Limits {
        max_frame: Limits::MAX_FRAME_CEILING,
        max_depth: 256,
        max_members: 1_000_000,
        max_nodes: 10_000_000,
        ..Limits::default()
    };
    let mut reader = Reader::new(&limits);
    let mut parser = Parser::new(&limits);
    reader.push(transcript.stdout);
    let mut start = 0;
    while let Some(line) = reader.next() {
        let frame = line.map_err(|refusal| {
            Fault::new(start + refusal.offset(), format!("not a frame: {}", refusal.reason()))
        })?;
        let length = frame.text().len();
        let next = start + length + 1;
        if transcript.stdout.get(next - 1) != Some(&b'\n') {
            return Err(Fault::new(next - 1, "the line ends in CR LF"));
        }
        if let Some(found) = frame.text().find(['\u{85}', '\u{2028}', '\u{2029}']) {
            return Err(Fault::new(start + found, "a character that other readers take for a line end"));
        }
        if !frame.text().starts_with(['{', '[']) || !frame.text().ends_with(['}', ']']) {
            return Err(Fault::new(start, "something stands around the message"));
        }
        let document = parser.parse(frame).map_err(|refusal| {
            Fault::new(start + refusal.offset(), format!("not strict JSON: {}", refusal.reason()))
        })?;
        let value = document.root().to_owned_json();
        ledger.take(&value).map_err(|why| Fault::new(start, why))?;
        start = next;
    }
    if start < transcript.stdout.len() {
        return Err(Fault::new(start, "bytes after the last line feed"));
    }
    ledger.settle(transcript.answers).map_err(|why| Fault::new(start, why))
}

/// Judges a transcript and fails the test if it is at fault: with the first wrong bytes, their offset,
/// the launch command, and the folder that the whole transcript is kept in, stderr apart.
///
/// # Panics
/// If the transcript is at fault.
pub fn require(name: &str, command: &str, transcript: &Transcript<'_>, stderr: &[u8]) {
    if let Err(fault) = judge(transcript) {
        let folder = process::keep(name, command, transcript.stdin, transcript.stdout, stderr);
        panic!(
            "{name}: stdout is at fault at offset {}: {}\n{}  command: {command}\n  transcript: {}\n  stderr apart: {}",
            fault.offset,
            fault.why,
            show(transcript.stdout, fault.offset),
            folder.display(),
            folder.join("stderr.bin").display()
        );
    }
}

/// The bytes around an offset, as hexadecimal digits and as escaped text.
fn show(bytes: &[u8], offset: usize) -> String {
    let mut shown = String::new();
    let from = offset.min(bytes.len());
    let wrong = &bytes[from..bytes.len().min(from + 48)];
    let before = &bytes[from.saturating_sub(32)..from];
    for (what, part) in [("before", before), ("wrong ", wrong)] {
        let hex: Vec<String> = part.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(shown, "  {what}: {}\n          \"{}\"", hex.join(" "), part.escape_ascii());
    }
    shown
}

#[cfg(test)]
mod tests;
