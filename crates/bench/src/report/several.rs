//! What came of several targets, side by side.
//!
//! Belongs here: the table at the end of a terminal's text. Does not belong here: one target's report.

use super::{Report, VERDICTS, shown_name};
use crate::client_config::Skip;

/// A target's line: its name, and how many cases have each verdict.
#[derive(Clone, Debug)]
pub struct Line {
    name: String,
    counts: Vec<usize>,
}

impl Line {
    /// The line of a report.
    #[must_use]
    pub fn of(report: &Report) -> Self {
        let name = report.server.as_deref().map(shown_name).unwrap_or_default();
        Self { name, counts: VERDICTS.iter().map(|verdict| report.count(verdict)).collect() }
    }
}

/// Servers by verdicts, and which were skipped and why.
#[must_use]
pub fn table(lines: &[Line], skipped: &[(String, Skip)]) -> String {
    let names = lines.iter().map(|line| line.name.chars().count());
    let width = names.chain(["server".len()]).max().unwrap_or_default();
    let mut text = format!("{:<width$}", "server");
    for verdict in VERDICTS {
        text.push_str(&format!("  {verdict}"));
    }
    text.push('\n');
    for line in lines {
        text.push_str(&format!("{:<width$}", line.name));
        for (verdict, count) in VERDICTS.iter().zip(&line.counts) {
            text.push_str(&format!("  {count:>0$}", verdict.len()));
        }
        text.push('\n');
    }
    for (name, why) in skipped {
        text.push_str(&format!("skipped: {}: {why}\n", shown_name(name)));
    }
    text
}
