//! strace itself, on commands that act.
//!
//! Belongs here: what is seen of a real command, and that nothing of strace stays. Does not belong here: its notation.
//!
//! Where there is no strace, or where it may not trace, these tests say so.

use super::super::{MARKER_PREFIX, Prepared, Tracer, Watch};
use super::*;
use crate::options::Observer;

fn strace() -> Option<Tracer> {
    Tracer::choose(Some(Observer::Strace)).inspect_err(|why| eprintln!("SKIPPED: {why}")).ok()
}

/// A shell under strace, its output, and what was observed.
fn observed(tracer: &Tracer, script: &str) -> (String, Watch) {
    let prepared: Prepared = tracer.prepare().unwrap();
    let mut words = prepared.words.iter().cloned();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(["sh", "-c", script]).stdin(Stdio::null()).stdout(Stdio::piped());
    let (child, watch) = prepared.spawn(command).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "the exit code is the command's");
    (String::from_utf8(output.stdout).unwrap(), watch)
}

#[test]
fn what_a_command_and_its_children_do_is_seen_and_its_output_is_its_own() {
    let Some(tracer) = strace() else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().display();
    let marker = format!("{MARKER_PREFIX}1");
    let script = format!(
        "echo {marker}; (echo {marker} > {place}/file); mkdir {place}/{marker}; test -e /nowhere/{marker}; exit 3"
    );
    let (output, watch) = observed(&tracer, &script);
    assert_eq!(output, format!("{marker}\n"));
    let seen: Vec<_> = watch.sights(&marker).into_iter().map(|sight| sight.what).collect();
    // The shell's own arguments hold it too: a command that starts another with the marker has an effect by that.
    for what in [format!("write {place}/file"), format!("mkdir {place}/{marker}")] {
        assert!(seen.contains(&what), "{what}: {seen:?}");
    }
    assert!(seen.iter().any(|what| what.ends_with(&format!(" /nowhere/{marker}"))), "{seen:?}");
    assert!(!seen.iter().any(|what| what.starts_with("write pipe:")), "stdout is the protocol: {seen:?}");
    assert_eq!(watch.sights(&format!("{MARKER_PREFIX}2")), []);
    assert_eq!(watch.blind(), None);
}

#[test]
fn strace_is_known_while_it_traces_and_ends_with_what_it_traces() {
    let Some(tracer) = strace() else { return };
    let prepared = tracer.prepare().unwrap();
    let mut words = prepared.words.iter().cloned();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).args(["sh", "-c", "echo; exec cat"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let (mut child, watch) = prepared.spawn(command).unwrap();
    // It has said something, so that it is traced by now.
    let mut line = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut line).unwrap();
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let traced_by = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).unwrap();
    let tracer: u32 = traced_by.trim().parse().unwrap();
    assert!(watch.is_tracer(tracer), "{tracer}");
    assert!(!watch.is_tracer(child.id()) && !watch.is_tracer(std::process::id()));
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = Instant::now();
    while watch.is_tracer(tracer) {
        assert!(begun.elapsed() < PATIENCE, "strace stays");
        thread::sleep(LOOK);
    }
}

#[test]
fn calls_are_kept_within_a_bound_and_more_are_told() {
    let mut known = Known { marker: MARKER_PREFIX.as_bytes().to_vec(), ..Known::default() };
    for number in 0..MAX_CALLS + 2 {
        known
            .take(format!("7 unlink(\"{MARKER_PREFIX}{number}\") = 0\n7 unlink(\"other\") = 0\n").as_bytes());
    }
    assert_eq!((known.marked.len(), known.dropped), (MAX_CALLS, 2));
    // A line without an end is cut, and takes no other with it.
    let before = known.calls;
    for _ in 0..3 {
        known.take(&vec![b'x'; LONGEST]);
    }
    assert_eq!(known.begun.len(), LONGEST);
    known.take(b"\n7 unlink(\"a\") = 0\n");
    assert_eq!((known.calls, known.begun.len()), (before + 2, 0));
}
