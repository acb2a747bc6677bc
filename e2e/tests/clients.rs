//! Real clients: PyPI `mcp` 1.x and 2.x, npm `@modelcontextprotocol/sdk` 1.x and its successor 2.x,
//! and rmcp, each through connect, list, call, tool error, denial, cancel and close.
//!
//! The clients are installed by `e2e/clients/setup.sh`. Where they are not, the tests of that client
//! say so loudly; with FRAMEGATE_SHARED set, as in CI, they fail instead.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use framegate_e2e::process::DEADLINE;
use framegate_e2e::stage::{Executor, OnInvalidFrame, Stage};
use framegate_e2e::target::Answer;
use framegate_e2e::{binary, fixture, installed, tapped};
use serde_json::{Value, json};

#[path = "clients/rmcp.rs"]
mod rmcp_client;

const TAP: &str = env!("CARGO_BIN_EXE_tap");

/// A stage whose target answers as the plan expects: good, tool error, held, good.
fn stage(name: &str) -> Stage {
    let stage = Stage::new(&format!("clients-{name}"), Executor::Live, OnInvalidFrame::Close);
    stage.target().script([
        Answer::ok(),
        Answer::Body(500, "application/json", "{\"error\":\"no\"}".into()),
        Answer::Hold(Box::new(Answer::ok())),
        Answer::ok(),
    ]);
    stage
}

/// The command that starts the program behind the tap.
fn command(stage: &Stage) -> Vec<String> {
    let launch = stage.launch();
    let mut words = vec![TAP.to_owned(), tap_folder(stage).to_string_lossy().into_owned()];
    words.push(launch.program.to_string_lossy().into_owned());
    words.extend(launch.arguments.iter().map(|word| word.to_string_lossy().into_owned()));
    words
}

fn tap_folder(stage: &Stage) -> PathBuf {
    stage.folder().join("tap")
}

fn plan(stage: &Stage, more: &Value) -> Value {
    let folder = stage.folder();
    let mut plan = json!({
        "command": command(stage),
        "good": { "tool": "probe_write", "arguments": { "marker": "mk-good" } },
        "tool_error": { "tool": "probe_write", "arguments": { "marker": "mk-error" } },
        "denied": { "tool": fixture::DENIED_TOOL, "arguments": { "marker": "mk-denied" } },
        "cancel": {
            "tool": "probe_write",
            "arguments": { "marker": "mk-slow" },
            "when": folder.join("when"),
            "then": folder.join("then"),
        },
        "after": { "tool": "probe_write", "arguments": { "marker": "mk-after" } },
    });
    for (name, value) in more.as_object().into_iter().flatten() {
        plan[name] = value.clone();
    }
    plan
}

/// Plays the world's side of the plan: tells when the slow call is out, lets it go once it is cancelled.
fn play(stage: &Stage, mut until: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    let mut told = false;
    while !until() {
        assert!(Instant::now() < deadline, "{}: the client hangs", stage.name());
        if !told && stage.executed("mk-slow") == 1 {
            std::fs::write(stage.folder().join("when"), "").expect("own folder");
            told = true;
        }
        if stage.folder().join("then").exists() {
            stage.target().release();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Runs a script of `e2e/clients` to its report.
fn run(stage: &Stage, mut script: Command, more: &Value) -> Value {
    let mut child = script
        .arg(plan(stage, more).to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the client can be started");
    let mut ended = None;
    play(stage, || {
        ended = child.try_wait().expect("own child");
        ended.is_some()
    });
    let (mut report, mut diagnostics) = (String::new(), String::new());
    child.stdout.take().expect("piped").read_to_string(&mut report).expect("text");
    child.stderr.take().expect("piped").read_to_string(&mut diagnostics).expect("text");
    assert!(
        ended.is_some_and(|status| status.success()),
        "{}: the client failed\n{report}\n{diagnostics}",
        stage.name()
    );
    serde_json::from_str(&report)
        .unwrap_or_else(|error| panic!("{}: {error}: {report}\n{diagnostics}", stage.name()))
}

/// What must be true of every client's report, and of the world.
fn judge(stage: &Stage, report: &Value, revision: &str) {
    let shown = format!("{}: {report:#}", stage.name());
    let tools = report["tools"].as_array().expect(&shown);
    assert!(tools.iter().any(|tool| tool == "probe_write"), "{shown}");
    assert_eq!(report["good"]["is_error"], false, "{shown}");
    assert_eq!(report["tool_error"]["is_error"], true, "{shown}");
    assert!(report["tool_error"]["text"].as_str().is_some_and(|text| text.contains("500")), "{shown}");
    // The denial reaches the caller as text, naming the tool or the rule, not as an exception.
    assert_eq!(report["denied"]["is_error"], true, "{shown}");
    assert!(report["denied"]["text"].as_str().is_some_and(|text| !text.is_empty()), "{shown}");
    assert_eq!(report["cancelled"], "given up", "{shown}");
    assert_eq!(report["after"]["is_error"], false, "{shown}");
    assert_eq!(report["closed"], true, "{shown}");

    let sessions = tapped::judged(stage, &tap_folder(stage));
    assert!(sessions.iter().any(|session| session.code == Some(0)), "no session ended cleanly: {shown}");
    let journal = stage.journal();
    assert!(
        journal.negotiated().iter().any(|named| named == revision),
        "{:?}: {shown}",
        journal.negotiated()
    );
    for marker in ["mk-good", "mk-error", "mk-slow", "mk-after"] {
        assert_eq!(stage.executed(marker), 1, "{marker}: {shown}");
    }
    assert_eq!(stage.executed("mk-denied"), 0, "{shown}");
    assert_eq!(journal.count("intent"), 4, "{shown}");
    let denied = journal.refused();
    assert!(
        denied.iter().all(|(door, _)| door == "authorization") && denied.len() == 1,
        "{denied:?}: {shown}"
    );
}

fn script(name: &str) -> PathBuf {
    binary::workspace().join("e2e/clients").join(name)
}

fn python(folder: &Path) -> Command {
    let mut command = Command::new(folder.join("bin/python"));
    command.arg(script("python_client.py"));
    command
}

fn node() -> Command {
    let mut command = Command::new("node");
    command.arg(script("typescript_client.mjs"));
    command
}

#[test]
fn python_1() {
    let Some(folder) = installed::folder("python-mcp-1") else { return };
    let stage = stage("python-1");
    let report = run(&stage, python(&folder), &json!({}));
    judge(&stage, &report, "2025-11-25");
}

#[test]
fn python_2_in_the_handshake_era() {
    let Some(folder) = installed::folder("python-mcp-2") else { return };
    let stage = stage("python-2-handshake");
    let report = run(&stage, python(&folder), &json!({ "mode": "legacy" }));
    judge(&stage, &report, "2025-11-25");
}

#[test]
fn python_2_in_the_stateless_era() {
    let Some(folder) = installed::folder("python-mcp-2") else { return };
    let stage = stage("python-2-stateless");
    let report = run(&stage, python(&folder), &json!({ "mode": "auto" }));
    assert_eq!(report["revision"], "2026-07-28");
    judge(&stage, &report, "2026-07-28");
}

#[test]
fn typescript_1() {
    let Some(folder) = installed::folder("typescript-sdk-1") else { return };
    let stage = stage("typescript-1");
    let report = run(&stage, node(), &json!({ "major": 1, "modules": folder }));
    judge(&stage, &report, "2025-11-25");
}

#[test]
fn typescript_2_in_the_handshake_era() {
    let Some(folder) = installed::folder("typescript-client-2") else { return };
    let stage = stage("typescript-2-handshake");
    let report = run(&stage, node(), &json!({ "major": 2, "modules": folder, "mode": "legacy" }));
    judge(&stage, &report, "2025-11-25");
}

#[test]
fn typescript_2_in_the_stateless_era() {
    let Some(folder) = installed::folder("typescript-client-2") else { return };
    let stage = stage("typescript-2-stateless");
    let report = run(&stage, node(), &json!({ "major": 2, "modules": folder, "mode": "auto" }));
    assert_eq!(report["revision"], "2026-07-28");
    judge(&stage, &report, "2026-07-28");
}

#[test]
fn rmcp_in_the_handshake_era() {
    let stage = stage("rmcp-handshake");
    let report = rmcp_client::run(&stage, &plan(&stage, &json!({})), false);
    judge(&stage, &report, "2025-11-25");
}

#[test]
fn rmcp_in_the_stateless_era() {
    let stage = stage("rmcp-stateless");
    let report = rmcp_client::run(&stage, &plan(&stage, &json!({})), true);
    assert_eq!(report["revision"], "2026-07-28");
    judge(&stage, &report, "2026-07-28");
}
