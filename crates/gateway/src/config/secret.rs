//! `[secret.NAME]`: where a secret comes from.
//!
//! Belongs here: the source as written. Never a secret.
//! Does not belong here: reading secrets.

use std::path::Path;

use framegate_vault::Source;

use super::document::{Table, Text};
use super::fault::Report;
use super::{credential, path};

pub(super) const KEYS: [&str; 2] = ["source", "allow_group_read"];

const EXAMPLE: &str = "source = \"env:GITHUB_TOKEN\"";

/// Reads one secret's table.
pub(super) fn read(table: &Table<'_>, base: &Path, report: &mut Report) -> Option<Source> {
    table.only(&KEYS, report);
    // Whatever else stands here may be the secret.
    for entry in table.entries().filter(|entry| !KEYS.contains(&entry.key)) {
        report.mask(&entry.span);
    }
    let allow_group_read = table.boolean("allow_group_read", report);
    let source = table.required("source", EXAMPLE, report)?.string(report)?;
    let read = read_source(&source, base, allow_group_read.unwrap_or(false), report)?;
    if let (Source::Environment { .. }, Some(entry)) = (&read, table.get("allow_group_read")) {
        report.error(
            &entry.key_span,
            "`allow_group_read` has no meaning for a variable",
            "remove it, or name a `file:`",
        );
    }
    Some(read)
}

fn read_source(
    source: &Text<'_>,
    base: &Path,
    allow_group_read: bool,
    report: &mut Report,
) -> Option<Source> {
    if let Some(relative) = source.text.strip_prefix("file:") {
        let text = Text { text: relative, span: source.span.clone() };
        let path = path::read(&text, base, report)?;
        return Some(Source::File { path, allow_group_read });
    }
    let parsed = Source::parse(source.text, allow_group_read).ok();
    if parsed.is_none() {
        // Whatever was written here may be the secret itself.
        report.mask(&source.span);
        let (problem, hint) = if source.text.starts_with("env:") {
            (
                "`source` names no environment variable",
                "a variable's name has letters, digits and `_`, and starts with no digit",
            )
        } else {
            ("`source` is no source of a secret", credential::HINT)
        };
        report.error(&source.span, problem, hint);
    }
    parsed
}
