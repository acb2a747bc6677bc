//! What a start finds of the run before it.
//!
//! Belongs here: looking at the end of one file, without changing it.
//! Does not belong here: reading whole journals, repairing: other files may have a living owner.

use std::os::unix::fs::FileExt as _;

use crate::encode::{MAX_LINE, read_line};
use crate::folder::Folder;
use crate::journal::ACTIONS_SUFFIX;
use crate::record::{RecoveryRecord, kind, word};

/// Looks at the newest file of actions beside our own. Says nothing of one that ended with a `stop` record,
/// or whose process is alive.
pub(crate) fn look_back(folder: &Folder, own: &str) -> Option<RecoveryRecord> {
    let names = folder.names(&[ACTIONS_SUFFIX]).ok()?;
    let previous = names.iter().rev().find(|name| *name != own)?;
    if owner_is_alive(previous) {
        return None;
    }
    let finding = match last_line(folder, previous) {
        None => "unreadable",
        Some(end) if end.is_empty() => "no-stop",
        Some(end) => match end.strip_suffix(b"\n") {
            None => "cut",
            Some(lines) => {
                let last = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
                match read_line(last) {
                    Ok(parts) if parts.kind == kind::STOP => return None,
                    Ok(_) => "no-stop",
                    Err(_) => "unreadable",
                }
            }
        },
    };
    Some(RecoveryRecord { file: word(previous), finding: finding.to_owned() })
}

/// The end of the file, at least as long as the longest line.
fn last_line(folder: &Folder, name: &str) -> Option<Vec<u8>> {
    let file = folder.read(name).ok()?;
    let length = file.metadata().ok()?.len();
    let start = length.saturating_sub(u64::try_from(MAX_LINE).ok()?);
    let mut end = vec![0; usize::try_from(length.saturating_sub(start)).ok()?];
    file.read_exact_at(&mut end, start).ok()?;
    Some(end)
}

/// Whether a process with the id in the file's name exists. Our own id in another file's name is that of an
/// earlier process, as in a container where every run is process 1.
fn owner_is_alive(name: &str) -> bool {
    name.split('-')
        .nth(1)
        .and_then(|pid| pid.parse::<i32>().ok())
        .filter(|pid| i64::from(*pid) != i64::from(std::process::id()))
        .and_then(rustix::process::Pid::from_raw)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}
