//! Character rules of the textual parameter types.
//!
//! Belongs here: which characters a type admits, and why.
//! Does not belong here: lengths, patterns, where a value is used.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// One line of text that reads the same to people, policy and target: NFC, and free of control,
/// line-separator, invisible and bidirectional characters and of noncharacters.
pub(super) fn is_line(text: &str) -> bool {
    let refused = |character: char| {
        character.is_control()
            || matches!(character, '\u{2028}' | '\u{2029}')
            || is_invisible(character)
            || is_noncharacter(character)
    };
    !text.contains(refused) && is_nfc(text)
}

/// Text of several lines: no control characters but line feed and tab, no noncharacters.
pub(super) fn is_text(text: &str) -> bool {
    !text.contains(|character: char| {
        (character.is_control() && !matches!(character, '\n' | '\t')) || is_noncharacter(character)
    })
}

/// `[A-Za-z0-9_][A-Za-z0-9_.~-]*`: never empty, never a dot segment, never an option.
pub(super) fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    first && bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'~' | b'-'))
}

/// A segment that no decoder reads as anything but itself: not empty, not a dot segment, and without
/// the characters at which servers split, decode or fold paths, also once a server has replaced
/// compatibility characters such as a fullwidth solidus.
pub(super) fn is_plain_segment(text: &str) -> bool {
    is_unfolded_segment(text)
        && is_line(text)
        && (text.is_ascii() || is_unfolded_segment(&text.nfkc().collect::<String>()))
}

fn is_unfolded_segment(text: &str) -> bool {
    !text.is_empty()
        && text != "."
        && text != ".."
        && !text.ends_with(['.', ' '])
        && !text.starts_with(' ')
        && !text.contains(['%', ';', '\\', '/', '?', '#'])
        && !text.contains(SEPARATORS_OF_CODE_PAGES)
}

/// Characters that some Windows code pages turn into `/` or `\`, and Unicode's compatibility mapping
/// does not: fraction and division slash, set minus, yen and won sign, reverse solidus operator and overlay.
const SEPARATORS_OF_CODE_PAGES: [char; 7] =
    ['\u{2044}', '\u{2215}', '\u{2216}', '\u{A5}', '\u{20A9}', '\u{29F5}', '\u{20E5}'];

/// A segment of a path parameter: like a plain segment, and no option at the start of the path.
pub(super) fn is_relative_path(text: &str) -> bool {
    !text.starts_with('-') && text.split('/').all(is_plain_segment)
}

/// A lower-case DNS name (RFC 1123, 2.1) that no address parser takes for a number.
pub(super) fn is_host(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    let last_is_a_name = text
        .rsplit('.')
        .next()
        .is_some_and(|last| !last.starts_with("0x") && last.bytes().any(|byte| byte.is_ascii_lowercase()));
    text.len() <= 253 && text.split('.').all(label) && last_is_a_name
}

/// A field value that HTTP carries unchanged: visible ASCII and inner spaces, or nothing (RFC 9110, 5.5).
pub(super) fn is_field_value(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, 0x20..=0x7E)) && text.trim_matches(' ') == text
}

/// Characters that show nothing or reorder what is shown, so that two values look alike (Unicode
/// default-ignorable code points and bidirectional controls).
const fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// Code points that are no characters (Unicode, 23.7): the last two of every plane, and U+FDD0..U+FDEF.
fn is_noncharacter(character: char) -> bool {
    matches!(character, '\u{FDD0}'..='\u{FDEF}') || u32::from(character) & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_look_like_what_they_are() {
        for text in ["", "prod", "café", "世界 🙂", "a-b"] {
            assert!(is_line(text), "{text:?}");
        }
        for text in [
            "a\nb",
            "a\tb",
            "\0",
            "a\u{7f}",
            "a\u{85}",
            "a\u{2028}b",
            "pro\u{200b}d",
            "\u{202e}x",
            "e\u{301}",
            "\u{fffe}",
            "\u{1ffff}",
            "\u{fdd0}",
        ] {
            assert!(!is_line(text), "{text:?}");
        }
    }

    #[test]
    fn segments_survive_every_decoder() {
        for text in ["a", "a.b", "...x", "~", "@me", "a b"] {
            assert!(is_plain_segment(text), "{text:?}");
        }
        for text in ["", ".", "..", "a.", "a ", " a", "%2e", "a;b", "..;", "a\\b", "a/b", "a?b", "a#b", "a\0"]
        {
            assert!(!is_plain_segment(text), "{text:?}");
        }
        // Fullwidth and small forms, leaders, ligatures that hold a solidus, code pages.
        for text in [
            "\u{ff0e}\u{ff0e}",
            "\u{2024}\u{2024}",
            "\u{2025}",
            "\u{fe52}",
            "a\u{ff0f}b",
            "a\u{ff3c}b",
            "a\u{fe68}b",
            "\u{ff05}2e",
            "a\u{ff1b}",
            "a\u{ff1f}",
            "a\u{ff03}",
            "\u{2100}",
            "\u{bd}",
            "a\u{2215}b",
            "a\u{2044}b",
            "a\u{a5}b",
            "a\u{20a9}b",
            "a\u{2216}b",
            "a\u{a0}",
        ] {
            assert!(!is_plain_segment(text), "{text:?}");
        }
        for text in ["caf\u{e9}", "\u{4e16}\u{754c}", "\u{fb01}n", "\u{c5}"] {
            assert!(is_plain_segment(text), "{text:?}");
        }
    }

    #[test]
    fn hosts_are_names() {
        for text in ["a", "example.test", "xn--a.test", "1a.test"] {
            assert!(is_host(text), "{text:?}");
        }
        for text in [
            "",
            ".",
            "a.",
            ".a",
            "A.test",
            "-a",
            "a-",
            "a_b",
            "127.0.0.1",
            "1.2",
            "0x7f",
            "2130706433",
            "a..b",
            "é",
        ] {
            assert!(!is_host(text), "{text:?}");
        }
    }

    #[test]
    fn words_are_no_options_and_no_dot_segments() {
        assert!(["a", "_a", "0", "a.b~c-d"].into_iter().all(is_word));
        assert!(!["", "-a", ".a", "..", "a b", "a/b", "é"].into_iter().any(is_word));
    }
}
