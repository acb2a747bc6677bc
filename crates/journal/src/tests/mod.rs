//! Tests of the journal, and what they share: clocks turned by hand, a disk that fails on demand.
//!
//! Belongs here: test helpers.
//! Does not belong here: tests, which are in the modules by subject.

mod chain;
mod damage;
mod fault;
mod files;
mod keyed;
mod processes;
mod refusals;
mod show;
mod text;

use core::time::Duration;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use framegate_gate::authorization::RuleId;
use framegate_gate::outcome::Outcome;
use framegate_gate::protocol::Negotiated;
use framegate_wire::message::{RequestId, Revision};
use framegate_wire::{Reason, Refusal};
use jiff::Timestamp;

use crate::clock::Clock;
use crate::fingerprint::Fingerprinter;
use crate::folder::Folder;
use crate::journal::{ACTIONS_SUFFIX, Parts, REFUSALS_SUFFIX};
use crate::sink::Sink;
use crate::{Journal, JournalOptions, Mode, Refused, Start, Stop};

pub(crate) use chain::permits;

pub(crate) const RUN: &str = "0123456789ab";
pub(crate) const STEM: &str = "20260301T120000Z-1-0123456789ab";

/// A clock that tests turn by hand; it starts at 2026-03-01 12:00:00 UTC.
#[derive(Clone)]
pub(crate) struct ManualClock(Arc<Mutex<(Timestamp, Duration)>>);

impl ManualClock {
    pub(crate) fn new() -> Self {
        let noon = "2026-03-01T12:00:00Z".parse().unwrap();
        Self(Arc::new(Mutex::new((noon, Duration::ZERO))))
    }

    pub(crate) fn advance(&self, time: Duration) {
        let mut now = self.0.lock().unwrap();
        now.0 += time;
        now.1 += time;
    }

    /// Sets the wall clock back, as an operator does.
    pub(crate) fn set_back(&self, time: Duration) {
        self.0.lock().unwrap().0 -= time;
    }
}

impl Clock for ManualClock {
    /// Every look takes a microsecond, so that no two records have the same time.
    fn wall(&self) -> Timestamp {
        let mut now = self.0.lock().unwrap();
        now.0 += Duration::from_micros(1);
        now.0
    }

    fn elapsed(&self) -> Duration {
        self.0.lock().unwrap().1
    }
}

/// A fingerprinter whose key is 32 times `k`.
pub(crate) fn fingerprinter() -> Fingerprinter {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, [b'k'; 32]).unwrap();
    set_mode(&path, 0o600);
    Fingerprinter::open(&Folder::open(folder.path()).unwrap()).unwrap()
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

pub(crate) fn options(dir: &Path) -> JournalOptions {
    JournalOptions { dir: dir.to_owned(), sync: true, max_refusal_bytes: 1024 * 1024 }
}

/// A journal on these sinks, with fixed names, key and clock.
pub(crate) fn journal_on(
    actions: Box<dyn Sink>,
    refusals: Box<dyn Sink>,
    clock: &ManualClock,
    options: &JournalOptions,
) -> Journal {
    let parts = Parts {
        actions,
        refusals,
        clock: Box::new(clock.clone()),
        fingerprinter: fingerprinter(),
        stem: STEM.to_owned(),
        run: RUN.to_owned(),
    };
    Journal::from_parts(parts, options)
}

/// A journal on real files in the folder, with fixed names, key and clock.
pub(crate) fn journal_in(dir: &Path, clock: &ManualClock) -> Journal {
    let create = |suffix: &str| {
        let folder = Folder::open(dir).unwrap();
        Box::new(folder.create(&format!("{STEM}{suffix}")).unwrap())
    };
    journal_on(create(ACTIONS_SUFFIX), create(REFUSALS_SUFFIX), clock, &options(dir))
}

pub(crate) fn start() -> Start<'static> {
    Start {
        version: "0.1.0",
        mode: Mode::Live,
        client: "tester",
        config: "c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00",
        revisions: &Revision::ALL,
    }
}

pub(crate) fn stop() -> Stop<'static> {
    Stop { exit_code: 0, reason: "end of input", frames: 7 }
}

pub(crate) fn refused(reason: Reason) -> Refused {
    Refused {
        note: Refusal::new(reason, 31).into(),
        line: 7,
        length: 120,
        fingerprint: "00112233445566778899aabbccddeeff".to_owned(),
        excerpt: r#"{"··":1,"··":2}"#.to_owned(),
    }
}

/// A call that policy denied.
pub(crate) fn denied(request: &str, tool: &str, rule: &str) -> Refused {
    let mut denied = refused(Reason::PolicyForbid);
    denied.note.request = Some(RequestId::Text(request.into()));
    denied.note.tool = Some(tool.into());
    denied.note.rule = Some(RuleId::Named(rule.into()));
    denied
}

pub(crate) fn negotiated(claimed_client: Option<&str>) -> Negotiated {
    Negotiated { revision: Revision::V2025_06_18, claimed_client: claimed_client.map(Into::into) }
}

pub(crate) fn done() -> Outcome {
    Outcome::done("{\"ok\":true}".to_owned(), None)
}
