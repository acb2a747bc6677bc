//! What keeps credentials out of the log.
//!
//! Belongs here: the redactors of the credentials that were opened, and a line's way through them.
//! Does not belong here: when a credential is opened, the form of a line.
//!
//! A net below a net: lines are made of fixed words, names and masked excerpts, and a line that held a
//! credential would be a fault. A fault must not cost the credential.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use framegate_vault::{Redacted, Redactor};

/// The redactor of every credential that a session has opened, by target. Clones share them.
#[derive(Clone, Default)]
pub struct Masks(Arc<Mutex<BTreeMap<String, Arc<Redactor>>>>);

impl core::fmt::Debug for Masks {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("Masks")
    }
}

impl Masks {
    /// From now on a target's credential is what this redactor finds.
    pub(crate) fn set(&self, target: &str, redactor: Arc<Redactor>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(target.to_owned(), redactor);
    }

    /// The text without credentials.
    pub(crate) fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for redactor in self.0.lock().unwrap_or_else(PoisonError::into_inner).values() {
            let found = redactor.redact(text.as_bytes());
            if found.suspected {
                return Cow::Borrowed(Redacted::WITHHELD);
            }
            if !found.redactions.is_empty() {
                text = Cow::Owned(String::from_utf8_lossy(&found.bytes).into_owned());
            }
        }
        text
    }
}
