//! The conformance checks of `framegate check`: each is failed by a server that breaks its requirement and nothing
//! else, and passed by the sound one.
//!
//! Belongs here: that every check can say yes and no. Does not belong here: how requirements are broken
//! (`src/bin/nonconforming.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};

use framegate_e2e::{binary, parallel};
use serde_json::Value;

const CALL: &str = "probe_write={\"marker\":\"{marker}\"}";
/// Longer than any machine needs, in seconds; where an answer never comes, it is waited for.
const TIMEOUT: &str = "8";

/// Each case, and what became of it.
fn verdicts(program: &str, what: &str, only: &str) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.json");
    let output = Command::new(binary::program())
        .args(["check", "--profile", "conformance", "--call", CALL, "--timeout", TIMEOUT, "--only", only])
        .args(["--report", &format!("json={}", file.display()), "--", program, "{effect.dir}", what])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let report =
        std::fs::read(&file).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    let report: Value = serde_json::from_slice(&report).expect("a report");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let cases = report["cases"].as_array().expect("cases");
    cases.iter().map(|case| (text(&case["id"]), text(&case["verdict"]))).collect()
}

/// Occasions that the sound server never gives.
const UNTOLD: &[&str] = &["L-06@2026-07-28", "M-18", "S-20", "S-25", "L-11"];

#[test]
fn the_sound_server_passes_every_check() {
    let all = verdicts(env!("CARGO_BIN_EXE_planted"), "none", "conformance/*");
    assert!(all.len() >= 170, "{} checks", all.len());
    for (id, verdict) in &all {
        let is_untold = UNTOLD.iter().any(|untold| id.contains(untold));
        let expected = if is_untold { "skipped" } else { "pass" };
        assert_eq!(verdict, expected, "{id}");
    }
}

#[test]
fn every_check_is_failed_by_a_server_that_breaks_its_requirement() {
    let all = verdicts(env!("CARGO_BIN_EXE_planted"), "none", "conformance/*");
    let mut checks: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for id in all.into_keys() {
        let check = id.trim_start_matches("conformance/").split('@').next().expect("an id").to_owned();
        checks.entry(check).or_default().insert(id);
    }
    let checks: Vec<_> = checks.into_iter().collect();
    assert!(checks.len() >= 55, "{} requirements", checks.len());
    parallel::run(
        &checks,
        || (),
        |(), (check, ids)| {
            let found =
                verdicts(env!("CARGO_BIN_EXE_nonconforming"), check, &format!("conformance/{check}@*"));
            for id in ids {
                // Who agrees to another revision than it offers does not speak that one.
                if id == "conformance/L-02@2025-11-25" {
                    continue;
                }
                let verdict = found.get(id).unwrap_or_else(|| panic!("no {id}"));
                assert!(matches!(&**verdict, "fail" | "policy-gap"), "{id}: {verdict}");
            }
        },
    );
}
