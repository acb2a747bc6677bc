//! `framegate check --isolate`: what targets have of the caller's home and network.
//!
//! Belongs here: what a target sees there, and that recorders are reached all the same. Does not belong here: verdicts.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use framegate_e2e::binary;

/// One case that needs its control to be seen.
const CASE: &str = "json-trailing-data/trailing-brace";

/// `framegate check` of a sound server, started by a script that keeps what it is started with.
fn check(options: &[&str], kept: &Path) -> Output {
    let script =
        "echo \"$HOME:${XDG_STATE_HOME-none}\" > \"$0/home\"; cat /proc/net/dev > \"$0/links\"; exec \"$@\"";
    Command::new(binary::program())
        .args(["check", "--only", CASE, "--call", "probe_write={\"marker\":\"{marker}\"}", "--timeout", "60"])
        .args(options)
        .args(["--", "sh", "-c", script])
        .arg(kept)
        .arg(env!("CARGO_BIN_EXE_planted"))
        .args(["{effect.dir}", "none"])
        .env("HOME", "/caller")
        .env("XDG_STATE_HOME", "/caller/state")
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[&*output.stdout, &output.stderr].concat()).into_owned()
}

/// Whether this machine gives a process a network of its own.
fn is_possible(output: &Output) -> bool {
    let refused = said(output).contains("the network cannot be cut off");
    if refused {
        assert_eq!(output.status.code(), Some(69), "what cannot be isolated is not run: {}", said(output));
        eprintln!("SKIPPED: this machine gives no network namespaces: {}", said(output));
    }
    !refused
}

#[test]
fn an_isolated_target_has_a_home_of_its_own_and_loopback_only() {
    let kept = tempfile::tempdir().expect("a folder");
    let read =
        |name: &str| std::fs::read_to_string(kept.path().join(name)).expect("what it was started with");
    let links = || read("links").lines().filter(|line| line.contains(':')).count();
    let output = check(&["--isolate"], kept.path());
    if !is_possible(&output) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("loopback only (--isolate)"), "{}", said(&output));
    let (home, state) = (read("home"), ":none\n");
    let home = home.strip_suffix(state).expect("no folders of the caller's").to_owned();
    assert!(home != "/caller" && !Path::new(&home).exists(), "{home} is new, and removed behind the run");
    assert!(read("links").contains("lo:") && links() == 1, "{}", read("links"));
    // The twin: without the option the launch is the caller's.
    let output = check(&[], kept.path());
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(read("home"), "/caller:/caller/state\n");
}

/// The gateway acts over HTTP: what it reaches is the recorder on the loopback of the same network.
#[test]
fn recorders_are_reached_from_where_targets_are() {
    let output = Command::new(binary::program())
        .args(["check", "--isolate", "--only", CASE, "--timeout", "60"])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    if is_possible(&output) {
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        assert!(said(&output).contains("effects seen by folder, http"), "{}", said(&output));
    }
}
