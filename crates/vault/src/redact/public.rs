//! The part of a secret that everyone knows. Belongs here: a guess from its form. Must not: search.
//!
//! Vendors begin their tokens with words that say what they are (`ghp_`, `gwt_live_`), and a private key
//! stands between two lines that every key has. These may be shown, and do not count where part of a
//! secret is searched for. No declaration says where they end, so it is guessed, on the safe side: what
//! is not surely public is secret, and then merely more is masked.
//!
//! - A token's prefix is its leading run of groups of ASCII letters that each end in `_`, of at most 16
//!   bytes, with at least 12 bytes after it, of which one is neither a letter nor `_`: words joined by `_` are a
//!   phrase, not a prefix. A prefix that ends in `-` or `.` is not guessed: phrases and UUIDs begin so too.
//! - Of text that begins with `-----BEGIN `, the first line, and the last if it begins with `-----END `
//!   (RFC 7468), with at least 12 bytes between them.

/// How many bytes at the start and at the end of a secret are public.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Public {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// No secret part is shorter.
const LEAST_SECRET: usize = 12;
const LONGEST_PREFIX: usize = 16;

impl Public {
    const NOTHING: Self = Self { start: 0, end: 0 };

    pub(crate) fn of(secret: &[u8]) -> Self {
        let public = if secret.starts_with(b"-----BEGIN ") {
            Self::of_armor(secret)
        } else {
            Self { start: prefix(secret), end: 0 }
        };
        let left = secret.len().saturating_sub(public.start).saturating_sub(public.end);
        if left < LEAST_SECRET { Self::NOTHING } else { public }
    }

    /// The secret without what is public of it.
    pub(crate) fn strip<'a>(&self, secret: &'a [u8]) -> &'a [u8] {
        let end = secret.len().saturating_sub(self.end);
        secret.get(self.start..end).unwrap_or(secret)
    }

    fn of_armor(secret: &[u8]) -> Self {
        let Some(first) = secret.iter().position(|byte| *byte == b'\n') else { return Self::NOTHING };
        let start = first.saturating_add(1);
        let body = secret.get(start..).unwrap_or_default();
        // The line feed before the last line is public too; one after it is still part of it.
        let end = body.windows(10).rposition(|window| window == b"\n-----END ");
        Self { start, end: end.map_or(0, |end| body.len().saturating_sub(end)) }
    }
}

fn prefix(secret: &[u8]) -> usize {
    let mut length: usize = 0;
    for group in secret.split_inclusive(|byte| *byte == b'_') {
        let Some((b'_', letters @ [_, ..])) = group.split_last() else { break };
        let longer = length.saturating_add(group.len());
        if longer > LONGEST_PREFIX || !letters.iter().all(u8::is_ascii_alphabetic) {
            break;
        }
        length = longer;
    }
    let rest = secret.get(length..).unwrap_or_default();
    let is_phrase = rest.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'_');
    if is_phrase { 0 } else { length }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_tokens() {
        for (secret, start) in [
            ("gwt_live_9fQ/7+x=Zk2Lm0Vt4Rb8", 9),
            ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", 4),
            ("github_pat_11AAAAAAA0aaaaaaaaaaaa_bbbb", 11),
            ("sk_live_4eC39HqLyjWDarjtT1zdp7dc", 8),
            // Too little is left, or no vendor's prefix is so long.
            ("gwt_live_9fQ/7+x=Zk2", 0),
            ("averyverylongword_4eC39HqLyjWDarjtT1z", 0),
            // A phrase, a UUID, a base64 text.
            ("correct_horse_battery_staple", 0),
            ("deadbeef-cafe-4f00-8123-4567890abcde", 0),
            ("__9fQ/7+x=Zk2Lm0Vt4", 0),
            ("a1b_9fQ/7+x=Zk2Lm0Vt4", 0),
        ] {
            assert_eq!(Public::of(secret.as_bytes()), Public { start, end: 0 }, "{secret}");
        }
    }

    #[test]
    fn armor_of_keys() {
        let key = b"-----BEGIN X KEY-----\nb3BlbnNzaC1rZXkt\nMDEyMw==\n-----END X KEY-----";
        let public = Public::of(key);
        assert_eq!(public.strip(key), b"b3BlbnNzaC1rZXkt\nMDEyMw==");
        assert_eq!(Public::of(b"-----BEGIN X KEY-----\nb3Bl\n-----END X KEY-----"), Public::NOTHING);
        assert_eq!(Public::of(b"-----BEGIN and no line after it"), Public::NOTHING);
    }
}
