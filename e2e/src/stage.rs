//! Everything around one program: its folder, configuration, secret, name server and target.
//!
//! Belongs here: setting the stage, and counting what reached the outside.
//! Does not belong here: the configuration's text (`fixture`), the program (`session`).

use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

use crate::binary;
use crate::canary::{Canary, position};
use crate::fixture::{self, Place};
use crate::journal::Journal;
use crate::launch::Launch;
use crate::stub_dns::{Answer, StubDns};
use crate::target::{Target, tls};
use crate::watch::ReadWatch;

/// What performs actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Executor {
    /// `--record FILE`.
    Recorder,
    /// HTTP to the target, over TLS, by name.
    Live,
}

/// `[session] on_invalid_frame`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnInvalidFrame {
    /// The default.
    Close,
    /// Refused frames are answered and the session goes on.
    Continue,
}

/// What reached the outside by now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traces {
    /// Lines of the record files.
    pub records: usize,
    /// Connections to the target.
    pub connections: usize,
    /// Questions to the name server: one look-up asks at least one.
    pub questions: usize,
    /// Look-ups of the target's name.
    pub lookups: usize,
    /// Reads of the secret. Not an exact count: reads at once may be told as one, but never as none.
    pub secret_reads: usize,
}

/// A stage. It outlives the sessions that run on it.
#[derive(Debug)]
pub struct Stage {
    name: String,
    root: TempDir,
    executor: Executor,
    canary: Canary,
    target: Target,
    names: StubDns,
    watch: ReadWatch,
    sessions: AtomicUsize,
}

impl Stage {
    /// A stage with the corpus's fixture.
    ///
    /// # Panics
    /// If the machine gives no folder, port or watch.
    #[must_use]
    pub fn new(name: &str, executor: Executor, on_invalid_frame: OnInvalidFrame) -> Self {
        let root = tempfile::Builder::new().prefix("framegate-e2e-").tempdir().expect("a folder");
        let (canary, target) = (Canary::new(), Target::start(true));
        let names = StubDns::start([(tls::NAME, Answer::Addresses(vec![Ipv4Addr::LOCALHOST.into()]))]);
        let path = |file: &str| root.path().join(file);
        std::fs::create_dir(path("empty")).expect("a folder");
        write_private(&path("secret"), canary.value());
        write_private(&path("ca.pem"), tls::authority());
        let place = Place { port: target.address().port(), resolver: names.address(), on_invalid_frame };
        write_private(&path("framegate.toml"), &fixture::config(&place));
        write_private(&path("policy.cedar"), fixture::policy());
        let watch = ReadWatch::new(&path("secret"));
        let sessions = AtomicUsize::new(0);
        Self { name: name.to_owned(), root, executor, canary, target, names, watch, sessions }
    }

    /// The name that transcripts are kept under.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder that holds it all.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.root.path()
    }

    /// The configuration file.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.folder().join("framegate.toml")
    }

    /// The target.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The name server.
    #[must_use]
    pub fn names(&self) -> &StubDns {
        &self.names
    }

    /// What performs actions here.
    #[must_use]
    pub fn executor(&self) -> Executor {
        self.executor
    }

    /// The planted credential.
    #[must_use]
    pub fn canary(&self) -> &Canary {
        &self.canary
    }

    /// Changes the configuration's text, before a start.
    ///
    /// # Panics
    /// If the file cannot be written, or the change changes nothing.
    pub fn edit_config(&self, edit: impl FnOnce(&str) -> String) {
        let before = std::fs::read_to_string(self.config()).expect("the configuration is text");
        let after = edit(&before);
        assert_ne!(before, after, "{}: the edit found nothing to change", self.name);
        write_private(&self.config(), &after);
    }

    /// Puts lines at the beginning of a table of the configuration.
    ///
    /// # Panics
    /// As [`Stage::edit_config`].
    pub fn configure(&self, table: &str, lines: &str) {
        let header = format!("[{table}]\n");
        self.edit_config(|text| {
            if text.contains(&header) {
                text.replacen(&header, &format!("{header}{lines}\n"), 1)
            } else {
                format!("{text}\n{header}{lines}\n")
            }
        });
    }

    /// How `framegate mcp` is started here: an empty environment, an empty working folder.
    #[must_use]
    pub fn launch(&self) -> Launch {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let launch = Launch::new(binary::program(), self.folder().join("empty"))
            .arguments(["mcp", "--config"])
            .arguments([self.config()]);
        match self.executor {
            Executor::Live => launch,
            Executor::Recorder => launch
                .arguments(["--record"])
                .arguments([self.folder().join(format!("record-{number}.jsonl"))]),
        }
    }

    /// The folder of the journal: the recorder keeps one of its own.
    #[must_use]
    pub fn journal_folder(&self) -> PathBuf {
        self.folder().join(match self.executor {
            Executor::Live => "journal",
            Executor::Recorder => "journal-simulated",
        })
    }

    /// The journal so far.
    #[must_use]
    pub fn journal(&self) -> Journal {
        Journal::read(&self.journal_folder())
    }

    /// Every line of every record file so far.
    #[must_use]
    pub fn recorded(&self) -> Vec<Vec<u8>> {
        (0..self.sessions.load(Ordering::Relaxed))
            .filter_map(|number| std::fs::read(self.folder().join(format!("record-{number}.jsonl"))).ok())
            .flat_map(|bytes| bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
            .filter(|line| !line.is_empty())
            .collect()
    }

    /// How many actions with this marker were performed, or written down by the recorder: the marker
    /// counts wherever it stands, unless it goes on (`mk-1` is not in `mk-1-good`).
    #[must_use]
    pub fn executed(&self, marker: &str) -> usize {
        let actions: Vec<Vec<u8>> = match self.executor {
            Executor::Recorder => self.recorded(),
            Executor::Live => self.target.requests().into_iter().map(|request| request.raw).collect(),
        };
        actions.iter().filter(|action| mentions(action, marker.as_bytes())).count()
    }

    /// Forgets what earlier sessions left: journal, record files, what the target saw. Only between
    /// sessions.
    ///
    /// # Panics
    /// If something cannot be removed.
    pub fn forget(&self) {
        let journal = self.journal_folder();
        if journal.exists() {
            std::fs::remove_dir_all(journal).expect("own folder");
        }
        for number in 0..self.sessions.load(Ordering::Relaxed) {
            let _ = std::fs::remove_file(self.folder().join(format!("record-{number}.jsonl")));
        }
        self.target.reset();
    }

    /// What reached the outside by now.
    #[must_use]
    pub fn traces(&self) -> Traces {
        Traces {
            records: self.recorded().len(),
            connections: self.target.connections(),
            questions: self.names.questions().len(),
            lookups: self.names.lookups(tls::NAME),
            secret_reads: self.watch.reads(),
        }
    }

    /// Searches everything that may not hold the credential.
    ///
    /// # Panics
    /// If it is found.
    pub fn assert_secret_kept(&self, stdout: &[u8], stderr: &[u8], journal: &[u8]) {
        let records: Vec<u8> = self.recorded().concat();
        let log = std::fs::read(self.folder().join("framegate.log")).unwrap_or_default();
        for (place, bytes) in [
            ("stdout", stdout),
            ("stderr", stderr),
            ("the journal", journal),
            ("the record file", &records),
            ("the log file", &log),
        ] {
            self.canary.assert_absent(&format!("{place} of {}", self.name), bytes);
        }
        if self.executor == Executor::Recorder {
            self.canary
                .assert_absent("the target, though nothing was to be performed", &self.target.received());
        }
    }
}

fn mentions(bytes: &[u8], marker: &[u8]) -> bool {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let mut rest = bytes;
    while let Some(found) = position(rest, marker) {
        rest = &rest[found + marker.len()..];
        if !rest.first().is_some_and(goes_on) {
            return true;
        }
    }
    false
}

/// Writes a file that only its owner can read.
///
/// # Panics
/// If it cannot be written.
pub fn write_private(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file of the stage can be written");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("own file");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixture_fits_and_edits_are_seen() {
        let stage = Stage::new("stage", Executor::Recorder, OnInvalidFrame::Continue);
        stage.configure("limits", "max_refusals = 1000");
        stage.configure("log", "level = \"debug\"");
        let text = std::fs::read_to_string(stage.config()).unwrap();
        assert!(text.contains("on_invalid_frame = \"continue\""), "{text}");
        assert!(text.contains("[limits]\nmax_refusals = 1000\nmax_concurrent"), "{text}");
        assert!(text.ends_with("[log]\nlevel = \"debug\"\n"), "{text}");
    }

    #[test]
    fn a_marker_that_goes_on_is_another() {
        for (text, found) in
            [("\"mk-1\"", true), ("/mk-1?x", true), ("mk-1-good", false), ("mk-12 mk-1", true)]
        {
            assert_eq!(mentions(text.as_bytes(), b"mk-1"), found, "{text}");
        }
    }
}
