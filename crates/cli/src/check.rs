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

use framegate_bench::{Interrupt, Line, Options, Progress, Report, RunError, github, table, terminal};
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
    let targets = targets::of(arguments)?;
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
    framegate_bench::run(options, interrupt, &show).or_else(|error| match error {
        // One of several: the others are judged all the same.
        RunError::Start { .. } if options.origin.server().is_some() => {
            Ok(Report::unstarted(options, error.to_string()))
        }
        error => Err(failure(&error)),
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
fn show(progress: Progress) {
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
            if io::stderr().is_terminal() {
                let end = if done == all { "\n" } else { "" };
                let _ = write!(io::stderr(), "\r\x1b[K{done}/{all} {verdict} {}{end}", out::printable(&id));
            } else if done == all || done.is_multiple_of(LINE_EVERY) {
                out::complain(&format!("{done} of {all} cases"));
            }
        }
    }
}
