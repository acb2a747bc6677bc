//! `[tool.NAME.result]`: what an agent sees of an answer.
//!
//! Belongs here: which header fields are shown, which parts of the body, how much.
//! Does not belong here: reading answers.
//!
//! All of it is a list of what is shown. A target can return what it was sent, whole or in pieces, and no search
//! finds every piece of a credential; what is not listed is not shown.

use framegate_gate::schema::{ParameterDeclaration, ParameterType};

use super::document::{Entry, Table, Text};
use super::fault::{Report, quoted};
use super::header;
use super::model::{ResultSettings, Save};
use super::path;
use super::tables::set;

pub(super) const KEYS: [&str; 5] = ["headers", "select", "max_bytes", "cursor", "save"];

/// The keys of `save`.
pub(super) const SAVE_KEYS: [&str; 3] = ["root", "file", "max_bytes"];

/// The fields that are shown unless a tool lists others.
const DEFAULT_HEADERS: [&str; 5] = ["content-type", "etag", "last-modified", "link", "retry-after"];

/// Fields that are never shown: they carry credentials or challenges, or are shown in a form of their own.
const NEVER: [(&str, &str); 8] = [
    ("authorization", "it is a request header"),
    ("cookie", "it is a request header"),
    ("location", "the origin of a redirect is shown as `redirect_not_followed`"),
    ("proxy-", "it belongs to proxies"),
    ("set-cookie", "it sets a credential"),
    ("set-cookie2", "it sets a credential"),
    ("www-authenticate", "no challenge is answered"),
    ("authentication-info", "it belongs to a credential"),
];

/// The most header fields that are shown.
const MAX_HEADERS: usize = 32;
/// The most parts of a body that are selected.
const MAX_PARTS: usize = 64;
/// The longest cursor, in bytes.
const MAX_CURSOR: usize = 64;
/// The longest pointer, in bytes.
const MAX_POINTER: usize = 512;

impl Default for ResultSettings {
    fn default() -> Self {
        let headers = DEFAULT_HEADERS.map(str::to_owned).to_vec();
        Self { headers, select: None, max_bytes: 65_536, cursor: None, save: None }
    }
}

/// Reads the table, if there is one.
pub(super) fn read(table: &Table<'_>, report: &mut Report) -> ResultSettings {
    let mut settings = ResultSettings::default();
    let Some(table) = table.get("result").and_then(|entry| entry.table("`result`", report)) else {
        return settings;
    };
    table.only(&KEYS, report);
    set(&mut settings.headers, table.get("headers").map(|entry| headers(&entry, report)));
    settings.select = table.get("select").and_then(|entry| select(&entry, report));
    set(&mut settings.max_bytes, table.integer("max_bytes", 256..=262_144, report));
    settings.cursor = table.string("cursor", report).map(|text| text.text.to_owned());
    if let (Some(_), Some(_), Some(entry)) = (&settings.cursor, &settings.select, table.get("cursor")) {
        report.error(
            &entry.key_span,
            "selected parts are shown whole, there is no rest of them",
            "remove it",
        );
    }
    settings.save = table.get("save").and_then(|entry| save(&entry, report));
    settings
}

fn save(entry: &Entry<'_>, report: &mut Report) -> Option<Save> {
    let table = entry.table("`save`", report)?;
    table.only(&SAVE_KEYS, report);
    let root = table
        .required("root", "root = \"/srv/inbox\"", report)
        .and_then(|entry| path::root_folder(&entry, report));
    let file = table.required("file", "file = \"{name}\"", report).and_then(|entry| entry.string(report));
    let max_bytes = table.integer("max_bytes", 1..=1_073_741_824, report).unwrap_or(67_108_864);
    Some(Save { root: root?, file: file?.text.to_owned(), max_bytes })
}

/// The parameter that a tool has for the rest of an answer.
pub(super) fn cursor_parameter(name: &str) -> ParameterDeclaration {
    ParameterDeclaration {
        name: name.to_owned(),
        description: Some(
            "The `next_cursor` of a result that was cut, with the same other arguments".to_owned(),
        ),
        kind: ParameterType::Word { max_length: Some(MAX_CURSOR), pattern: None },
        required: false,
        default: None,
    }
}

fn headers(entry: &Entry<'_>, report: &mut Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let texts = entry.strings(report).unwrap_or_default();
    if let Some(extra) = texts.get(MAX_HEADERS) {
        report.bare_error(&extra.span, format!("there are more than {MAX_HEADERS} headers"));
    }
    for text in texts.into_iter().take(MAX_HEADERS) {
        let never = NEVER
            .iter()
            .find(|(name, _)| *name == text.text || (name.ends_with('-') && text.text.starts_with(name)));
        if let Some((problem, hint)) = header::spelling(text.text) {
            report.error(&text.span, problem, hint);
        } else if let Some((_, reason)) = never {
            let problem = format!("the header {} is never shown", quoted(text.text));
            report.error(&text.span, problem, format!("remove it: {reason}"));
        } else if names.iter().any(|name| name == text.text) {
            report.error(&text.span, "the name is given twice", "remove one of them");
        } else {
            names.push(text.text.to_owned());
        }
    }
    names
}

fn select(entry: &Entry<'_>, report: &mut Report) -> Option<Vec<(String, String)>> {
    let table = entry.table("`select`", report)?;
    let mut parts = Vec::new();
    if table.entries().next().is_none() {
        report.error(
            &entry.span,
            "`select` shows nothing",
            "such as `select = { id = \"/id\" }`, or leave it out",
        );
    }
    if let Some(extra) = table.entries().nth(MAX_PARTS) {
        report.bare_error(&extra.key_span, format!("there are more than {MAX_PARTS} parts"));
    }
    for part in table.entries().take(MAX_PARTS) {
        let named = (1..=64).contains(&part.key.len())
            && part.key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if !named {
            let problem = format!("{} is no name of a part", quoted(part.key));
            report.error(&part.key_span, problem, "1 to 64 letters, digits, `_` and `-`");
        }
        if let Some(pointer) = part.string(report).and_then(|text| pointer(&text, report)) {
            parts.push((part.key.to_owned(), pointer));
        }
    }
    Some(parts)
}

/// A JSON pointer (RFC 6901, 3).
fn pointer(text: &Text<'_>, report: &mut Report) -> Option<String> {
    let escapes_are_sound = text.text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if !text.text.starts_with('/') || !escapes_are_sound || text.text.len() > MAX_POINTER {
        let problem = format!("{} is no JSON pointer", quoted(text.text));
        report.error(&text.span, problem, "such as `/items/0/id`; `~` is written `~0`, a `/` in a name `~1`");
        return None;
    }
    Some(text.text.to_owned())
}
