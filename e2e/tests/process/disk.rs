//! A journal on a full disk: nothing is performed without a record.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{REVISION, Session, live, marker};
use framegate_e2e::stage::Stage;

/// A file system of this many bytes, mounted where only the program and its children see it.
const SIZE: &str = "256k";

/// Whether this machine lets a test have a mount of its own.
fn can_mount() -> bool {
    let probe = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    let can = probe.is_ok_and(|output| output.status.success());
    if !can {
        eprintln!("SKIPPED: no mount of its own can be had here (unshare -rm), so no disk can be full");
    }
    can
}

/// Starts the program with its journal on a small file system of its own.
fn on_small_disk(stage: &Stage) -> Session<'_> {
    let journal = stage.journal_folder();
    std::fs::create_dir(&journal).expect("own folder");
    let script = format!(
        r#"unshare -rm sh -c 'mount -t tmpfs -o size={SIZE},mode=0700 none "$0" && exec "$@"' '{}' "$@""#,
        journal.display()
    );
    let launch = stage.launch().shell(&format!("PATH=/usr/bin:/bin:/usr/sbin:/sbin exec {script}"));
    Session::launch(stage, launch)
}

/// The journal as the program sees it.
fn seen(session: &mut Session<'_>) -> PathBuf {
    let journal = session.stage().journal_folder();
    let below = journal.strip_prefix("/").expect("absolute").to_owned();
    Path::new("/proc").join(session.process().id().to_string()).join("root").join(below)
}

/// Takes all the room there is.
fn fill(folder: &Path) {
    let mut file = std::fs::File::create(folder.join("filler")).expect("room for a name");
    for chunk in [4096, 1] {
        while file.write_all(&vec![b'.'; chunk]).is_ok() {}
    }
}

#[test]
fn what_cannot_be_recorded_is_not_performed() {
    if !can_mount() {
        return;
    }
    let stage = live("disk-full");
    let mut session = on_small_disk(&stage);
    session.ready(REVISION);
    let journal = seen(&mut session);
    fill(&journal);
    let mut refused = None;
    // Room that was set aside may still take some intents; then it, too, is used up.
    for number in 0..1000 {
        let marked = format!("mk-{number}");
        let result = session.call(REVISION, "probe_write", marker(&marked))["result"].clone();
        if result["_meta"]["framegate/reason"] == "journal-unavailable" {
            assert_eq!(result["isError"], true, "{result}");
            refused = Some((number, marked));
            break;
        }
    }
    let (performed, marked) = refused.expect("the disk is full");
    assert_eq!(stage.executed(&marked), 0, "no record, no action");
    assert_eq!(stage.target().connections(), performed, "each recorded call reached the target once");
    assert_eq!(session.ask("ping", None)["result"], serde_json::json!({}), "the session goes on");
    let ended = session.end();
    assert!(matches!(ended.code(), Some(0 | 74)), "{:?}: {}", ended.code(), ended.stderr);
}

#[test]
fn refusals_that_cannot_be_recorded_are_refused_all_the_same() {
    if !can_mount() {
        return;
    }
    let stage = live("disk-full-refusals");
    stage.configure("limits", "max_refusals = 1000");
    let mut session = on_small_disk(&stage);
    session.ready(REVISION);
    let journal = seen(&mut session);
    fill(&journal);
    for _ in 0..200 {
        session.write(b"no message\n");
    }
    session.wait_lines(202);
    let ended = session.end();
    assert!(matches!(ended.code(), Some(0 | 74)), "{:?}: {}", ended.code(), ended.stderr);
    assert_eq!(stage.target().connections(), 0);
}
