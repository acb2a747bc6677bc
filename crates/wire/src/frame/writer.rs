//! Writes one value as one line.
//!
//! Belongs here: what makes an emitted line safe for every line splitter and terminal.
//! Does not belong here: what is said in the line.

/// Appends `value` to `out` as compact JSON and one LF.
///
/// Characters that some readers take for a line end (U+2028, U+2029, U+0085) and the other controls
/// that JSON allows raw (U+007F to U+009F) are escaped. In a JSON text they can stand only in strings.
pub fn write_line(out: &mut Vec<u8>, value: &serde_json::Value) {
    let text = value.to_string();
    out.reserve(text.len().saturating_add(1));
    let mut rest = text.as_str();
    while let Some((plain, character, behind)) = split_at_unsafe(rest) {
        out.extend_from_slice(plain.as_bytes());
        let escape = format!("\\u{:04x}", u32::from(character));
        out.extend_from_slice(escape.as_bytes());
        rest = behind;
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'\n');
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
        write_line(&mut out, value);
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
