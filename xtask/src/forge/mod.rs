//! Forgeries: code that mints or misuses a door type must not compile, and for the right reason.
//!
//! Belongs here: the list of doors, running every case, comparing the compiler's answer with the case's.
//! Does not belong here: how a case is written (`case`), where it is compiled (`elsewhere`, `room`).
//!
//! No `compile_fail` doctests: on stable they pass on any error at all.

mod case;
mod elsewhere;
mod room;

use std::collections::BTreeSet;
use std::error::Error;

use crate::Findings;
use crate::cargo::CompilerError;
use crate::tree::{Tree, alone_in};

pub use case::Case;
use case::Variant;

/// The types that prove that a door was passed, and those that such a proof is made of.
const DOORS: &[&str] = &[
    "Frame", "Document", "Incoming", "Admitted", "Ticket", "Checked", "Question", "Verdict", "Permit",
    "Denial", "Recorded", "Receipt",
];

/// All cases of the tree.
pub fn cases(tree: &Tree) -> Result<Vec<Case>, Box<dyn Error>> {
    let mut found = Vec::new();
    for file in tree.files(&["xtask/forge"], "rs")? {
        found.push(Case::parse(&file, &tree.read(&file)?)?);
    }
    Ok(found)
}

/// Checks every forgery and prints a table of them.
pub fn check(tree: &Tree) -> Findings {
    check_only(tree, None)
}

/// Checks every forgery, or the one of this name, and prints a table of them.
pub fn check_only(tree: &Tree, only: Option<&str>) -> Findings {
    let faults = faults(tree, only)?;
    for case in cases(tree)?.iter().filter(|case| only.is_none_or(|only| only == case.name)) {
        let expected: Vec<String> =
            case.expected().iter().map(|(line, code)| format!("{code} at {line}")).collect();
        println!("  {:<38} {:<9} {}", case.name, case.door, expected.join(", "));
    }
    Ok(faults)
}

/// What is wrong with every forgery, or with the one of this name.
pub fn faults(tree: &Tree, only: Option<&str>) -> Findings {
    let all = cases(tree)?;
    let mut faults = Vec::new();
    let forged: BTreeSet<&str> = all.iter().map(|case| case.door.as_str()).collect();
    for door in DOORS.iter().filter(|door| !forged.contains(*door)) {
        faults.push(format!("no forgery tries `{door}`"));
    }
    for door in forged.iter().filter(|door| !DOORS.contains(door)) {
        faults.push(format!("`{door}` is no door"));
    }
    let chosen: Vec<Case> =
        all.into_iter().filter(|case| only.is_none_or(|only| only == case.name)).collect();
    if chosen.is_empty() {
        return Err(format!("no forgery is named `{}`", only.unwrap_or_default().escape_debug()).into());
    }
    let (rooms, crates): (Vec<Case>, Vec<Case>) = chosen.into_iter().partition(|case| case.room.is_some());
    let _lock = alone_in(&tree.join("target/xtask/forge"))?;
    let mut answers = elsewhere::compile(tree, &crates)?;
    answers.extend(room::compile(tree, &rooms)?);
    for case in crates.iter().chain(&rooms) {
        for variant in [Variant::Forged, Variant::Twin] {
            let key = (case.name.clone(), variant);
            let Some(errors) = answers.get(&key) else {
                faults.push(format!("{}: the {variant} variant was not compiled", case.file));
                continue;
            };
            faults.extend(judge(case, variant, errors));
        }
    }
    Ok(faults)
}

/// Compares the errors of one variant with those that the case expects: exactly these, at exactly these lines.
fn judge(case: &Case, variant: Variant, errors: &[CompilerError]) -> Vec<String> {
    let expected = match variant {
        Variant::Forged => case.expected(),
        Variant::Twin => BTreeSet::new(),
    };
    let mut found = BTreeSet::new();
    let mut faults = Vec::new();
    for error in errors {
        let key = (error.line, error.code.clone());
        if !expected.contains(&key) {
            let code = if error.code.is_empty() { "an error without a code" } else { &error.code };
            faults.push(format!(
                "{}:{}: {variant}: {code}: {} ({})",
                case.file, error.line, error.message, error.file
            ));
        }
        found.insert(key);
    }
    for (line, code) in expected.difference(&found) {
        faults.push(format!("{}:{line}: expected {code}: the forgery was not refused", case.file));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::case::{Case, Variant};
    use super::judge;
    use crate::cargo::CompilerError;

    fn error(code: &str, line: usize) -> CompilerError {
        CompilerError { code: code.to_owned(), file: "f.rs".to_owned(), line, message: "m".to_owned() }
    }

    #[test]
    fn only_the_named_error_at_the_named_line_counts() {
        let text =
            "//! A.\n//! door: Permit\nfn main() {}\nlet a = 1; //~ forged E0451\nlet a = 2; //~ twin\n";
        let case = Case::parse("xtask/forge/other-crate/a.rs", text).unwrap();
        assert!(judge(&case, Variant::Forged, &[error("E0451", 4)]).is_empty());
        assert_eq!(judge(&case, Variant::Forged, &[]).len(), 1);
        assert_eq!(judge(&case, Variant::Forged, &[error("E0433", 4)]).len(), 2);
        assert_eq!(judge(&case, Variant::Forged, &[error("E0451", 4), error("E0433", 3)]).len(), 1);
        assert!(judge(&case, Variant::Twin, &[]).is_empty());
        assert_eq!(judge(&case, Variant::Twin, &[error("E0451", 4)]).len(), 1);
    }
}
