//! How a target ends.
//!
//! Belongs here: the end of input, signals, what is left behind. Does not belong here: what was said before.

use std::ffi::OsStr;
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{End, Shown};
use crate::bench::Bench;
use crate::case::Talk;
use crate::verdict::Kind;

/// Programs that start a server as a process of their own.
const LAUNCHERS: &[&str] =
    &["npx", "npm", "pnpm", "yarn", "bunx", "uvx", "uv", "pipx", "poetry", "sh", "bash", "dash", "zsh"];
/// How long a target that should have ended is watched for using a processor.
const WATCHED: Duration = Duration::from_millis(500);
/// In [`WATCHED`], this many clock ticks of 10 ms are a busy process: one that waits uses none, and one that does not
/// gets a tenth of a processor even where many others want it.
const BUSY_TICKS: u64 = 5;
/// How many processes that are left behind are named.
const NAMED: usize = 10;

/// Ends the session; what went otherwise than it must.
pub(super) fn close(bench: &Bench<'_>, talk: &mut Talk, end: End) -> Option<Shown> {
    let running = talk.running();
    match end {
        End::Left => return None,
        End::Input => running.close_stdin(),
        End::Terminated => running.signal(Signal::TERM),
        End::Interrupted => running.signal(Signal::INT),
    }
    let how = match end {
        End::Left | End::Input => "the end of its input",
        End::Terminated => "SIGTERM",
        End::Interrupted => "SIGINT",
    };
    let patience = bench.options.timeout;
    if running.wait_end(patience).is_none() {
        let before = running.processor_ticks();
        thread::sleep(WATCHED);
        let used = running.processor_ticks().zip(before).map(|(after, before)| after.saturating_sub(before));
        if used.is_some_and(|used| used >= BUSY_TICKS) {
            let text = format!("after {how} the target goes on, and uses a processor with nothing to do");
            return Some(Shown::fail(Kind::Busy, text));
        }
        let text = format!("the target did not end within {} s of {how}", patience.as_secs());
        return Some(Shown::fail(Kind::NoExit, text));
    }
    // Helpers that end with it are given a moment.
    let running = talk.running();
    let mut left = running.members();
    for _ in 0..40 {
        if left.is_empty() {
            return None;
        }
        thread::sleep(Duration::from_millis(25));
        left = running.members();
    }
    let names = left.iter().take(NAMED).map(|member| format!("{} ({})", member.name, member.process));
    let names: Vec<_> = names.collect();
    let others = match left.len().saturating_sub(NAMED) {
        0 => String::new(),
        others => format!(" and {others} others"),
    };
    let mut text = format!("the target ended, and left behind: {}{others}", names.join(", "));
    let program =
        bench.options.command.first().map(|program| Path::new(program).file_name()).unwrap_or_default();
    if let Some(launcher) = program.and_then(OsStr::to_str).filter(|name| LAUNCHERS.contains(name)) {
        text.push_str(&format!(
            "; `{launcher}` starts the server as a process of its own, and does not end it: whoever ends the launcher, as \
             clients do, leaves the server; to judge the server alone, give its own command"
        ));
    }
    Some(Shown::fail(Kind::OrphanProcess, text))
}
