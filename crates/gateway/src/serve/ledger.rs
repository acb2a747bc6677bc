//! The journal's thread: intents before acts, outcomes after, refusals apart.
//!
//! Belongs here: owning the journal and the receipts, grouping intents, starting what is recorded.
//! Does not belong here: deciding what may be recorded; sockets.

use std::collections::HashMap;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind as catch};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use framegate_gate::authorization::Permit;
use framegate_gate::outcome::Outcome;
use framegate_gate::protocol::{Negotiated, Ticket};
use framegate_journal::{Journal, JournalError, Receipt, Recorded, Refused, Stop};

use super::catch::catch_unwind;
use super::queue::{Receiver, Sender, queue};
use super::start::Start;
use super::tasks::Tasks;
use crate::executor::Executor;
use crate::log::Log;

/// How many commands may wait. The journal is a disk: when it is slow, everybody waits for it.
const QUEUE: usize = 1_024;
/// How many intents share one write and one sync.
const GROUP: usize = 64;
/// How often the summary of refusals is looked after, once there was a refusal.
const TICK: Duration = Duration::from_secs(5);
/// How often in a row: longer than the minute that a summary covers.
const TICKS: u32 = 14;

/// What the journal is told.
#[derive(Debug)]
enum Command {
    Negotiated(Negotiated),
    Refused(Box<Refused>),
    Commit(Box<Permit>, Start),
    Finished(u64, Outcome),
    Stop { exit_code: u8, reason: &'static str, frames: u64 },
}

/// What the journal tells the pump.
#[derive(Debug)]
pub(super) enum LedgerEvent {
    /// The outcome of an action whose intent was recorded.
    Finished {
        /// Settles the request.
        ticket: Ticket,
        /// What became of the action.
        outcome: Outcome,
        /// Whether the outcome's record is written.
        recorded: bool,
    },
    /// The intents of these tickets could not be recorded: nothing was performed.
    Unrecorded(Vec<Ticket>),
    /// The journal's thread failed: what was started is unknown, and nothing can be recorded any more.
    Dead,
}

/// The pump's side of the journal.
#[derive(Debug)]
pub(super) struct Ledger {
    commands: Sender<Command>,
    thread: JoinHandle<bool>,
}

impl Ledger {
    /// Starts the thread.
    pub(super) fn start(
        journal: Journal,
        executor: Arc<dyn Executor>,
        log: Log,
        report: impl Fn(LedgerEvent) + Clone + Send + 'static,
    ) -> io::Result<Self> {
        let (commands, queue) = queue(QUEUE);
        let worker = Worker {
            journal,
            executor,
            log,
            receipts: HashMap::new(),
            tasks: None,
            commands: commands.clone(),
            report: Box::new(report.clone()),
            ticks: 0,
        };
        let thread = thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let sound = catch(AssertUnwindSafe(|| worker.run(&queue)));
            sound.unwrap_or_else(|_| {
                report(LedgerEvent::Dead);
                false
            })
        })?;
        Ok(Self { commands, thread })
    }

    pub(super) fn negotiated(&self, negotiated: Negotiated) {
        self.send(Command::Negotiated(negotiated));
    }

    pub(super) fn refused(&self, refused: Refused) {
        self.send(Command::Refused(Box::new(refused)));
    }

    /// Records the intent, then performs the action unless `start` was cancelled.
    pub(super) fn commit(&self, permit: Permit, start: Start) {
        self.send(Command::Commit(Box::new(permit), start));
    }

    /// Writes the `stop` record; `false` if the journal failed at any time.
    pub(super) fn stop(self, exit_code: u8, reason: &'static str, frames: u64) -> bool {
        self.send(Command::Stop { exit_code, reason, frames });
        self.thread.join().unwrap_or(false)
    }

    fn send(&self, command: Command) {
        // The thread ends only at `Stop`, or by a panic, which it has reported.
        let _ = self.commands.send(command);
    }
}

/// The thread's own state.
struct Worker {
    journal: Journal,
    executor: Arc<dyn Executor>,
    log: Log,
    receipts: HashMap<u64, Receipt>,
    /// Where actions run that wait. Made for the first one: a session that only lists tools needs none.
    tasks: Option<Tasks>,
    commands: Sender<Command>,
    report: Box<dyn FnMut(LedgerEvent) + Send>,
    ticks: u32,
}

impl Worker {
    /// `true` if everything was recorded.
    fn run(mut self, queue: &Receiver<Command>) -> bool {
        let mut sound = true;
        loop {
            let command = match queue.recv((self.ticks > 0).then_some(TICK)) {
                Ok(command) => command,
                Err(RecvTimeoutError::Timeout) => {
                    self.ticks = self.ticks.saturating_sub(1);
                    let written = self.journal.tick();
                    self.note(written);
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return false,
            };
            let mut next = Some(command);
            while let Some(command) = next.take() {
                match command {
                    Command::Commit(permit, start) => {
                        let mut group = vec![(*permit, start)];
                        // Intents that wait already share one write and one sync.
                        while group.len() < GROUP {
                            match queue.try_recv() {
                                Ok(Command::Commit(permit, start)) => group.push((*permit, start)),
                                Ok(other) => {
                                    next = Some(other);
                                    break;
                                }
                                Err(_) => break,
                            }
                        }
                        sound &= self.commit(group);
                    }
                    Command::Finished(ticket, outcome) => sound &= self.finish(ticket, outcome),
                    Command::Negotiated(negotiated) => {
                        let written = self.journal.negotiated(&negotiated);
                        sound &= self.note(written);
                    }
                    Command::Refused(refused) => {
                        self.ticks = TICKS;
                        let written = self.journal.refuse(*refused);
                        self.note(written);
                    }
                    Command::Stop { exit_code, reason, frames } => {
                        let exit_code = if sound { exit_code } else { crate::exit::IO };
                        let stopped = self.journal.stop(&Stop { exit_code, reason, frames });
                        return sound && stopped.is_ok();
                    }
                }
            }
        }
    }

    fn commit(&mut self, group: Vec<(Permit, Start)>) -> bool {
        let (permits, starts): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        match self.journal.commit(permits) {
            Ok(pairs) => {
                for ((recorded, receipt), start) in pairs.into_iter().zip(starts) {
                    let ticket = receipt.ticket();
                    self.receipts.insert(ticket, receipt);
                    self.perform(ticket, recorded, start);
                }
                true
            }
            Err(failure) => {
                let (tickets, cause) = failure.into_parts();
                self.log.error(&format!("nothing is performed any more: {cause}"));
                (self.report)(LedgerEvent::Unrecorded(tickets));
                false
            }
        }
    }

    fn perform(&mut self, ticket: u64, recorded: Recorded, start: Start) {
        let executor = Arc::clone(&self.executor);
        let mut performing: Pin<Box<dyn Future<Output = Outcome> + Send>> =
            Box::pin(async move { perform(&*executor, recorded, &start).await });
        if self.executor.is_immediate()
            && let Poll::Ready(outcome) = performing.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            self.finish(ticket, outcome);
            return;
        }
        let commands = self.commands.clone();
        let Some(tasks) = self.tasks() else {
            let outcome = Outcome::not_started("no thread can be started; nothing was performed".to_owned());
            self.finish(ticket, outcome);
            return;
        };
        tasks.spawn(async move {
            let outcome = performing.await;
            let _ = commands.send(Command::Finished(ticket, outcome));
        });
    }

    fn tasks(&mut self) -> Option<&Tasks> {
        if self.tasks.is_none() {
            self.tasks = Tasks::start().ok();
        }
        self.tasks.as_ref()
    }

    fn finish(&mut self, ticket: u64, outcome: Outcome) -> bool {
        let Some(receipt) = self.receipts.remove(&ticket) else { return true };
        if outcome.is_withheld() {
            self.log.warn(&format!(
                "secret-probe: the answer to {} is withheld: its target's answers repeated the credential",
                receipt.intent()
            ));
        }
        let (ticket, written) = self.journal.close(receipt, &outcome);
        let recorded = self.note(written);
        (self.report)(LedgerEvent::Finished { ticket, outcome, recorded });
        recorded
    }

    fn note(&self, written: Result<(), JournalError>) -> bool {
        match written {
            Ok(()) => true,
            Err(error) => {
                self.log.error(&format!("journal: {error}"));
                false
            }
        }
    }
}

/// Performs unless cancelled before; a panic or an abandoned action leaves the outcome unknown.
pub(super) async fn perform(executor: &dyn Executor, recorded: Recorded, start: &Start) -> Outcome {
    if !start.begin() {
        return Outcome::not_started("cancelled before it was started; nothing was performed".to_owned());
    }
    // The call that makes the future is caught too: it may panic like the future itself.
    let performing = catch_unwind(async { executor.perform(recorded).await });
    tokio::select! {
        biased;
        outcome = performing => outcome
            .unwrap_or_else(|| Outcome::unknown("internal error; the action may have happened".to_owned())),
        () = start.abandoned() => {
            Outcome::unknown("stopped while it was being performed; the action may have happened".to_owned())
        }
    }
}
