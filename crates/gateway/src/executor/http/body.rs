//! The body of an answer: as much of it as may be shown, without secrets.
//!
//! Belongs here: the limit, and masking while the body is read, before anything is cut.
//! Does not belong here: what a body means, or in which form it is shown.

use std::borrow::Cow;

use framegate_vault::{Redacted, Redaction, Redactor};
use http_body_util::BodyExt;
use hyper::body::Incoming;

/// How much more than the limit is read in search of a secret's end, in bytes. A longest secret, in its longest
/// spelling, fits; only a body that repeats secrets many times over meets this bound.
const MARGIN: usize = 1024 * 1024;

/// What is kept of a body. No `Debug`: a peer wrote it.
pub(super) struct Kept {
    /// Masked, and at most the limit, except that a placeholder at the cut is whole; or that it is withheld.
    masked: Redacted<'static>,
    /// Whether the body is longer.
    pub(super) cut: bool,
}

impl Kept {
    /// Of a body that went elsewhere.
    pub(super) fn nothing() -> Self {
        let masked = Redacted { bytes: Cow::Borrowed(&[]), redactions: Vec::new(), suspected: false };
        Self { masked, cut: false }
    }

    /// What was kept, masked; a placeholder at its end is whole.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.masked.bytes
    }

    /// How many secrets were found in it.
    pub(super) fn hits(&self) -> u64 {
        u64::try_from(self.masked.redactions.len()).unwrap_or(u64::MAX)
    }

    /// All of it.
    pub(super) fn into_masked(self) -> Redacted<'static> {
        self.masked
    }

    /// At most its first `limit` bytes, except that a placeholder at the cut is whole.
    pub(super) fn beginning(&self, limit: usize) -> &[u8] {
        self.masked.truncated(limit)
    }
}

/// Reads until the body ends or `limit` bytes can be shown.
pub(super) async fn read(
    mut body: Incoming,
    redactor: &Redactor,
    limit: usize,
) -> Result<Kept, hyper::Error> {
    let mut stream = redactor.stream();
    let mut masked = Vec::new();
    let mut redactions = Vec::new();
    let mut taken: usize = 0;
    let mut cut = false;
    while let Some(frame) = body.frame().await {
        // Trailers are not shown.
        let Ok(data) = frame?.into_data() else { continue };
        taken = taken.saturating_add(data.len());
        redactions.extend(stream.push(&data, &mut masked));
        if masked.len() > limit || taken > limit.saturating_add(MARGIN) {
            cut = true;
            break;
        }
    }
    // The end of a body that was not read to its end is left out: a secret may begin in it.
    let mut suspected = stream.suspected();
    if !cut {
        let ending = stream.finish(&mut masked);
        redactions.extend(ending.redactions);
        suspected = ending.suspected;
        cut = masked.len() > limit;
    }
    if suspected {
        let whole = Redaction { start: 0, end: Redacted::WITHHELD.len() };
        let bytes = Cow::Borrowed(Redacted::WITHHELD.as_bytes());
        return Ok(Kept { masked: Redacted { bytes, redactions: vec![whole], suspected }, cut });
    }
    let mut masked = Redacted { bytes: Cow::Owned(masked), redactions, suspected };
    let end = masked.truncated(limit).len();
    masked.bytes.to_mut().truncate(end);
    Ok(Kept { masked, cut })
}
