//! Expectations: failures that are known and allowed for, with a reason, until a day.
//!
//! Belongs here: the file's form, reading and writing it, which case it speaks of.
//! Does not belong here: what failed, how it is shown.
//!
//! The file is two-sided: a failure that it does not list fails the run, and so does an entry that no failure answers
//! to any more, or whose day has passed.

use std::collections::BTreeMap;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::{Timestamp, tz::TimeZone};
use regex::Regex;
use serde::Deserialize;

use crate::pattern::pattern;
use crate::report::{CaseReport, Report};

/// The version of the file's form.
const VERSION: u32 = 1;

/// What is expected to fail.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    patterns: Vec<(String, Regex)>,
    reason: String,
    link: Option<String>,
    until: Option<Date>,
}

/// Why a text holds no expectations.
#[derive(Debug, thiserror::Error)]
pub enum ExpectError {
    /// It is no TOML of this form.
    #[error("{0}")]
    Form(#[from] toml::de::Error),
    /// It is of another version.
    #[error("`version = {0}`: this program reads version {VERSION}")]
    Version(u32),
    /// An entry says nothing about why.
    #[error("the entry of `{0}` has an empty `reason`: say why the failure is allowed for")]
    Reason(String),
    /// An entry names no case.
    #[error("an entry has no `cases`")]
    Cases,
    /// An entry's day is none.
    #[error("`until = \"{0}\"` is no day such as 2027-03-31")]
    Until(String),
    /// A pattern is too long.
    #[error("`{0}` is too long")]
    Pattern(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    #[serde(default)]
    expect: Vec<FileEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileEntry {
    cases: Vec<String>,
    reason: String,
    link: Option<String>,
    until: Option<String>,
}

impl FromStr for Expectations {
    type Err = ExpectError;

    fn from_str(text: &str) -> Result<Self, ExpectError> {
        let file: File = toml::from_str(text)?;
        if file.version != VERSION {
            return Err(ExpectError::Version(file.version));
        }
        Ok(Self { entries: file.expect.into_iter().map(Entry::read).collect::<Result<_, _>>()? })
    }
}

impl Entry {
    fn read(entry: FileEntry) -> Result<Self, ExpectError> {
        let first = entry.cases.first().ok_or(ExpectError::Cases)?;
        if entry.reason.trim().is_empty() {
            return Err(ExpectError::Reason(first.clone()));
        }
        let until = entry.until.map(|day| day.parse().map_err(|_| ExpectError::Until(day))).transpose()?;
        let read = |text: String| match pattern(&text) {
            Some(pattern) => Ok((text, pattern)),
            None => Err(ExpectError::Pattern(text)),
        };
        let patterns = entry.cases.into_iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self { patterns, reason: entry.reason, link: entry.link, until })
    }

    fn is_over(&self, today: Date) -> bool {
        self.until.is_some_and(|until| until < today)
    }
}

impl Expectations {
    /// Marks the failures that are expected, and notes what no failure answers to.
    pub fn apply(&self, report: &mut Report) {
        self.apply_on(report, TimeZone::UTC.to_datetime(Timestamp::now()).date());
    }

    fn apply_on(&self, report: &mut Report, today: Date) {
        for entry in &self.entries {
            for (text, pattern) in &entry.patterns {
                let ran = |case: &&mut CaseReport| pattern.is_match(&case.id);
                let (mut any, mut any_failed) = (false, false);
                for case in report.cases.iter_mut().filter(ran) {
                    any = true;
                    if !case.is_failure && case.expected.is_none() {
                        continue;
                    }
                    any_failed = true;
                    if !entry.is_over(today) {
                        case.is_failure = false;
                        case.expected = Some(match &entry.link {
                            Some(link) => format!("{} ({link})", entry.reason),
                            None => entry.reason.clone(),
                        });
                    }
                }
                let why = match entry.until {
                    // Only some cases were asked for: what the others would show is not known.
                    _ if !any && report.is_part => continue,
                    Some(until) if any_failed && entry.is_over(today) => {
                        format!("was expected until {until}")
                    }
                    _ if !any => "matches no case of this run".to_owned(),
                    _ if !any_failed => "does not fail any more".to_owned(),
                    _ => continue,
                };
                report.stale.push(format!("`{text}` {why}"));
            }
        }
    }
}

/// A file that expects every failure of this report, in groups; each reason is to be filled in.
#[must_use]
pub fn expectations(report: &Report) -> String {
    let mut groups: BTreeMap<(&str, &str), Vec<&CaseReport>> = BTreeMap::new();
    for case in report.cases.iter().filter(|case| case.is_failure) {
        let folder = case.id.split_once('/').map_or("", |(folder, _)| folder);
        let kind = case.kind.map_or(case.verdict, crate::verdict::Kind::name);
        groups.entry((folder, kind)).or_default().push(case);
    }
    let mut text = format!(
        "# Failures that are allowed for: `framegate check --expect FILE`. One that is not listed fails, and so does an\n\
         # entry that nothing answers to any more. Also: `link = \"…\"`, `until = \"2027-03-31\"`.\n\
         version = {VERSION}\n"
    );
    for ((folder, kind), cases) in groups {
        let in_folder = |case: &&CaseReport| case.id.starts_with(&format!("{folder}/"));
        let all = report.cases.iter().filter(in_folder).count() == cases.len() && cases.len() > 1;
        let ids: Vec<_> = match all {
            true => vec![format!("{folder}/*")],
            false => cases.iter().map(|case| case.id.clone()).collect(),
        };
        let ids: Vec<_> = ids.iter().map(|id| format!("    {},\n", toml::Value::from(id.as_str()))).collect();
        let reason = cases.iter().find_map(|case| case.cause.clone()).map_or_else(
            || format!("{kind}: say why this is allowed for"),
            |cause| format!("{kind}: known in {cause}"),
        );
        text.push_str(&format!(
            "\n[[expect]]\ncases = [\n{}]\nreason = {}\n",
            ids.concat(),
            toml::Value::from(reason)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::report::tests::report_with;

    const TODAY: Date = date(2026, 11, 30);

    fn applied(text: &str, cases: &[(&str, bool)]) -> Report {
        let mut report = report_with(cases);
        text.parse::<Expectations>().unwrap().apply_on(&mut report, TODAY);
        report
    }

    #[test]
    fn a_listed_failure_passes_and_an_unlisted_one_fails() {
        let text = "version = 1\n[[expect]]\ncases = [\"a/*\"]\nreason = \"known\"\nlink = \"https://x\"\n";
        let report = applied(text, &[("a/1", true), ("a/2", true), ("b/1", true)]);
        assert!(report.is_failure(), "b/1 is not listed");
        assert_eq!(report.cases[0].expected.as_deref(), Some("known (https://x)"));
        assert!(!applied(text, &[("a/1", true), ("b/1", false)]).is_failure());
    }

    #[test]
    fn an_entry_that_nothing_answers_to_fails() {
        let text = "version = 1\n[[expect]]\ncases = [\"a/1\"]\nreason = \"known\"\n";
        let report = applied(text, &[("a/1", false)]);
        assert!(report.is_failure());
        assert_eq!(report.stale, ["`a/1` does not fail any more"]);
        assert_eq!(applied(text, &[("b/1", false)]).stale, ["`a/1` matches no case of this run"]);
        let mut part = report_with(&[("b/1", false)]);
        part.is_part = true;
        text.parse::<Expectations>().unwrap().apply_on(&mut part, TODAY);
        assert!(!part.is_failure(), "only some cases were asked for");
    }

    #[test]
    fn an_entry_ends_with_its_day() {
        let text = |until: &str| {
            format!("version = 1\n[[expect]]\ncases = [\"a/1\"]\nreason = \"known\"\nuntil = \"{until}\"\n")
        };
        assert!(!applied(&text("2026-11-30"), &[("a/1", true)]).is_failure(), "the day itself counts");
        let over = applied(&text("2026-11-29"), &[("a/1", true)]);
        assert!(over.is_failure() && over.cases[0].is_failure);
        assert_eq!(over.stale, ["`a/1` was expected until 2026-11-29"]);
    }

    #[test]
    fn what_is_no_file_of_expectations_says_why() {
        for (text, part) in [
            ("", "version"),
            ("version = 2", "version 1"),
            ("version = 1\n[[expect]]\ncases = []\nreason = \"x\"", "no `cases`"),
            ("version = 1\n[[expect]]\ncases = [\"a\"]\nreason = \" \"", "empty `reason`"),
            ("version = 1\n[[expect]]\ncases = [\"a\"]\nreason = \"x\"\nuntil = \"soon\"", "no day"),
            ("version = 1\n[[expect]]\ncases = [\"a\"]\nreason = \"x\"\nif = 1", "unknown field"),
        ] {
            let error = text.parse::<Expectations>().unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_is_written_is_read_and_leaves_nothing_open() {
        let cases = [("a/1", true), ("a/2", true), ("b/\"1", true), ("b/2", false)];
        let text = expectations(&report_with(&cases));
        assert!(text.contains("\"a/*\"") && text.contains("b/\"1"), "{text}");
        assert!(!applied(&text, &cases).is_failure(), "{text}");
    }
}
