//! The secret type. Belongs here: holding bytes, zeroing them, and the only two ways to see them.
//! Must not: gain a trait that prints, copies or serialises.

use zeroize::Zeroizing;

use crate::VaultError;

/// The bytes of one credential: zeroed on drop, and without any trait that could show or copy
/// them.
///
/// Zeroing is best effort: copies that a library makes of an exposed value, swap and core dumps
/// are outside of it.
#[expect(missing_debug_implementations, reason = "a secret must not be printable, not even redacted")]
pub struct Secret {
    bytes: Zeroizing<Vec<u8>>,
}

impl Secret {
    /// Takes ownership of `bytes`; nothing is checked here. [`crate::Source::load`] is the way
    /// from a declared source, with every check.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes: Zeroizing::new(bytes) }
    }

    /// The bytes in the clear. Every opening of a secret is found by searching for `expose_`.
    pub fn expose_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes in the clear, for an HTTP header value: visible ASCII, space, tab and bytes from
    /// 0x80 up; no CR, LF, NUL or other control byte, no space or tab at either end
    /// (RFC 9110 section 5.5). `name` only labels the error.
    ///
    /// # Errors
    /// [`VaultError::NotHeaderSafe`], without the offending byte or its place.
    pub fn expose_header_bytes(&self, name: &str) -> Result<&[u8], VaultError> {
        let inside = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~' | 0x80..=0xff);
        let edge = |byte: Option<&u8>| !matches!(byte, None | Some(b' ' | b'\t'));
        let bytes = self.expose_bytes();
        if bytes.iter().all(inside) && edge(bytes.first()) && edge(bytes.last()) {
            Ok(bytes)
        } else {
            Err(VaultError::NotHeaderSafe { name: name.to_owned() })
        }
    }

    /// A second holder of the same bytes, inside this crate only: an environment snapshot keeps
    /// one and hands out another.
    pub(crate) fn duplicate(&self) -> Self {
        Self::new(self.expose_bytes().to_vec())
    }
}
