//! `framegate mcp`.
//!
//! Belongs here: from arguments to a running session, and what goes wrong before its first byte.
//! Does not belong here: the session.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use framegate_gateway::config::{Digest, Loaded};
use framegate_gateway::executor::{Executor, Recorder};
use framegate_gateway::log::{Log, Masks};
use framegate_gateway::serve::{Setup, Termination, serve};
use framegate_gateway::stdio::{self, Diagnostics, Protocol, TakeoverError};
use framegate_gateway::{assemble, exit};
use framegate_journal::{Journal, Mode, Start};

use crate::args::McpArguments;
use crate::context;
use crate::failure::Failure;
use crate::out;

/// Serves one session; the exit code. stdout is taken over before anything else happens.
pub(crate) fn run(arguments: &McpArguments) -> Result<u8, Failure> {
    let (protocol, diagnostics) = stdio::take_over().map_err(|error| match error {
        TakeoverError::NoOutput | TakeoverError::NotWritable | TakeoverError::System(_) => {
            Failure::io(error.to_string())
        }
    })?;
    // Started by hand, stdout and stderr are one terminal and stderr is silenced. No peer reads there, so
    // that is where a failure is told. Anything but a terminal may be a peer's and stays silent.
    let terminal = (diagnostics == Diagnostics::Merged && protocol.output.is_terminal())
        .then(|| protocol.output.try_clone());
    let setup = prepare(arguments, protocol, diagnostics).inspect_err(|failure| {
        if let Some(Ok(terminal)) = terminal {
            out::complain_to(terminal, &format!("framegate: {}", failure.text()));
        }
    })?;
    serve(setup).map_err(|error| Failure::new(exit::UNAVAILABLE, format!("cannot start a thread: {error}")))
}

/// Everything that a session needs; all that can fail before its first byte.
fn prepare(arguments: &McpArguments, protocol: Protocol, diagnostics: Diagnostics) -> Result<Setup, Failure> {
    let termination = Termination::register()
        .map_err(|error| Failure::new(exit::UNAVAILABLE, format!("cannot take signals over: {error}")))?;
    let loaded = context::load(&arguments.config)?;
    let log = Log::start(&loaded.config.log, diagnostics == Diagnostics::Merged, &protocol.output)
        .map_err(|error| Failure::new(exit::UNAVAILABLE, format!("cannot start a thread: {error}")))?;
    let reporter = log.clone();
    stdio::install_panic_hook(move |line| reporter.error(line));
    if let Some(expected) = &arguments.expect_config {
        expect(&loaded, expected)?;
    }
    let principal = context::principal(&loaded, arguments.client.as_deref())?;
    let policy = context::policy(&loaded)?;
    let executor = executor(&loaded, arguments.record.as_deref(), &log.masks())?;
    let mode = if arguments.record.is_some() { Mode::Recorder } else { Mode::Live };
    let digest = loaded.digest.to_string();
    let mut journal = open_journal(&loaded, mode)?;
    let found = journal
        .start(&Start {
            version: env!("CARGO_PKG_VERSION"),
            mode,
            client: principal.client(),
            config: &digest,
            revisions: &loaded.config.session.revisions,
        })
        .map_err(|error| Failure::io(format!("journal: {error}")))?;
    if found.is_some() {
        log.warn("an earlier run did not end on its own; `framegate journal show` tells what is known of it");
    }
    let limits = &loaded.config.limits;
    Ok(Setup {
        protocol,
        session: assemble::session_options(&loaded, principal, env!("CARGO_PKG_VERSION")),
        catalog: Arc::clone(&loaded.config.catalog),
        policy,
        journal,
        executor,
        max_concurrent: limits.max_concurrent,
        max_queued: limits.max_queued,
        grace: limits.grace,
        log,
        termination,
    })
}

fn expect(loaded: &Loaded, expected: &str) -> Result<(), Failure> {
    let expected: Digest = expected
        .parse()
        .map_err(|_| Failure::usage("`--expect-config` takes a SHA-256 digest of 64 hexadecimal digits"))?;
    loaded.expect(expected).map_err(|error| Failure::configuration(error.to_string()))
}

fn executor(loaded: &Loaded, record: Option<&Path>, masks: &Masks) -> Result<Arc<dyn Executor>, Failure> {
    let config = &loaded.config;
    if let Some(path) = record {
        if !config.session.allow_record {
            return Err(Failure::configuration(
                "`--record` is not allowed by the configuration\nhint: set `allow_record = true` under `[session]`",
            ));
        }
        return Ok(Arc::new(Recorder::create(path).map_err(|error| Failure::io(error.to_string()))?));
    }
    Ok(Arc::new(context::http_executor(config, masks)?))
}

fn open_journal(loaded: &Loaded, mode: Mode) -> Result<Journal, Failure> {
    let mut options = assemble::journal_options(&loaded.config);
    // Simulated actions never stand among real ones.
    if mode == Mode::Recorder {
        let name = options.dir.file_name().unwrap_or_default().to_owned();
        let mut simulated = name;
        simulated.push("-simulated");
        options.dir.set_file_name(simulated);
    }
    Journal::open(&options).map_err(|error| Failure::io(format!("journal: {error}")))
}
