//! Keyed fingerprints: equal content can be recognised, content cannot be guessed.
//!
//! Belongs here: the installation's key file and HMAC-SHA-256 (RFC 2104) under that key.
//! Does not belong here: what is fingerprinted, signing.

use core::fmt;
use std::io::{Read as _, Write as _};
use std::sync::Arc;

use hmac::{Hmac, Mac as _};
use sha2::Sha256;

use crate::encode::hexadecimal;
use crate::error::{Fault, JournalError};
use crate::folder::{Folder, file_error};

const KEY_FILE: &str = "key";
const KEY_BYTES: usize = 32;
/// HMAC pads a shorter key with zeros to the block size of SHA-256.
const BLOCK_BYTES: usize = 64;
/// One byte more than a key, to tell a longer file from a key.
const KEY_LIMIT: u64 = 33;
const FINGERPRINT_BYTES: usize = 16;

/// What a digest is of. Equal bytes in different places have different digests.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Domain {
    Frame,
    Arguments,
    Action,
    Result,
    Text,
}

impl Domain {
    const fn label(self) -> &'static [u8] {
        match self {
            Self::Frame => b"framegate/1/frame\0",
            Self::Arguments => b"framegate/1/arguments\0",
            Self::Action => b"framegate/1/action\0",
            Self::Result => b"framegate/1/result\0",
            Self::Text => b"framegate/1/text\0",
        }
    }
}

/// Makes keyed fingerprints: HMAC-SHA-256 under a key of this installation, cut to 128 bits.
///
/// Without the key, a fingerprint of a PIN or a telephone number cannot be turned back by trying all of
/// them; with the key, as in the journal's folder, it can.
#[derive(Clone)]
pub struct Fingerprinter {
    keyed: Arc<Hmac<Sha256>>,
}

impl fmt::Debug for Fingerprinter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fingerprinter").finish_non_exhaustive()
    }
}

impl Fingerprinter {
    /// The fingerprint of a frame's bytes: 32 lower-case hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self, frame: &[u8]) -> String {
        self.digest(Domain::Frame, &[frame])
    }

    /// The digest of parts, each under its length, so that no two lists of parts read the same.
    pub(crate) fn digest(&self, domain: Domain, parts: &[&[u8]]) -> String {
        let mut keyed = Hmac::clone(&self.keyed);
        keyed.update(domain.label());
        for part in parts {
            keyed.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            keyed.update(part);
        }
        let digest = keyed.finalize().into_bytes();
        hexadecimal(digest.get(..FINGERPRINT_BYTES).unwrap_or(&digest))
    }

    /// Reads the folder's key; makes one first if there is none.
    pub(crate) fn open(folder: &Folder) -> Result<Self, JournalError> {
        let file = match folder.read_private(KEY_FILE)? {
            Some(file) => file,
            None => {
                publish_new_key(folder)?;
                folder
                    .read_private(KEY_FILE)?
                    .ok_or_else(|| file_error(KEY_FILE, rustix::io::Errno::NOENT.into()))?
            }
        };
        let mut key = Vec::with_capacity(BLOCK_BYTES);
        file.take(KEY_LIMIT).read_to_end(&mut key).map_err(|error| file_error(KEY_FILE, Fault::Io(error)))?;
        if key.len() != KEY_BYTES {
            return Err(file_error(KEY_FILE, Fault::KeyLength));
        }
        let mut block = [0; BLOCK_BYTES];
        for (slot, byte) in block.iter_mut().zip(key) {
            *slot = byte;
        }
        Ok(Self { keyed: Arc::new(hmac::digest::KeyInit::new((&block).into())) })
    }
}

/// Writes a whole key under a name of its own and gives it the real name if that is still free: of several
/// processes that start at once, one wins and no reader ever sees half a key.
fn publish_new_key(folder: &Folder) -> Result<(), JournalError> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).map_err(JournalError::Randomness)?;
    let name = format!(".key-{}", random_name()?);
    let written = folder.create(&name).and_then(|mut file| {
        file.write_all(&key)
            .and_then(|()| file.sync_all())
            .map_err(|error| file_error(&name, Fault::Io(error)))?;
        folder.link(&name, KEY_FILE)
    });
    folder.unlink(&name)?;
    written?;
    folder.sync()
}

/// Twelve random hexadecimal digits.
pub(crate) fn random_name() -> Result<String, JournalError> {
    let mut bytes = [0; 6];
    getrandom::fill(&mut bytes).map_err(JournalError::Randomness)?;
    Ok(hexadecimal(&bytes))
}
