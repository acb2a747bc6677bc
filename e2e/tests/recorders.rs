//! `framegate check` around servers whose effects reach a recorder over SSH, or by the marker program.
//!
//! Belongs here: servers that run clients of these. Does not belong here: what a recorder keeps (`bench::observe`).

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use framegate_e2e::{binary, installed};
use serde_json::Value;

const CALL: &str = "probe_write={\"marker\":\"{marker}\"}";
/// Longer than any machine needs, in seconds.
const PATIENT: &str = "60";
/// What the faulty server executes.
const EXECUTED: &str = "json-duplicate-member";
/// OpenSSH's client, without the user's own configuration; what follows is the command.
const OPENSSH: &str = "ssh -F none -o BatchMode=yes -o StrictHostKeyChecking=yes \
                       -o UserKnownHostsFile='{effect.ssh-known-hosts}' -o GlobalKnownHostsFile=none \
                       -p {effect.ssh-port} somebody@{effect.host}";

struct Run {
    code: Option<i32>,
    text: String,
    report: Value,
}

impl Run {
    fn cases(&self) -> impl Iterator<Item = &Value> {
        self.report["cases"].as_array().unwrap_or_else(|| panic!("{}", self.text)).iter()
    }

    fn observers(&self) -> Vec<&str> {
        let observers = self.report["observers"].as_array().expect("a list").iter();
        observers.map(|observer| observer.as_str().expect("text")).collect()
    }

    /// What this observer saw of cases that failed by an effect.
    fn effects(&self, observer: &str) -> BTreeSet<String> {
        let failed = self.cases().filter(|case| case["kind"] == "effect-observed");
        let effects = failed.flat_map(|case| case["evidence"]["effects"].as_array().expect("effects"));
        let of_observer = effects.filter(|effect| effect["observer"] == observer);
        of_observer.map(|effect| effect["what"].as_str().expect("text").to_owned()).collect()
    }
}

/// A run around the planted server that acts by running `script`.
fn run(script: &str, fault: &str, options: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let report = folder.path().join("report.json");
    let output = Command::new(binary::program())
        .args(["check", "--call", CALL, "--timeout", PATIENT, "--require-proof", "recorder"])
        .args(["--report", &format!("json={}", report.display())])
        .args(options)
        .args(["--", env!("CARGO_BIN_EXE_planted"), "--runs", script, "{effect.dir}", fault])
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    let report = std::fs::read(&report).ok().and_then(|text| serde_json::from_slice(&text).ok());
    Run { code: output.status.code(), text, report: report.unwrap_or_default() }
}

/// The sound server is clean, since this observer saw the control and required proof; the one that executes what it must
/// refuse is failed by what the observer saw, which reads so.
fn judges(observer: &str, script: &str, effect: &str) {
    let sound = run(script, "none", &[]);
    assert_eq!(sound.code, Some(0), "{}", sound.text);
    assert!(sound.observers().contains(&observer), "{}", sound.text);
    assert!(!sound.observers().contains(&"folder"), "{}", sound.text);
    assert!(sound.cases().count() > 300, "{}", sound.text);
    assert!(sound.cases().all(|case| case["verdict"] == "pass"), "{}", sound.text);

    let only = format!("{EXECUTED}/*");
    let faulty = run(script, &format!("executes-{EXECUTED}"), &["--only", &only]);
    assert_eq!(faulty.code, Some(1), "{}", faulty.text);
    let failed = faulty.cases().filter(|case| case["verdict"] == "fail").count();
    // Some frames hold a second call, with a marker of its own.
    let mut effects = faulty.effects(observer);
    effects.retain(|seen| !seen.contains("-other"));
    assert_eq!(effects.len(), failed, "{effects:?}: {}", faulty.text);
    let (before, behind) = effect.split_once("MARKER").expect("a marker");
    let reads_so = |seen: &String| seen.starts_with(before) && seen.ends_with(behind);
    assert!(failed > 3 && effects.iter().all(reads_so), "{effects:?}");
}

/// Whether there is an OpenSSH client; said loudly where there is none.
fn has_openssh() -> bool {
    let found = Command::new("ssh").arg("-V").stderr(Stdio::null()).status().is_ok();
    if !found {
        eprintln!("SKIPPED: there is no `ssh`: run e2e/servers/setup.sh");
    }
    found
}

#[test]
fn what_a_server_does_over_openssh_is_seen() {
    if has_openssh() {
        judges("ssh", &format!("exec {OPENSSH} touch \"$1\""), "exec touch fgm-MARKER");
    }
}

#[test]
fn what_a_server_does_over_nodes_ssh2_is_seen() {
    let Some(modules) = installed::folder("ssh2") else { return };
    let client = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/ssh2_client.mjs");
    let script = format!(
        "exec node '{}' '{}' {{effect.host}} {{effect.ssh-port}} {{effect.ssh-fingerprint}} \"touch $1\"",
        client.display(),
        modules.display()
    );
    judges("ssh", &script, "exec touch fgm-MARKER");
}

#[test]
fn what_a_server_runs_is_seen_by_the_marker_program() {
    judges("program", "framegate-marker \"$1\" done", "framegate-marker fgm-MARKER done");
}

/// The value of a variable is looked for at every recorder.
#[test]
fn a_canary_that_is_sent_to_a_recorder_leaks() {
    let leaks = |script: &str| {
        let run = run(script, "none", &["--only", "leak/canary"]);
        let case = run.cases().next().expect("a case").clone();
        (case["kind"] == "leak", case["explanation"].as_str().expect("text").to_owned())
    };
    let (leaks_by_program, told) = leaks("framegate-marker \"$1\" \"$API_KEY\"");
    assert!(leaks_by_program && told.contains("API_KEY came out at `program`: framegate-marker"), "{told}");
    if has_openssh() {
        let (leaks_over_ssh, told) = leaks(&format!("exec {OPENSSH} \"echo $API_KEY\""));
        assert!(leaks_over_ssh && told.contains("API_KEY came out at `ssh`: exec echo"), "{told}");
    }
}

/// A target that nothing leads to the marker program has the PATH that production gives it.
#[test]
fn the_path_is_changed_only_where_the_marker_program_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let path_of = |name: &str, mention: &str| {
        let file = folder.path().join(name);
        let script = format!("printf %s \"$PATH\" > '{}' # {mention}", file.display());
        run(&script, "none", &["--only", "plain/session"]);
        std::fs::read_to_string(&file).expect("a path")
    };
    let ours = std::env::var("PATH").expect("a path");
    assert_eq!(path_of("unnamed", "marker"), ours);
    let named = path_of("named", "framegate-marker");
    assert!(named.ends_with(&format!(":{ours}")) && named.contains("/framegate-marker-"), "{named}");
}
