//! Sessions that a real client held, through the `tap` binary.
//!
//! Belongs here: reading what the tap kept, and judging it like a session of our own.
//! Does not belong here: driving the client.

use std::path::Path;

use crate::oracle::{self, Answers, Transcript};
use crate::stage::Stage;

/// One session that the tap kept.
#[derive(Clone, Debug)]
pub struct Tapped {
    /// What the client wrote.
    pub stdin: Vec<u8>,
    /// What the program wrote.
    pub stdout: Vec<u8>,
    /// The program's exit code; none if the client ended the tap first.
    pub code: Option<i32>,
}

/// Reads and judges every session kept below `folder`.
///
/// # Panics
/// If there is none, or one is at fault, or the credential is in one.
#[must_use]
pub fn judged(stage: &Stage, folder: &Path) -> Vec<Tapped> {
    let mut sessions = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the tap was started").flatten() {
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let code = String::from_utf8_lossy(&read("exit.txt")).parse().ok();
        let session = Tapped { stdin: read("stdin.bin"), stdout: read("stdout.bin"), code };
        let answers = match code {
            Some(0) => Answers::All,
            _ => Answers::Any,
        };
        let transcript = Transcript { stdin: &session.stdin, stdout: &session.stdout, answers };
        let command = String::from_utf8_lossy(&read("command.txt")).into_owned();
        oracle::require(stage.name(), &command, &transcript, b"");
        stage.assert_secret_kept(&session.stdout, b"", &stage.journal().raw);
        sessions.push(session);
    }
    assert!(!sessions.is_empty(), "{}: the client started nothing", stage.name());
    sessions
}
