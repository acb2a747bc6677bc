//! Shows where a line was refused without showing what it says.
//!
//! Belongs here: the masked excerpt for stderr and records.
//! Does not belong here: fingerprints, wording.

/// How many bytes of the line an excerpt covers at most.
const WINDOW: usize = 24;

/// What a byte outside a string was part of, blanks aside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    Structure,
    Word,
    Quote,
}

/// At most 24 bytes of `line` around `offset`, in printable ASCII and `·`.
///
/// Every character inside a JSON string is shown as `·`. Where a quote touches a bare word, strings
/// cannot be told from what stands between them: from there on, letters and digits outside strings
/// are masked too. Other bytes that are not printable ASCII are shown as `\xNN`.
#[must_use]
pub fn excerpt(line: &[u8], offset: usize) -> String {
    let start = offset.saturating_sub(WINDOW / 2).min(line.len().saturating_sub(WINDOW));
    let end = start.saturating_add(WINDOW);
    let mut out = String::new();
    let mut in_string = false;
    let mut escaped = false;
    let mut doubtful = false;
    let mut seen = Seen::Structure;
    for (index, &byte) in line.iter().enumerate().take(end) {
        let masked = if in_string {
            let closes = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            in_string = !closes;
            !closes
        } else {
            let now = match byte {
                b'"' => Seen::Quote,
                b' ' | b'\t' | b'\r' | b'\n' => seen,
                b'{' | b'}' | b'[' | b']' | b':' | b',' => Seen::Structure,
                _ => Seen::Word,
            };
            in_string = byte == b'"';
            doubtful |= matches!((seen, now), (Seen::Word, Seen::Quote) | (Seen::Quote, Seen::Word));
            seen = now;
            doubtful && now == Seen::Word && !byte.is_ascii_whitespace()
        };
        if index >= start {
            show(&mut out, byte, masked);
        }
    }
    out
}

fn show(out: &mut String, byte: u8, masked: bool) {
    const CONTINUATION: core::ops::RangeInclusive<u8> = 0x80..=0xBF;
    match byte {
        _ if masked && CONTINUATION.contains(&byte) => {}
        _ if masked => out.push('·'),
        b'\\' => out.push_str("\\\\"),
        // Excerpts are quoted in backticks.
        b' '..=b'~' if byte != b'`' => out.push(char::from(byte)),
        _ => out.push_str(&format!("\\x{byte:02X}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_every_character_of_strings() {
        let line = r#"{"key":"s3cr\"et \\","é":01}"#;
        assert_eq!(excerpt(line.as_bytes(), 0), "{\"···\":\"···········\",\"·");
        assert_eq!(excerpt(line.as_bytes(), line.len()), "\":\"···········\",\"·\":01}");
    }

    #[test]
    fn bytes_that_are_not_printable_ascii_are_escaped() {
        assert_eq!(excerpt(b"a\x00\xff`\\\x1b[0m", 0), r"a\x00\xFF\x60\\\x1B[0m");
    }

    #[test]
    fn covers_at_most_24_bytes_wherever_the_offset_is() {
        let line = vec![b'x'; 100];
        for offset in [0, 1, 12, 50, 99, 100, 1000] {
            assert_eq!(excerpt(&line, offset).len(), 24, "{offset}");
        }
        assert_eq!(excerpt(b"", 0), "");
        assert_eq!(excerpt(b"ab", 2), "ab");
    }

    #[test]
    fn the_state_of_quotes_is_that_of_the_whole_line() {
        let line = format!("{{\"token\":\"{}\"", "s".repeat(500));
        assert_eq!(excerpt(line.as_bytes(), 400), "·".repeat(24));
    }

    #[test]
    fn an_unbalanced_quote_does_not_turn_strings_inside_out() {
        for line in [r#"{a":"s3cret, s3cret"}"#, r#"{"a":"b"s3cret, s3cret"}"#, r#"x "a" s3cret"#] {
            assert!(!excerpt(line.as_bytes(), line.len()).contains("s3"), "{line}");
        }
    }
}
