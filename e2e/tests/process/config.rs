//! Configurations that are missing, unreadable or faulty: exit 78, the fault on stderr, nothing on
//! stdout. And what is no reason not to start.

use std::io::Write as _;

use framegate_e2e::launch::Launch;
use framegate_e2e::process::Process;
use framegate_e2e::stage::{self, Stage};
use framegate_e2e::{binary, client};

use super::{REVISION, Session, live, recorder, talk};

/// The exit code for configurations.
const CONFIGURATION: Option<i32> = Some(78);

/// Starts it, offers it a session, and returns what it said on stderr.
fn refused(name: &str, launch: Launch) -> String {
    let mut process = Process::start(&format!("config-{name}"), launch);
    process.write(format!("{}\n", client::initialize(&1.into(), REVISION.name())).as_bytes());
    let status = process.wait_exit().unwrap_or_else(|how| process.fail(how));
    process.stdout().wait_end().expect("it has ended");
    process.stderr().wait_end().expect("it has ended");
    let stderr = String::from_utf8_lossy(&process.stderr().bytes()).into_owned();
    assert_eq!(status.code(), CONFIGURATION, "{name}: {stderr}");
    assert_eq!(process.stdout().bytes(), b"", "{name}: stdout");
    assert!(!stderr.trim().is_empty(), "{name}: nothing on stderr");
    assert!(!stderr.contains("panicked"), "{name}: {stderr}");
    stderr
}

fn bare(stage: &Stage) -> Launch {
    Launch::new(binary::program(), stage.folder().join("empty"))
}

#[test]
fn no_home_and_no_config() {
    let stage = recorder("no-home");
    let said = refused("no-home", bare(&stage).arguments(["mcp"]));
    assert!(said.contains("HOME") && said.contains("--config"), "{said}");
}

#[test]
fn no_home_with_a_config_serves() {
    let stage = recorder("no-home-config");
    let mut session = Session::start(&stage);
    talk(&mut session);
    assert_eq!(session.end().code(), Some(0));
}

#[test]
fn home_and_xdg_only_locate_the_folder() {
    for (variable, below) in [("HOME", ".config/framegate"), ("XDG_CONFIG_HOME", "framegate")] {
        let stage = recorder("located");
        let folder = stage.folder().join(below);
        std::fs::create_dir_all(&folder).expect("own folder");
        for file in ["framegate.toml", "policy.cedar", "ca.pem", "secret"] {
            let text = std::fs::read_to_string(stage.folder().join(file)).expect("own file");
            stage::write_private(&folder.join(file), &text);
        }
        let launch = bare(&stage).arguments(["mcp"]).variable(variable, stage.folder());
        let mut session = Session::launch(&stage, launch);
        session.ready(REVISION);
        assert_eq!(session.end().code(), Some(0), "{variable}");
    }
}

#[test]
fn missing() {
    let stage = recorder("missing");
    let said = refused("missing", bare(&stage).arguments(["mcp", "--config", "/nonexistent/framegate.toml"]));
    assert!(said.contains("/nonexistent/framegate.toml"), "{said}");
}

#[test]
fn a_folder_instead_of_a_file() {
    let stage = recorder("folder");
    let launch = bare(&stage).arguments(["mcp", "--config"]).arguments([stage.folder()]);
    refused("folder", launch);
}

#[test]
fn unreadable() {
    let stage = recorder("unreadable");
    let path = stage.config();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).expect("own file");
    if std::fs::File::open(&path).is_ok() {
        eprintln!("SKIPPED: this user can read everything, so an unreadable configuration cannot be had");
        return;
    }
    refused("unreadable", stage.launch());
}

#[test]
fn the_working_folder_is_no_place_for_a_config() {
    let stage = recorder("working-folder");
    let text = std::fs::read_to_string(stage.config()).expect("own file");
    stage::write_private(&stage.folder().join("empty/framegate.toml"), &text);
    refused("working-folder", bare(&stage).arguments(["mcp"]));
}

#[test]
fn faulty() {
    for (name, from, to) in [
        ("not-toml", "version = 1", "version = = 1"),
        ("no-version", "version = 1\n", ""),
        ("other-version", "version = 1", "version = 2"),
        ("unknown-key", "[session]\n", "[session]\nsurprise = true\n"),
        ("unknown-table", "[session]\n", "[sesion]\nx = 1\n[session]\n"),
        ("wrong-type", "max_queued = 2", "max_queued = \"two\""),
        ("out-of-range", "max_queued = 2", "max_queued = 2\nmax_frame_bytes = 1"),
        ("no-such-secret", "secret = \"probe\"", "secret = \"other\""),
        ("no-such-target", "target = \"probe\"", "target = \"other\""),
        ("missing-secret-file", "file:secret", "file:absent"),
        ("missing-authority", "ca.pem", "absent.pem"),
        ("missing-policy", "policy.cedar", "absent.cedar"),
        ("duplicate-key", "version = 1", "version = 1\nversion = 1"),
    ] {
        // The recorder loads no credential, so it does not miss one.
        let stage = live("faulty");
        stage.edit_config(|text| text.replacen(from, to, 1));
        let said = refused(name, stage.launch());
        assert!(said.contains("framegate.toml") || said.contains("absent"), "{name}: {said}");
    }
}

#[test]
fn a_faulty_policy() {
    for (name, text) in [
        ("not-cedar", "permit (principal, action"),
        ("unknown-action", "permit (principal, action == Framegate::Action::\"no_such_tool\", resource);"),
        (
            "ill-typed",
            "forbid (principal, action == Framegate::Action::\"probe_enum\", resource) when { context.arguments.value > 1 };",
        ),
    ] {
        let stage = recorder("faulty-policy");
        stage::write_private(&stage.folder().join("policy.cedar"), text);
        let said = refused(name, stage.launch());
        assert!(said.contains("policy.cedar"), "{name}: {said}");
    }
}

#[test]
fn another_config_than_expected() {
    let stage = recorder("expected");
    let launch = stage.launch().arguments(["--expect-config", &"0".repeat(64)]);
    refused("expected", launch);
}

#[test]
fn the_recorder_must_be_allowed() {
    let stage = recorder("record-not-allowed");
    stage.edit_config(|text| text.replace("allow_record = true", "allow_record = false"));
    refused("record-not-allowed", stage.launch());
}

#[test]
fn a_half_record_at_the_end_of_the_journal_is_no_reason_not_to_start() {
    let stage = recorder("half-record");
    let mut session = Session::start(&stage);
    talk(&mut session);
    let ended = session.end();
    let file = ended.journal.actions.last().expect("a file of actions");
    let bytes = std::fs::read(file).expect("own file");
    let content = bytes.iter().rposition(|byte| *byte == b'\n').expect("lines");
    std::fs::File::options()
        .write(true)
        .open(file)
        .expect("own file")
        .set_len(u64::try_from(content - 20).expect("small"))
        .expect("own file");

    let mut session = Session::start(&stage);
    talk(&mut session);
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert!(ended.journal.count("recovery") >= 1, "what was found is recorded");
}

#[test]
fn a_log_file_that_cannot_be_written_is_no_reason_not_to_start() {
    let stage = recorder("log-unwritable");
    stage.configure("log", "file = \"/nonexistent/framegate.log\"");
    let mut session = Session::start(&stage);
    talk(&mut session);
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("framegate.log"), "{}", ended.stderr);
}

#[test]
fn a_journal_that_cannot_be_had_is_a_reason_not_to_start() {
    let stage = recorder("journal-unwritable");
    let mut file = std::fs::File::create(stage.journal_folder()).expect("own folder");
    file.write_all(b"in the way").expect("own file");
    let mut process = Process::start("config-journal-unwritable", stage.launch());
    let status = process.wait_exit().unwrap_or_else(|how| process.fail(how));
    assert!(matches!(status.code(), Some(74 | 78)), "{status:?}");
    assert_eq!(process.stdout().bytes(), b"");
}
