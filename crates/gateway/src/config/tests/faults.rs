//! Each file in `faults/` is refused with exactly the report beside it.
//!
//! `BLESS=1 cargo test -p framegate-gateway faults` writes the reports anew; read the difference.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::BASE;
use crate::config::{Config, Severity};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/faults")
}

fn stems(extension: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_faulty_file_is_refused_with_its_report() {
    let bless = std::env::var_os("BLESS").is_some();
    let cases = stems("toml");
    assert!(cases.len() >= 180, "{}", cases.len());
    let mut different = Vec::new();
    for case in &cases {
        let name = format!("{case}.toml");
        let text = std::fs::read_to_string(folder().join(&name)).unwrap();
        let report = match Config::from_text(&name, &text, Path::new(BASE)) {
            Ok(_) => panic!("{name} is accepted"),
            Err(faults) => {
                assert!(faults.iter().any(|fault| fault.severity() == Severity::Error), "{name}");
                faults.render(false)
            }
        };
        let expected = folder().join(format!("{case}.txt"));
        if bless {
            std::fs::write(&expected, &report).unwrap();
        } else if std::fs::read_to_string(&expected).ok().as_deref() != Some(&report) {
            different.push(format!("{name}:\n{report}"));
        }
    }
    assert_eq!(stems("txt"), cases, "a report without its case, or a case without its report");
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

#[test]
fn reports_are_plain_lines_with_a_place() {
    for case in stems("txt") {
        let report = std::fs::read_to_string(folder().join(format!("{case}.txt"))).unwrap();
        let safe = |character: char| character == '\n' || !character.is_control();
        assert!(report.chars().all(safe), "{case}");
        assert!(report.contains(&format!("--> {case}.toml:")), "{case}");
        assert!(report.contains('^'), "{case}");
        assert!(!report.contains("hunter2") && !report.contains("deadbeef"), "{case} shows a secret");
    }
}
