//! `framegate check` against a server on Node.js, measured against that server's own start in the same run.
//!
//! Belongs here: ratios of a run and of its observer. Does not belong here: assertions of the test suite;
//! `--check` compares with the marks of docs/benchmarks.md and exits 1 where one is missed.
//!
//! Run: `cargo build --release -p framegate && e2e/clients/setup.sh && cargo bench -p framegate-e2e --bench check`.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

#[expect(dead_code, reason = "other benchmarks print more kinds of rows")]
mod table;

use table::{Table, median};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#;
const CALL: &str = "write={\"name\":\"{marker}\"}";
const STARTS: usize = 11;
const ROUNDS: usize = 3;
const JOBS: u32 = 2;
/// What the plan counts for a case, and how long a run of `quick` may be by it.
const A_CASE: Duration = Duration::from_millis(300);
const QUICK: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let modules = root.join(".test-env/typescript-sdk-1");
    let mut table = Table::begin();
    if !modules.exists() {
        table.skipped("`framegate check` of a server on the TypeScript SDK", "e2e/clients/setup.sh");
        return table.exit();
    }
    let target = |folder: &str| {
        let program = root.join("e2e/clients/write_server.mjs");
        ["node".into(), program, modules.clone(), folder.into()].map(PathBuf::into_os_string)
    };
    let framegate = root.join("target/release/framegate");
    let folder = tempfile::tempdir().expect("a folder");
    let mut starts = Vec::new();
    for _ in 0..STARTS {
        starts.push(start(&target(&folder.path().to_string_lossy())));
    }
    let start = median(starts);
    let check = |options: &[&str]| run(&framegate, options, &target("{effect.dir}"), folder.path());
    let (boundary, cases) = check(&["--profile", "boundary"]);
    table.at_most(
        &format!("`--profile boundary`, {cases} cases, {JOBS} at once"),
        boundary,
        "cases × the server's start ÷ jobs",
        start.saturating_mul(cases) / JOBS,
        1.2,
    );
    let (mut observed, mut unobserved, mut quick) = (Vec::new(), Vec::new(), 0);
    for _ in 0..ROUNDS {
        let (took, cases) = check(&["--profile", "quick"]);
        observed.push(took);
        quick = cases;
        unobserved.push(check(&["--profile", "quick", "--observer", "none"]).0);
    }
    table.at_most(
        &format!("`--profile quick`, {quick} cases, observed"),
        median(observed),
        "unobserved",
        median(unobserved),
        1.5,
    );
    table.at_most(
        "the plan of `--profile quick`",
        A_CASE.saturating_mul(quick) / JOBS,
        "a minute",
        QUICK,
        1.0,
    );
    table.exit()
}

/// From the start of a process to its answer.
fn start(command: &[std::ffi::OsString]) -> Duration {
    let begin = Instant::now();
    let mut child = Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(format!("{INITIALIZE}\n").as_bytes()).expect("a server that reads");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("an answer");
    let elapsed = begin.elapsed();
    assert!(line.ends_with('\n'), "no answer to `initialize`");
    drop(input);
    let _ = child.wait();
    elapsed
}

/// How long a run took, and of how many cases it was.
fn run(framegate: &Path, options: &[&str], target: &[std::ffi::OsString], folder: &Path) -> (Duration, u32) {
    let report = folder.join("report.json");
    let begin = Instant::now();
    let status = Command::new(framegate)
        .args(["check", "--call", CALL, "--jobs", &JOBS.to_string(), "--timeout", "30"])
        .args(["--report", &format!("json={}", report.display())])
        .args(options)
        .arg("--")
        .args(target)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("a process");
    let elapsed = begin.elapsed();
    // The kit lets frames through: what is measured is a whole run, and not a clean one.
    assert!(matches!(status.code(), Some(0 | 1)), "{status}");
    let report: Value = serde_json::from_slice(&std::fs::read(&report).expect("a report")).expect("a report");
    let cases = report["cases"].as_array().expect("cases").len();
    (elapsed, u32::try_from(cases).expect("few cases"))
}
