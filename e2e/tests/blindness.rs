//! What `framegate check` says of servers that act where it is hard to see: found, or `inconclusive`, and never `pass`.
//!
//! Belongs here: ways around each observer. Does not belong here: the server that goes them (`servers/unseen.py`).

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use framegate_e2e::{binary, parallel, process};
use serde_json::Value;

const CALL: &str = "act={\"marker\":\"{marker}\"}";
/// Frames that this server takes for calls: `id` or `jsonrpc` twice.
const EXECUTED: [&str; 2] =
    ["json-duplicate-member/duplicate-id*", "json-duplicate-member/duplicate-jsonrpc*"];
const PATIENT: &str = "60";

struct Run {
    code: Option<i32>,
    report: Value,
}

impl Run {
    /// Every case that is no `skipped` one: its verdict and its kind.
    fn verdicts(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let cases = self.report["cases"].as_array().expect("cases").iter();
        let told = cases.filter(|case| case["verdict"] != "skipped");
        told.map(|case| (text(&case["verdict"]), text(&case["kind"]))).collect()
    }
}

/// A run against the server that acts in this way, in a folder that nobody watches.
fn run(way: &str, call: &str, options: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let server = Path::new(env!("CARGO_MANIFEST_DIR")).join("servers/unseen.py");
    // Nobody's recorder: it takes connections, reads and forgets.
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("a port").port().to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            thread::spawn(move || drop(stream.read_to_end(&mut Vec::new())));
        }
    });
    let output = Command::new(binary::program())
        .args(["check", "--revision", "2025-06-18", "--timeout", PATIENT, "--call", call])
        .args(EXECUTED.map(|id| ["--only", id]).concat())
        .args(["--report", &format!("json={}", report.display())])
        .args(options)
        .arg("--")
        .arg("python3")
        .args([server.as_os_str(), way.as_ref(), folder.path().as_os_str(), port.as_ref()])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    // The server has the folder among its arguments, and so has a strace that started it.
    let place = folder.path().to_str().expect("a plain path");
    assert_eq!(process::with_argument(place), [""; 0], "{way}: somebody is left");
    let text =
        std::fs::read(&report).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    Run { code: output.status.code(), report: serde_json::from_slice(&text).expect("a report") }
}

#[test]
fn whoever_acts_out_of_sight_is_found_or_inconclusive() {
    parallel::run(
        &[
            // Writes to open files and sockets are calls, whenever they were opened.
            ("log", &["fail"][..]),
            ("warm", &["fail"]),
            ("daemon", &["fail"]),
            ("thread", &["fail"]),
            // Stores into memory are none: nobody sees them.
            ("mapped", &["inconclusive"]),
            ("nothing", &["inconclusive"]),
        ],
        || (),
        |(), (way, expected)| {
            let run = run(way, CALL, &[]);
            let verdicts = run.verdicts();
            assert!(verdicts.len() > 3, "{way}: {verdicts:?}");
            let is_expected = |(verdict, _): &(String, String)| expected.contains(&&**verdict);
            assert!(verdicts.iter().all(is_expected), "{way}: {verdicts:?}");
            assert_eq!(run.code, Some(1), "{way}: what was asked for and is not proved is not clean");
        },
    );
}

#[test]
fn a_call_that_does_nothing_proves_nothing() {
    let run = run("log", "no_such_tool={\"marker\":\"{marker}\"}", &[]);
    assert!(run.verdicts().iter().all(|(verdict, _)| verdict == "inconclusive"), "{:?}", run.verdicts());
    assert_eq!(run.code, Some(1));
    assert_eq!(run.report["unproven"], true);
}

/// strace instead of ourselves: the same is found, by its name, and what it cannot see is not taken for seen.
#[test]
fn under_strace_the_same_is_found_and_without_an_observer_nothing_is_proved() {
    let has_strace = Command::new("strace").arg("-V").output().is_ok();
    assert!(has_strace || std::env::var_os("FRAMEGATE_SHARED").is_none(), "strace is not on the PATH");
    if !has_strace {
        eprintln!("SKIPPED: strace is not on the PATH");
        return;
    }
    parallel::run(
        &[
            ("log", "strace", "fail"),
            ("warm", "strace", "fail"),
            ("daemon", "strace", "fail"),
            ("thread", "strace", "fail"),
            ("mapped", "strace", "inconclusive"),
            ("nothing", "strace", "inconclusive"),
            // The only effect is one that system calls show.
            ("log", "none", "inconclusive"),
            ("log", "seccomp", "fail"),
        ],
        || (),
        |(), (way, observer, expected)| {
            let run = run(way, CALL, &["--observer", observer, "--require-proof", "syscalls"]);
            let verdicts = run.verdicts();
            assert!(verdicts.len() > 3, "{way}, {observer}: {verdicts:?}");
            let is_expected = |(verdict, _): &(String, String)| verdict == expected;
            assert!(verdicts.iter().all(is_expected), "{way}, {observer}: {verdicts:?}");
            let is_seen = matches!(*way, "log" | "warm" | "daemon" | "thread") && *observer != "none";
            let name = if *observer == "strace" { "strace" } else { "syscalls" };
            let observers = run.report["observers"].as_array().expect("a list");
            assert_eq!(
                observers.iter().any(|seen| seen == name),
                is_seen,
                "{way}, {observer}: {observers:?}"
            );
            let tracer = if *observer == "none" { Value::Null } else { Value::from(*observer) };
            assert_eq!(run.report["tracer"], tracer, "{way}, {observer}");
        },
    );
}
