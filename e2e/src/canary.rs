//! A credential that must never be seen, in any of the forms it could leak in.
//!
//! Belongs here: making it, its forms, the search. Does not belong here: where to search.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// A random credential, different in every session.
#[derive(Clone)]
pub struct Canary {
    value: String,
    forms: Vec<(&'static str, Vec<u8>)>,
}

impl std::fmt::Debug for Canary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Canary")
    }
}

impl Canary {
    /// A new one: 43 characters of a bearer token (RFC 6750 section 2.1), some of which JSON, percent
    /// and base64 encoders write differently.
    ///
    /// # Panics
    /// If the system gives no random bytes.
    #[must_use]
    pub fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut random = [0_u8; 15];
        std::io::Read::read_exact(
            &mut std::fs::File::open("/dev/urandom").expect("random bytes"),
            &mut random,
        )
        .expect("random bytes");
        let mut value = format!("c{:x}/", COUNT.fetch_add(1, Ordering::Relaxed));
        for (index, byte) in random.iter().enumerate() {
            let _ = write!(value, "{byte:02x}");
            if index % 5 == 4 {
                value.push_str(["+K", "/Z", "~q"][index / 5]);
            }
        }
        Self::of(value)
    }

    /// A canary with this value.
    #[must_use]
    pub fn of(value: String) -> Self {
        let bytes = value.as_bytes();
        let mut forms = vec![
            ("exact", bytes.to_vec()),
            ("exact, solidus escaped", value.replace('/', r"\/").into_bytes()),
            ("JSON-escaped", escaped(bytes, |byte| format!("\\u{byte:04x}"))),
            ("JSON-escaped, upper case", escaped(bytes, |byte| format!("\\u{byte:04X}"))),
        ];
        let reserved = |byte: u8| !byte.is_ascii_alphanumeric() && !b"-._~".contains(&byte);
        for (name, everything, upper) in [
            ("percent", false, true),
            ("percent, lower case", false, false),
            ("percent, everything", true, true),
            ("percent, everything, lower case", true, false),
        ] {
            forms.push((
                name,
                escaped(bytes, |byte| match (everything || reserved(byte), upper) {
                    (true, true) => format!("%{byte:02X}"),
                    (true, false) => format!("%{byte:02x}"),
                    (false, _) => char::from(byte).to_string(),
                }),
            ));
        }
        let plain = GeneralPurposeConfig::new().with_encode_padding(false);
        for (name, alphabet) in [("base64", alphabet::STANDARD), ("base64url", alphabet::URL_SAFE)] {
            let engine = GeneralPurpose::new(&alphabet, plain);
            // Whatever stands in front of it: the middle is the same for each of three alignments.
            for shift in 0..3_usize {
                let mut padded = vec![b'x'; shift];
                padded.extend_from_slice(bytes);
                let encoded = engine.encode(&padded);
                let first = (shift * 8).div_ceil(6);
                let last = padded.len() * 8 / 6;
                forms.push((name, encoded.as_bytes()[first..last].to_vec()));
            }
        }
        Self { value, forms }
    }

    /// The credential itself.
    #[must_use]
    pub fn value(&self) -> &str {
        &self.value
    }

    /// The form in which it occurs in `bytes`, and where.
    #[must_use]
    pub fn find(&self, bytes: &[u8]) -> Option<(&'static str, usize)> {
        self.forms.iter().find_map(|(name, form)| position(bytes, form).map(|offset| (*name, offset)))
    }

    /// Fails if it occurs in `bytes`.
    ///
    /// # Panics
    /// With the form and the offset, never with the bytes.
    pub fn assert_absent(&self, place: &str, bytes: &[u8]) {
        if let Some((form, offset)) = self.find(bytes) {
            panic!("the credential leaked into {place} at offset {offset}, in the form `{form}`");
        }
    }
}

impl Default for Canary {
    fn default() -> Self {
        Self::new()
    }
}

fn escaped(bytes: &[u8], form: impl Fn(u8) -> String) -> Vec<u8> {
    bytes.iter().map(|byte| form(*byte)).collect::<String>().into_bytes()
}

/// Where `needle` first occurs.
#[must_use]
pub fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leak(form: impl Fn(&str) -> Vec<u8>) -> Option<&'static str> {
        let canary = Canary::new();
        let mut bytes = b"{\"text\":\"before ".to_vec();
        bytes.extend(form(canary.value()));
        bytes.extend(b" after\"}");
        canary.find(&bytes).map(|(name, _)| name)
    }

    #[test]
    fn every_form_is_found() {
        let standard = &base64::engine::general_purpose::STANDARD;
        let url = &base64::engine::general_purpose::URL_SAFE_NO_PAD;
        assert_eq!(leak(|value| value.into()), Some("exact"));
        assert_eq!(leak(|value| value.replace('/', "\\/").into()), Some("exact, solidus escaped"));
        assert_eq!(leak(|value| value.replace('/', "%2F").replace('+', "%2B").into()), Some("percent"));
        assert_eq!(
            leak(|value| value.replace('/', "%2f").replace('+', "%2b").into()),
            Some("percent, lower case")
        );
        for before in ["", "u:", "ab", "user:"] {
            assert_eq!(
                leak(|value| standard.encode(format!("{before}{value}")).into()),
                Some("base64"),
                "{before}"
            );
            assert!(leak(|value| url.encode(format!("{before}{value}!")).into()).is_some(), "{before}");
        }
        let escape =
            |value: &str| value.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect::<String>();
        assert_eq!(leak(|value| escape(value).into()), Some("JSON-escaped"));
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert_eq!(leak(|value| value[1..].into()), None);
        assert_ne!(Canary::new().value(), Canary::new().value());
        assert!(Canary::new().value().len() >= 24);
    }
}
