//! The folder and the files in it: what is made, and what is refused in their place.
//!
//! Belongs here: links, pipes, folders, owners and modes; the space set aside; the run before.
//! Does not belong here: the key, records.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use super::{options, permits, set_mode, start, stop};
use crate::error::{Fault, JournalError};
use crate::folder::Folder;
use crate::lines::RESERVE;
use crate::read::read_folder;
use crate::{Journal, Record};

pub(crate) fn make_pipe(path: &Path) {
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}

#[test]
fn a_new_journal_is_private() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("journal");
    let _journal = Journal::open(&options(&dir)).unwrap();
    assert_eq!(fs::metadata(&dir).unwrap().mode() & 0o7777, 0o700);
    let mut kinds = Vec::new();
    for entry in fs::read_dir(&dir).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().mode() & 0o7777, 0o600, "{entry:?}");
        let name = entry.file_name().into_string().unwrap();
        if let Some((stem, kind)) = name.split_once('.') {
            let parts: Vec<&str> = stem.split('-').collect();
            assert_eq!(
                (parts[0].len(), parts[1], parts[2].len()),
                (16, std::process::id().to_string().as_str(), 12),
                "{name}"
            );
            kinds.push(kind.to_owned());
        } else {
            assert_eq!(name, "key");
        }
    }
    kinds.sort();
    assert_eq!(kinds, ["actions.jsonl", "refusals.jsonl"]);
}

#[test]
fn a_folder_that_is_not_only_ours_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let dir = parent.path().join("journal");
    fs::create_dir(&dir).unwrap();
    for mode in [0o777, 0o770, 0o702, 0o720, 0o1777] {
        set_mode(&dir, mode);
        let error = Journal::open(&options(&dir)).unwrap_err();
        assert!(
            matches!(error, JournalError::Folder { fault: Fault::OpenToOthers(found), .. } if found == mode),
            "{error}"
        );
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0, "nothing is made in a refused folder");
    set_mode(&dir, 0o755);
    assert!(Journal::open(&options(&dir)).is_ok());

    let link = parent.path().join("link");
    symlink(&dir, &link).unwrap();
    let error = Journal::open(&options(&link)).unwrap_err();
    assert!(matches!(error, JournalError::Folder { fault: Fault::NotFolder, .. }), "{error}");
    assert!(read_folder(&link).is_err());

    let file = parent.path().join("file");
    fs::write(&file, b"").unwrap();
    let error = Journal::open(&options(&file)).unwrap_err();
    assert!(matches!(error, JournalError::Folder { fault: Fault::NotFolder, .. }), "{error}");

    let error = Journal::open(&options(&parent.path().join("missing/journal"))).unwrap_err();
    assert!(error.to_string().contains("No such file or directory"), "{error}");
}

#[test]
fn a_folder_of_another_user_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    if std::os::unix::fs::chown(dir.path(), Some(1), None).is_err() {
        eprintln!("SKIPPED: only root can give a folder away");
        return;
    }
    let error = Journal::open(&options(dir.path())).unwrap_err();
    assert!(matches!(error, JournalError::Folder { fault: Fault::ForeignOwner, .. }), "{error}");
}

#[test]
fn nothing_that_exists_is_opened_for_writing() {
    let dir = tempfile::tempdir().unwrap();
    let victim = dir.path().join("victim");
    fs::write(&victim, b"precious").unwrap();
    let folder = Folder::open_or_create(dir.path()).unwrap();
    let names = ["file", "link", "dangling", "pipe", "folder"];
    fs::write(dir.path().join("file"), b"old").unwrap();
    symlink(&victim, dir.path().join("link")).unwrap();
    symlink(dir.path().join("new"), dir.path().join("dangling")).unwrap();
    make_pipe(&dir.path().join("pipe"));
    fs::create_dir(dir.path().join("folder")).unwrap();
    for name in names {
        let error = folder.create(name).unwrap_err();
        assert!(matches!(error, JournalError::File { fault: Fault::Exists, .. }), "{name}: {error}");
    }
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    assert!(!dir.path().join("new").exists());
}

#[test]
fn what_is_read_is_a_regular_file() {
    type Make = fn(&Path);
    let cases: [(&str, Make); 3] = [
        ("link", |path| symlink("key", path).unwrap()),
        ("pipe", make_pipe),
        ("folder", |path| fs::create_dir(path).unwrap()),
    ];
    for (name, make) in cases {
        let dir = tempfile::tempdir().unwrap();
        make(&dir.path().join("x-1-y.actions.jsonl"));
        let error = read_folder(dir.path()).unwrap_err();
        assert!(
            matches!(error, JournalError::File { fault: Fault::SymbolicLink | Fault::NotRegular, .. }),
            "{name}: {error}"
        );
        assert!(error.to_string().contains("`x-1-y.actions.jsonl`"), "{error}");
    }
}

#[test]
fn names_in_errors_are_escaped() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("\u{1b}[31m\n\u{202e}.actions.jsonl")).unwrap();
    let error = read_folder(dir.path()).unwrap_err().to_string();
    assert!(error.contains(r"`\u{1b}[31m\u{a}\u{202e}.actions.jsonl`"), "{error}");
}

#[test]
fn space_is_set_aside_while_running_and_given_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&options(dir.path())).unwrap();
    let file = |suffix: &str| {
        let entries = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.into_iter().find(|path| path.to_string_lossy().ends_with(suffix)).unwrap()
    };
    journal.start(&start()).unwrap();
    let actions = file(".actions.jsonl");
    let view = read_folder(dir.path()).unwrap();
    let Record::Start(record) = view.entries()[0].record() else { panic!() };
    if record.reserved == 0 {
        eprintln!("SKIPPED: this file system sets no space aside");
        return;
    }
    assert_eq!(record.reserved, RESERVE);
    let metadata = fs::metadata(&actions).unwrap();
    assert!(metadata.blocks() * 512 >= RESERVE && metadata.len() < 4096, "{metadata:?}");
    journal.stop(&stop()).unwrap();
    assert!(fs::metadata(&actions).unwrap().blocks() * 512 < RESERVE / 4);
}

#[test]
fn a_deleted_file_takes_no_intents() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&options(dir.path())).unwrap();
    journal.start(&start()).unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let failure = journal.commit(permits(&["1"])).unwrap_err();
    assert!(failure.to_string().contains("the file was deleted"), "{failure}");
}

#[test]
fn a_file_that_others_write_to_takes_no_intents() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&options(dir.path())).unwrap();
    journal.start(&start()).unwrap();
    for entry in fs::read_dir(dir.path()).unwrap() {
        let mut file = fs::OpenOptions::new().append(true).open(entry.unwrap().path()).unwrap();
        std::io::Write::write_all(&mut file, b"x").unwrap();
    }
    let failure = journal.commit(permits(&["1"])).unwrap_err();
    assert!(failure.to_string().contains("changed by somebody else"), "{failure}");
}

/// The finding of a start in a folder whose newest earlier file has this name and content.
fn finding(name: &str, content: &[u8]) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), content).unwrap();
    let mut journal = Journal::open(&options(dir.path())).unwrap();
    let found = journal.start(&start()).unwrap()?;
    assert_eq!(found.file, name);
    fs::remove_file(dir.path().join(name)).unwrap();
    let view = read_folder(dir.path()).unwrap();
    assert!(view.entries().iter().any(|entry| *entry.record() == Record::Recovery(found.clone())));
    Some(found.finding)
}

#[test]
fn a_start_says_how_the_run_before_it_ended() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = Journal::open(&options(dir.path())).unwrap();
    journal.start(&start()).unwrap();
    let _pairs = journal.commit(permits(&["1"])).unwrap();
    let file = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let file = file.into_iter().find(|path| path.to_string_lossy().ends_with(".actions.jsonl")).unwrap();
    let running = fs::read(&file).unwrap();
    journal.stop(&stop()).unwrap();
    let stopped = fs::read(&file).unwrap();

    // No process has the id 0x7fffffff: Linux allows 4,194,304 at most.
    let dead = "20200101T000000Z-2147483647-000000000000.actions.jsonl";
    assert_eq!(finding(dead, &stopped), None);
    assert_eq!(finding(dead, &running).as_deref(), Some("no-stop"));
    assert_eq!(finding(dead, b"").as_deref(), Some("no-stop"));
    assert_eq!(finding(dead, &stopped[..stopped.len() - 1]).as_deref(), Some("cut"));
    assert_eq!(finding(dead, &running[..running.len() - 40]).as_deref(), Some("cut"));
    assert_eq!(finding(dead, b"junk\n").as_deref(), Some("unreadable"));
    // Process 1 is alive: its file is not finished.
    assert_eq!(finding("20200101T000000Z-1-000000000000.actions.jsonl", &running), None);
    // A name with our own id is of an earlier process.
    let own = format!("20200101T000000Z-{}-000000000000.actions.jsonl", std::process::id());
    assert_eq!(finding(&own, &running).as_deref(), Some("no-stop"));
}
