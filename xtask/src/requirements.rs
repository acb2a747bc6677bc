//! The ledger and the source agree, both ways.
//!
//! Belongs here: what must hold between requirements, reasons and tests.
//! Does not belong here: reading them (`ledger`).

use std::collections::{BTreeMap, BTreeSet};

use framegate_wire::Reason;
use serde::Deserialize;

use crate::Findings;
use crate::ledger::{self, Level, Requirement};
use crate::tree::Tree;

const REVISIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// Pages that cite requirements and tests.
const CITING: &[&str] = &["docs/threat-model.md", "docs/known-attacks.md"];

/// Checks the ledger against the source.
pub fn check(tree: &Tree) -> Findings {
    let requirements = ledger::requirements(tree)?;
    let tests = ledger::tests(tree)?;
    let mut faults = Vec::new();
    let mut ids = BTreeSet::new();
    for (file, requirement) in &requirements {
        let mut fault = |text: String| faults.push(format!("{file}: {}: {text}", requirement.id));
        if !ids.insert(requirement.id.as_str()) {
            fault("the id is used twice".to_owned());
        }
        form(requirement, &mut fault);
        if requirement.applies && requirement.level == Level::Must && requirement.tests.is_empty() {
            fault(format!("a MUST without a test: {}", requirement.text));
        }
        for test in &requirement.tests {
            if !tests.contains(test) {
                fault(format!("no such test: `{test}`"));
            }
        }
    }
    faults.extend(reasons_agree(&requirements, &ids));
    faults.extend(corpus_agrees(tree, &requirements)?);
    for page in CITING {
        for word in words(&tree.read(page)?) {
            if is_id(word) && !ids.contains(word) {
                faults.push(format!("{page}: no such requirement: {word}"));
            }
            if is_citation(word) && !tests.contains(word) {
                faults.push(format!("{page}: no such test: `{word}`"));
            }
        }
    }
    Ok(faults)
}

/// What one entry must look like.
fn form(requirement: &Requirement, fault: &mut dyn FnMut(String)) {
    if !is_id(&requirement.id) {
        fault("an id is a capital letter, a hyphen and two digits".to_owned());
    }
    if requirement.applies == requirement.because.is_some() {
        fault("`because` says why a rule does not apply, and only then".to_owned());
    }
    if !requirement.applies && !requirement.tests.is_empty() {
        fault("does not apply, yet names tests".to_owned());
    }
    if requirement.revisions.is_empty()
        || !requirement.revisions.iter().all(|have| REVISIONS.contains(&have.as_str()))
    {
        fault("`revisions` names no revision, or one that does not exist".to_owned());
    }
    let elsewhere = requirement.elsewhere.as_deref().unwrap_or("-");
    if [&requirement.section, &requirement.text].iter().any(|text| text.trim().is_empty())
        || elsewhere.trim().is_empty()
    {
        fault("an empty text".to_owned());
    }
    let unique: BTreeSet<&String> = requirement.tests.iter().collect();
    if unique.len() != requirement.tests.len() {
        fault("names a test twice".to_owned());
    }
}

/// Every reason serves a requirement that exists, and each requirement lists exactly the reasons that serve it.
fn reasons_agree(requirements: &[(String, Requirement)], ids: &BTreeSet<&str>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut serving: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for reason in Reason::ALL {
        if !ids.contains(reason.requirement()) {
            faults.push(format!("reason `{reason}` serves {}, which does not exist", reason.requirement()));
        }
        serving.entry(reason.requirement()).or_default().insert(reason.code());
    }
    for (file, requirement) in requirements {
        let listed: BTreeSet<&str> = requirement.reasons.iter().map(String::as_str).collect();
        let serve = serving.remove(requirement.id.as_str()).unwrap_or_default();
        for code in listed.difference(&serve) {
            faults.push(format!("{file}: {}: `{code}` does not serve it", requirement.id));
        }
        for code in serve.difference(&listed) {
            faults.push(format!("{file}: {}: does not list its reason `{code}`", requirement.id));
        }
    }
    faults
}

/// Cases of the corpus cover requirements that exist, and every hostile line of the ledger is in the corpus.
fn corpus_agrees(tree: &Tree, requirements: &[(String, Requirement)]) -> Findings {
    #[derive(Deserialize)]
    struct Case {
        id: String,
        #[serde(default)]
        covers: Vec<String>,
    }
    let mut faults = Vec::new();
    let mut covered = BTreeSet::new();
    for file in tree.files(&["crates/corpus/frames"], "json")? {
        let cases: Vec<Case> =
            serde_json::from_str(&tree.read(&file)?).map_err(|error| format!("`{file}`: {error}"))?;
        for case in cases {
            for id in case.covers.into_iter().filter(|id| is_id(id)) {
                if !requirements.iter().any(|(_, requirement)| requirement.id == id) {
                    faults.push(format!("{file}: {}: covers {id}, which does not exist", case.id));
                }
                covered.insert(id);
            }
        }
    }
    for (file, Requirement { id, .. }) in requirements {
        if id.starts_with("H-") && !covered.contains(id) {
            faults.push(format!("{file}: {id}: no case of the corpus covers it"));
        }
    }
    Ok(faults)
}

/// The words of a page, as far as ids and tests are written.
fn words(page: &str) -> impl Iterator<Item = &str> {
    page.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:./".contains(c)))
        .map(|word| word.trim_end_matches(['.', ':', ',']))
}

/// Whether a word of a page names a test.
fn is_citation(word: &str) -> bool {
    word.starts_with("forge::") || word.contains(".rs::") || word.contains("::tests::")
}

fn is_id(id: &str) -> bool {
    matches!(id.as_bytes(), [b'A'..=b'Z', b'-', b'0'..=b'9', b'0'..=b'9'])
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Requirement, form, is_citation, is_id, reasons_agree, words};
    use crate::ledger::Level;

    fn requirement(id: &str) -> Requirement {
        Requirement {
            id: id.to_owned(),
            level: Level::Must,
            revisions: vec!["2025-06-18".to_owned()],
            elsewhere: None,
            section: "basic/index".to_owned(),
            text: "text".to_owned(),
            applies: true,
            because: None,
            tests: vec![],
            reasons: vec![],
        }
    }

    fn faults_of(requirement: &Requirement) -> usize {
        let mut count = 0;
        form(requirement, &mut |_| count += 1);
        count
    }

    #[test]
    fn a_sound_entry_has_no_fault() {
        assert_eq!(faults_of(&requirement("S-01")), 0);
    }

    #[test]
    fn faults_of_form_are_found() {
        assert_eq!(faults_of(&requirement("s-1")), 1);
        let mut not_applying = requirement("S-01");
        not_applying.applies = false;
        assert_eq!(faults_of(&not_applying), 1);
        let mut revision = requirement("S-01");
        revision.revisions = vec!["2025-06-19".to_owned()];
        assert_eq!(faults_of(&revision), 1);
        let mut twice = requirement("S-01");
        twice.tests = vec!["a::b".to_owned(), "a::b".to_owned()];
        assert_eq!(faults_of(&twice), 1);
    }

    #[test]
    fn ids_and_tests_are_found_in_prose() {
        let page = "| SHA-256 of UTF-16 | CVE-2024-45336: A-26, H-34 to H-37 (`forge::a_b`), `e2e/tests/demo.rs::c`. |";
        let found: Vec<&str> = words(page).filter(|word| is_id(word) || is_citation(word)).collect();
        assert_eq!(found, ["A-26", "H-34", "H-37", "forge::a_b", "e2e/tests/demo.rs::c"]);
    }

    #[test]
    fn a_requirement_lists_exactly_the_reasons_that_serve_it() {
        let mut listed = requirement("H-25");
        listed.reasons = vec!["frame-blank".to_owned()];
        let ids = BTreeSet::from(["H-25"]);
        let faults = reasons_agree(&[("hostile.toml".to_owned(), listed)], &ids);
        assert!(
            faults.iter().any(|fault| fault.ends_with("H-25: `frame-blank` does not serve it")),
            "{faults:?}"
        );
        let missing = "H-25: does not list its reason `frame-byte-order-mark`";
        assert!(faults.iter().any(|fault| fault.ends_with(missing)), "{faults:?}");
        assert!(faults.iter().any(|fault| fault.contains("`frame-blank` serves H-07, which does not exist")));
    }
}
