//! What a line leaves behind for the record: never its bytes.
//!
//! Belongs here: place, length, fingerprint and masked excerpt of one line.
//! Does not belong here: why it was refused.

use framegate_journal::Fingerprinter;
use framegate_wire::frame::{Reader, excerpt};

/// The line that a call or a refusal came from.
#[derive(Clone, Debug, Default)]
pub(super) struct Evidence {
    pub(super) line: u64,
    pub(super) length: usize,
    pub(super) fingerprint: String,
    pub(super) excerpt: String,
}

impl Evidence {
    /// Of the line that was read last, its excerpt around `offset`.
    pub(super) fn of_last(frames: &Reader, offset: usize, fingerprinter: &Fingerprinter) -> Self {
        let line = frames.line();
        Self {
            line: frames.lines(),
            length: line.len(),
            fingerprint: fingerprinter.fingerprint(line),
            excerpt: excerpt(line, offset),
        }
    }
}
