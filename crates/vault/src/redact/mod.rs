//! The redactor. Belongs here: what callers use, and the order of the searches: in the bytes as they are,
//! in the text that a reader would take them for, in that without white space. Must not: know
//! which forms of a secret exist (`forms.rs`), or what the bytes are for.
//!
//! A net, not a wall: it catches a secret that a service repeats, in the forms of `forms.rs` and under the
//! escapes of `normal.rs`. A service that means to leak can always write a secret in a way no search
//! finds; the control for that is that agents cannot choose where a credential goes.

mod compressed;
mod forms;
mod index;
mod normal;
mod public;
mod spellings;
mod stream;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::error::Weakness;
use crate::{Secret, VaultError};
use index::{Effort, Hit, Index};
use normal::{Blanks, Contents, View};
pub(crate) use public::Public;
pub use stream::{Ending, RedactionStream};

/// How every placeholder of a secret begins. No accepted secret contains it.
pub(crate) const PLACEHOLDER_START: &[u8] = b"[redacted:";

/// The shortest secret that is searched for, in bytes.
pub(crate) const MIN_BYTES: usize = 12;

/// The least that is settled at once, in bytes.
const MIN_BLOCK: usize = 16 * 1024;
/// How far beyond a block is searched, in bytes: far enough for a short secret that is torn apart, and not so far
/// that a long one has much held back. What reaches further is found in parts that overlap.
const REACH: std::ops::RangeInclusive<usize> = 4 * 1024..=64 * 1024;
/// How many bytes of text one byte of a secret may take when it is escaped: `%25%35%43`, `&amp;#x67;`.
const MOST_PER_BYTE: usize = 12;

/// One secret to search for.
#[expect(missing_debug_implementations, reason = "borrows a secret, which must not be printable")]
pub struct Watched<'a> {
    /// The secret's name in the configuration, shown in the placeholder.
    pub name: &'a str,
    /// The secret itself.
    pub secret: &'a Secret,
    /// The user name it is sent with as HTTP Basic credentials, if it is.
    pub user: Option<&'a str>,
}

/// Finds secrets in bytes that are about to leave the process. It can be shared between threads.
///
/// Holds every form of every secret in the clear, in memory that is zeroed on drop: keep it no longer
/// than the secrets it guards are needed.
#[expect(missing_debug_implementations, reason = "holds the forms of secrets, which must not be printable")]
pub struct Redactor {
    index: Index,
    placeholders: Vec<Box<[u8]>>,
    /// Bytes that are searched and settled at once; 0 if there is nothing to search for.
    block: usize,
    /// How many bytes more are searched, so that what begins in a block is seen to its end.
    reach: usize,
}

/// Bytes without the secrets, and where placeholders stand in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The bytes that may be shown, unless `suspected`. Borrowed when nothing was found.
    pub bytes: Cow<'a, [u8]>,
    /// Every placeholder in `bytes`, in order.
    pub redactions: Vec<Redaction>,
    /// Whether nothing of `bytes` may be shown, but [`Redacted::WITHHELD`] in their place: a secret is there
    /// that white space takes apart, so that no one place holds it; or the bytes are compressed; or the
    /// search was given up, because the bytes are made to make it slow.
    pub suspected: bool,
}

/// One placeholder. Its count in a session tells a probing agent from a chatty service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    /// Where the placeholder starts in the redacted bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl Redactor {
    /// Prepares the search for every form of every one of `secrets`.
    ///
    /// # Errors
    /// [`VaultError::Weak`] for a secret of fewer than 12 bytes, which [`crate::Source::load`] does not
    /// give; [`VaultError::RedactorTooLarge`].
    pub fn new<'a>(secrets: impl IntoIterator<Item = Watched<'a>>) -> Result<Self, VaultError> {
        let mut forms = Vec::new();
        let mut placeholders = Vec::new();
        let mut longest: usize = 0;
        for Watched { name, secret, user } in secrets {
            let bytes = secret.expose_bytes();
            if bytes.len() < MIN_BYTES {
                return Err(VaultError::Weak { name: name.to_owned(), fault: Weakness::TooShort });
            }
            longest = longest.max(bytes.len());
            forms.extend(forms::of(bytes, user, placeholders.len()));
            placeholders.push([PLACEHOLDER_START, name.as_bytes(), b"]"].concat().into_boxed_slice());
        }
        let index = Index::new(forms)?;
        let reach = longest.saturating_mul(MOST_PER_BYTE).clamp(*REACH.start(), *REACH.end());
        let block = if index.is_empty() { 0 } else { reach.saturating_mul(2).max(MIN_BLOCK) };
        Ok(Self { index, placeholders, block, reach })
    }

    /// The whole of `bytes` without secrets. Call it before anything is cut off: a cut secret may not be
    /// found.
    pub fn redact<'a>(&self, bytes: &'a [u8]) -> Redacted<'a> {
        let mut stream = self.stream();
        let mut output = Vec::new();
        let mut redactions = stream.push(bytes, &mut output);
        let ending = stream.finish(&mut output);
        redactions.extend(ending.redactions);
        let bytes = if redactions.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(output) };
        Redacted { bytes, redactions, suspected: ending.suspected }
    }

    /// A redaction of bytes that come in pieces; the result does not depend on how they are cut.
    pub fn stream(&self) -> RedactionStream<'_> {
        RedactionStream::new(self)
    }

    /// Every hit in `bytes`, ordered by where it starts; of hits without white space, those that start
    /// before `settled` and are not covered, nor by what ends at `covered`, are only suspected.
    fn search(&self, bytes: &[u8], covered: usize, settled: usize) -> Found {
        let mut effort = Effort::for_bytes(bytes.len());
        let mut hits = self.index.find(bytes, &mut effort);
        let contents = Contents::of(bytes);
        if contents.escapes() {
            let view = View::new(bytes, Blanks::Kept);
            hits.extend(self.index.find(&view.bytes, &mut effort).into_iter().map(|hit| Hit {
                start: view.source_start(hit.start),
                end: hit.end.checked_sub(1).map_or(0, |last| view.source_end_with_hidden(last)),
                ..hit
            }));
        }
        hits.sort_unstable_by_key(|hit| (hit.start, hit.end, hit.owner));
        let mut suspected = false;
        if contents.escapes_or_blanks() {
            let torn = self.index.find(&normal::without_blanks(bytes, contents), &mut effort);
            if !torn.is_empty() {
                // Where each byte comes from is worked out only for what was found.
                let view = View::new(bytes, Blanks::Dropped);
                let covers = Covers::new(covered, &hits);
                suspected = torn.into_iter().any(|hit| {
                    view.source_end(hit.start) <= settled
                        && !(hit.core.0..hit.core.1).all(|at| covers.hold(view.source_end(at)))
                });
            }
        }
        Found { hits, suspected: suspected || effort.is_exhausted() }
    }
}

struct Found {
    hits: Vec<Hit>,
    /// Whether there is more than `hits`.
    suspected: bool,
}

/// The bytes that placeholders will stand for.
struct Covers {
    /// Disjoint, in order.
    spans: Vec<(usize, usize)>,
}

impl Covers {
    fn new(covered: usize, hits: &[Hit]) -> Self {
        let mut spans = vec![(0, covered)];
        for hit in hits {
            match spans.last_mut() {
                Some((_, end)) if hit.start <= *end => *end = hit.end.max(*end),
                _ => spans.push((hit.start, hit.end)),
            }
        }
        Self { spans }
    }

    /// Whether the byte that ends at `end` is covered.
    fn hold(&self, end: usize) -> bool {
        let after = self.spans.partition_point(|span| span.0 < end);
        after.checked_sub(1).and_then(|last| self.spans.get(last)).is_some_and(|span| end <= span.1)
    }
}

impl Redacted<'_> {
    /// What is shown in the place of a field that is withheld.
    pub const WITHHELD: &'static str = "[withheld:secret-suspected]";

    /// At most `limit` bytes, except that a placeholder at the cut is kept whole.
    pub fn truncated(&self, limit: usize) -> &[u8] {
        let cut = self
            .redactions
            .iter()
            .find(|redaction| redaction.start < limit && limit < redaction.end)
            .map_or(limit, |redaction| redaction.end);
        self.bytes.get(..cut).unwrap_or(&self.bytes)
    }
}
