//! Which secrets are refused. Belongs here: one documented estimate, in bits. Must not: say where
//! in the secret a weakness lies.
//!
//! A weak secret turns the redactor into an oracle: an agent sends many candidate words to a
//! service that echoes them, and the one that comes back masked is the secret. A very short one
//! also masks ordinary text.
//!
//! The estimate: the secret's alphabet is the sum of the character classes it uses (hexadecimal
//! digits of one case 16; otherwise digits 10, lower 26, upper 26, other ASCII 33, other bytes
//! 128). Each byte is worth log2 of that, except that a byte is worth nothing if it ends three
//! bytes that occurred before, or continues a run of equal or stepwise bytes (`aaa`, `abc`,
//! `321`); and each word of a small list is worth 11 bits in all, whatever its case. What is public of a
//! secret by its form (`redact/public.rs`) is worth nothing.

use crate::error::{VaultError, Weakness};
use crate::{Redacted, Secret, redact};

const MIN_BITS: f64 = 60.0;
const WORD_BITS: f64 = 11.0;

pub(crate) fn check(name: &str, secret: &Secret) -> Result<(), VaultError> {
    match weakness(name, secret.expose_bytes()) {
        None => Ok(()),
        Some(fault) => Err(VaultError::Weak { name: name.to_owned(), fault }),
    }
}

fn weakness(name: &str, bytes: &[u8]) -> Option<Weakness> {
    let holds = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    if bytes == name.as_bytes() {
        return Some(Weakness::EqualsName);
    }
    if holds(redact::PLACEHOLDER_START) || holds(Redacted::WITHHELD.as_bytes()) {
        return Some(Weakness::EqualsPlaceholder);
    }
    if !bytes.is_empty() && bytes.trim_ascii().is_empty() {
        return Some(Weakness::Blank);
    }
    if word_at(bytes).is_some_and(|word| word.len() == bytes.len()) {
        return Some(Weakness::CommonWord);
    }
    if bytes.len() < redact::MIN_BYTES {
        return Some(Weakness::TooShort);
    }
    (estimate(redact::Public::of(bytes).strip(bytes)) < MIN_BITS).then_some(Weakness::Guessable)
}

/// Bits, by the rule at the top of this file; what is beyond enough is not counted.
fn estimate(bytes: &[u8]) -> f64 {
    let each = f64::from(alphabet(bytes)).log2();
    // Few enough to search one by one: each is worth bits, and enough is soon there.
    let mut seen = Vec::new();
    let mut bits = 0.0;
    let mut rest = bytes;
    let mut before: [Option<u8>; 2] = [None, None];
    while let Some((&byte, tail)) = rest.split_first().filter(|_| bits < MIN_BITS) {
        if let Some(word) = word_at(rest) {
            bits += WORD_BITS;
            rest = rest.get(word.len()..).unwrap_or_default();
            before = [None, None];
            continue;
        }
        let repeated = match before {
            [Some(first), Some(second)] => {
                let step = byte.wrapping_sub(second);
                let stepwise = matches!(step, 0 | 1 | 255) && step == second.wrapping_sub(first);
                let three = [first, second, byte];
                let worthless = stepwise || seen.contains(&three);
                if !worthless {
                    seen.push(three);
                }
                worthless
            }
            _ => false,
        };
        if !repeated {
            bits += each;
        }
        before = [before[1], Some(byte)];
        rest = tail;
    }
    bits
}

/// The word that these bytes begin with.
fn word_at(bytes: &[u8]) -> Option<&'static str> {
    let begins = |word: &&&str| {
        bytes.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()))
    };
    bytes.first().and_then(|first| words(*first).iter().find(begins)).copied()
}

fn alphabet(bytes: &[u8]) -> u32 {
    let lower_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let upper_hex = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    let has = |class: fn(&u8) -> bool| bytes.iter().any(class);
    let digits = has(u8::is_ascii_digit);
    let letters = has(u8::is_ascii_alphabetic);
    if digits && letters && (bytes.iter().all(lower_hex) || bytes.iter().all(upper_hex)) {
        return 16;
    }
    [
        (10, digits),
        (26, has(u8::is_ascii_lowercase)),
        (26, has(u8::is_ascii_uppercase)),
        (33, has(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric())),
        (128, has(|byte| !byte.is_ascii())),
    ]
    .into_iter()
    .filter_map(|(size, used)| used.then_some(size))
    .fold(0, u32::saturating_add)
}

/// The cores of commonly chosen passwords and of placeholder values in example files that begin with this letter, in
/// either case; longer words first where one begins with another.
const fn words(first: u8) -> &'static [&'static str] {
    match first.to_ascii_lowercase() {
        b'a' => &[
            "administrator",
            "asdfgh",
            "azerty",
            "access",
            "autumn",
            "apikey",
            "api_key",
            "api-key",
            "admin",
        ],
        b'b' => &["baseball", "bearer", "batman"],
        b'c' => &["changeit", "changeme", "credential", "charlie", "client"],
        b'd' => &["dragon", "default", "docker", "demo"],
        b'e' => &["example"],
        b'f' => &["football", "false"],
        b'g' => &["github", "gitlab", "guest"],
        b'h' => &["hunter", "hello", "here"],
        b'i' => &["iloveyou"],
        b'k' => &["key"],
        b'l' => &["letmein", "login", "love"],
        b'm' => &["mustang", "monkey", "master", "michael"],
        b'n' => &["null"],
        b'o' => &["oauth"],
        b'p' => &["password", "passwort", "princess", "placeholder", "passwd", "pass"],
        b'q' => &["qwertyuiop", "qwerty"],
        b'r' => &["root"],
        b's' => &["sunshine", "superman", "shadow", "secret", "summer", "spring", "service", "server"],
        b't' => &["trustno1", "token", "test", "true", "todo"],
        b'u' => &["user"],
        b'w' => &["whatever", "welcome", "winter", "world"],
        b'y' => &["your"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepted() {
        for secret in [
            "9fQ/7+x=Zk2L",
            "k7-Rw2!xPq9_",
            "correct horse battery staple",
            "deadbeefcafef00d1234567890abcdef",
            "gwt_live_9fQ/7+x=Zk2Lm0Vt4Rb8",
            "p@ss:w\u{f6}rd \"q\" \\ 42",
            "3141592653589793238462643383",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n",
        ] {
            assert_eq!(weakness("k", secret.as_bytes()), None, "{secret}");
        }
    }

    #[test]
    fn refused() {
        for (secret, fault) in [
            ("", Weakness::TooShort),
            ("9fQ/7+x=Zk2", Weakness::TooShort),
            ("true", Weakness::CommonWord),
            ("PassWord", Weakness::CommonWord),
            ("administrator", Weakness::CommonWord),
            (" \t\n", Weakness::Blank),
            ("            ", Weakness::Blank),
            ("gwt_live_abcabcabc9f1", Weakness::Guessable),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", Weakness::Guessable),
            ("abcabcabcabcabcabcabcabcabcabc", Weakness::Guessable),
            ("abcdefghijklmnopqrstuvwxyz", Weakness::Guessable),
            ("zyxwvutsrqponmlkjihgfedcba9876543210", Weakness::Guessable),
            ("314159265358", Weakness::Guessable),
            ("passwordpassword", Weakness::Guessable),
            ("Password1234567", Weakness::Guessable),
            ("AdminAdmin2026!", Weakness::Guessable),
            ("changeme-changeme", Weakness::Guessable),
            ("your-api-key-here", Weakness::Guessable),
            ("correcthorse", Weakness::Guessable),
            ("[redacted:k]-and-more-9fQ/7+x=", Weakness::EqualsPlaceholder),
            ("9fQ/7+x=[withheld:secret-suspected]", Weakness::EqualsPlaceholder),
            ("github-prod-9fq7xzk2l", Weakness::EqualsName),
        ] {
            let found = weakness("github-prod-9fq7xzk2l", secret.as_bytes());
            assert_eq!(found, Some(fault), "{secret}");
        }
    }

    /// Random tokens of common forms are never refused.
    #[test]
    fn random_tokens_are_accepted() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state >> 33).unwrap() % bound
        };
        let base64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (alphabet, length) in [(&base64[..], 16), (&base64[26..62], 20), (b"0123456789abcdef", 24)] {
            for _ in 0..2000 {
                let token: Vec<u8> = (0..length).map(|_| alphabet[next(alphabet.len())]).collect();
                let bits = estimate(&token);
                assert!(bits >= MIN_BITS, "{bits} {}", String::from_utf8_lossy(&token));
            }
        }
    }
}
