//! The spellings of a secret that escape some of its characters. Belongs here: how the common
//! writers of JSON, URLs, HTML, mail and shell words do it. Must not: undo it (`normal.rs`), encode a
//! secret as a whole (`forms.rs`), or search.

use zeroize::Zeroizing;

pub(super) type Spelling = Zeroizing<Vec<u8>>;

/// Every escaped spelling of `secret`; some more than once, some the secret itself.
pub(super) fn escaped(secret: &[u8]) -> Vec<Spelling> {
    let mut found = Vec::new();
    json(secret, &mut found);
    percent(secret, &mut found);
    html(secret, &mut found);
    found.push(each(secret, 3, |byte, output| match byte {
        b'=' | 0x80..=0xff | 0..=0x1f | 0x7f => push_hex(b"=", byte, UPPER, output),
        plain => output.push(plain),
    }));
    found.push(each(secret, 2, |byte, output| {
        if !(byte.is_ascii_alphanumeric() || byte >= 0x80 || b"-_./:=@%+,".contains(&byte)) {
            output.push(b'\\');
        }
        output.push(byte);
    }));
    found
}

pub(super) const LOWER: &[u8; 16] = b"0123456789abcdef";
pub(super) const UPPER: &[u8; 16] = b"0123456789ABCDEF";

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
    let plain = JsonStyle { digits: LOWER, slash: false, html: false, ascii: false, all: false };
    for style in [
        plain,
        JsonStyle { slash: true, ascii: true, ..plain },
        JsonStyle { html: true, ..plain },
        JsonStyle { digits: UPPER, ascii: true, ..plain },
        JsonStyle { all: true, ..plain },
        JsonStyle { digits: UPPER, all: true, ..plain },
    ] {
        let once = json_string(text, style);
        // JSON text as a string inside JSON, as tool results often are.
        if let Ok(inner) = std::str::from_utf8(&once) {
            found.push(json_string(inner, style));
        }
        found.push(once);
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
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => style.html,
            other => style.ascii && !other.is_ascii(),
        };
        match short {
            Some(short) if !style.all => output.extend_from_slice(&[b'\\', short]),
            _ if long || style.all => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let [high, low] = unit.to_be_bytes();
                    push_hex(b"\\u", high, style.digits, &mut output);
                    push_hex(b"", low, style.digits, &mut output);
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
}

fn percent_encode(bytes: &[u8], digits: &[u8; 16], plus: bool, keep: impl Fn(u8) -> bool) -> Spelling {
    each(bytes, 3, |byte, output| match byte {
        b' ' if plus => output.push(b'+'),
        kept if keep(kept) => output.push(kept),
        other => push_hex(b"%", other, digits, output),
    })
}

/// The five names of XML, with the apostrophe as HTML 4 had to write it too, and numbers for all.
fn html(secret: &[u8], found: &mut Vec<Spelling>) {
    let named = |apostrophe: &'static [u8]| {
        each(secret, 6, |byte, output| match byte {
            b'"' => output.extend_from_slice(b"&quot;"),
            b'&' => output.extend_from_slice(b"&amp;"),
            b'<' => output.extend_from_slice(b"&lt;"),
            b'>' => output.extend_from_slice(b"&gt;"),
            b'\'' => output.extend_from_slice(apostrophe),
            other => output.push(other),
        })
    };
    found.extend([named(b"&#39;"), named(b"&apos;")]);
    let Ok(text) = std::str::from_utf8(secret) else { return };
    let mut decimal = Zeroizing::new(Vec::with_capacity(secret.len().saturating_mul(10)));
    let mut hexadecimal = Zeroizing::new(Vec::with_capacity(secret.len().saturating_mul(10)));
    for character in text.chars().map(u32::from) {
        decimal.extend_from_slice(Zeroizing::new(format!("&#{character};")).as_bytes());
        hexadecimal.extend_from_slice(Zeroizing::new(format!("&#x{character:x};")).as_bytes());
    }
    found.extend([decimal, hexadecimal]);
}

/// `write` for each byte, with room for `most` bytes each, so that the result is never moved.
pub(super) fn each(bytes: &[u8], most: usize, mut write: impl FnMut(u8, &mut Vec<u8>)) -> Spelling {
    let mut output = Zeroizing::new(Vec::with_capacity(bytes.len().saturating_mul(most)));
    for byte in bytes {
        write(*byte, &mut output);
    }
    output
}

pub(super) fn push_hex(before: &[u8], byte: u8, digits: &[u8; 16], output: &mut Vec<u8>) {
    output.extend_from_slice(before);
    let digit = |nibble: u8| digits.get(usize::from(nibble)).copied().unwrap_or(b'0');
    output.extend_from_slice(&[digit(byte >> 4), digit(byte & 0x0f)]);
}
