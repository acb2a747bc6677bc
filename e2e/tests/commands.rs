//! Commands for people: what they print, what they leave alone, how they end.
//!
//! Belongs here: every subcommand but `mcp`, through the release binary. Does not belong here: sessions.

use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use framegate_e2e::binary;
use framegate_e2e::stage::{Executor, OnInvalidFrame, Stage};
use framegate_e2e::target::Answer;
use rustix::pty;

/// Runs the program with an empty environment.
fn run(arguments: &[&str]) -> Output {
    Command::new(binary::program())
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn on(stage: &Stage, arguments: &[&str]) -> Output {
    let config = stage.config();
    let mut all: Vec<&str> = arguments.to_vec();
    all.extend(["--config", config.to_str().expect("a plain path")]);
    run(&all)
}

fn live(name: &str) -> Stage {
    Stage::new(name, Executor::Live, OnInvalidFrame::Close)
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

fn assert_code(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "stdout: {}\nstderr: {}", stdout(output), stderr(output));
}

#[test]
fn the_demonstration_holds_without_anything() {
    let folder = tempfile::tempdir().expect("a folder");
    let alone = folder.path().join("framegate");
    std::fs::copy(binary::program(), &alone).expect("a copy");
    let output =
        Command::new(&alone).arg("demo").env_clear().current_dir(folder.path()).output().expect("it starts");
    assert_code(&output, 0);
    assert!(
        stdout(&output).contains("16 hostile frames refused, 4 calls performed, as counted by the target.")
    );
    assert_eq!(std::fs::read_dir(folder.path()).expect("own folder").count(), 1, "nothing is left behind");
}

#[test]
fn init_writes_a_private_configuration_once_that_checks() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new/framegate.toml");
    let text = path.to_str().expect("a plain path");
    assert_code(&run(&["init", text]), 0);
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    let before = std::fs::read(&path).expect("a file");
    let again = run(&["init", text]);
    assert_code(&again, 2);
    assert!(stderr(&again).contains("exists already"));
    assert_eq!(std::fs::read(&path).expect("a file"), before);
}

#[test]
fn config_check_prints_the_digest_that_expect_config_takes() {
    let stage = live("config-check");
    let output = on(&stage, &["config", "check"]);
    assert_code(&output, 0);
    let text = stdout(&output);
    let digest =
        text.lines().find_map(|line| line.strip_prefix("digest")).expect("a digest").trim().to_owned();
    let arguments = ["mcp", "--expect-config", &digest];
    let output = on(&stage, &arguments);
    assert_code(&output, 0);
    assert!(text.contains("probe_write") && text.contains("allow:probe_write"), "{text}");
    assert_eq!(stage.traces().questions, 0);
    assert_eq!(stage.traces().secret_reads, 0);
}

#[test]
fn faults_name_file_line_and_hint_and_leave_stdout_empty() {
    let stage = live("faulty");
    stage.edit_config(|text| text.replace("max_queued = 2", "max_queud = 2"));
    for command in
        [&["config", "check"][..], &["tools"], &["mcp"], &["policy", "show"], &["call", "probe_read"]]
    {
        let output = on(&stage, command);
        assert_code(&output, 78);
        assert_eq!(stdout(&output), "");
        let text = stderr(&output);
        assert!(
            text.contains("framegate.toml:") && text.contains("max_queud") && text.contains("max_queued"),
            "{text}"
        );
    }
}

#[test]
fn schema_tools_and_policy_print_what_they_say() {
    let stage = live("show");
    let schema: serde_json::Value = serde_json::from_slice(&run(&["config", "schema"]).stdout).expect("JSON");
    assert!(schema.pointer("/properties/version").is_some());
    let tools: serde_json::Value =
        serde_json::from_slice(&on(&stage, &["tools", "--json"]).stdout).expect("JSON");
    assert!(tools["tools"].as_array().expect("tools").iter().any(|tool| tool["name"] == "probe_write"));
    assert!(stdout(&on(&stage, &["tools"])).contains("probe_write"));
    assert!(stdout(&on(&stage, &["policy", "show"])).contains("@id(\"allow:probe_write\")"));
    assert!(stdout(&on(&stage, &["policy", "show", "--schema"])).contains("probe_write"));
    assert!(stdout(&run(&["completions", "bash"])).contains("framegate"));
}

#[test]
fn a_dry_run_passes_every_door_and_sends_nothing() {
    let stage = live("dry-run");
    let output = on(&stage, &["call", "probe_write", r#"{"marker": "mk-dry"}"#, "--dry-run"]);
    assert_code(&output, 0);
    let text = stdout(&output);
    assert!(
        text.contains("allow:probe_write") && text.contains("mk-dry") && text.contains("nothing was sent"),
        "{text}"
    );
    let traces = stage.traces();
    assert_eq!((traces.connections, traces.questions, traces.secret_reads), (0, 0, 0));
    assert!(!stage.journal_folder().exists());
}

#[test]
fn a_call_is_performed_once_and_why_explains_it() {
    let stage = live("call");
    let output = on(&stage, &["call", "probe_write", r#"{"marker": "mk-call"}"#]);
    assert_code(&output, 0);
    assert_eq!(stage.executed("mk-call"), 1);
    assert_eq!(stage.traces().lookups, 1);
    let why = on(&stage, &["why", "1"]);
    assert_code(&why, 0);
    assert!(stdout(&why).contains("call of probe_write on probe: allowed"), "{}", stdout(&why));
    let show = on(&stage, &["journal", "show"]);
    assert_code(&show, 0);
    assert!(stdout(&show).contains("probe_write on probe: done"), "{}", stdout(&show));
    stage.assert_secret_kept(&[show.stdout, output.stdout].concat(), &output.stderr, &[]);
}

#[test]
fn a_call_follows_redirects_as_a_session_does() {
    let stage = live("call-redirect");
    stage.configure("target.probe", "redirects = \"same-origin\"");
    let moved = b"HTTP/1.1 303 See Other\r\nlocation: /b\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stage.target().script([Answer::Raw(moved.to_vec()), Answer::ok()]);
    let output = on(&stage, &["call", "probe_write", r#"{"marker": "mk-moved"}"#]);
    assert_code(&output, 0);
    let lines: Vec<String> = stage.target().requests().iter().map(|request| request.line()).collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[1], "GET /b HTTP/1.1");
    assert!(stdout(&output).contains("outcome   done"), "{}", stdout(&output));
    assert_eq!(stdout(&output).matches("\nredirect  ").count(), 1, "{}", stdout(&output));
}

#[test]
fn a_refused_call_says_which_door_and_sends_nothing() {
    let stage = live("call-refused");
    for (tool, arguments, reason) in [
        ("probe_write", r#"{"marker": "mk-x", "extra": 1}"#, "argument-unknown"),
        ("probe_write", r#"{"marker": "mk-x", "marker": "mk-y"}"#, "json-duplicate-member"),
        ("no_such_tool", "{}", "tool-unknown"),
        ("probe_write", "{}} {", "json-syntax"),
    ] {
        let output = on(&stage, &["call", tool, arguments]);
        assert_code(&output, 1);
        assert!(stdout(&output).contains(reason), "{}", stdout(&output));
    }
    let traces = stage.traces();
    assert_eq!((traces.connections, traces.questions, traces.secret_reads), (0, 0, 0));
}

#[test]
fn usage_is_2_and_there_is_no_demonstration_inside_a_session() {
    for arguments in [
        &["mcp", "--demo"][..],
        &["nonsense"],
        &["call"],
        &["mcp", "--client", "a\nb", "--config", "/dev/null"],
    ] {
        let output = run(arguments);
        assert!(matches!(output.status.code(), Some(2 | 78)), "{arguments:?}: {:?}", output.status);
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
    assert_code(&run(&["mcp", "--demo"]), 2);
}

#[test]
fn no_variable_sets_an_option() {
    let stage = live("environment");
    let output = Command::new(binary::program())
        .args(["config", "check"])
        .env_clear()
        .envs([
            ("FRAMEGATE_CONFIG", stage.config().to_str().expect("plain")),
            ("CONFIG", "x"),
            ("HOME", "/nonexistent"),
        ])
        .output()
        .expect("it starts");
    assert_code(&output, 78);
    assert!(stderr(&output).contains("framegate init"), "{}", stderr(&output));
}

#[test]
fn a_reader_that_leaves_is_no_panic() {
    let stage = live("reader-leaves");
    let mut child = Command::new(binary::program())
        .args(["config", "schema"])
        .env_clear()
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(stderr(&output), "");
    assert!(Path::new(&stage.config()).exists());
}

#[test]
fn what_a_target_says_cannot_steer_a_terminal() {
    let stage = live("call-terminal");
    let body =
        "\u{9b}31m \u{202e}drow \u{7f}\u{85}\u{200b}\u{2028} \u{1b}]0;x\u{7} ä\u{308} \\\noutcome   forged";
    stage.target().script([Answer::Body(200, "text/plain", body.into())]);
    let output = on(&stage, &["call", "probe_write", r#"{"marker": "mk-terminal"}"#]);
    assert_code(&output, 0);
    let text = stdout(&output);
    assert!(text.contains("drow") && text.contains("ä\u{308} \\"), "{text}");
    let obeyed = |character: char| {
        character != '\n' && (character.is_control() || "\u{202e}\u{200b}\u{2028}".contains(character))
    };
    assert!(!text.contains(obeyed), "{text:?}");
    assert_eq!(text.lines().filter(|line| line.starts_with("outcome ")).count(), 1, "{text}");
}

#[test]
fn call_checks_the_client_and_takes_one_line() {
    let stage = live("call-usage");
    for client in ["", "a b", "a\u{1b}[31m", "é"] {
        let call = on(&stage, &["call", "probe_write", r#"{"marker": "m"}"#, "--client", client]);
        let mcp = on(&stage, &["mcp", "--client", client]);
        for output in [call, mcp] {
            assert_code(&output, 2);
            assert_eq!(stdout(&output), "");
            assert!(stderr(&output).contains("`--client` takes"), "{}", stderr(&output));
        }
    }
    for arguments in ["{\"marker\":\n\"m\"}", "{\"marker\":\r\"m\"}", "{}\n"] {
        let output = on(&stage, &["call", "probe_write", arguments]);
        assert_code(&output, 2);
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains("hint: write the arguments on one line"), "{}", stderr(&output));
    }
    assert_eq!(stage.traces().connections, 0);
    assert!(!stage.journal_folder().exists());
}

#[test]
fn before_the_first_session_there_is_nothing_to_read() {
    let stage = live("no-session");
    for command in [&["why"][..], &["why", "1"], &["journal", "show"], &["journal", "show", "--json"]] {
        let output = on(&stage, command);
        assert_code(&output, 1);
        assert_eq!(stdout(&output), "");
        let expected = format!("no session has been recorded yet in `{}`", stage.journal_folder().display());
        assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    }
}

#[test]
fn help_goes_to_stdout_and_complaints_to_stderr() {
    for (arguments, words) in [
        (&["--version"][..], "framegate "),
        (&["-h"], "declared HTTP actions behind sealed doors"),
        (&["--help"], "Every byte of stdout belongs to the protocol"),
        (&["mcp", "--help"], "--expect-config"),
    ] {
        let output = run(arguments);
        assert_code(&output, 0);
        assert!(stdout(&output).contains(words), "{}", stdout(&output));
        assert_eq!(stderr(&output), "");
    }
    for arguments in [&[][..], &["--no\u{1b}[31m\u{202e}"], &["config"], &["completions", "no-shell"]] {
        let output = run(arguments);
        assert_code(&output, 2);
        assert_eq!(stdout(&output), "", "{arguments:?}");
        let text = stderr(&output);
        assert!(text.contains("Usage") || text.contains("--help"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']), "{text:?}");
    }
}

/// `e2e/packaging.sh` has them rendered.
#[test]
fn manual_pages_are_written_for_commands_of_every_depth() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("pages");
    let pages_text = pages.to_str().expect("a plain path");
    assert_code(&run(&["man", pages_text]), 0);
    for (page, words) in [
        ("framegate", "credentials"),
        ("framegate-mcp", "one MCP session"),
        ("framegate-config-check", "policy"),
    ] {
        let text = std::fs::read_to_string(pages.join(format!("{page}.1"))).expect("a page");
        assert!(text.contains(words), "{page}: {text}");
    }
    // A folder that is there already is not written into.
    assert_code(&run(&["man", pages_text]), 74);
}

#[test]
fn a_full_stdout_is_no_panic() {
    for arguments in [&["completions", "bash"][..], &["--help"], &["config", "schema"]] {
        let full = File::options().write(true).open("/dev/full").expect("/dev/full");
        let output = Command::new(binary::program())
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .expect("it starts");
        assert_code(&output, 0);
        assert_eq!(stderr(&output), "");
    }
}

/// A stderr that is full and never drained must not hold the end up.
#[test]
fn a_stderr_that_nobody_drains_holds_no_complaint_up() {
    let (_reader, writer) = std::io::pipe().expect("a pipe");
    let flags = rustix::fs::fcntl_getfl(&writer).expect("flags");
    rustix::fs::fcntl_setfl(&writer, flags | rustix::fs::OFlags::NONBLOCK).expect("flags");
    while rustix::io::write(&writer, &[b'x'; 4096]).is_ok() {}
    rustix::fs::fcntl_setfl(&writer, flags).expect("flags");
    let mut child = Command::new(binary::program())
        .arg("nonsense")
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(writer)
        .spawn()
        .expect("it starts");
    let deadline = Instant::now() + Duration::from_secs(30);
    let status = loop {
        match child.try_wait().expect("own child") {
            Some(status) => break status,
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            None => {
                child.kill().expect("own child");
                panic!("the complaint waits for somebody to read it");
            }
        }
    };
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_session_started_by_hand_tells_the_terminal_why_it_does_not_start() {
    let stage = live("by-hand");
    stage.edit_config(|text| text.replace("max_queued = 2", "max_queud = 2"));
    let controller = pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY).expect("a terminal");
    pty::grantpt(&controller).expect("a terminal");
    pty::unlockpt(&controller).expect("a terminal");
    let name = pty::ptsname(&controller, Vec::new()).expect("a name");
    let terminal = File::options()
        .read(true)
        .write(true)
        .open(Path::new(std::ffi::OsStr::from_bytes(name.as_bytes())))
        .expect("a terminal");
    let another = || terminal.try_clone().expect("a descriptor");
    let status = Command::new(binary::program())
        .arg("mcp")
        .arg("--config")
        .arg(stage.config())
        .env_clear()
        .stdin(another())
        .stdout(another())
        .stderr(another())
        .status()
        .expect("it starts");
    assert_eq!(status.code(), Some(78));
    drop(terminal);
    // The read ends with an error once the last terminal descriptor is closed.
    let mut shown = Vec::new();
    let _ = File::from(controller).read_to_end(&mut shown);
    let shown = String::from_utf8_lossy(&shown);
    assert!(shown.starts_with("framegate: ") && shown.contains("max_queud"), "{shown}");
}

#[test]
fn one_stream_that_is_no_terminal_stays_silent() {
    let stage = live("merged-pipe");
    stage.edit_config(|text| text.replace("max_queued = 2", "max_queud = 2"));
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let status = Command::new(binary::program())
        .arg("mcp")
        .arg("--config")
        .arg(stage.config())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(writer.try_clone().expect("a descriptor"))
        .stderr(writer)
        .status()
        .expect("it starts");
    assert_eq!(status.code(), Some(78));
    let mut shown = String::new();
    reader.read_to_string(&mut shown).expect("text");
    assert_eq!(shown, "");
}
