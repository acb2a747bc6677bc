//! `framegate check` survives its targets: it ends by itself with a verdict, in bounded memory, and leaves nobody behind.
//!
//! Belongs here: targets that flood, fall silent, hold on, leave processes. Does not belong here: how (`servers/hostile.py`).

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use framegate_e2e::{binary, parallel, process};
use serde_json::Value;

/// What the bench keeps of one stream, in KiB (`MAX_KEPT` in `crates/bench/src/target/ledger.rs`).
const KEPT: u64 = 32 * 1024;
/// What the bench takes beside that, in KiB: 16 MiB in a sound session, and one line as values (a million, each of 16
/// bytes, in a list that grows by doubling).
const BESIDE: u64 = 48 * 1024;
/// stdout and stderr, each once.
const BOUND: u64 = 2 * KEPT + BESIDE;

/// Runs its arguments; the last line on stderr is the most memory that a process of theirs had, in KiB (getrusage(2)).
const MEASURED: &str = "import resource, subprocess, sys\n\
                        code = subprocess.call(sys.argv[1:])\n\
                        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)\n\
                        sys.exit(code)";

/// The way, the case, its verdict, its kind.
type Row = (&'static str, &'static str, &'static str, &'static str);

const SESSION: &str = "plain/session";

const ROWS: &[Row] = &[
    ("floods-messages", SESSION, "hung", ""),
    ("floods-garbage", SESSION, "fail", "stdout-dirty"),
    ("floods-blank-lines", SESSION, "fail", "stdout-dirty"),
    ("floods-brackets", SESSION, "fail", "stdout-dirty"),
    ("floods-one-line", SESSION, "fail", "stdout-dirty"),
    ("floods-one-array", SESSION, "fail", "stdout-dirty"),
    ("floods-stderr", SESSION, "hung", ""),
    ("floods-both", SESSION, "fail", "stdout-dirty"),
    // stderr is the target's own.
    ("logs-for-ever", SESSION, "pass", ""),
    ("never-reads", SESSION, "hung", ""),
    ("reads-no-more", SESSION, "hung", ""),
    ("closes-stdin", SESSION, "hung", ""),
    ("closes-stdout", SESSION, "hung", ""),
    ("closes-stderr", SESSION, "pass", ""),
    ("closes-all", SESSION, "hung", ""),
    ("leaves-children", SESSION, "fail", "orphan-process"),
    ("leaves-sessions", SESSION, "fail", "orphan-process"),
    ("leaves-a-stranger", SESSION, "fail", "orphan-process"),
    ("leaves-a-holder", SESSION, "fail", "orphan-process"),
    ("ignores-sigterm", "plain/sigterm", "fail", "no-exit"),
    ("writes-after-its-end", SESSION, "fail", "stdout-dirty"),
    ("sessions-write-after-its-end", SESSION, "fail", "stdout-dirty"),
];

/// In every process's arguments that a target of this test forks.
fn tag() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("survival-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Its output, and the most memory that it took, in KiB. One that does not end by itself fails.
fn measured(arguments: &[&str]) -> (Output, u64) {
    let mut command = Command::new("python3");
    command.args(["-c", MEASURED, binary::program().to_str().expect("a plain path")]).args(arguments);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let deadline = Instant::now() + process::DEADLINE * 4;
    while child.try_wait().expect("own child").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("own child");
            panic!("{arguments:?} does not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().expect("own child");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let peak = text.lines().last().and_then(|line| line.parse().ok()).unwrap_or_else(|| panic!("{text}"));
    (output, peak)
}

#[test]
fn whatever_a_target_does_there_is_a_verdict_in_bounded_memory_and_nobody_is_left() {
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers/hostile.py");
    // More than a pipe holds (64 KiB; pipe(7)).
    let call = format!("act={{\"marker\":\"{{marker}}\",\"text\":\"{}\"}}", "x".repeat(100 * 1024));
    parallel::run(
        ROWS,
        || (),
        |(), (way, id, verdict, kind)| {
            let folder = tempfile::tempdir().expect("a folder");
            let (report, tag) = (folder.path().join("report.json"), tag());
            // Whoever is silent is waited for in vain; whoever is right is not judged by how fast it is.
            let timeout = if *verdict == "pass" || *kind == "orphan-process" { "60" } else { "2" };
            let evidence = folder.path().join("evidence");
            let (output, peak) = measured(&[
                "check",
                "--profile",
                "stdout",
                "--only",
                id,
                "--timeout",
                timeout,
                "--call",
                &call,
                "--evidence",
                evidence.to_str().expect("a plain path"),
                "--report",
                &format!("json={}", report.display()),
                "--",
                "python3",
                server.to_str().expect("a plain path"),
                &tag,
                way,
            ]);
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let text = std::fs::read(&report).unwrap_or_else(|_| panic!("{way}: {said}"));
            let report: Value = serde_json::from_slice(&text).expect("a report");
            let case = &report["cases"][0];
            let found = (case["verdict"].as_str(), case["kind"].as_str().unwrap_or_default());
            eprintln!("{way}: {found:?}, {peak} KiB");
            assert_eq!(found, (Some(*verdict), *kind), "{way}: {said}");
            let code = if *verdict == "pass" { 0 } else { 1 };
            assert_eq!(output.status.code(), Some(code), "{way}: {said}");
            assert!(peak < BOUND, "{way}: {peak} KiB");
            assert_eq!(process::with_argument(&tag), [""; 0], "{way}");
        },
    );
}
