//! Writes one value as one line.
//!
//! Belongs here: what makes an emitted line safe for every line splitter and terminal.
//! Does not belong here: what is said in the line.

use std::io;

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

/// Appends `value` to `out` as compact JSON and one LF.
///
/// Characters that some readers take for a line end (U+2028, U+2029, U+0085) and the other controls
/// that JSON allows raw (U+007F to U+009F) are escaped. In a JSON text they can stand only in strings.
///
/// # Errors
/// When `value` has no JSON text, as a map whose names are no strings; then nothing is appended. A
/// [`serde_json::Value`] always has one.
pub fn write_line(out: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
    let start = out.len();
    let written = value.serialize(&mut Serializer::with_formatter(&mut *out, LineFormatter));
    match written {
        Ok(()) => out.push(b'\n'),
        Err(_) => out.truncate(start),
    }
    written
}

/// Compact JSON without the characters that some reader takes for the end of a line.
struct LineFormatter;

impl Formatter for LineFormatter {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some((plain, character, behind)) = split_at_unsafe(rest) {
            writer.write_all(plain.as_bytes())?;
            write!(writer, "\\u{:04x}", u32::from(character))?;
            rest = behind;
        }
        writer.write_all(rest.as_bytes())
    }
}

fn split_at_unsafe(text: &str) -> Option<(&str, char, &str)> {
    let is_unsafe = |character| matches!(character, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}');
    let (plain, from) = text.split_at_checked(text.find(is_unsafe)?)?;
    let mut characters = from.chars();
    Some((plain, characters.next()?, characters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn line(value: &serde_json::Value) -> String {
        let mut out = b"before\n".to_vec();
        write_line(&mut out, value).unwrap();
        String::from_utf8(out).unwrap().strip_prefix("before\n").unwrap().to_owned()
    }

    #[test]
    fn compact_and_ended_by_one_line_feed() {
        assert_eq!(
            line(&json!({"a": [1, u64::MAX, i64::MIN, "é\n"]})),
            "{\"a\":[1,18446744073709551615,-9223372036854775808,\"é\\n\"]}\n"
        );
    }

    #[test]
    fn what_has_no_text_leaves_nothing() {
        let mut out = b"before\n".to_vec();
        let value = (1, std::collections::BTreeMap::from([((1, 2), 3)]));
        assert!(write_line(&mut out, &value).is_err());
        assert_eq!(out, b"before\n");
    }

    #[test]
    fn characters_that_split_lines_elsewhere_are_escaped() {
        let value = json!({"\u{2028}": "a\u{2029}b\u{85}c\u{7f}d\u{9f}\u{a0}", "e": "\u{2027}\u{202a}"});
        let written = line(&value);
        assert_eq!(
            written,
            "{\"\\u2028\":\"a\\u2029b\\u0085c\\u007fd\\u009f\u{a0}\",\"e\":\"\u{2027}\u{202a}\"}\n"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&written).unwrap(), value);
    }
}
