//! Files that were written well and then damaged.
//!
//! Belongs here: cuts, flips, records moved, removed or doubled, versions and kinds that are not known.
//! Does not belong here: failures while writing.

use core::time::Duration;
use std::fs;

use super::{ManualClock, STEM, done, journal_in, negotiated, permits, start, stop};
use crate::encode::{Body, read_line, write_line};
use crate::error::{JournalError, RecordFault};
use crate::journal::ACTIONS_SUFFIX;
use crate::read::{View, read_folder};

/// The bytes of a file of 20 records.
fn sound_file() -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let mut journal = journal_in(dir.path(), &clock);
    journal.start(&start()).unwrap();
    journal.negotiated(&negotiated(Some("peer"))).unwrap();
    for request in ["1", "2", "3", "4", "5", "6", "7", "8"] {
        clock.advance(Duration::from_millis(250));
        let (_recorded, receipt) = journal.commit(permits(&[request])).unwrap().pop().unwrap();
        journal.close(receipt, &done()).1.unwrap();
    }
    journal.negotiated(&negotiated(None)).unwrap();
    journal.stop(&stop()).unwrap();
    fs::read(dir.path().join(format!("{STEM}{ACTIONS_SUFFIX}"))).unwrap()
}

/// A folder for one file, written again and again.
struct Bench(tempfile::TempDir);

impl Bench {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn read(&self, content: &[u8]) -> Result<View, JournalError> {
        fs::write(self.0.path().join(format!("{STEM}{ACTIONS_SUFFIX}")), content).unwrap();
        read_folder(self.0.path())
    }
}

fn lines(content: &[u8]) -> Vec<&[u8]> {
    content.split_inclusive(|byte| *byte == b'\n').collect()
}

fn fault(result: Result<View, JournalError>) -> (u64, RecordFault) {
    match result {
        Err(JournalError::Record { file, line, fault }) => {
            assert_eq!(file, format!("{STEM}{ACTIONS_SUFFIX}"));
            (line, fault)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_cut_anywhere_in_the_last_two_records_is_seen_and_costs_no_other_record() {
    let content = sound_file();
    let bench = Bench::new();
    let whole = bench.read(&content).unwrap();
    let last_two: usize = lines(&content)[18..].iter().map(|line| line.len()).sum();
    for length in content.len() - last_two..=content.len() {
        let view = bench.read(&content[..length]).unwrap();
        let complete = content[..length].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(view.entries(), &whole.entries()[..complete], "cut at {length}");
        let rest = length - lines(&content)[..complete].iter().map(|line| line.len()).sum::<usize>();
        if rest == 0 {
            assert_eq!(view.cuts(), []);
        } else {
            let cut = &view.cuts()[0];
            assert_eq!((cut.line, cut.bytes), (complete as u64 + 1, rest as u64));
        }
    }
}

/// Every bit of every record, as far as a reader of lines gets with it. Lines are judged one by one, so this
/// needs no files; the next test puts a part of the flips in files.
#[test]
fn no_line_with_a_flipped_bit_is_a_record() {
    let content = sound_file();
    for record in lines(&content) {
        for bit in 0..record.len() * 8 {
            let mut flipped = record.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let first = flipped.split(|byte| *byte == b'\n').next().unwrap();
            if first.len() < record.len() - 1 || bit / 8 < record.len() - 1 {
                assert!(read_line(first).is_err(), "bit {bit}: {}", String::from_utf8_lossy(first));
            }
        }
    }
}

#[test]
fn a_flipped_bit_is_an_error_or_a_cut_and_never_other_content() {
    let content = sound_file();
    let bench = Bench::new();
    let whole = bench.read(&content).unwrap();
    let line_feeds = (0..content.len()).filter(|index| content[*index] == b'\n');
    let mut cuts = 0;
    for index in (0..content.len()).step_by(23).chain(line_feeds) {
        for bit in 0..8 {
            let mut flipped = content.clone();
            flipped[index] ^= 1 << bit;
            match bench.read(&flipped) {
                Err(JournalError::Record { .. }) => {}
                Ok(view) => {
                    cuts += 1;
                    assert_eq!(view.cuts().len(), 1, "byte {index}, bit {bit}");
                    assert_eq!(view.entries(), &whole.entries()[..19]);
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert_eq!(cuts, 8, "only the last line feed");
}

#[test]
fn records_that_are_moved_removed_or_doubled_are_errors() {
    let content = sound_file();
    let bench = Bench::new();
    let records = lines(&content);

    let mut removed = records.clone();
    removed.remove(5);
    assert_eq!(fault(bench.read(&removed.concat())), (6, RecordFault::Sequence { expected: 6, found: 7 }));

    let mut doubled = records.clone();
    doubled.insert(5, records[4]);
    assert_eq!(fault(bench.read(&doubled.concat())), (6, RecordFault::Sequence { expected: 6, found: 5 }));

    let mut swapped = records.clone();
    swapped.swap(5, 6);
    assert_eq!(fault(bench.read(&swapped.concat())), (6, RecordFault::Sequence { expected: 6, found: 7 }));

    let joined = [content.as_slice(), content.as_slice()].concat();
    assert_eq!(fault(bench.read(&joined)), (21, RecordFault::Sequence { expected: 21, found: 1 }));

    assert_eq!(
        fault(bench.read(&records[1..].concat())),
        (1, RecordFault::Sequence { expected: 1, found: 2 })
    );

    let with_blank = [records[0], b"\n", records[1]].concat();
    assert_eq!(fault(bench.read(&with_blank)), (2, RecordFault::Checksum));
}

/// One sound line with these members.
fn line(sequence: u64, kind: &'static str, members: &serde_json::Value) -> Vec<u8> {
    let mut out = Vec::new();
    write_line(&mut out, sequence, "2026-03-01T12:00:00.000000Z", &Body::new(kind, members).unwrap());
    out
}

#[test]
fn sound_lines_that_are_no_records_are_errors() {
    let content = sound_file();
    let first = lines(&content)[0];
    let bench = Bench::new();
    let after_start = |line: Vec<u8>| fault(bench.read(&[first, &line].concat()));
    let recovery = serde_json::json!({"file": "f", "finding": "cut"});

    assert!(bench.read(&[first, &line(2, "recovery", &recovery)].concat()).is_ok());
    assert_eq!(after_start(line(2, "refusal", &recovery)), (2, RecordFault::Kind));
    assert_eq!(after_start(line(2, "recovered", &recovery)), (2, RecordFault::Kind));
    let more = serde_json::json!({"file": "f", "finding": "cut", "more": 1});
    assert_eq!(after_start(line(2, "recovery", &more)), (2, RecordFault::Members));
    assert_eq!(
        after_start(line(2, "recovery", &serde_json::json!({"file": "f"}))),
        (2, RecordFault::Members)
    );
    assert_eq!(fault(bench.read(&line(1, "recovery", &recovery))), (1, RecordFault::NoStart));

    let long = vec![b'x'; 70_000];
    assert_eq!(fault(bench.read(&[first, &long, b"\n"].concat())), (2, RecordFault::TooLong));
}

#[test]
fn a_later_format_version_is_named() {
    let sum = |text: &str| {
        use sha2::Digest as _;
        crate::encode::hexadecimal(&sha2::Sha256::digest(text.as_bytes())[..16])
    };
    let text = r#"{"v":2,"seq":1,"at":"2026-03-01T12:00:00Z","kind":"start""#;
    let line = format!("{text},\"sum\":\"{}\"}}\n", sum(text));
    assert_eq!(fault(Bench::new().read(line.as_bytes())), (1, RecordFault::Version(2)));
}

#[test]
fn a_clock_set_back_does_not_reorder_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let clock = ManualClock::new();
    let mut journal = journal_in(dir.path(), &clock);
    journal.start(&start()).unwrap();
    for request in ["1", "2", "3"] {
        clock.set_back(Duration::from_secs(3600));
        let (_recorded, receipt) = journal.commit(permits(&[request])).unwrap().pop().unwrap();
        journal.close(receipt, &done()).1.unwrap();
    }
    journal.stop(&stop()).unwrap();
    let view = read_folder(dir.path()).unwrap();
    assert!(view.entries().is_sorted_by_key(|entry| entry.sequence()));
    assert_eq!(view.entries().len(), 8);
}

#[test]
fn an_empty_folder_is_an_empty_journal() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("README"), b"notes").unwrap();
    assert_eq!(read_folder(dir.path()).unwrap(), View::default());
    assert!(read_folder(&dir.path().join("missing")).is_err());
}
