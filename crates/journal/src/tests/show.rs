//! What people read.
//!
//! Belongs here: the golden text of a whole journal, `why`, and JSON lines.
//! Does not belong here: escaping.

use core::time::Duration;
use std::fs;
use std::time::SystemTime;

use framegate_gate::outcome::Outcome;
use framegate_wire::Reason;

use super::{ManualClock, STEM, denied, done, journal_in, negotiated, permits, refused, start, stop};
use crate::clock::Clock as _;
use crate::journal::ACTIONS_SUFFIX;
use crate::read::{Found, View, read_folder};
use crate::{explain, json_lines, text};

/// A day in the life: calls, a denial, a flood, an action without an outcome. Returns it and "now".
fn example() -> (View, SystemTime) {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let mut journal = journal_in(dir.path(), &clock);
    journal.start(&start()).unwrap();
    clock.advance(Duration::from_secs(1));
    journal.negotiated(&negotiated(Some("some-agent"))).unwrap();
    clock.advance(Duration::from_secs(2));
    let mut pairs = journal.commit(permits(&["call-1", "call-2", "call-3"])).unwrap().into_iter();
    clock.advance(Duration::from_millis(132));
    let (_, receipt) = pairs.next().unwrap();
    journal.close(receipt, &done()).1.unwrap();
    let (_, receipt) = pairs.next().unwrap();
    journal.close(receipt, &Outcome::not_started("cancelled".to_owned())).1.unwrap();
    journal.refuse(refused(Reason::JsonDuplicateMember)).unwrap();
    journal.refuse(denied("r-9", "probe_write", "no-writes")).unwrap();
    for _ in 0..120 {
        journal.refuse(refused(Reason::JsonNoise)).unwrap();
    }
    clock.advance(Duration::from_secs(60));
    journal.tick().unwrap();
    clock.advance(Duration::from_secs(7200));
    journal.stop(&stop()).unwrap();
    clock.advance(Duration::from_secs(90));

    // The refusals of the flood that are recorded one by one would only lengthen the golden text.
    let mut view = read_folder(dir.path()).unwrap();
    let mut noise = 0;
    let entries = view.entries().iter().filter(|entry| {
        let is_noise =
            matches!(entry.record(), crate::Record::Refusal(refusal) if refusal.reason == "json-noise");
        noise += u32::from(is_noise);
        !is_noise || noise == 1
    });
    view = View::new(entries.cloned().collect(), view.cuts().to_vec());
    (view, SystemTime::try_from(clock.wall()).unwrap())
}

/// The process id changes from run to run.
fn golden(shown: &str) -> String {
    shown.replace(&format!("process {}", std::process::id()), "process 4242")
}

#[test]
fn a_journal_reads_well() {
    let (view, now) = example();
    let shown = golden(&text(&view, now));
    assert_eq!(shown, include_str!("show.txt"), "{shown}");
}

#[test]
fn why_explains_a_call_and_a_refusal() {
    let (view, now) = example();
    let mut shown = String::new();
    for id in [Some("0123456789ab-1"), Some("call-3"), Some("r-9"), None] {
        shown.push_str(&explain(&view.find(id).unwrap(), now));
        shown.push('\n');
    }
    assert_eq!(shown, include_str!("why.txt"), "{shown}");
    assert_eq!(view.find(Some("nothing")), None);
}

#[test]
fn find_knows_intents_requests_and_the_last_refusal() {
    let (view, _) = example();
    let intent = |id: &str| match view.find(Some(id)) {
        Some(Found::Intent { intent, outcome, .. }) => {
            (intent.intent.clone(), outcome.map(|outcome| outcome.status.clone()))
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(intent("0123456789ab-1"), ("0123456789ab-1".to_owned(), Some("done".to_owned())));
    assert_eq!(intent("call-2"), ("0123456789ab-2".to_owned(), Some("not-started".to_owned())));
    assert_eq!(intent("\"call-3\""), ("0123456789ab-3".to_owned(), None));
    match view.find(None) {
        Some(Found::Refusal { refusal, .. }) => assert_eq!(refusal.reason, "json-noise"),
        other => panic!("{other:?}"),
    }
    assert_eq!(View::default().find(None), None);
}

#[test]
fn a_cut_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = journal_in(dir.path(), &ManualClock::new());
    journal.start(&start()).unwrap();
    journal.negotiated(&negotiated(None)).unwrap();
    let path = dir.path().join(format!("{STEM}{ACTIONS_SUFFIX}"));
    let content = fs::read(&path).unwrap();
    fs::write(&path, &content[..content.len() - 3]).unwrap();
    let view = read_folder(dir.path()).unwrap();
    let shown = text(&view, SystemTime::UNIX_EPOCH);
    let note = shown.lines().last().unwrap();
    assert!(note.starts_with(&format!("note: `{STEM}{ACTIONS_SUFFIX}` ends inside line 2 (")), "{note}");
    assert!(shown.contains("       later  "), "{shown}");
    let exported = json_lines(&view).unwrap();
    assert!(exported.lines().last().unwrap().contains(r#""kind":"cut""#), "{exported}");
}

#[test]
fn json_lines_hold_every_record_with_its_run() {
    let (view, _) = example();
    let exported = json_lines(&view).unwrap();
    let lines: Vec<serde_json::Value> =
        exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), view.entries().len());
    for (line, entry) in lines.iter().zip(view.entries()) {
        assert_eq!(line["run"], "0123456789ab");
        assert_eq!(line["kind"], entry.record().kind());
        assert_eq!(line["seq"], entry.sequence());
        assert_eq!(line["v"], 1);
        assert!(line.get("sum").is_none());
    }
    assert_eq!(lines[1]["at"], "2026-03-01T12:00:01.000002Z");
}
