//! Where things stand in a Cedar text.
//!
//! Belongs here: just enough of Cedar's lexical grammar (white space, comments, strings, identifiers) to
//! point at a rule or at a word of it. Cedar's public syntax tree keeps no positions.
//! Does not belong here: meaning; everything judged is judged on Cedar's own syntax tree.

use core::ops::Range;

/// The offset of the first byte at or after `from` that is neither white space nor comment.
pub(crate) fn skip_trivia(text: &str, from: usize) -> usize {
    let mut position = from;
    loop {
        let rest = text.get(position..).unwrap_or_default();
        let trimmed = rest.trim_start();
        position = text.len().saturating_sub(trimmed.len());
        if !trimmed.starts_with("//") {
            return position;
        }
        let comment = trimmed.find(['\n', '\r']).unwrap_or(trimmed.len());
        position = position.saturating_add(comment);
    }
}

/// The first place where `word` stands as an identifier or as a whole string literal.
pub(crate) fn find_word(text: &str, word: &str) -> Option<Range<usize>> {
    let mut position = skip_trivia(text, 0);
    while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
        let length = token_length(rest);
        let token = rest.get(..length).unwrap_or(rest);
        if token == word || token.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) == Some(word) {
            return Some(position..position.saturating_add(token.len()));
        }
        position = skip_trivia(text, position.saturating_add(token.len()));
    }
    None
}

/// The length in bytes of the token that a text that is not empty starts with.
fn token_length(rest: &str) -> usize {
    let mut characters = rest.char_indices();
    let Some((_, first)) = characters.next() else {
        return 0;
    };
    if first == '"' {
        let mut escaped = false;
        for (index, character) in characters {
            match character {
                '"' if !escaped => return index.saturating_add(1),
                '\\' => escaped = !escaped,
                _ => escaped = false,
            }
        }
        return rest.len();
    }
    if first.is_ascii_alphabetic() || first == '_' {
        return rest
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .unwrap_or(rest.len());
    }
    first.len_utf8()
}

#[cfg(test)]
mod tests {
    use super::{find_word, skip_trivia};

    #[test]
    fn trivia_is_white_space_and_comments() {
        for (text, expected) in [
            ("permit", 0),
            ("  permit", 2),
            ("// permit\npermit", 10),
            ("//a\r//b\r\n\tpermit", 10),
            ("// permit", 9),
            ("", 0),
        ] {
            assert_eq!(skip_trivia(text, 0), expected, "{text:?}");
        }
    }

    #[test]
    fn words_in_comments_and_inside_strings_are_not_found() {
        for (text, expected) in [
            ("a.env == 1", Some(2..5)),
            ("// env\nenv", Some(7..10)),
            ("\"an env\" env", Some(9..12)),
            ("a[\"env\"]", Some(2..7)),
            ("\"\\\" env \" == env", Some(13..16)),
            ("\"\\\\\" env", Some(5..8)),
            ("environment", None),
            ("é env", Some(3..6)),
            ("\"env", None),
        ] {
            assert_eq!(find_word(text, "env"), expected, "{text}");
        }
    }
}
