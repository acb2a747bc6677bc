//! `framegate check`: options in, report out.
//!
//! Belongs here: one target after the other, progress on stderr, the exit code.
//! Does not belong here: what is judged (`framegate_bench`).

mod built_in;
mod expected;
mod files;
mod targets;

use std::io::{self, IsTerminal, Write};
use std::thread;
use std::time::{Duration, Instant};

use framegate_bench::{
    Interrupt, Isolation, Line, Options, Progress, Report, RunError, github, table, terminal,
};
use framegate_gateway::exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::CheckArguments;
use crate::failure::Failure;
use crate::out;

/// As a shell has it for SIGINT.
const INTERRUPTED: u8 = 130;
/// What a case takes, in milliseconds, with a target that starts as fast as Node.js.
const A_CASE_MS: usize = 300;
/// Where nobody watches, one line for so many cases.
const LINE_EVERY: usize = 50;

pub(crate) fn run(arguments: &CheckArguments) -> Result<u8, Failure> {
    // Before any thread is started: a namespace is entered by a process that has one.
    let isolation = if arguments.isolate { Some(isolated()?) } else { None };
    let mut targets = targets::of(arguments)?;
    for options in &mut targets.runs {
        options.home = isolation.as_ref().map(|isolation| isolation.home().to_owned());
    }
    // Faults of the command line are told before anything runs.
    let files = files::Files::asked_for(arguments, targets.runs.len())?;
    let expected = expected::Expected::asked_for(arguments, targets.runs.len())?;
    let interrupt = Interrupt::default();
    watch_signals(&interrupt)?;
    if arguments.list {
        return list(&targets.runs, &interrupt);
    }
    let (mut lines, mut worst) = (Vec::new(), exit::OK);
    for options in &targets.runs {
        let mut report = judge(options, &interrupt)?;
        expected.settle(&mut report)?;
        let gap = if lines.is_empty() { "" } else { "\n" };
        let said = if files.for_github { github(&report) } else { terminal(&report) };
        out::text(&format!("{gap}{said}"));
        files.write(&report)?;
        worst = worst.max(code(&report));
        lines.push(Line::of(&report));
    }
    if arguments.config.is_some() {
        out::text(&format!("\n{}", table(&lines, &targets.skipped)));
    }
    Ok(worst)
}

/// Fails where it cannot be had: what was asked for is not left out in silence.
fn isolated() -> Result<Isolation, Failure> {
    Isolation::enter().map_err(|error| Failure::new(exit::UNAVAILABLE, format!("--isolate: {error}")))
}

/// Every id once, though several targets have it.
fn list(runs: &[Options], interrupt: &Interrupt) -> Result<u8, Failure> {
    let mut listed = Vec::new();
    for options in runs {
        for id in framegate_bench::list(options, interrupt).map_err(|error| failure(&error))? {
            if !listed.contains(&id) {
                out::line(&id);
                listed.push(id);
            }
        }
    }
    Ok(exit::OK)
}

fn judge(options: &Options, interrupt: &Interrupt) -> Result<Report, Failure> {
    if let Some(server) = options.origin.server() {
        out::complain(&format!("server {}", out::printable(server)));
    }
    let begun = Instant::now();
    framegate_bench::run(options, interrupt, &|progress| show(progress, begun.elapsed())).or_else(|error| {
        match error {
            // One of several: the others are judged all the same.
            RunError::Start { .. } if options.origin.server().is_some() => {
                Ok(Report::unstarted(options, error.to_string()))
            }
            error => Err(failure(&error)),
        }
    })
}

fn failure(error: &RunError) -> Failure {
    match error {
        RunError::Start { .. } => Failure::new(exit::UNAVAILABLE, error.to_string()),
        RunError::SetUp(_) => Failure::io(error.to_string()),
        RunError::Interrupted => Failure::new(INTERRUPTED, error.to_string()),
        RunError::NoSuchCase(_) => Failure::usage(error.to_string()),
    }
}

/// The exit code of one target; of several, the highest is the worst.
fn code(report: &Report) -> u8 {
    match report {
        report if !report.answers => exit::UNAVAILABLE,
        report if report.is_failure() => exit::FINDINGS,
        _ => exit::OK,
    }
}

/// Targets are in process groups of their own: a terminal's Ctrl-C reaches only this process, which ends them.
fn watch_signals(interrupt: &Interrupt) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::io(format!("signals cannot be watched: {error}"));
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(failed)?;
    let interrupt = interrupt.clone();
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            if signals.forever().next().is_some() {
                interrupt.interrupt();
            }
        })
        .map_err(failed)?;
    Ok(())
}

/// One line that is written over on a terminal; plain lines, and few, everywhere else.
fn show(progress: Progress, elapsed: Duration) {
    match progress {
        Progress::Plan { plain, conformance, hostile, tools, jobs } => {
            let calls = if tools.is_empty() {
                "no tool is called".to_owned()
            } else {
                format!("calls: {}", tools.join(", "))
            };
            let cases = plain.saturating_add(conformance).saturating_add(hostile);
            let seconds = cases.saturating_mul(A_CASE_MS).div_ceil(jobs.saturating_mul(1_000));
            out::complain(&format!(
                "plan: {plain} plain sessions, {conformance} checks of revisions, {hostile} hostile frames: about \
                 {seconds} s at {A_CASE_MS} ms a case, {jobs} at once; {}",
                out::printable(&calls)
            ));
        }
        Progress::Done { done, all, id, verdict } => {
            let left = left(elapsed, done, all);
            if io::stderr().is_terminal() {
                let end = if done == all { "\n" } else { "" };
                let _ =
                    write!(io::stderr(), "\r\x1b[K{done}/{all}{left} {verdict} {}{end}", out::printable(&id));
            } else if done == all || done.is_multiple_of(LINE_EVERY) {
                out::complain(&format!("{done} of {all} cases{left}"));
            }
        }
    }
}

/// How long it will go on, if the other cases take as long as those that are over.
fn left(elapsed: Duration, done: usize, all: usize) -> String {
    let (Ok(over @ 1..), Ok(others @ 1..)) = (u32::try_from(done), u32::try_from(all.saturating_sub(done)))
    else {
        return String::new();
    };
    let seconds = elapsed.saturating_mul(others).checked_div(over).unwrap_or_default().as_secs();
    format!(", about {} s left", seconds.saturating_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_that_of_the_cases_left() {
        assert_eq!(left(Duration::from_secs(10), 100, 300), ", about 21 s left");
        assert_eq!(left(Duration::from_secs(10), 300, 300), "");
        assert_eq!(left(Duration::from_secs(10), 0, 300), "");
    }
}
