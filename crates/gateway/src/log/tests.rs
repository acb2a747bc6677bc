//! The log from outside.
//!
//! Belongs here: forms, rotation, and that a dead or full sink stops nobody.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use framegate_vault::{Redactor, Secret, Watched};

use super::Log;
use crate::config::{self, LogFile, LogFormat, LogLevel};

fn to_file(folder: &tempfile::TempDir, format: LogFormat, max_bytes: u64, keep: u32) -> Log {
    let path = folder.path().join("log");
    let settings =
        config::Log { level: LogLevel::Info, format, file: Some(LogFile { path, max_bytes, keep }) };
    Log::start(&settings, true, &fs::File::open("/dev/null").unwrap()).unwrap()
}

fn read(folder: &tempfile::TempDir, name: &str) -> String {
    fs::read_to_string(folder.path().join(name)).unwrap()
}

#[test]
fn lines_are_single_escaped_and_of_their_level() {
    let folder = tempfile::tempdir().unwrap();
    let log = to_file(&folder, LogFormat::Text, 1_000_000, 1);
    log.debug("not said");
    log.warn("a\nb\u{1b}[31m\u{202e} \"x\"");
    log.flush(Duration::from_secs(20));
    assert_eq!(read(&folder, "log"), "framegate: warn: a\\nb\\u{1b}[31m\\u{202e} \"x\"\n");
}

#[test]
fn json_lines_are_objects() {
    let folder = tempfile::tempdir().unwrap();
    let log = to_file(&folder, LogFormat::Json, 1_000_000, 1);
    log.error("a\u{2028}\nb");
    log.flush(Duration::from_secs(20));
    let text = read(&folder, "log");
    assert_eq!(text.matches('\n').count(), 1);
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&line["level"], &line["message"]), (&"error".into(), &"a\u{2028}\nb".into()));
}

#[test]
fn a_file_is_rotated_before_it_is_too_long_and_old_ones_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let log = to_file(&folder, LogFormat::Text, 60, 2);
    for number in 0..8 {
        log.info(&format!("line number {number}"));
        log.flush(Duration::from_secs(20));
    }
    let mut names: Vec<_> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["log", "log.1", "log.2"]);
    assert!(read(&folder, "log").contains("number 7"));
    assert!(names.iter().all(|name| fs::metadata(folder.path().join(name)).unwrap().len() <= 60));
}

#[test]
fn a_log_file_is_private_and_no_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let log = to_file(&folder, LogFormat::Text, 1_000_000, 1);
    drop(log);
    assert_eq!(fs::metadata(folder.path().join("log")).unwrap().permissions().mode() & 0o777, 0o600);
    let other = tempfile::tempdir().unwrap();
    symlink(folder.path().join("log"), other.path().join("log")).unwrap();
    let linked = to_file(&other, LogFormat::Text, 1_000_000, 1);
    linked.error("elsewhere");
    linked.flush(Duration::from_secs(20));
    assert_eq!(read(&folder, "log"), "");
}

#[test]
fn the_protocols_own_output_is_no_log_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let protocol = fs::File::create(&path).unwrap();
    let settings = config::Log {
        level: LogLevel::Info,
        format: LogFormat::Text,
        file: Some(LogFile { path, max_bytes: 1_000_000, keep: 1 }),
    };
    let log = Log::start(&settings, true, &protocol).unwrap();
    log.error("between messages");
    log.flush(Duration::from_secs(20));
    assert_eq!(read(&folder, "log"), "");
}

#[test]
fn a_line_holds_no_credential_that_was_opened() {
    const SECRET: &str = "zq7/K+w\"9Xv<t4 %Rm&pL2";
    let folder = tempfile::tempdir().unwrap();
    for format in [LogFormat::Text, LogFormat::Json] {
        let log = to_file(&folder, format, 1_000_000, 1);
        let secret = Secret::new(SECRET.as_bytes().to_vec());
        let watched = Watched { name: "key", secret: &secret, user: None };
        log.clone().masks().set("api", Arc::new(Redactor::new([watched]).unwrap()));
        log.error(&format!("said {SECRET} and {SECRET:?}"));
        log.error(&SECRET.replace('9', " 9 "));
        log.flush(Duration::from_secs(20));
        let text = read(&folder, "log");
        assert!(text.matches("[redacted:key]").count() == 2, "{text}");
        assert!(text.contains("[withheld:secret-suspected]"), "{text}");
        assert!(!text.contains("Xv<t4"), "{text}");
        fs::remove_file(folder.path().join("log")).unwrap();
    }
}
