//! The spellings of a secret. Belongs here: each encoding in which services repeat what they were
//! sent. Must not: search.
//!
//! For now: the exact bytes; JSON strings; percent-encoding, once and twice; base64 in both
//! alphabets, at three alignments, and as `user:secret`.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use zeroize::Zeroizing;

type Spelling = Zeroizing<Vec<u8>>;

/// Every spelling of `secret`, each once. Empty for an empty secret.
pub(super) fn spellings(secret: &[u8], user: Option<&str>) -> Vec<Spelling> {
    if secret.is_empty() {
        return Vec::new();
    }
    let mut found = vec![Zeroizing::new(secret.to_vec())];
    json(secret, &mut found);
    percent(secret, &mut found);
    base64(secret, &mut found);
    if let Some(user) = user {
        let pair = Zeroizing::new([user.as_bytes(), b":", secret].concat());
        whole_base64(&pair, &mut found);
    }
    found.sort_unstable_by(|left, right| left.as_slice().cmp(right));
    found.dedup_by(|left, right| left.as_slice() == right.as_slice());
    // The base64 core of a secret of one or two bytes would be found everywhere.
    found.retain(|spelling| spelling.len() > 3 || spelling.as_slice() == secret);
    found
}

const LOWER: &[u8; 16] = b"0123456789abcdef";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";

/// How one JSON writer escapes. Every writer escapes `"`, `\` and control characters; the rest
/// differs.
#[derive(Clone, Copy)]
struct JsonStyle {
    digits: &'static [u8; 16],
    /// `\/`, as PHP writes.
    slash: bool,
    /// `\u003c` for `<`, `>`, `&`, U+2028 and U+2029, as Go writes.
    html: bool,
    /// `\u00f6` for everything outside ASCII, as Python writes.
    ascii: bool,
    /// `\u0067` for every character.
    all: bool,
}

/// JSON needs text: a secret that is not UTF-8 has no JSON spelling.
fn json(secret: &[u8], found: &mut Vec<Spelling>) {
    let Ok(text) = std::str::from_utf8(secret) else {
        return;
    };
    let both = [false, true];
    for digits in [LOWER, UPPER] {
        for slash in both {
            for html in both {
                for ascii in both {
                    let style = JsonStyle { digits, slash, html, ascii, all: false };
                    let once = json_string(text, style);
                    // JSON text as a string inside JSON, as tool results often are.
                    if let Ok(inner) = std::str::from_utf8(&once) {
                        found.push(json_string(inner, style));
                    }
                    found.push(once);
                }
            }
        }
        let style = JsonStyle { digits, slash: false, html: false, ascii: true, all: true };
        found.push(json_string(text, style));
    }
}

fn json_string(text: &str, style: JsonStyle) -> Spelling {
    let mut output = Zeroizing::new(Vec::with_capacity(text.len().saturating_mul(6)));
    for character in text.chars() {
        let short = match character {
            '"' => Some(b'"'),
            '\\' => Some(b'\\'),
            '/' if style.slash => Some(b'/'),
            '\u{8}' => Some(b'b'),
            '\t' => Some(b't'),
            '\n' => Some(b'n'),
            '\u{c}' => Some(b'f'),
            '\r' => Some(b'r'),
            _ => None,
        };
        let long = match character {
            '\0'..='\u{1f}' => true,
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => style.html || style.all,
            other => style.all || (style.ascii && !other.is_ascii()),
        };
        match short {
            Some(short) if !style.all => output.extend_from_slice(&[b'\\', short]),
            _ if long || style.all => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let [high, low] = unit.to_be_bytes();
                    output.extend_from_slice(b"\\u");
                    output.extend_from_slice(&hex(high, style.digits));
                    output.extend_from_slice(&hex(low, style.digits));
                }
            }
            _ => output.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    output
}

/// The characters besides letters and digits that some common encoder leaves as they are, and
/// whether it writes a space as `+`.
const PERCENT_KEPT: &[(&[u8], bool)] = &[
    // RFC 3986 section 2.3; Python's `quote` keeps `/` too.
    (b"-._~", false),
    (b"-._~/", false),
    // `application/x-www-form-urlencoded`, in its current and its older form.
    (b"*-._", true),
    (b"-._~", true),
    // `encodeURIComponent`.
    (b"-._~!'()*", false),
    // `encodeURI` and URL paths.
    (b"-._~!'()*;/?:@&=+$,#", false),
    (b"-._~!'()*;/:@&=+$,", false),
];

fn percent(secret: &[u8], found: &mut Vec<Spelling>) {
    for digits in [LOWER, UPPER] {
        for (kept, plus) in PERCENT_KEPT {
            let keep = |byte: u8| byte.is_ascii_alphanumeric() || kept.contains(&byte);
            let once = percent_encode(secret, digits, *plus, keep);
            found.push(percent_encode(&once, digits, *plus, keep));
            found.push(once);
        }
        found.push(percent_encode(secret, digits, false, |_| false));
    }
    // Only spaces replaced, as in a hand-written query.
    let spaces = secret.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte });
    found.push(Zeroizing::new(spaces.collect()));
}

fn percent_encode(bytes: &[u8], digits: &[u8; 16], plus: bool, keep: impl Fn(u8) -> bool) -> Spelling {
    let mut output = Zeroizing::new(Vec::with_capacity(bytes.len().saturating_mul(3)));
    for byte in bytes {
        match *byte {
            b' ' if plus => output.push(b'+'),
            kept if keep(kept) => output.push(kept),
            other => {
                output.push(b'%');
                output.extend_from_slice(&hex(other, digits));
            }
        }
    }
    output
}

fn hex(byte: u8, digits: &[u8; 16]) -> [u8; 2] {
    [byte >> 4, byte & 0x0f].map(|nibble| digits.get(usize::from(nibble)).copied().unwrap_or(b'0'))
}

/// The secret alone, and inside a longer base64 text. There it starts at one of three places in a
/// group of three bytes; of the characters at each edge only those are searched that hold bits of
/// nothing else.
fn base64(secret: &[u8], found: &mut Vec<Spelling>) {
    whole_base64(secret, found);
    for (offset, shared_start) in [(0, 0), (1, 2), (2, 3)] {
        let mut shifted = Zeroizing::new(vec![0; offset]);
        shifted.extend_from_slice(secret);
        // Of a last group of one or two bytes, the last character also holds bits of what follows.
        let shared_end = usize::from(shifted.len() % 3 != 0);
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let text = Zeroizing::new(engine.encode(&*shifted));
            let end = text.len().saturating_sub(shared_end);
            if let Some(core) = text.as_bytes().get(shared_start..end) {
                found.push(Zeroizing::new(core.to_vec()));
            }
        }
    }
}

fn whole_base64(bytes: &[u8], found: &mut Vec<Spelling>) {
    for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
        found.push(Zeroizing::new(engine.encode(bytes).into_bytes()));
    }
}
