//! What finds a target's credential in its answers.
//!
//! Belongs here: one redactor a target, made again when the secret's bytes are others.
//! Does not belong here: which spellings a secret has, what is searched.

use std::sync::{Arc, Mutex, PoisonError};

use framegate_vault::Redactor;
use hmac::digest::{CtOutput, KeyInit};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::credential::{Credential, CredentialError};
use crate::log::Masks;

/// HMAC-SHA-256 takes a key of a whole block as it is.
const BLOCK_BYTES: usize = 64;

/// Which of the values that a target's secret has had in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Generation(u64);

/// Recognises a secret's bytes without keeping them: their HMAC-SHA-256 under a key that this process made up
/// and shows nobody.
#[derive(Clone)]
pub(super) struct Recogniser(Hmac<Sha256>);

impl Recogniser {
    /// # Errors
    /// When the operating system gives no randomness.
    pub(super) fn new() -> Result<Self, getrandom::Error> {
        let mut block = Zeroizing::new([0; BLOCK_BYTES]);
        getrandom::fill(&mut *block)?;
        Ok(Self(KeyInit::new((&*block).into())))
    }

    fn tag(&self, secret: &[u8]) -> CtOutput<Hmac<Sha256>> {
        self.0.clone().chain_update(secret).finalize()
    }
}

/// The redactor of one target.
///
/// It holds every spelling of the secret in the clear for as long as the session lasts; what that costs and
/// saves is weighed in `docs/decisions/0009-a-redactor-a-call.md`.
pub(super) struct Masking {
    target: String,
    recogniser: Recogniser,
    /// The log's net, which catches the same credential.
    masks: Masks,
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    /// Of the secret that the redactor was made for. Compared in constant time.
    tag: Option<CtOutput<Hmac<Sha256>>>,
    redactor: Arc<Redactor>,
    generation: Generation,
}

impl Masking {
    pub(super) fn new(target: &str, recogniser: Recogniser, masks: Masks) -> Self {
        Self { target: target.to_owned(), recogniser, masks, kept: Mutex::new(None) }
    }

    /// What finds this credential, or nothing if there is none; and which value of it this is.
    pub(super) fn redactor(
        &self,
        credential: Option<&Credential<'_>>,
    ) -> Result<(Arc<Redactor>, Generation), CredentialError> {
        let tag = credential.map(|credential| self.recogniser.tag(credential.expose_bytes()));
        // A panic while a redactor is made leaves the one before, which still goes with its tag.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept.as_ref().filter(|kept| kept.tag == tag) {
            return Ok((Arc::clone(&kept.redactor), kept.generation));
        }
        let redactor = Arc::new(Credential::redactor(credential)?);
        self.masks.set(&self.target, Arc::clone(&redactor));
        let before = kept.as_ref().map(|kept| kept.generation).unwrap_or_default();
        let generation = Generation(before.0.wrapping_add(1));
        *kept = Some(Kept { tag, redactor: Arc::clone(&redactor), generation });
        Ok((redactor, generation))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use framegate_vault::{Environment, Source};

    use super::*;
    use crate::config::Auth;

    #[test]
    fn a_redactor_is_made_again_only_for_another_secret() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let source = Source::File { path: path.clone(), allow_group_read: false };
        let secrets = BTreeMap::from([("key".to_owned(), source)]);
        let environment = Environment::snapshot([]);
        let auth = Auth::Bearer { secret: "key".to_owned() };
        let masks = Masks::default();
        let masking = Masking::new("t", Recogniser::new().unwrap(), masks.clone());
        let made = |secret: &str| {
            fs::write(&path, secret).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            let credential = Credential::load(&auth, &secrets, &environment).unwrap();
            masking.redactor(Some(&credential)).unwrap()
        };
        let (one, two) = ("Bv3-another-71/nQ+kd0pT_x", "Bv3-another-71/nQ+kd0pT_y");
        let (first, first_generation) = made(one);
        let (same, same_generation) = made(one);
        assert!(Arc::ptr_eq(&first, &same));
        assert_eq!(first_generation, same_generation);
        let (other, other_generation) = made(two);
        assert_eq!(&*other.redact(two.as_bytes()).bytes, b"[redacted:key]");
        assert_eq!(masks.mask(two), "[redacted:key]");
        assert_ne!(first_generation, other_generation);
        // A value that comes back is not taken for one that stayed.
        let (again, again_generation) = made(one);
        assert!(!Arc::ptr_eq(&first, &again));
        assert!(again_generation != first_generation && again_generation != other_generation);
        assert_eq!(&*again.redact(one.as_bytes()).bytes, b"[redacted:key]");
    }
}
