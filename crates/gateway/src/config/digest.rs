//! The digest by which a configuration is known.
//!
//! Belongs here: what goes into it, and its text form.
//! Does not belong here: keyed digests of arguments and results.

use core::fmt;
use core::str::FromStr;

use sha2::{Digest as _, Sha256};

/// SHA-256 over the configuration file and its policy files, in the order in which it names them.
///
/// Each part is preceded by its length as eight bytes, most significant first; the first part is a
/// fixed text. So no two different lists of files give the same input.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

/// A text that is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 64 lower-case hexadecimal digits")]
pub struct DigestSyntax;

impl Digest {
    /// The digest of a configuration and its policies.
    #[must_use]
    pub fn of<'a>(config: &'a [u8], policies: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = Sha256::new();
        let parts = [b"framegate configuration 1".as_slice(), config];
        for part in parts.into_iter().chain(policies) {
            hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

impl FromStr for Digest {
    type Err = DigestSyntax;

    fn from_str(text: &str) -> Result<Self, DigestSyntax> {
        let mut bytes = [0; 32];
        let mut digits = text.bytes();
        for byte in &mut bytes {
            let (high, low) = digits.next().zip(digits.next()).ok_or(DigestSyntax)?;
            *byte = digit(high)? << 4 | digit(low)?;
        }
        if digits.next().is_some() {
            return Err(DigestSyntax);
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0 {
            write!(formatter, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

fn digit(byte: u8) -> Result<u8, DigestSyntax> {
    match byte {
        b'0'..=b'9' => Ok(byte.saturating_sub(b'0')),
        b'a'..=b'f' => Ok(byte.saturating_sub(b'a').saturating_add(10)),
        _ => Err(DigestSyntax),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cannot_trade_bytes() {
        let of = |config: &str, policies: &[&str]| {
            Digest::of(config.as_bytes(), policies.iter().map(|text| text.as_bytes()))
        };
        let digests = [
            of("ab", &[]),
            of("a", &["b"]),
            of("", &["ab"]),
            of("ab", &[""]),
            of("", &["a", "b"]),
            of("", &["b", "a"]),
        ];
        for (index, digest) in digests.iter().enumerate() {
            assert!(!digests[..index].contains(digest), "{index}");
        }
    }

    #[test]
    fn the_input_is_as_documented() {
        let mut input = Vec::new();
        for part in ["framegate configuration 1", "a", "bc"] {
            input.extend(u64::try_from(part.len()).unwrap().to_be_bytes());
            input.extend(part.as_bytes());
        }
        let expected: [u8; 32] = Sha256::digest(&input).into();
        assert_eq!(Digest::of(b"a", [b"bc".as_slice()]), Digest(expected));
    }

    #[test]
    fn text_form_is_exact() {
        let digest = Digest::of(b"x", []);
        let text = digest.to_string();
        assert_eq!(text.parse(), Ok(digest));
        for wrong in [
            text.to_uppercase(),
            text[1..].to_owned(),
            format!("{text}0"),
            format!(" {}", &text[1..]),
            String::new(),
        ] {
            assert_eq!(wrong.parse::<Digest>(), Err(DigestSyntax), "{wrong}");
        }
    }
}
