//! Paths as the configuration writes them.
//!
//! Belongs here: their spelling, and what a relative path is relative to.
//! Does not belong here: opening files.

use std::path::{Path, PathBuf};

use super::document::{Entry, Text};
use super::fault::{Report, quoted};

/// A path: absolute, or relative to the folder of the configuration file. What is written is what is
/// opened: no `.` or `..`, no `~`, no variables.
pub(super) fn read(text: &Text<'_>, base: &Path, report: &mut Report) -> Option<PathBuf> {
    let fault = problem(text.text);
    if let Some((problem, hint)) = fault {
        report.error(&text.span, problem, hint);
        return None;
    }
    Some(base.join(text.text))
}

fn problem(text: &str) -> Option<(&'static str, &'static str)> {
    if text.is_empty() {
        Some(("the path is empty", "write a path, or leave the key out"))
    } else if text.len() > 4096 {
        Some(("the path is longer than 4096 bytes", "write a shorter path"))
    } else if text.chars().any(char::is_control) {
        Some((
            "the path holds a control character",
            "write a plain path; in a TOML string, `\\` starts an escape",
        ))
    } else if text.starts_with('~') || text.contains('$') {
        Some((
            "`~` and variables are not expanded in a path",
            "write an absolute path, or one relative to this file's folder",
        ))
    } else if text.split('/').skip(1).any(str::is_empty)
        || text.split('/').any(|part| part == "." || part == "..")
    {
        Some(("the path is not in its plain form", "write it without `.`, `..`, `//` and a final `/`"))
    } else {
        None
    }
}

/// A folder that files are taken from or put into: absolute, so that nothing depends on where the program starts.
pub(super) fn root_folder(entry: &Entry<'_>, report: &mut Report) -> Option<String> {
    let text = entry.string(report)?;
    let plain = text
        .text
        .strip_prefix('/')
        .is_some_and(|rest| !rest.is_empty() && rest.split('/').all(|part| !matches!(part, "" | "." | "..")));
    if !plain || text.text.chars().any(char::is_control) {
        let hint = "such as `/srv/outbox`: absolute, without `.`, `..` and a `/` at the end";
        report.error(&text.span, format!("{} is no root folder", quoted(text.text)), hint);
        return None;
    }
    Some(text.text.to_owned())
}
