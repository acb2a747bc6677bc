//! `framegate check` through the release binary: servers with one planted fault each, and what must be clean.
//!
//! Belongs here: that every fault is found by the case that is named for it, and that every case can be failed.
//! Does not belong here: how faults are planted (`src/bin/planted.rs`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use framegate_e2e::faults::{FAULTS, SILENT};
use framegate_e2e::{binary, parallel};
use serde_json::Value;

const CALL: &str = "probe_write={\"marker\":\"{marker}\"}";
/// Longer than any machine needs, in seconds: nothing that is right is judged by how fast it is.
const PATIENT: &str = "60";

/// What a run said.
struct Run {
    output: Output,
    report: Value,
    folder: tempfile::TempDir,
}

impl Run {
    fn code(&self) -> Option<i32> {
        self.output.status.code()
    }

    fn case(&self, id: &str) -> &Value {
        let cases = self.report["cases"].as_array().expect("cases");
        cases.iter().find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case {id}: {}", self.text()))
    }

    fn text(&self) -> String {
        let (stdout, stderr) = (&self.output.stdout, &self.output.stderr);
        format!("{}\n{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
    }

    /// Every case by its verdict.
    fn verdicts(&self) -> BTreeMap<String, String> {
        let cases = self.report["cases"].as_array().expect("cases");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        cases.iter().map(|case| (text(&case["id"]), text(&case["verdict"]))).collect()
    }
}

/// `framegate check` with these options against this command; without one, against its own gateway.
fn check(options: &[&str], command: &[&str]) -> Run {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.json");
    let separator: &[&str] = if command.is_empty() { &[] } else { &["--"] };
    let output = Command::new(binary::program())
        .arg("check")
        .args(["--report", &format!("json={}", file.display())])
        .args(options)
        .args(separator)
        .args(command)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    let report = std::fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    Run { output, report: report.unwrap_or_default(), folder }
}

/// The server with this planted fault.
fn planted(options: &[&str], fault: &str) -> Run {
    let program = planted_program();
    check(options, &[program.to_str().expect("a plain path"), "{effect.dir}", fault])
}

fn planted_program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_planted"))
}

#[test]
fn what_is_right_is_clean_and_so_is_what_is_only_noisy() {
    for fault in ["none", "noisy"] {
        let run = planted(&["--call", CALL, "--timeout", PATIENT], fault);
        assert_eq!(run.code(), Some(0), "{fault}: {}", run.text());
        let verdicts = run.verdicts();
        assert!(verdicts.len() > 300, "{}", verdicts.len());
        let open: Vec<_> = verdicts.iter().filter(|(_, verdict)| *verdict != "pass").collect();
        // A server that uses its stderr writes on stdout where both are one pipe: nobody's fault but the launcher's.
        let allowed = if fault == "noisy" { vec!["launch/merged-stderr"] } else { Vec::new() };
        assert!(open.iter().all(|(id, _)| allowed.contains(&id.as_str())), "{fault}: {open:?}");
        let observers = run.report["observers"].as_array().expect("a list");
        assert!(observers.iter().any(|observer| observer == "folder"), "{observers:?}");
    }
}

#[test]
fn every_planted_fault_is_found_by_the_case_that_is_named_for_it() {
    parallel::run(
        FAULTS,
        || (),
        |(), (fault, id, verdict, kind, offset)| {
            let timeout = if SILENT.contains(fault) { "6" } else { PATIENT };
            let run = planted(&["--call", CALL, "--timeout", timeout, "--only", id], fault);
            let case = run.case(id);
            assert_eq!(case["verdict"], *verdict, "{fault}: {}", run.text());
            assert_eq!(case["kind"].as_str().unwrap_or_default(), *kind, "{fault}: {}", run.text());
            if let Some(offset) = offset {
                assert_eq!(case["evidence"]["first_wrong"]["offset"], *offset, "{fault}: {}", run.text());
            }
            // A call that was asked for and that nobody sees proves nothing, and is not taken for clean.
            let fails = matches!(*verdict, "fail" | "unavailable" | "hung" | "inconclusive");
            let expected = if fails { [Some(1), Some(69)] } else { [Some(0), Some(0)] };
            assert!(expected.contains(&run.code()), "{fault}: {:?}", run.code());
            // The same case is clean where the fault is not.
            let clean = planted(&["--call", CALL, "--timeout", PATIENT, "--only", id], "none");
            assert_eq!(clean.case(id)["verdict"], "pass", "{fault}: {}", clean.text());
        },
    );
}

/// A server that executes what one reason refuses fails every case of that reason, for every reason: no case is one
/// that nothing can fail.
#[test]
fn every_hostile_case_is_failed_by_a_server_that_executes_it() {
    let run = planted(&["--profile", "boundary", "--list", "--call", CALL, "--timeout", PATIENT], "none");
    let all = String::from_utf8(run.output.stdout.clone()).expect("text");
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for id in all.lines().filter(|id| !id.contains('~')) {
        let (reason, _) = id.split_once('/').expect("a reason");
        if !matches!(reason, "plain" | "launch" | "leak") {
            reasons.entry(reason).or_default().push(id);
        }
    }
    let reasons: Vec<_> = reasons.into_iter().collect();
    assert!(reasons.len() >= 30, "{} reasons", reasons.len());
    parallel::run(
        &reasons,
        || (),
        |(), (reason, ids)| {
            let mut options = vec!["--call", CALL, "--jobs", "1", "--timeout", PATIENT];
            ids.iter().for_each(|id| options.extend(["--only", id]));
            let run = planted(&options, &format!("executes-{reason}"));
            for id in ids {
                let case = run.case(id);
                let verdict = case["verdict"].as_str().expect("text");
                assert!(matches!(verdict, "fail" | "policy-gap"), "{id}: {verdict}: {}", run.text());
                let kind = case["kind"].as_str().expect("text");
                assert!(matches!(kind, "effect-observed" | "effect-late"), "{id}: {kind}");
            }
        },
    );
    let count: BTreeSet<_> = reasons.iter().flat_map(|(_, ids)| ids).collect();
    eprintln!("{} hostile cases of {} reasons, each failed by a fault", count.len(), reasons.len());
}

/// What a server does with pieces is seen only where frames come in pieces.
#[test]
fn frames_in_pieces_find_who_acts_before_a_line_has_ended() {
    let id = "json-trailing-data/trailing-brace";
    let of = |fault: &str, delivery: &str| {
        let id = format!("{id}{delivery}");
        let options = ["--profile", "boundary", "--call", CALL, "--timeout", PATIENT, "--only", &id];
        let run = planted(&options, fault);
        let case = run.case(&id);
        (case["verdict"].as_str().expect("text").to_owned(), run.code())
    };
    for delivery in ["", "~cut", "~bytes"] {
        assert_eq!(of("none", delivery), ("pass".to_owned(), Some(0)), "{delivery}");
    }
    assert_eq!(of("acts-on-pieces", ""), ("pass".to_owned(), Some(0)));
    assert_eq!(of("acts-on-pieces", "~cut"), ("fail".to_owned(), Some(1)));
    assert_eq!(of("acts-on-pieces", "~bytes"), ("fail".to_owned(), Some(1)));
}

/// Frames that are written for one revision are sent in another one with a handshake, where that is asked for.
#[test]
fn frames_follow_the_revision_that_is_asked_for() {
    for (fault, verdict) in [("none", "pass"), ("executes-json-trailing-data", "fail")] {
        let id = "json-trailing-data/trailing-brace";
        let options = ["--revision", "2024-11-05", "--only", id, "--call", CALL, "--timeout", PATIENT];
        let run = planted(&options, fault);
        let case = run.case(id);
        assert_eq!(case["verdict"], verdict, "{}", run.text());
        assert!(case["gist"].as_str().expect("text").ends_with(", in 2024-11-05"), "{}", case["gist"]);
    }
}

/// Without a call, a tool that says that it only reads is found; one that does not is never called.
#[test]
fn without_a_call_only_tools_that_say_they_read_are_called() {
    let folder = tempfile::tempdir().expect("a folder");
    let wiped = folder.path().join("wiped");
    for profile in ["stdout", "quick", "boundary", "conformance", "full"] {
        let options = ["--profile", profile, "--timeout", PATIENT, "--jobs", "8"];
        let run = planted(&options, &format!("wipes={}", wiped.display()));
        assert_eq!(run.code(), Some(0), "{profile}: {}", run.text());
        let hostile = run.verdicts().keys().filter(|id| id.starts_with("json-")).count();
        let is_hostile = !matches!(profile, "stdout" | "conformance");
        assert_eq!(hostile > 100, is_hostile, "{}", run.text());
        assert_eq!(run.text().contains("calls: probe_read"), is_hostile, "{}", run.text());
        assert!(!wiped.exists(), "{profile}: a tool was called that does not say that it only reads");
    }
    // The twin: asked for by name, it is called.
    let call = "wipe={\"marker\":\"{marker}\"}";
    let run = planted(
        &["--call", call, "--timeout", PATIENT, "--only", "plain/session"],
        &format!("wipes={}", wiped.display()),
    );
    assert_eq!(run.code(), Some(0), "{}", run.text());
    assert!(wiped.exists());
}

/// Every tool is called only where that is asked for in two words, one of which says what it means.
#[test]
fn every_tool_is_called_only_with_leave_for_side_effects() {
    let folder = tempfile::tempdir().expect("a folder");
    let wiped = folder.path().join("wiped");
    let wipes = format!("wipes={}", wiped.display());
    let id = "json-trailing-data/trailing-brace";
    for refused in [&["--all-tools"][..], &["--yes-side-effects"]] {
        let run = planted(refused, &wipes);
        assert_eq!(run.code(), Some(2), "{}", run.text());
    }
    assert!(!wiped.exists());
    let of_wipe = format!("{id}@wipe");
    let run =
        planted(&["--all-tools", "--yes-side-effects", "--only", &of_wipe, "--timeout", PATIENT], &wipes);
    assert_eq!(run.code(), Some(0), "{}", run.text());
    assert_eq!(run.case(&of_wipe)["verdict"], "pass");
    assert!(wiped.exists(), "the control was carried out");
}

#[test]
fn our_own_gateway_is_clean() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = folder.path().join("start.sh");
    let text = "config=\"$1/framegate.toml\"\n\
                printf 'version = 1\\n[session]\\non_invalid_frame = \"%s\"\\n[limits]\\nmax_refusals = 100000\\n\
                [target.t]\\norigin = \"http://127.0.0.1:%s\"\\nallow_plain_loopback = true\\n[tool.probe_write]\\n\
                description = \"Write\"\\nallow = true\\ntarget = \"t\"\\nmethod = \"POST\"\\npath = \"/{marker}\"\\n\
                params.marker = { type = \"word\" }\\n' \"$4\" \"$2\" > \"$config\"\n\
                chmod 600 \"$config\"\nexec \"$3\" mcp --config \"$config\"\n";
    std::fs::write(&script, text).expect("a script");
    let (script, program) = (script.display().to_string(), binary::program().display().to_string());
    for profile in ["continue", "close"] {
        let command = ["sh", &script, "{effect.dir}", "{effect.port}", &program, profile];
        let run = check(&["--call", CALL, "--timeout", PATIENT], &command);
        assert_eq!(run.code(), Some(0), "{profile}: {}", run.text());
        // stderr merged into stdout is what the gateway has an answer to.
        assert!(run.verdicts().values().all(|verdict| verdict == "pass"), "{profile}: {}", run.text());
    }
}

/// What an operator runs who has the program and nothing else: no command, no configuration, no shell on the PATH.
#[test]
fn without_a_command_the_gateway_as_shipped_is_judged() {
    for profile in ["quick", "boundary"] {
        let run = check(&["--profile", profile, "--timeout", PATIENT], &[]);
        assert_eq!(run.code(), Some(0), "{profile}: {}", run.text());
        let verdicts = run.verdicts();
        assert!(verdicts.values().all(|verdict| verdict == "pass"), "{profile}: {}", run.text());
        assert_eq!(verdicts.keys().any(|id| id.ends_with("~bytes")), profile == "boundary");
        let observers = run.report["observers"].as_array().expect("a list");
        for observer in ["http", "syscalls"] {
            assert!(observers.iter().any(|known| known == observer), "{profile}: {observers:?}");
        }
    }
    // Calls are another server's.
    assert_eq!(check(&["--call", CALL], &[]).code(), Some(2));
}

#[test]
fn a_failure_is_told_with_its_bytes_and_a_command_that_shows_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (evidence, junit) = (folder.path().join("evidence"), folder.path().join("junit.xml"));
    let options = [
        "--profile",
        "stdout",
        "--only",
        "plain/session",
        "--evidence",
        evidence.to_str().expect("a plain path"),
        "--report",
        &format!("junit={}", junit.display()),
    ];
    let run = planted(&options, "ansi");
    assert_eq!(run.code(), Some(1));
    let text = String::from_utf8_lossy(&run.output.stdout).into_owned();
    assert!(text.contains("stdout-ansi at byte 0 of stdout: 1b 5b 33 32 6d"), "{text}");
    assert!(text.contains("    \\x1b[32mready\\x1b[0m\n    ^\n"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let again = text.lines().find_map(|line| line.trim().strip_prefix("again: ")).expect("a command");
    let program = binary::program().display().to_string();
    let again = again.replacen("framegate", &program, 1);
    let output = Command::new("sh").args(["-c", &again]).stdin(Stdio::null()).output().expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let kept = std::fs::read(evidence.join("plain.session/stdout.bin")).expect("evidence");
    assert!(kept.starts_with(b"\x1b[32mready\x1b[0m\n{\"id\":1"));
    let read = |name: &str| -> Value {
        let text = std::fs::read(evidence.join("plain.session").join(name)).expect("evidence");
        serde_json::from_slice(&text).expect("JSON")
    };
    assert_eq!(read("launch.json")["command"][2], "ansi");
    assert_eq!(read("effects.json"), serde_json::json!([]));
    let ledger = read("ledger.json");
    let passages = ledger.as_array().expect("a list").iter();
    let of_stdout = passages.filter(|passage| passage["stream"] == "stdout");
    let passed: u64 = of_stdout.filter_map(|passage| passage["bytes"].as_u64()).sum();
    assert_eq!(passed, kept.len() as u64);
    assert!(std::fs::read_to_string(&junit).expect("a report").contains("failures=\"1\""));
    drop(run.folder);
}

#[test]
fn for_github_failures_are_annotations_behind_the_text_for_people() {
    let run = planted(&["--profile", "stdout", "--only", "plain/session", "--report", "github"], "ansi");
    assert_eq!(run.code(), Some(1));
    let text = String::from_utf8_lossy(&run.output.stdout).into_owned();
    let lines: Vec<_> = text.lines().collect();
    let token = lines[0].strip_prefix("::stop-commands::").expect("the text for people is no command");
    let resumed = lines.iter().position(|line| *line == format!("::{token}::")).expect("commands again");
    assert!(lines[1].starts_with("FAIL (stdout-dirty)  plain/session"), "{text}");
    let title = "::error title=framegate check%2C stdout-dirty%3A plain/session::";
    assert!(lines[resumed + 1].starts_with(title) && lines.len() == resumed + 2, "{text}");
}

#[test]
fn what_cannot_be_started_or_does_not_answer_is_69() {
    let run = check(&[], &["/nonexistent/server"]);
    assert_eq!(run.code(), Some(69), "{}", run.text());
    assert!(
        run.text().contains("could not be started: `/nonexistent/server`: No such file"),
        "{}",
        run.text()
    );
    let run = check(&["--timeout", "1"], &["sleep", "60"]);
    assert_eq!(run.code(), Some(69), "{}", run.text());
    assert_eq!(run.case("plain/session")["verdict"], "hung");
    let run = check(&["--timeout", "1"], &["false"]);
    assert_eq!(run.code(), Some(69), "{}", run.text());
    assert_eq!(run.case("plain/session")["verdict"], "unavailable");
}

#[test]
fn faults_of_the_command_line_are_2_and_nothing_is_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let touched = folder.path().join("touched");
    let command = ["touch", touched.to_str().expect("a plain path")];
    for options in [
        &["--call", "probe"][..],
        &["--call", "probe={\"a\":1}"],
        &["--report", "pdf=x"],
        &["--report", "github=x"],
        &["--timeout", "0"],
        &["--evidence", "/"],
    ] {
        let run = check(options, &command);
        assert_eq!(run.code(), Some(2), "{options:?}: {}", run.text());
        assert!(!touched.exists(), "{options:?}");
    }
    let run = check(&["--only", "json-noise/no-such-case"], &["cat"]);
    assert_eq!(run.code(), Some(2), "{}", run.text());
}

/// Whoever stops the bench stops the targets, which are in process groups of their own.
#[test]
fn an_interrupted_run_leaves_no_target_behind() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid_file = folder.path().join("pid");
    let script = format!("echo $$ > {}.new; mv {0}.new {0}; exec sleep 300", pid_file.display());
    let mut bench = Command::new(binary::program())
        .args(["check", "--timeout", "600", "--", "sh", "-c", &script])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let deadline = std::time::Instant::now() + framegate_e2e::process::DEADLINE;
    // The first start only shows that the command exists; the second is the session's.
    let alive = |pid: &str| Path::new("/proc").join(pid).join("stat").exists();
    let target = loop {
        let pid = std::fs::read_to_string(&pid_file).unwrap_or_default().trim().to_owned();
        if !pid.is_empty() && alive(&pid) {
            break pid;
        }
        assert!(std::time::Instant::now() < deadline, "no target was started");
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    let pid = rustix::process::Pid::from_child(&bench);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("own child");
    assert_eq!(bench.wait().expect("own child").code(), Some(130));
    while alive(&target) {
        assert!(std::time::Instant::now() < deadline, "the target lives on");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

#[test]
fn the_corpus_can_be_read_and_exported() {
    let run = |arguments: &[&str]| {
        Command::new(binary::program()).arg("corpus").args(arguments).output().expect("the program starts")
    };
    let list = String::from_utf8(run(&["list"]).stdout).expect("text");
    assert!(list.lines().count() > 600, "{}", list.lines().count());
    let show = String::from_utf8(run(&["show", "json-duplicate-member/duplicate-id"]).stdout).expect("text");
    assert!(show.contains("must have no effect") && show.contains("\\\"id\\\":41,\\\"id\\\":41"), "{show}");
    assert_eq!(run(&["show", "no-such"]).status.code(), Some(2));
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("frames");
    assert_eq!(run(&["export", target.to_str().expect("a plain path")]).status.code(), Some(0));
    let index: Value =
        serde_json::from_slice(&std::fs::read(target.join("index.json")).expect("an index")).expect("JSON");
    assert_eq!(index["format"], 3);
    let cases = index["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), list.lines().count());
    let file = |case: &Value, name: &str| {
        std::fs::read(target.join(case[name].as_str().expect("a name"))).unwrap_or_else(|_| panic!("{case}"))
    };
    let holds = |bytes: &[u8], part: &str| bytes.windows(part.len()).any(|window| window == part.as_bytes());
    let mut general = 0;
    for case in cases {
        let (frame, twin) = (file(case, "frame"), file(case, "twin"));
        assert_eq!(case["must_refuse"] == true, case["level"].is_string(), "{case}");
        if case["general"] == true {
            general += 1;
            assert!(holds(&twin, "${tool}") && holds(&twin, "${arguments}"), "{case}");
            assert!(!holds(&frame, "probe_") && !holds(&frame, "marker-1"), "{case}");
        } else {
            assert!(!holds(&frame, "${") && !holds(&twin, "${"), "{case}");
        }
    }
    assert!(general >= 300, "{general}");
}

/// The shared faulty servers: what the case data expects of a bench, at the plain sessions.
#[test]
fn shared_faulty_servers_get_their_findings() {
    let Some(folder) = framegate_e2e::shared::folder("cases") else { return };
    let text = std::fs::read_to_string(folder.join("field_reports.jsonl")).expect("the case data");
    let cases: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("a case")).collect();
    let judged: Vec<_> = cases
        .iter()
        .filter(|case| case["kind"] == "process" && case["expect"]["bench"].is_array())
        .filter(|case| case["script"].as_str().is_some_and(|script| script.starts_with("scripts/")))
        .collect();
    assert!(judged.len() >= 9, "{} cases", judged.len());
    parallel::run(
        &judged,
        || (),
        |(), case| {
            let id = &case["id"];
            let script = case["script"].as_str().expect("text").strip_prefix("scripts/").expect("a script");
            let file = folder.join("faulty_servers").join(script).display().to_string();
            let program = if script.ends_with(".sh") { "sh" } else { "python3" };
            let options =
                ["--profile", "stdout", "--timeout", "5", "--call", "probe_read={\"marker\":\"{marker}\"}"];
            let ids = ["--only", "plain/session", "--only", "plain/sigterm"];
            let run = check(&[&options[..], &ids[..]].concat(), &[program, &file]);
            let of = |id: &str| {
                let case =
                    run.report["cases"].as_array().expect("cases").iter().find(|case| case["id"] == id);
                let text =
                    |name: &str| case.and_then(|case| case[name].as_str()).unwrap_or_default().to_owned();
                (text("verdict"), text("kind"))
            };
            let (session, sigterm) = (of("plain/session"), of("plain/sigterm"));
            let expected = case["expect"]["bench"].as_array().expect("a list");
            for finding in expected {
                let found = match finding.as_str().expect("text") {
                    "PROC_NO_EXIT_ON_EOF" => matches!(&*session.1, "no-exit" | "busy"),
                    "PROC_BUSY" => session.1 == "busy",
                    "PROC_IGNORES_TERM" => sigterm.1 == "no-exit",
                    "PROC_FRAME_LOST" => session.1 == "frame-lost",
                    "PROC_EXIT_BEFORE_REPLY" => session.0 == "unavailable",
                    "PROC_NO_REPLY" => matches!(&*session.0, "hung" | "unavailable"),
                    other => panic!("{id}: no case finds {other}"),
                };
                assert!(found, "{id}: {finding}: {}", run.text());
            }
            assert!(!expected.is_empty() || session.0 == "pass", "{id}: {}", run.text());
        },
    );
    eprintln!("{} shared faulty servers, all with their findings", judged.len());
}

/// Rare false alarms are alarms too.
#[test]
#[ignore = "a hundred runs of each reference in every profile: cargo test -p framegate-e2e --test check -- --ignored hundred"]
fn a_hundred_runs_of_what_is_right_are_clean() {
    let runs: Vec<_> = (0..100).flat_map(|run| [("none", run), ("noisy", run)]).collect();
    parallel::run(
        &runs,
        || (),
        |(), (fault, run)| {
            for profile in ["stdout", "quick", "boundary", "conformance", "full"] {
                let options = ["--profile", profile, "--call", CALL, "--timeout", PATIENT, "--jobs", "8"];
                let run_of = planted(&options, fault);
                assert_eq!(run_of.code(), Some(0), "{fault}, {profile}, run {run}: {}", run_of.text());
            }
        },
    );
}
