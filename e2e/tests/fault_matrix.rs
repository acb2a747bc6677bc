//! `docs/fault-matrix.md`: which cases of `framegate check` fail by which planted fault.
//!
//! Belongs here: making the page, and that it knows every fault and every case.
//! Does not belong here: that a fault is found by the case that is named for it (`check.rs`, `conformance.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use framegate_e2e::faults::{FAULTS, SILENT};
use framegate_e2e::{binary, parallel};
use serde_json::Value;

const CALL: &str = "probe_write={\"marker\":\"{marker}\"}";
/// One revision of each era: what a planted fault does it does in all of them.
const REVISIONS: [&str; 4] = ["--revision", "2025-06-18", "--revision", "2026-07-28"];

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/fault-matrix.md")
}

/// Every case's verdict, by its id without the revision.
fn verdicts(program: &str, fault: &str, options: &[String]) -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.json");
    // What never comes is waited for in case after case: many at once, and not long.
    let timeout = if SILENT.contains(&fault) { "2" } else { "20" };
    Command::new(binary::program())
        .args([
            "check",
            "--call",
            CALL,
            "--timeout",
            timeout,
            "--jobs",
            "4",
            "--report",
            &format!("json={}", file.display()),
        ])
        .args(options)
        .args(["--", program, "{effect.dir}", fault])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let report: Value = serde_json::from_slice(&std::fs::read(&file).expect("a report")).expect("a report");
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    let cases = report["cases"].as_array().expect("cases").iter();
    cases.map(|case| (text(&case["id"]), text(&case["verdict"]))).collect()
}

/// The ids of every case that a profile has.
fn ids(profile: &str) -> BTreeSet<String> {
    let output = Command::new(binary::program())
        .args(["check", "--list", "--call", CALL, "--profile", profile])
        .args(["--", env!("CARGO_BIN_EXE_planted"), "{effect.dir}", "none"])
        .output()
        .expect("the program starts");
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

/// The requirement or reason that an id stands for: what the page has one line or column for.
fn family(id: &str) -> String {
    let (folder, name) = id.split_once('/').expect("a folder");
    match folder {
        "conformance" => format!("{folder}/{}", name.split('@').next().expect("a name")),
        "plain" | "launch" | "leak" => id.to_owned(),
        _ => format!("{folder}/*"),
    }
}

/// What is not clean, each family once, with how many of its cases.
fn found(verdicts: &BTreeMap<String, String>) -> String {
    let mut families: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (id, verdict) in verdicts.iter().filter(|(_, verdict)| *verdict != "skipped") {
        let (failed, all) = families.entry(family(id)).or_default();
        *failed += usize::from(verdict != "pass");
        *all += 1;
    }
    let told = families.into_iter().filter(|(_, (failed, _))| *failed > 0);
    let told = told.map(|(family, (failed, all))| match failed == all {
        true => format!("`{family}`"),
        false => format!("`{family}` ({failed} of {all})"),
    });
    told.collect::<Vec<_>>().join(", ")
}

#[test]
#[ignore = "writes docs/fault-matrix.md: cargo test -p framegate-e2e --test fault_matrix -- --ignored"]
fn write_the_page() {
    let owned = |options: &[&str]| -> Vec<String> { options.iter().map(|text| (*text).to_owned()).collect() };
    let mut runs: Vec<(&str, String, Vec<String>)> = Vec::new();
    let quick = owned(&[&["--profile", "quick"][..], &REVISIONS].concat());
    // Who never answers again is waited for in every case: one frame stands for all.
    let one_frame = owned(&[&["--only", "json-noise/noise-banner-same-line"][..], &REVISIONS].concat());
    runs.extend(FAULTS.iter().map(|(fault, ..)| {
        let options = if fault.ends_with("-on-refusal") { &one_frame } else { &quick };
        ("planted", (*fault).to_owned(), options.clone())
    }));
    let families = |profile: &str, folder: &str| -> BTreeSet<String> {
        let of_folder = ids(profile).into_iter().filter(|id| id.starts_with(folder));
        of_folder.map(|id| family(&id)).collect()
    };
    // In every revision, since a requirement may be one of a single; and also where the plain session already fails.
    let conformance = owned(&["--only", "conformance/*"]);
    for check in families("conformance", "conformance/") {
        let check = check.trim_start_matches("conformance/").to_owned();
        runs.push(("nonconforming", check, conformance.clone()));
    }
    for reason in families("full", "").into_iter().filter(|family| family.ends_with("/*")) {
        let options = owned(&["--only", &reason]);
        runs.push(("planted", format!("executes-{}", reason.trim_end_matches("/*")), options));
    }
    let rows = Mutex::new(BTreeMap::new());
    parallel::run(
        &runs,
        || (),
        |(), (program, fault, options)| {
            let path = match *program {
                "planted" => env!("CARGO_BIN_EXE_planted"),
                _ => env!("CARGO_BIN_EXE_nonconforming"),
            };
            let found = found(&verdicts(path, fault, options));
            let name = if *program == "planted" { fault.clone() } else { format!("breaks {fault}") };
            rows.lock().expect("a lock").insert(name, found);
        },
    );
    let mut text = String::from(
        "# Planted faults and the cases that find them\n\n\
         Written by `cargo test -p framegate-e2e --test fault_matrix -- --ignored`: servers with one fault each. Those that are \
         called `breaks ID` (`e2e/src/bin/nonconforming.rs`) break one requirement, and were judged in every revision; the others \
         (`e2e/src/bin/planted.rs`) in 2025-06-18 and 2026-07-28. What is named is everything that was not `pass`; `(n of m)` \
         where other cases of the same kind passed.\n\n\
         | fault | what finds it |\n|---|---|\n",
    );
    for (fault, found) in rows.into_inner().expect("a lock") {
        let _ = writeln!(text, "| `{fault}` | {found} |");
    }
    std::fs::write(page(), text).expect("the page is written");
}

#[test]
fn the_page_knows_every_fault_and_every_case() {
    let page = std::fs::read_to_string(page()).expect("docs/fault-matrix.md");
    let row = |fault: &str| {
        let start = format!("| `{fault}` | ");
        page.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("no row of {fault}"))
    };
    for (fault, case, ..) in FAULTS {
        assert!(row(fault).contains(&format!("`{}`", family(case))), "{fault} is not found by {case}");
    }
    for id in ids("full") {
        let family = family(&id);
        let fault = match id.split_once('/').expect("a folder").0 {
            "conformance" => format!("breaks {}", family.trim_start_matches("conformance/")),
            "plain" | "launch" | "leak" => continue,
            reason => format!("executes-{reason}"),
        };
        assert!(row(&fault).contains(&format!("`{family}`")), "{family} is not found in the row of {fault}");
    }
    let named: BTreeSet<_> = FAULTS.iter().map(|(_, case, ..)| family(case)).collect();
    for id in ids("stdout") {
        assert!(named.contains(&id), "no fault is found by {id}");
    }
}
