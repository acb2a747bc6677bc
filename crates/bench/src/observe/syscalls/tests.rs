//! The observer on real programs: shells, Python, Node. A test that cannot run says so.
//!
//! Belongs here: what the tests share.
//! Does not belong here: tests of one file's own (they are in it).

mod effects;
mod lifecycle;
mod processes;
mod quiet;
mod sockets;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::{Blind, Effect, Kind, Watch, probe, spawn};

const MARKER: &[u8] = b"fgm-";

/// Whether this machine lets us observe; if not, says so.
fn can_observe() -> bool {
    match probe() {
        Ok(()) => true,
        Err(fault) => {
            eprintln!("SKIPPED: {fault}");
            false
        }
    }
}

/// The program itself behind the name, not a wrapper script of a version manager.
fn python() -> Option<&'static Path> {
    static PYTHON: OnceLock<Option<String>> = OnceLock::new();
    let found = PYTHON.get_or_init(|| {
        let output =
            Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().ok()?;
        Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|path| !path.is_empty())
    });
    if found.is_none() {
        eprintln!("SKIPPED: no python3");
    }
    found.as_deref().map(Path::new)
}

/// A Python program with arguments. Its lines may be indented as a whole.
fn script(text: &str, arguments: &[&str]) -> Option<Command> {
    let mut command = Command::new(python().filter(|_| can_observe())?);
    let indent: String =
        text.trim_start_matches('\n').chars().take_while(|character| *character == ' ').collect();
    let lines = text.lines().filter_map(|line| line.strip_prefix(&indent));
    command.args(["-I", "-S", "-c", &lines.collect::<Vec<_>>().join("\n")]).args(arguments);
    Some(command)
}

fn shell(text: &str, arguments: &[&str]) -> Option<Command> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", text, "sh"]).args(arguments);
    can_observe().then_some(command)
}

/// What a run to the end has shown.
#[derive(Debug)]
struct Seen {
    effects: Vec<Effect>,
    blind: Vec<Blind>,
    output: Output,
}

/// Runs it with raw pipes, as production does, and expects success.
fn run(command: Command) -> Seen {
    let seen = run_anyhow(command);
    let errors = String::from_utf8_lossy(&seen.output.stderr);
    assert!(seen.output.status.success(), "{:?}: {errors}", seen.output.status);
    seen
}

fn run_anyhow(mut command: Command) -> Seen {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, watch) = spawn(command, MARKER).unwrap();
    let output = child.wait_with_output().unwrap();
    let seen = Seen { effects: watch.effects(0), blind: watch.blind(), output };
    end(watch);
    seen
}

/// Waits for the tree's end and drops the watch.
fn end(watch: Watch) {
    eventually("the tree's end", || watch.is_over());
    drop(watch);
}

/// Far longer than it takes; only a hang gets there.
fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(60), "no {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

impl Seen {
    /// The calls of this kind with this text in their data or detail.
    fn calls(&self, kind: Kind, text: &str) -> Vec<&'static str> {
        self.all(kind, text).map(|effect| effect.call).collect()
    }

    fn all(&self, kind: Kind, text: &str) -> impl Iterator<Item = &Effect> {
        self.effects.iter().filter(move |effect| {
            effect.kind == kind
                && (effect.detail.contains(text) || String::from_utf8_lossy(&effect.data).contains(text))
        })
    }

    /// The only effect of this kind with this text.
    fn one(&self, kind: Kind, text: &str) -> &Effect {
        let all: Vec<&Effect> = self.all(kind, text).collect();
        let [one] = all[..] else { panic!("{kind:?} {text}: {all:#?} of {:#?}", self.effects) };
        one
    }

    fn count(&self, kind: Kind) -> usize {
        self.effects.iter().filter(|effect| effect.kind == kind).count()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
