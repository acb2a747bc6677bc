//! The redactor. Belongs here: finding every known spelling of every secret in bytes, whole or
//! streamed, and putting a placeholder in its place. Must not: know which spellings exist
//! (`forms.rs`), or what the bytes are for.
//!
//! A net, not a wall: it catches a secret that a service repeats, in the spellings of `forms.rs`.
//! A service that means to leak can always write a secret in a way no search finds; the control
//! for that is that agents cannot choose where a credential goes.

mod forms;
mod stream;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use crate::{Secret, VaultError};
pub use stream::RedactionStream;

/// How every placeholder begins. No accepted secret contains it.
pub(crate) const PLACEHOLDER_START: &[u8] = b"[redacted:";

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

/// Finds secrets in bytes that are about to leave the process.
///
/// Holds every searched spelling in the clear, in memory that is *not* zeroed on drop: build it
/// next to the secrets it guards and keep it no longer than they are needed.
#[expect(
    missing_debug_implementations,
    reason = "holds the spellings of secrets, which must not be printable"
)]
pub struct Redactor {
    /// `None` when there is nothing to search for.
    automaton: Option<AhoCorasick>,
    /// For each pattern, the index of its placeholder.
    owners: Vec<usize>,
    placeholders: Vec<Box<[u8]>>,
    longest: usize,
}

/// Bytes without the secrets, and where placeholders stand in them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted<'a> {
    /// The bytes that may be shown. Borrowed when nothing was found.
    pub bytes: Cow<'a, [u8]>,
    /// Every placeholder in `bytes`, in order.
    pub redactions: Vec<Redaction>,
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
    /// Prepares the search for every spelling of every one of `secrets`. Empty secrets are left
    /// out: they have no spelling.
    ///
    /// # Errors
    /// [`VaultError::RedactorTooLarge`].
    pub fn new<'a>(secrets: impl IntoIterator<Item = Watched<'a>>) -> Result<Self, VaultError> {
        let mut patterns = Vec::new();
        let mut owners = Vec::new();
        let mut placeholders = Vec::new();
        for watched in secrets {
            let spellings = forms::spellings(watched.secret.expose_bytes(), watched.user);
            owners.resize(owners.len().saturating_add(spellings.len()), placeholders.len());
            patterns.extend(spellings);
            let name = watched.name.as_bytes();
            placeholders.push([PLACEHOLDER_START, name, b"]"].concat().into_boxed_slice());
        }
        let longest = patterns.iter().map(|spelling| spelling.len()).max();
        let automaton = match longest {
            None => None,
            Some(_) => Some(
                AhoCorasick::builder()
                    // Every match is reported, overlapping ones too: where two secrets overlap,
                    // nothing of either may stay.
                    .match_kind(MatchKind::Standard)
                    .kind(Some(AhoCorasickKind::ContiguousNFA))
                    .build(patterns.iter().map(|spelling| spelling.as_slice()))
                    .map_err(|_| VaultError::RedactorTooLarge)?,
            ),
        };
        Ok(Self { automaton, owners, placeholders, longest: longest.unwrap_or(0) })
    }

    /// The whole of `bytes` without secrets. Call it before anything is cut off: a cut secret is
    /// not found.
    pub fn redact<'a>(&self, bytes: &'a [u8]) -> Redacted<'a> {
        let mut stream = self.stream();
        let mut output = Vec::new();
        let mut redactions = stream.push(bytes, &mut output);
        redactions.extend(stream.finish(&mut output));
        let bytes = if redactions.is_empty() { Cow::Borrowed(bytes) } else { Cow::Owned(output) };
        Redacted { bytes, redactions }
    }

    /// A redaction of bytes that come in pieces; the result does not depend on how they are cut.
    pub fn stream(&self) -> RedactionStream<'_> {
        RedactionStream::new(self)
    }

    /// Every match, overlapping ones too, ordered by where it starts.
    fn matches(&self, bytes: &[u8]) -> Vec<Match> {
        let Some(automaton) = &self.automaton else {
            return Vec::new();
        };
        let Ok(found) = automaton.try_find_overlapping_iter(bytes) else {
            return Vec::new();
        };
        let mut matches: Vec<Match> = found
            .filter_map(|found| {
                Some(Match {
                    start: found.start(),
                    end: found.end(),
                    owner: *self.owners.get(found.pattern().as_usize())?,
                })
            })
            .collect();
        matches.sort_unstable_by_key(|found| (found.start, found.end, found.owner));
        matches
    }
}

impl Redacted<'_> {
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

/// One spelling found.
#[derive(Clone, Copy)]
struct Match {
    start: usize,
    end: usize,
    owner: usize,
}
