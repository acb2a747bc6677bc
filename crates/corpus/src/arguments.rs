//! A call's arguments in the forms that frames about them need.
//!
//! Belongs here: a JSON object's text taken apart and written otherwise. Does not belong here: templates.

use serde_json::{Map, Value};

/// The object's members, without its braces.
pub(crate) fn members(arguments: &str) -> &str {
    let inner = arguments.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    inner.unwrap_or_default().trim()
}

/// The same, every UTF-16 unit of every member's name written as an escape.
pub(crate) fn escaped_members(arguments: &str) -> String {
    let object: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    let members: Vec<_> =
        object.iter().map(|(name, value)| format!("\"{}\":{value}", all_escaped(name))).collect();
    members.join(",")
}

/// The object as the content of a JSON string.
pub(crate) fn as_text(arguments: &str) -> String {
    let quoted = Value::from(arguments).to_string();
    quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or_default().to_owned()
}

fn all_escaped(text: &str) -> String {
    text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_arguments() {
        let arguments = r#"{"aß":"m","🙂":{"b":[1, null]}}"#;
        assert_eq!(members(arguments), r#""aß":"m","🙂":{"b":[1, null]}"#);
        assert_eq!(escaped_members(arguments), r#""\u0061\u00df":"m","\ud83d\ude42":{"b":[1,null]}"#);
        assert_eq!(as_text(arguments), r#"{\"aß\":\"m\",\"🙂\":{\"b\":[1, null]}}"#);
    }
}
