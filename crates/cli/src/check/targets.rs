//! What is checked: the command that was given, the servers of a client's configuration, or our own gateway.
//!
//! Belongs here: what every target of a command line shares, which servers are picked, what is said of the others.
//! Does not belong here: reading configurations (`framegate_bench::client_config`), running.

use std::path::Path;
use std::thread;
use std::time::Duration;

use framegate_bench::client_config::{Server, Skip, Start, Surroundings, read};
use framegate_bench::{
    Call, Client, Environment, MutationOptions, Observer, Options, Origin, Profile, RequiredProof, Unasked,
};
use framegate_corpus::Revision;

use super::built_in;
use crate::args::{CheckArguments, ClientName, ObserverName, ProfileName, ProofName};
use crate::failure::Failure;
use crate::out;

/// What is checked, in order, and what is not.
pub(super) struct Targets {
    pub(super) runs: Vec<Options>,
    pub(super) skipped: Vec<(String, Skip)>,
}

/// The targets that the command line names. Nothing is started.
pub(super) fn of(arguments: &CheckArguments) -> Result<Targets, Failure> {
    let base = base(arguments)?;
    let Some(file) = &arguments.config else {
        if !arguments.servers.is_empty() {
            return Err(Failure::usage(
                "--server names a server of a configuration; give that with --config FILE",
            ));
        }
        let is_built_in = arguments.command.is_empty();
        if is_built_in && !arguments.calls.is_empty() {
            return Err(Failure::usage(
                "--call: give the target's command, or its configuration with --config FILE",
            ));
        }
        let only = if is_built_in { built_in::of(base)? } else { base };
        return Ok(Targets { runs: vec![only], skipped: Vec::new() });
    };
    if !arguments.calls.is_empty() && arguments.servers.len() != 1 {
        return Err(Failure::usage("--call with --config needs one --server: the tool is one server's"));
    }
    let folder = std::env::current_dir()
        .map_err(|error| Failure::io(format!("the working folder cannot be read: {error}")))?;
    let variable = |name: &str| std::env::var(name).ok();
    let surroundings = Surroundings { folder: folder.to_string_lossy().into_owned(), variable: &variable };
    let servers = read(file, &surroundings).map_err(|fault| about(file, &fault.to_string()))?;
    let servers = picked(servers, &arguments.servers).map_err(|text| about(file, &text))?;
    let mut targets = Targets { runs: Vec::new(), skipped: Vec::new() };
    for Server { name, start } in servers {
        match start {
            Ok(Start { command, environment, folder }) => {
                let origin = Origin::Configuration { file: file.clone(), server: name };
                targets.runs.push(Options { command, origin, environment, folder, ..base.clone() });
            }
            Err(why) => targets.skipped.push((name, why)),
        }
    }
    if targets.runs.is_empty() {
        let skipped = targets.skipped.iter().map(|(name, why)| format!("{} ({why})", out::printable(name)));
        let skipped: Vec<_> = skipped.collect();
        let whole = if skipped.is_empty() { "it names none".to_owned() } else { skipped.join(", ") };
        return Err(about(file, &format!("no server on stdio to check: {whole}")));
    }
    Ok(targets)
}

fn about(file: &Path, text: &str) -> Failure {
    Failure::usage(format!("--config {}: {text}", out::printable(&file.to_string_lossy())))
}

/// The servers with these names, or all, in the order of the file.
fn picked(servers: Vec<Server>, names: &[String]) -> Result<Vec<Server>, String> {
    if let Some(unknown) = names.iter().find(|name| servers.iter().all(|server| server.name != **name)) {
        let known: Vec<_> = servers.iter().map(|server| out::printable(&server.name)).collect();
        return Err(format!("no server `{}`; there are: {}", out::printable(unknown), known.join(", ")));
    }
    Ok(servers.into_iter().filter(|server| names.is_empty() || names.contains(&server.name)).collect())
}

/// What all targets of a command line share.
fn base(arguments: &CheckArguments) -> Result<Options, Failure> {
    let calls = arguments.calls.iter().map(|text| {
        Call::read(text).map_err(|fault| Failure::usage(format!("--call {}: {fault}", out::printable(text))))
    });
    let default = if arguments.config.is_some() { ProfileName::Stdout } else { ProfileName::Quick };
    Ok(Options {
        command: arguments.command.clone(),
        origin: Origin::Command,
        environment: Environment::default(),
        folder: None,
        home: None,
        client: match arguments.client {
            ClientName::Production => Client::Production,
            ClientName::TypescriptSdk => Client::TypescriptSdk,
            ClientName::PythonSdk => Client::PythonSdk,
            ClientName::RustSdk => Client::RustSdk,
        },
        provided: Vec::new(),
        calls: calls.collect::<Result<_, _>>()?,
        unasked: if arguments.all_tools { Unasked::All } else { Unasked::Reading },
        profile: match arguments.profile.unwrap_or(default) {
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
        observer: arguments.observer.map(|observer| match observer {
            ObserverName::Seccomp => Observer::Seccomp,
            ObserverName::Strace => Observer::Strace,
            ObserverName::None => Observer::None,
        }),
        required_proof: arguments.require_proof.map(|proof| match proof {
            ProofName::Syscalls => RequiredProof::Syscalls,
            ProofName::Recorder => RequiredProof::Recorder,
        }),
    })
}

/// Changed frames are only sent around calls that were allowed by name.
fn mutation(arguments: &CheckArguments) -> Result<Option<MutationOptions>, Failure> {
    let Some(seconds) = arguments.fuzz else { return Ok(None) };
    let is_built_in = arguments.command.is_empty() && arguments.config.is_none();
    if arguments.calls.is_empty() && !is_built_in {
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
