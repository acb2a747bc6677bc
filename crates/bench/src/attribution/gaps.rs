//! Gaps that are known of a kit, by version.
//!
//! Belongs here: reading `known-gaps.toml`, which failures it speaks of. Does not belong here: finding the kit.

use serde::Deserialize;

use super::Sdk;
use crate::pattern::pattern;
use crate::report::Report;

/// What was seen of kits; `docs/field-results.md` says how.
const KNOWN: &str = include_str!("known-gaps.toml");

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    gaps: Vec<Gap>,
}

/// Cases that fail with a kit of these versions.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Gap {
    sdk: String,
    /// The first and the last version in which it was seen.
    first: String,
    last: String,
    cases: Vec<String>,
    remedy: String,
}

impl Gap {
    fn is_of(&self, sdk: &Sdk) -> bool {
        let version = numbers(&sdk.version);
        self.sdk == sdk.name && numbers(&self.first) <= version && version <= numbers(&self.last)
    }
}

/// A version as numbers; what stands behind them (`rc1`) is left out.
fn numbers(version: &str) -> Vec<u64> {
    version.split('.').map_while(|part| part.parse().ok()).collect()
}

fn known() -> Vec<Gap> {
    toml::from_str::<File>(KNOWN).map(|file| file.gaps).unwrap_or_default()
}

/// Notes at each failure that the kit is known for that it is the kit's, and what helps.
pub(crate) fn attribute(report: &mut Report, sdk: Sdk) {
    for gap in known().into_iter().filter(|gap| gap.is_of(&sdk)) {
        let patterns: Vec<_> = gap.cases.iter().filter_map(|text| pattern(text)).collect();
        let is_of_gap = |id: &str| patterns.iter().any(|pattern| pattern.is_match(id));
        for case in report.cases.iter_mut().filter(|case| case.is_failure && is_of_gap(&case.id)) {
            case.cause = Some(format!("{} {}", sdk.name, sdk.version));
            case.remedy = Some(gap.remedy.clone());
        }
    }
    report.sdk = Some(sdk);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::report_with;

    #[test]
    fn the_known_gaps_can_be_read() {
        let file: File = toml::from_str(KNOWN).unwrap();
        for gap in &file.gaps {
            assert!(!gap.cases.is_empty() && !gap.remedy.is_empty());
            assert!(numbers(&gap.first) <= numbers(&gap.last), "{} {}", gap.first, gap.last);
            assert!(gap.cases.iter().all(|text| pattern(text).is_some()));
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(numbers("1.9.0") < numbers("1.32.2") && numbers("2.0.0rc1") < numbers("2.0.1"));
    }

    #[test]
    fn only_failures_that_the_version_is_known_for_are_its_own() {
        let sdk =
            |version: &str| Sdk { name: "python-sdk", version: version.to_owned(), seen_in: String::new() };
        let cases = [
            ("json-duplicate-member/duplicate-id", true),
            ("plain/session", true),
            ("json-duplicate-member/duplicate-meta", false),
        ];
        let mut report = report_with(&cases);
        attribute(&mut report, sdk("2.3.0"));
        assert_eq!(report.cases[0].cause.as_deref(), Some("python-sdk 2.3.0"));
        assert!(report.cases[1].cause.is_none() && report.cases[2].cause.is_none());
        assert!(report.cases[0].is_failure, "a known gap is a failure all the same");
        let mut report = report_with(&cases);
        attribute(&mut report, sdk("99.0.0"));
        assert!(report.cases[0].cause.is_none());
    }
}
