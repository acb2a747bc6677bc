//! Redaction of bytes that come in pieces. Belongs here: what is held back until it is certain
//! that no secret starts in it, clusters of hits, what they become. Must not: search (`Redactor::search`).

use zeroize::Zeroizing;

use super::index::Hit;
use super::{Redaction, Redactor, compressed};

/// Redacts a stream.
///
/// The stream is searched in blocks of one size, each with the bytes after it that a secret which begins in
/// the block may reach; the blocks lie where they lie, however the pieces are cut, so cuts change
/// nothing. At most one block and that reach are held back.
///
/// Hits that overlap form one *cluster*; it becomes one placeholder, named after its longest hit, of equals
/// the whole secret before the part of one, and the one that was declared first.
#[expect(
    missing_debug_implementations,
    reason = "holds bytes that were not yet searched, which may be a secret"
)]
pub struct RedactionStream<'a> {
    redactor: &'a Redactor,
    /// Bytes not yet settled.
    held: Zeroizing<Vec<u8>>,
    settler: Settler<'a>,
}

/// What the end of a stream brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The last redactions, placed in the whole output of the stream.
    pub redactions: Vec<Redaction>,
    /// Whether the whole output must be withheld: see [`super::Redacted::suspected`].
    pub suspected: bool,
}

impl<'a> RedactionStream<'a> {
    pub(super) fn new(redactor: &'a Redactor) -> Self {
        let settler = Settler { redactor, begun: false, open: None, written: 0, suspected: false };
        Self { redactor, held: Zeroizing::new(Vec::new()), settler }
    }

    /// Takes the next piece and appends to `output` what is now certain. The redactions returned
    /// are placed in the whole output of this stream.
    pub fn push(&mut self, piece: &[u8], output: &mut Vec<u8>) -> Vec<Redaction> {
        let mut redactions = Vec::new();
        let block = self.redactor.block;
        if block == 0 {
            output.extend_from_slice(piece);
            return redactions;
        }
        let window = block.saturating_add(self.redactor.reach);
        self.held.extend_from_slice(piece);
        let mut settled: usize = 0;
        while let Some(bytes) = self.held.get(settled..settled.saturating_add(window)) {
            redactions.extend(self.settler.settle(bytes, block, output));
            settled = settled.saturating_add(block);
        }
        self.held.drain(..settled);
        redactions
    }

    /// The stream has ended: appends everything that is left.
    pub fn finish(mut self, output: &mut Vec<u8>) -> Ending {
        let mut redactions = self.settler.settle(&self.held, self.held.len(), output);
        redactions.extend(self.settler.close(output));
        Ending { redactions, suspected: self.settler.suspected }
    }

    /// Whether what was appended so far must be withheld: see [`super::Redacted::suspected`].
    pub fn suspected(&self) -> bool {
        self.settler.suspected
    }

    #[cfg(test)]
    pub(super) fn held_bytes(&self) -> usize {
        self.held.len()
    }
}

struct Settler<'a> {
    redactor: &'a Redactor,
    /// Whether anything was searched yet.
    begun: bool,
    /// The cluster that covers the start of the next bytes, if one does: the rest of its span, its
    /// best hit.
    open: Option<Cluster>,
    /// Bytes written so far.
    written: usize,
    suspected: bool,
}

#[derive(Clone, Copy)]
struct Cluster {
    end: usize,
    owner: usize,
    rank: (usize, bool),
}

impl Settler<'_> {
    /// Settles the first `settled` of `bytes`: the hits that start in them.
    fn settle(&mut self, bytes: &[u8], settled: usize, output: &mut Vec<u8>) -> Vec<Redaction> {
        let covered = self.open.map_or(0, |cluster| cluster.end);
        let found = self.redactor.search(bytes, covered, settled);
        self.suspected |= found.suspected || (!self.begun && compressed::begins(bytes));
        self.begun = true;
        let mut redactions = Vec::new();
        // Up to here, bytes are written or covered by a closed cluster.
        let mut done: usize = 0;
        for hit in found.hits.into_iter().filter(|hit| hit.start < settled) {
            match &mut self.open {
                Some(cluster) if hit.start < cluster.end => cluster.absorb(&hit),
                _ => {
                    done = self.open.map_or(done, |cluster| cluster.end);
                    redactions.extend(self.close(output));
                    self.write(bytes.get(done..hit.start), output);
                    self.open = Some(Cluster::new(&hit));
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
                self.write(bytes.get(done..settled), output);
            }
        }
        redactions
    }

    fn write(&mut self, plain: Option<&[u8]>, output: &mut Vec<u8>) {
        let plain = plain.unwrap_or_default();
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
    fn new(hit: &Hit) -> Self {
        Self { end: hit.end, owner: hit.owner, rank: rank(hit) }
    }

    fn absorb(&mut self, hit: &Hit) {
        let rank = rank(hit);
        if rank > self.rank || (rank == self.rank && hit.owner < self.owner) {
            self.rank = rank;
            self.owner = hit.owner;
        }
        self.end = self.end.max(hit.end);
    }
}

fn rank(hit: &Hit) -> (usize, bool) {
    (hit.end.saturating_sub(hit.start), hit.whole)
}
