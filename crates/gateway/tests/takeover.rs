//! stdout in the hands of careless code: prints of a dependency, of a child, panics in an executor and in the
//! session.
//!
//! Belongs here: what needs a process of its own with planted faults. The program runs itself again as that
//! process; without the test harness, which prints. Does not belong here: the release binary (`e2e`).

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use framegate_gate::authorization::{Policy, Question, RuleId, Verdict};
use framegate_gateway::assemble;
use framegate_gateway::config::Config;
use framegate_gateway::executor::{Executor, Performing};
use framegate_gateway::log::Log;
use framegate_gateway::serve::{Setup, Termination, serve};
use framegate_gateway::stdio::{install_panic_hook, take_over};
use framegate_journal::{Journal, Mode, Recorded, Start};
use serde_json::Value;

const CONFIG: &str = r#"
version = 1
[target.t]
origin = "http://127.0.0.1:9"
allow_plain_loopback = true
[tool.act]
description = "acts"
target = "t"
method = "POST"
path = "/{marker}"
params.marker = { type = "word" }
"#;

const PAYLOAD: &str = "canary-in-a-panic";

const TESTS: [(&str, fn()); 3] = [
    ("stray_prints_and_panics_leave_stdout_alone", stray_prints_and_panics_leave_stdout_alone),
    ("a_panic_in_an_executor_is_unknown", a_panic_in_an_executor_is_unknown),
    (
        "a_panic_in_the_session_ends_it_with_whole_messages",
        a_panic_in_the_session_ends_it_with_whole_messages,
    ),
];

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().collect();
    if let [_, child_mark, scenario, folder] = arguments.as_slice()
        && child_mark == "child"
    {
        return child(scenario, Path::new(folder));
    }
    for (name, test) in TESTS {
        test();
        println!("test {name} ... ok");
    }
    println!("\ntest result: ok. {} passed; 0 failed", TESTS.len());
    ExitCode::SUCCESS
}

/// Runs a scenario: its exit code, stdout, stderr.
fn run(scenario: &str, input: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["child", scenario])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a process");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("a process that reads");
    let output = child.wait_with_output().expect("a process that ends");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn stray_prints_and_panics_leave_stdout_alone() {
    let (code, stdout, stderr) = run("stray", "");
    assert_eq!((code, stdout.as_str()), (Some(0), "{\"only\":\"this\"}\n"), "{stderr}");
    assert!(stderr.contains("STRAY-print") && stderr.contains("STRAY-child"), "{stderr}");
    assert!(stderr.contains("internal error at") && !stderr.contains(PAYLOAD), "{stderr}");
}

const SESSION: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"n","version":"v"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"act","arguments":{"marker":"m"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#,
    "\n",
);

fn replies(stdout: &str) -> Vec<Value> {
    assert!(stdout.ends_with('\n'), "{stdout}");
    stdout.lines().map(|line| serde_json::from_str(line).expect("a message")).collect()
}

fn a_panic_in_an_executor_is_unknown() {
    let (code, stdout, stderr) = run("executor", SESSION);
    let replies = replies(&stdout);
    let reply = |id: u64| replies.iter().find(|reply| reply["id"] == id).expect("a reply");
    assert_eq!(reply(2)["result"]["_meta"]["framegate/reason"], "unknown", "{stdout}");
    assert!(reply(3).get("result").is_some(), "the session goes on");
    assert_eq!(code, Some(0), "{stderr}");
    assert!(!stdout.contains(PAYLOAD) && !stderr.contains(PAYLOAD));
}

fn a_panic_in_the_session_ends_it_with_whole_messages() {
    let (code, stdout, stderr) = run("session", SESSION);
    let replies = replies(&stdout);
    assert_eq!(replies.len(), 1, "{stdout}");
    assert_eq!(replies[0]["id"], 1);
    assert_eq!(code, Some(70), "{stderr}");
    assert!(stderr.contains("internal error at") && !stderr.contains(PAYLOAD), "{stderr}");
}

struct Allows;

impl Policy for Allows {
    fn judge(&self, question: Question) -> Verdict {
        question.allow(RuleId::Named("all".into()))
    }
}

struct Panics;

impl Policy for Panics {
    fn judge(&self, _question: Question) -> Verdict {
        panic!("{PAYLOAD}")
    }
}

impl Executor for Panics {
    fn perform(&self, _recorded: Recorded) -> Performing<'_> {
        Box::pin(async { panic!("{PAYLOAD}") })
    }
}

fn child(scenario: &str, folder: &Path) -> ExitCode {
    let (mut protocol, _) = take_over().expect("descriptors");
    if scenario == "stray" {
        install_panic_hook(|line| eprintln!("{line}"));
        println!("STRAY-print");
        let shell = Command::new("sh").args(["-c", "echo STRAY-child"]).status().expect("a shell");
        assert!(shell.success());
        assert!(std::thread::spawn(|| panic!("{PAYLOAD}")).join().is_err());
        protocol.output.write_all(b"{\"only\":\"this\"}\n").expect("a reader");
        let mut rest = Vec::new();
        protocol.input.read_to_end(&mut rest).expect("an end");
        return ExitCode::SUCCESS;
    }
    let path = folder.join("framegate.toml");
    std::fs::write(&path, CONFIG).expect("a file");
    let loaded = Config::load(&path).expect("a configuration");
    let log = Log::start(&loaded.config.log, false, &protocol.output).expect("a log");
    let reporter = log.clone();
    install_panic_hook(move |line| reporter.error(line));
    let principal = assemble::principal(&loaded.config, None);
    let mut journal = Journal::open(&assemble::journal_options(&loaded.config)).expect("a journal");
    let revisions = &loaded.config.session.revisions;
    journal
        .start(&Start { version: "0", mode: Mode::Live, client: "c", config: "0", revisions })
        .expect("a start record");
    let policy: Arc<dyn Policy> = if scenario == "session" { Arc::new(Panics) } else { Arc::new(Allows) };
    let code = serve(Setup {
        protocol,
        session: assemble::session_options(&loaded, principal, "0"),
        catalog: Arc::clone(&loaded.config.catalog),
        policy,
        journal,
        executor: Arc::new(Panics),
        max_concurrent: 1,
        max_queued: 1,
        grace: loaded.config.limits.grace,
        log,
        termination: Termination::register().expect("signals"),
    });
    ExitCode::from(code.expect("threads"))
}
