//! The file of refusals: rate, bound, sums.
//!
//! Belongs here: floods, and that every refusal is told of in exactly one place.
//! Does not belong here: what a refusal record says.

use core::time::Duration;
use std::fs;
use std::path::Path;

use framegate_wire::Reason;

use super::{ManualClock, STEM, denied, journal_in, journal_on, options, refused, start, stop};
use crate::folder::Folder;
use crate::journal::{ACTIONS_SUFFIX, REFUSALS_SUFFIX};
use crate::read::read_folder;
use crate::{Journal, Record, View};

fn bounded_journal(dir: &Path, clock: &ManualClock, max_refusal_bytes: u64) -> Journal {
    let create =
        |suffix: &str| Box::new(Folder::open(dir).unwrap().create(&format!("{STEM}{suffix}")).unwrap());
    let mut options = options(dir);
    options.max_refusal_bytes = max_refusal_bytes;
    journal_on(create(ACTIONS_SUFFIX), create(REFUSALS_SUFFIX), clock, &options)
}

/// Refusals in full, in summaries, and those that nothing tells of.
fn told(view: &View) -> (u64, u64, u64) {
    view.entries().iter().fold((0, 0, 0), |(full, summed, lost), entry| match entry.record() {
        Record::Refusal(_) => (full + 1, summed, lost),
        Record::RefusalSummary(summary) => {
            assert_eq!(summary.count, summary.reasons.values().sum::<u64>());
            (full, summed + summary.count, lost)
        }
        Record::Stop(stop) => (full, summed, lost + stop.refusals_unrecorded),
        _ => (full, summed, lost),
    })
}

fn size(dir: &Path) -> u64 {
    fs::metadata(dir.join(format!("{STEM}{REFUSALS_SUFFIX}"))).unwrap().len()
}

#[test]
fn a_hundred_a_minute_in_full_then_one_summary() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let mut journal = journal_in(dir.path(), &clock);
    journal.start(&start()).unwrap();
    for index in 0..250 {
        let reason = if index % 2 == 0 { Reason::JsonSyntax } else { Reason::JsonNoise };
        journal.refuse(refused(reason)).unwrap();
        clock.advance(Duration::from_millis(100));
    }
    journal.tick().unwrap();
    assert_eq!(told(&read_folder(dir.path()).unwrap()), (100, 0, 0), "the minute is not over");
    clock.advance(Duration::from_secs(35));
    journal.tick().unwrap();
    journal.tick().unwrap();
    let view = read_folder(dir.path()).unwrap();
    assert_eq!(told(&view), (100, 150, 0));
    let Record::RefusalSummary(summary) = view.entries().last().unwrap().record() else { panic!() };
    assert_eq!(summary.reasons, [("json-noise".to_owned(), 75), ("json-syntax".to_owned(), 75)].into());
    assert_eq!(summary.seconds, 50);

    journal.refuse(refused(Reason::Busy)).unwrap();
    assert_eq!(told(&read_folder(dir.path()).unwrap()), (101, 150, 0), "a new minute");
    journal.stop(&stop()).unwrap();
    assert_eq!(told(&read_folder(dir.path()).unwrap()), (101, 150, 0));
}

#[test]
fn a_million_refusals_fit_the_bound_and_are_all_counted() {
    const LIMIT: u64 = 256 * 1024;
    const COUNT: u64 = 1_000_000;
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let mut journal = bounded_journal(dir.path(), &clock, LIMIT);
    journal.start(&start()).unwrap();
    for index in 0..COUNT {
        let reason = Reason::ALL[usize::try_from(index).unwrap() % Reason::ALL.len()];
        journal.refuse(refused(reason)).unwrap();
        if index % 1000 == 0 {
            clock.advance(Duration::from_secs(20));
        }
    }
    journal.stop(&stop()).unwrap();
    let view = read_folder(dir.path()).unwrap();
    let (full, summed, lost) = told(&view);
    assert_eq!((full + summed, lost), (COUNT, 0));
    assert!(full > 100, "{full}");
    assert!(size(dir.path()) <= LIMIT, "{}", size(dir.path()));
    let Record::Stop(stop) = view.entries().last().unwrap().record() else { panic!() };
    assert_eq!(stop.refusals.len(), Reason::ALL.len());
    assert_eq!(stop.refusals.values().sum::<u64>(), COUNT);
}

#[test]
fn a_bound_of_any_size_holds_and_nothing_is_lost_silently() {
    for limit in [0, 1, 700, 8 * 1024, 16 * 1024, 17 * 1024, 40 * 1024] {
        let dir = tempfile::tempdir().unwrap();
        let clock = ManualClock::new();
        let mut journal = bounded_journal(dir.path(), &clock, limit);
        journal.start(&start()).unwrap();
        for _ in 0..500 {
            journal.refuse(refused(Reason::JsonSyntax)).unwrap();
            clock.advance(Duration::from_secs(1));
        }
        journal.stop(&stop()).unwrap();
        let (full, summed, lost) = told(&read_folder(dir.path()).unwrap());
        assert_eq!(full + summed + lost, 500, "limit {limit}");
        assert!(size(dir.path()) <= limit, "limit {limit}");
        assert_eq!(lost > 0, limit < 300, "limit {limit}");
        assert_eq!(full > 0, limit > 16 * 1024, "limit {limit}");
    }
}

#[test]
fn a_refusal_record_names_door_tool_rule_and_request() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let mut journal = journal_in(dir.path(), &clock);
    journal.start(&start()).unwrap();
    journal.refuse(denied("r-1", "probe_write", "no-writes")).unwrap();
    let view = read_folder(dir.path()).unwrap();
    let Record::Refusal(refusal) = view.entries().last().unwrap().record() else { panic!() };
    assert_eq!((refusal.reason.as_str(), refusal.door.as_str()), ("policy-forbid", "authorization"));
    assert_eq!(refusal.tool.as_deref(), Some("probe_write"));
    assert_eq!(refusal.rule.as_deref(), Some("no-writes"));
    assert_eq!(refusal.request.as_ref().map(|request| request.text.as_str()), Some("\"r-1\""));
}
