//! Several processes in one folder, and a disk that others have filled.
//!
//! Belongs here: tests that start this test program again as another process.
//! Does not belong here: anything that one process can show.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use framegate_wire::Reason;

use super::{done, options, permits, refused, start, stop};
use crate::read::read_folder;
use crate::{Journal, Record};

/// Tells the test program that it is the other process, and where to work.
const FOLDER: &str = "FRAMEGATE_JOURNAL_TEST_FOLDER";

const PROCESSES: usize = 4;
const CALLS: usize = 40;

fn this_test(name: &str) -> Vec<String> {
    [&format!("tests::processes::{name}"), "--exact", "--ignored", "--nocapture"].map(str::to_owned).into()
}

fn folder() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

#[test]
fn processes_that_share_a_folder_do_not_disturb_each_other() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("journal");
    let spawn = || {
        Command::new(std::env::current_exe().unwrap())
            .args(this_test("other_process"))
            .env(FOLDER, &dir)
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..PROCESSES).map(|_| spawn()).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let view = read_folder(&dir).unwrap();
    assert_eq!(view.cuts(), []);
    let mut ids = BTreeSet::new();
    let mut prints = BTreeSet::new();
    let mut stops = 0;
    for entry in view.entries() {
        match entry.record() {
            Record::Intent(intent) => {
                assert!(intent.intent.starts_with(&format!("{}-", entry.run())));
                assert!(view.outcome(&intent.intent).is_some());
                assert!(ids.insert(intent.intent.clone()));
            }
            Record::Refusal(refusal) => {
                prints.insert(refusal.fingerprint.clone());
            }
            Record::Stop(_) => stops += 1,
            _ => {}
        }
    }
    assert_eq!((ids.len(), stops), (PROCESSES * CALLS, PROCESSES));
    assert_eq!(prints.len(), 1, "one folder, one key");
}

#[test]
#[ignore = "started by `processes_that_share_a_folder_do_not_disturb_each_other`"]
fn other_process() {
    let Some(dir) = folder() else { return };
    let mut journal = Journal::open(&options(&dir)).unwrap();
    journal.start(&start()).unwrap();
    let fingerprint = journal.fingerprinter().fingerprint(b"the same frame");
    for _ in 0..CALLS {
        let (_recorded, receipt) = journal.commit(permits(&["1"])).unwrap().pop().unwrap();
        let mut refused = refused(Reason::JsonSyntax);
        refused.fingerprint.clone_from(&fingerprint);
        journal.refuse(refused).unwrap();
        journal.close(receipt, &done()).1.unwrap();
    }
    journal.stop(&stop()).unwrap();
}

#[test]
fn a_disk_that_others_filled_still_takes_intents_and_outcomes() {
    let dir = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=24m none "$0" && exec "$@""#;
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(dir.path())
        .arg(std::env::current_exe().unwrap())
        .args(this_test("on_a_small_disk"))
        .env(FOLDER, dir.path())
        .output();
    match output {
        Ok(output) if String::from_utf8_lossy(&output.stdout).contains("small disk: ran") => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
        }
        other => eprintln!("SKIPPED: no small disk of our own here: {other:?}"),
    }
}

/// Writes until the disk is full.
fn fill(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    for size in [64 * 1024, 1024, 1] {
        while file.write_all(&vec![b'x'; size]).is_ok() {}
    }
}

#[test]
#[ignore = "started by `a_disk_that_others_filled_still_takes_intents_and_outcomes`"]
fn on_a_small_disk() {
    let Some(disk) = folder() else { return };
    println!("small disk: ran");
    let dir = disk.join("journal");
    let mut journal = Journal::open(&options(&dir)).unwrap();
    journal.start(&start()).unwrap();
    fill(&disk.join("others"));
    let lost = (0..100).filter(|_| journal.refuse(refused(Reason::JsonSyntax)).is_err()).count();
    assert_eq!(lost, 1, "the file of refusals fails once");
    for _ in 0..1000 {
        let (_recorded, receipt) = journal.commit(permits(&["1"])).unwrap().pop().unwrap();
        journal.close(receipt, &done()).1.unwrap();
    }
    journal.stop(&stop()).unwrap();
    let view = read_folder(&dir).unwrap();
    let outcomes = view.entries().iter().filter(|entry| matches!(entry.record(), Record::Outcome(_)));
    assert_eq!(outcomes.count(), 1000);
}
