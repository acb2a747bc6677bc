//! `framegate check`: options in, report out.
//!
//! Belongs here: reading the options, progress on stderr, where reports and evidence go, the exit code.
//! Does not belong here: what is judged (`framegate_bench`).

mod built_in;

use std::fs::{self, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use framegate_bench::{
    Call, Evidence, Interrupt, MutationOptions, Options, Profile, Progress, Report, RunError, github, html,
    json, junit, markdown, sarif, tap, terminal,
};
use framegate_corpus::Revision;
use framegate_gateway::exit;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::args::{CheckArguments, ProfileName};
use crate::failure::Failure;
use crate::out;

/// As a shell has it for SIGINT.
const INTERRUPTED: u8 = 130;
/// Where nobody watches, one line for so many cases.
const LINE_EVERY: usize = 50;

type Form = fn(&Report) -> String;

pub(crate) fn run(arguments: &CheckArguments) -> Result<u8, Failure> {
    let calls = arguments.calls.iter().map(|text| {
        Call::read(text).map_err(|fault| Failure::usage(format!("--call {}: {fault}", out::printable(text))))
    });
    let options = Options {
        command: arguments.command.clone(),
        provided: Vec::new(),
        is_built_in: false,
        calls: calls.collect::<Result<_, _>>()?,
        profile: match arguments.profile {
            ProfileName::Stdout => Profile::Stdout,
            ProfileName::Quick => Profile::Quick,
            ProfileName::Boundary => Profile::Boundary,
            ProfileName::Conformance => Profile::Conformance,
            ProfileName::Full => Profile::Full,
        },
        launches: arguments.launches.iter().map(|text| launch(text)).collect::<Result<_, _>>()?,
        without_canaries: arguments.no_canary.clone(),
        only: arguments.only.clone(),
        revisions: arguments.revisions.iter().map(|name| revision(name)).collect::<Result<_, _>>()?,
        jobs: arguments.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(2, usize::from)).max(1),
        timeout: Duration::from_secs(arguments.timeout),
        mutation: mutation(arguments)?,
    };
    let options = if arguments.command.is_empty() { built_in::of(options)? } else { options };
    // Faults of the command line are told before anything runs.
    let (for_github, files): (Vec<_>, Vec<_>) = arguments.reports.iter().partition(|text| *text == "github");
    let reports: Vec<(Form, &str)> = files.into_iter().map(|text| form(text)).collect::<Result<_, _>>()?;
    if let Some(folder) = &arguments.evidence {
        fs::create_dir(folder)
            .map_err(|error| Failure::usage(format!("--evidence {}: {error}", folder.display())))?;
    }
    let interrupt = Interrupt::default();
    watch_signals(&interrupt)?;
    if arguments.list {
        let ids = framegate_bench::list(&options, &interrupt).map_err(|error| failure(&error))?;
        ids.iter().for_each(|id| out::line(id));
        return Ok(exit::OK);
    }
    let report = framegate_bench::run(&options, &interrupt, &show).map_err(|error| failure(&error))?;
    out::text(&if for_github.is_empty() { terminal(&report) } else { github(&report) });
    for (form, file) in reports {
        write(Path::new(file), form(&report).as_bytes())?;
    }
    if let Some(folder) = &arguments.evidence {
        keep(folder, &report)?;
    }
    if !report.answers {
        return Ok(exit::UNAVAILABLE);
    }
    Ok(if report.is_failure() { exit::FINDINGS } else { exit::OK })
}

fn failure(error: &RunError) -> Failure {
    match error {
        RunError::Start { .. } => Failure::new(exit::UNAVAILABLE, error.to_string()),
        RunError::SetUp(_) => Failure::io(error.to_string()),
        RunError::Interrupted => Failure::new(INTERRUPTED, error.to_string()),
        RunError::NoSuchCase(_) => Failure::usage(error.to_string()),
    }
}

/// Changed frames are only sent around calls that were allowed by name.
fn mutation(arguments: &CheckArguments) -> Result<Option<MutationOptions>, Failure> {
    let Some(seconds) = arguments.fuzz else { return Ok(None) };
    if arguments.calls.is_empty() && !arguments.command.is_empty() {
        return Err(Failure::usage("--fuzz: give the call that may be changed, with --call"));
    }
    Ok(Some(MutationOptions { seed: arguments.seed, time: Duration::from_secs(seconds) }))
}

fn launch(text: &str) -> Result<(String, String), Failure> {
    let is_plain = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        !name.is_empty() && name.bytes().all(plain)
    };
    match text.split_once('=') {
        Some((name, script)) if is_plain(name) && script.contains("\"$@\"") => {
            Ok((name.to_owned(), script.to_owned()))
        }
        _ => Err(Failure::usage(format!(
            "--launch {}: a launch is written NAME=SCRIPT, where NAME is of letters, digits, - and _, and SCRIPT is for \
             /bin/sh and starts the target as \"$@\"",
            out::printable(text)
        ))),
    }
}

fn revision(name: &str) -> Result<Revision, Failure> {
    let known = || Revision::ALL.into_iter();
    known().find(|revision| revision.name() == name).ok_or_else(|| {
        let names: Vec<_> = known().map(Revision::name).collect();
        Failure::usage(format!("--revision {}: the revisions are {}", out::printable(name), names.join(", ")))
    })
}

fn form(text: &str) -> Result<(Form, &str), Failure> {
    match text.split_once('=') {
        Some(("html", file)) => Ok((html, file)),
        Some(("json", file)) => Ok((json, file)),
        Some(("junit", file)) => Ok((junit, file)),
        Some(("md", file)) => Ok((markdown, file)),
        Some(("sarif", file)) => Ok((sarif, file)),
        Some(("tap", file)) => Ok((tap, file)),
        _ => Err(Failure::usage(format!(
            "--report {}: a report is written FORM=FILE, with the forms html, json, junit, md, sarif and tap, or `github` without a file",
            out::printable(text)
        ))),
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
        Progress::Plan { plain, conformance, hostile, tools } => {
            let calls = if tools.is_empty() {
                "no tool is called".to_owned()
            } else {
                format!("calls: {}", tools.join(", "))
            };
            out::complain(&format!(
                "plan: {plain} plain sessions, {conformance} checks of revisions, {hostile} hostile frames; {}",
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

fn keep(folder: &Path, report: &Report) -> Result<(), Failure> {
    write(&folder.join("report.json"), json(report).as_bytes())?;
    for case in &report.cases {
        let Some(Evidence { stdin_bytes, stdout_bytes, stderr_bytes, .. }) = &case.evidence else { continue };
        let place = folder.join(case.id.replace('/', "."));
        fs::create_dir(&place).map_err(|error| Failure::io(format!("{}: {error}", place.display())))?;
        write(&place.join("stdin.bin"), stdin_bytes)?;
        write(&place.join("stdout.bin"), stdout_bytes)?;
        write(&place.join("stderr.txt"), stderr_bytes)?;
    }
    Ok(())
}

/// Readable by the owner only: a target's bytes may hold its secrets.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .and_then(|mut file| file.write_all(bytes))
        .map_err(|error| Failure::io(format!("{}: {error}", path.display())))
}
