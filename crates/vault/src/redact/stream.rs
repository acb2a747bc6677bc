//! Redaction of bytes that come in pieces. Belongs here: what is held back until it is certain
//! that no secret starts in it. Must not: search (`Redactor::matches`).

use zeroize::Zeroizing;

use super::{Match, Redaction, Redactor};

/// Redacts a stream. At most twice the longest spelling is held back.
///
/// Matches that overlap form one *cluster*; it becomes one placeholder, named after its longest
/// match. What is settled never changes: bytes are settled once no match that is still to come can
/// start before them.
#[expect(
    missing_debug_implementations,
    reason = "holds bytes that were not yet searched, which may be a secret"
)]
pub struct RedactionStream<'a> {
    redactor: &'a Redactor,
    /// Bytes not yet settled.
    held: Zeroizing<Vec<u8>>,
    /// The cluster that covers the start of `held`, if one does: the rest of its span, its best
    /// match.
    open: Option<Cluster>,
    /// Bytes written so far.
    written: usize,
}

#[derive(Clone, Copy)]
struct Cluster {
    end: usize,
    owner: usize,
    /// Length of the longest match, which names the cluster.
    longest: usize,
}

impl<'a> RedactionStream<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Self {
        Self { redactor, held: Zeroizing::new(Vec::new()), open: None, written: 0 }
    }

    /// Takes the next piece and appends to `output` what is now certain. The redactions returned
    /// are placed in the whole output of this stream.
    pub fn push(&mut self, piece: &[u8], output: &mut Vec<u8>) -> Vec<Redaction> {
        self.held.extend_from_slice(piece);
        let overlap = self.redactor.longest.saturating_sub(1);
        // A search of the overlap for each byte that arrives would be quadratic.
        if self.held.len() < overlap.saturating_mul(2) {
            return Vec::new();
        }
        let settled = self.held.len().saturating_sub(overlap);
        self.settle(settled, output)
    }

    /// The stream has ended: appends everything that is left.
    pub fn finish(mut self, output: &mut Vec<u8>) -> Vec<Redaction> {
        let mut redactions = self.settle(self.held.len(), output);
        redactions.extend(self.close(output));
        redactions
    }

    /// Settles the first `settled` held bytes: no match that is still unseen starts in them.
    fn settle(&mut self, settled: usize, output: &mut Vec<u8>) -> Vec<Redaction> {
        let mut redactions = Vec::new();
        let matches = self.redactor.matches(&self.held);
        // Up to here, held bytes are written or covered by the open cluster.
        let mut done = 0;
        for found in matches.into_iter().filter(|found| found.start < settled) {
            match &mut self.open {
                Some(cluster) if found.start < cluster.end => cluster.absorb(found),
                _ => {
                    done = self.open.map_or(done, |cluster| cluster.end);
                    redactions.extend(self.close(output));
                    self.write(done, found.start, output);
                    self.open = Some(Cluster::new(found));
                }
            }
        }
        match &mut self.open {
            Some(cluster) if settled < cluster.end => {
                cluster.end = cluster.end.saturating_sub(settled);
            }
            _ => {
                done = self.open.map_or(done, |cluster| cluster.end);
                redactions.extend(self.close(output));
                self.write(done, settled, output);
            }
        }
        let rest = Zeroizing::new(self.held.get(settled..).unwrap_or_default().to_vec());
        self.held = rest;
        redactions
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.held.len()
    }

    fn write(&mut self, start: usize, end: usize, output: &mut Vec<u8>) {
        let plain = self.held.get(start..end).unwrap_or_default();
        output.extend_from_slice(plain);
        self.written = self.written.saturating_add(plain.len());
    }

    /// Writes the placeholder of the open cluster.
    fn close(&mut self, output: &mut Vec<u8>) -> Option<Redaction> {
        let cluster = self.open.take()?;
        let placeholder = self.redactor.placeholders.get(cluster.owner)?;
        let start = self.written;
        output.extend_from_slice(placeholder);
        self.written = start.saturating_add(placeholder.len());
        Some(Redaction { start, end: self.written })
    }
}

impl Cluster {
    fn new(found: Match) -> Self {
        Self { end: found.end, owner: found.owner, longest: found.end.saturating_sub(found.start) }
    }

    fn absorb(&mut self, found: Match) {
        let length = found.end.saturating_sub(found.start);
        if length > self.longest {
            self.longest = length;
            self.owner = found.owner;
        }
        self.end = self.end.max(found.end);
    }
}
