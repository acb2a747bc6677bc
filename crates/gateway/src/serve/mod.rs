//! `framegate mcp`: one session from the first byte to the exit code.
//!
//! Belongs here: the threads around a session and what passes between them.
//! Does not belong here: configuration files, arguments, how an action is performed.

mod calls;
mod catch;
mod evidence;
mod ledger;
mod pump;
mod queue;
mod start;
mod tasks;

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use framegate_gate::authorization::Policy;
use framegate_gate::schema::Catalog;
use framegate_gate::session::{Session, SessionOptions};
use framegate_journal::Journal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;

use crate::executor::Executor;
use crate::log::Log;
use crate::stdio::{Protocol, ReadEvent, Reader, WriteEvent, Writer};
use ledger::{Ledger, LedgerEvent};
use pump::Pump;
use queue::{Sender, queue};

/// Everything a session is made of.
pub struct Setup {
    /// The protocol's descriptors.
    pub protocol: Protocol,
    /// The session's options.
    pub session: SessionOptions,
    /// The declared tools.
    pub catalog: Arc<Catalog>,
    /// The policy.
    pub policy: Arc<dyn Policy>,
    /// The journal, with its `start` record written.
    pub journal: Journal,
    /// What performs actions.
    pub executor: Arc<dyn Executor>,
    /// How many actions are performed at the same time.
    pub max_concurrent: usize,
    /// How many permitted calls wait for their turn.
    pub max_queued: usize,
    /// How long started actions may go on when the session ends.
    pub grace: Duration,
    /// Diagnostics.
    pub log: Log,
    /// The signals that end a session.
    pub termination: Termination,
}

/// SIGTERM, SIGINT and SIGHUP, taken over. One that comes before the session runs ends it at its first step.
/// SIGXFSZ is taken over too: a file that may not grow is an error of its write, not the end of the process.
#[derive(Debug)]
pub struct Termination(Signals);

impl Termination {
    /// Takes the signals over; from here on they end the process only through the session.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub fn register() -> io::Result<Self> {
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        Signals::new([SIGHUP, SIGINT, SIGTERM]).map(Self)
    }
}

impl core::fmt::Debug for Setup {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Setup").field("session", &self.session).finish_non_exhaustive()
    }
}

/// What happens around the session.
#[derive(Debug)]
enum Event {
    Read(ReadEvent),
    Write(WriteEvent),
    Ledger(LedgerEvent),
    /// A signal asked for the end.
    Terminate,
}

/// Serves one session and returns the exit code.
///
/// # Errors
/// When a thread cannot be started.
pub fn serve(setup: Setup) -> io::Result<u8> {
    let (events, queue) = queue(usize::MAX);
    listen_for_signals(setup.termination, events.clone())?;
    let fingerprinter = setup.journal.fingerprinter();
    let reader = {
        let events = events.clone();
        Reader::start(setup.protocol.input, move |event| events.send(Event::Read(event)))?
    };
    let writer = {
        let events = events.clone();
        Writer::start(setup.protocol.output, move |event| {
            let _ = events.send(Event::Write(event));
        })?
    };
    let report = move |event| {
        let _ = events.send(Event::Ledger(event));
    };
    let ledger = Ledger::start(setup.journal, setup.executor, setup.log.clone(), report)?;
    let config = Arc::clone(&setup.session.config);
    let frames = framegate_wire::frame::Reader::new(&setup.session.limits);
    let session = Session::new(setup.session, setup.catalog, setup.policy);
    let pump = Pump {
        queue,
        frames,
        session,
        calls: calls::Calls::new(setup.max_concurrent, setup.max_queued),
        reader,
        writer,
        ledger,
        fingerprinter,
        config,
        grace: setup.grace,
        log: setup.log,
        clock: std::time::Instant::now(),
        reading: true,
    };
    // The pump contains panics of the session; one of its own must still end with a documented code.
    Ok(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pump.run())).unwrap_or(crate::exit::INTERNAL))
}

fn listen_for_signals(Termination(mut signals): Termination, events: Sender<Event>) -> io::Result<()> {
    thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            if !events.send(Event::Terminate) {
                return;
            }
        }
    })?;
    Ok(())
}

#[cfg(test)]
mod tests;
