//! The report for programs: JSON, JUnit, TAP, SARIF, Markdown.
//!
//! Belongs here: these forms. Does not belong here: what a maintainer reads on a terminal.

use serde_json::json;

use super::{CaseReport, Report, VERDICTS, value};
use crate::observe::excerpt;

/// One JSON object; `docs/check.md` documents its members.
#[must_use]
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(&value(report)).unwrap_or_default();
    text.push('\n');
    text
}

/// JUnit's XML, as CI systems read it. Policy gaps are passes there, inconclusive cases are skipped ones.
#[must_use]
pub fn junit(report: &Report) -> String {
    let failures = report.cases.iter().filter(|case| case.is_failure).count();
    let skipped = report.cases.iter().filter(|case| is_skipped(case)).count();
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    text.push_str(&format!(
        "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">\n",
        xml(&report.title()),
        report.cases.len()
    ));
    for case in &report.cases {
        let (folder, name) = case.id.split_once('/').unwrap_or(("", &case.id));
        text.push_str(&format!("  <testcase classname=\"{}\" name=\"{}\"", xml(folder), xml(name)));
        if case.is_failure {
            let kind = case.kind.map_or(case.verdict, super::Kind::name);
            text.push_str(&format!(
                ">\n    <failure type=\"{kind}\" message=\"{}\">{}</failure>\n  </testcase>\n",
                xml(&case.explanation),
                xml(&detail(case))
            ));
        } else if is_skipped(case) {
            text.push_str(&format!(
                ">\n    <skipped message=\"{}\"/>\n  </testcase>\n",
                xml(&format!("{}: {}", case.verdict, case.explanation))
            ));
        } else {
            text.push_str("/>\n");
        }
    }
    text.push_str("</testsuite>\n");
    text
}

/// The Test Anything Protocol, version 14. Policy gaps are passes there, inconclusive cases are skipped ones.
#[must_use]
pub fn tap(report: &Report) -> String {
    let mut text = format!("TAP version 14\n1..{}\n", report.cases.len());
    for (index, case) in report.cases.iter().enumerate() {
        let number = index.saturating_add(1);
        let id = case.id.replace('#', "\\#");
        if case.is_failure {
            text.push_str(&format!("not ok {number} - {id}\n  ---\n"));
            let lines = [("verdict", case.verdict), ("message", &case.explanation)];
            for (name, value) in lines {
                // Every JSON string is a YAML scalar.
                text.push_str(&format!("  {name}: {}\n", json!(value)));
            }
            text.push_str(&format!("  detail: {}\n  ...\n", json!(detail(case))));
        } else if is_skipped(case) {
            let why = case.explanation.replace('\n', " ");
            text.push_str(&format!("ok {number} - {id} # SKIP {}: {why}\n", case.verdict));
        } else {
            text.push_str(&format!("ok {number} - {id}\n"));
        }
    }
    text
}

/// SARIF 2.1.0, as code scanning reads it: a rule for each kind of failure, a result for each failing case.
#[must_use]
pub fn sarif(report: &Report) -> String {
    let failures: Vec<_> = report.cases.iter().filter(|case| case.is_failure).collect();
    let mut rules: Vec<_> =
        failures.iter().map(|case| case.kind.map_or(case.verdict, super::Kind::name)).collect();
    rules.sort_unstable();
    rules.dedup();
    let results: Vec<_> = failures
        .iter()
        .map(|case| {
            json!({
                "ruleId": case.kind.map_or(case.verdict, super::Kind::name),
                "level": "error",
                "message": {"text": format!("{}: {}\n{}", case.id, case.explanation, detail(case))},
                "locations": [{"logicalLocations": [{"fullyQualifiedName": case.id}]}],
                // The same failure of the next run is the same alert.
                "partialFingerprints": {"case/v1": fingerprint(report, case)},
            })
        })
        .collect();
    let rules: Vec<_> = rules.iter().map(|id| json!({"id": id})).collect();
    let driver = json!({"name": "framegate check", "version": report.framegate, "rules": rules});
    // Code scanning keeps the runs of several servers apart by what stands before the last slash.
    let category = format!("{}/", report.title());
    let run = json!({"tool": {"driver": driver}, "automationDetails": {"id": category}, "results": results});
    let schema = "https://json.schemastore.org/sarif-2.1.0.json";
    format!("{:#}\n", json!({"$schema": schema, "version": "2.1.0", "runs": [run]}))
}

fn fingerprint(report: &Report, case: &CaseReport) -> String {
    report.server.as_ref().map_or_else(|| case.id.clone(), |server| format!("{server} {}", case.id))
}

/// A table, for a comment on a change.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let mut text = format!(
        "## {}\n\n`{}`\n\n| verdict | cases |\n|---|--:|\n",
        report.title(),
        excerpt(report.command.join(" ").as_bytes(), usize::MAX).replace('`', "'")
    );
    for verdict in VERDICTS {
        let count = report.count(verdict);
        if count > 0 {
            text.push_str(&format!("| {verdict} | {count} |\n"));
        }
    }
    let failures: Vec<_> = report.cases.iter().filter(|case| case.is_failure).collect();
    if !failures.is_empty() {
        text.push_str("\n| case | kind | |\n|---|---|---|\n");
    }
    for case in failures {
        let kind = case.kind.map_or(case.verdict, super::Kind::name);
        text.push_str(&format!("| `{}` | {kind} | {} |\n", case.id, case.explanation.replace('|', "\\|")));
    }
    text
}

fn is_skipped(case: &CaseReport) -> bool {
    matches!(case.verdict, "inconclusive" | "skipped")
}

fn detail(case: &CaseReport) -> String {
    let Some(evidence) = &case.evidence else { return String::new() };
    let mut text = String::new();
    if let Some(wrong) = &evidence.first_wrong {
        text.push_str(&format!("{} at byte {}: {}\n{}\n", wrong.code, wrong.offset, wrong.hex, wrong.line));
    }
    for effect in &evidence.effects {
        text.push_str(&format!("effect seen by {}: {}\n", effect.observer, effect.what));
    }
    text.push_str(&format!("again: {}\n", evidence.replay));
    text
}

/// Text within XML: what XML 1.0 has no character for is left out.
fn xml(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' => escaped.push_str("&#10;"),
            _ if character.is_control() => {}
            '\u{fffe}' | '\u{ffff}' => {}
            _ => escaped.push(character),
        }
    }
    escaped
}
