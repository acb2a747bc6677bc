//! `body`, `form` and `raw` of a tool: what its request carries.
//!
//! Belongs here: that there is one of them, media types, names, and no literal secret in any.
//! Does not belong here: placeholders and parameters, which the gate compiles.

use framegate_gate::schema::BodyDeclaration;
use serde_json::Value;

use super::document::{Entry, Table, Text};
use super::fault::{Report, quoted};
use super::tool::read_pairs;
use super::{credential, path, value};

/// The keys, at most one of which a tool has.
const KEYS: [&str; 3] = ["body", "form", "raw"];
/// The keys of `raw`.
pub(super) const RAW_KEYS: [&str; 6] = ["type", "json", "text", "base64", "file", "root"];

/// The longest media type, in bytes.
const MAX_TYPE: usize = 128;

/// Reads what the request carries, if anything.
pub(super) fn read(table: &Table<'_>, report: &mut Report) -> Option<BodyDeclaration> {
    let mut given = KEYS.iter().filter_map(|key| table.get(key));
    let first = given.next()?;
    if let Some(second) = given.next() {
        let problem = format!("a request carries `{}` or `{}`, not both", first.key, second.key);
        report.error(&second.key_span, problem, "remove one of them");
        return None;
    }
    match first.key {
        "body" => json(table, &first, report),
        "form" => {
            let form = first.table("`form`", report)?;
            Some(BodyDeclaration::Form(read_pairs(&form, "form", report)))
        }
        _ => raw(table, &first, report),
    }
}

fn json(table: &Table<'_>, entry: &Entry<'_>, report: &mut Report) -> Option<BodyDeclaration> {
    let tree = value::read(entry, report)?;
    refuse_literal_secrets(table, &tree, &mut vec!["body".to_owned()], report);
    Some(BodyDeclaration::Json(tree))
}

fn raw(table: &Table<'_>, entry: &Entry<'_>, report: &mut Report) -> Option<BodyDeclaration> {
    let raw = entry.table("`raw`", report)?;
    raw.only(&RAW_KEYS, report);
    let content_type = raw
        .required("type", "type = \"text/plain\"", report)
        .and_then(|entry| entry.string(report))
        .and_then(|text| media_type(&text, report));
    let given: Vec<&str> =
        ["json", "text", "base64", "file"].into_iter().filter(|key| raw.get(key).is_some()).collect();
    let content = match given.as_slice() {
        [content] => *content,
        others => {
            let problem = match (others.first(), others.last()) {
                (Some(first), Some(last)) => format!("`raw` has both `{first}` and `{last}`"),
                _ => "`raw` has no content".to_owned(),
            };
            let hint = "write one of `json = { … }`, `text = \"{name}\"`, `base64 = \"{name}\"` and `file = \"{name}\"`";
            report.error(&entry.key_span, problem, hint);
            return None;
        }
    };
    if let (Some(root), false) = (raw.get("root"), content == "file") {
        report.error(&root.key_span, "`root` is for a `file`", "remove it");
    }
    if content == "json" {
        let tree = value::read(&raw.get("json")?, report)?;
        refuse_literal_secrets(table, &tree, &mut vec!["raw".to_owned(), "json".to_owned()], report);
        return Some(BodyDeclaration::TypedJson { content_type: content_type?, tree });
    }
    let template = raw.string(content, report)?.text.to_owned();
    if let (Some(entry), true) = (raw.get("text"), content_type.as_deref().is_some_and(is_json)) {
        let problem = "JSON is not written as text: a quote in an argument would end a string";
        report.error(&entry.key_span, problem, "write the tree: `json = { title = \"{title}\" }`");
    }
    match content {
        "text" => Some(BodyDeclaration::Text { content_type: content_type?, text: template }),
        "base64" => Some(BodyDeclaration::Binary { content_type: content_type?, base64: template }),
        _ => {
            let root = raw.required("root", "root = \"/srv/outbox\"", report)?;
            let root = path::root_folder(&root, report)?;
            Some(BodyDeclaration::File { content_type: content_type?, root, path: template })
        }
    }
}

/// Whether bodies of this media type are JSON (RFC 8259, 11, and the suffix of RFC 6839, 3.1).
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || essence.ends_with("+json")
}

/// A media type (RFC 9110, 8.3.1): type, subtype and parameters in visible ASCII.
fn media_type(text: &Text<'_>, report: &mut Report) -> Option<String> {
    let token = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| {
                byte.is_ascii_alphanumeric()
                    || matches!(byte, b'!' | b'#' | b'$' | b'&' | b'-' | b'^' | b'_' | b'.' | b'+')
            })
    };
    let essence = text.text.split(';').next().unwrap_or_default().trim_end_matches(' ');
    let well_formed = essence.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype));
    let visible = text.text.bytes().all(|byte| matches!(byte, 0x20..=0x7E)) && text.text.trim() == text.text;
    if !well_formed || !visible || text.text.len() > MAX_TYPE {
        report.error(
            &text.span,
            format!("{} is no media type", quoted(text.text)),
            "such as `text/csv; charset=utf-8`",
        );
        return None;
    }
    Some(text.text.to_owned())
}

fn refuse_literal_secrets(table: &Table<'_>, node: &Value, place: &mut Vec<String>, report: &mut Report) {
    let under = |key: String, child: &Value, place: &mut Vec<String>, report: &mut Report| {
        place.push(key);
        refuse_literal_secrets(table, child, place, report);
        place.pop();
    };
    match node {
        Value::Object(members) => {
            for (name, child) in members {
                under(name.clone(), child, place, report);
            }
        }
        Value::Array(items) => {
            for (index, child) in items.iter().enumerate() {
                under(index.to_string(), child, place, report);
            }
        }
        Value::String(text) => {
            let named = place.last().is_some_and(|name| credential::is_secret_name(name));
            if named && !text.is_empty() && !text.contains('{') {
                let span = table.place(place).value;
                report.mask(&span);
                report.error(&span, "a secret must not stand in a body", credential::HINT);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
