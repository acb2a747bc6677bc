//! The pump: carries bytes to the session and its steps to journal, executors and writer.
//!
//! Belongs here: the order in which a step is carried out, back-pressure, the end of a session.
//! Does not belong here: any decision about a message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use framegate_gate::Moment;
use framegate_gate::authorization::Permit;
use framegate_gate::outcome::Outcome;
use framegate_gate::protocol::Ticket;
use framegate_gate::session::{Close, Input, RefusalNote, Session, Step};
use framegate_journal::{Fingerprinter, Refused};
use framegate_wire::frame;
use framegate_wire::message::Reply;
use framegate_wire::{Reason, Refusal};

use super::Event;
use super::calls::{Calls, Next};
use super::evidence::Evidence;
use super::ledger::{Ledger, LedgerEvent};
use super::queue::Receiver;
use crate::exit;
use crate::log::Log;
use crate::stdio::{ReadEvent, Reader, WriteEvent, Writer};

/// Why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Input,
    Signal,
    Refused(Reason),
    /// The reader of stdout is gone.
    OutputGone,
    /// The reader of stdout is there, and did not read in time.
    OutputStuck,
    Internal,
}

impl End {
    const fn exit_code(self) -> u8 {
        match self {
            Self::Input | Self::Signal => exit::OK,
            Self::Refused(_) => exit::DATA,
            Self::OutputGone | Self::OutputStuck => exit::IO,
            Self::Internal => exit::INTERNAL,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Input => "end of input",
            Self::Signal => "signal",
            Self::Refused(reason) => reason.code(),
            Self::OutputGone => "the reader of stdout is gone",
            Self::OutputStuck => "stdout was not read in time",
            Self::Internal => "internal error",
        }
    }
}

/// One session and everything around it.
pub(super) struct Pump {
    pub(super) queue: Receiver<Event>,
    pub(super) frames: frame::Reader,
    pub(super) session: Session,
    pub(super) calls: Calls,
    pub(super) reader: Reader,
    pub(super) writer: Writer,
    pub(super) ledger: Ledger,
    pub(super) fingerprinter: Fingerprinter,
    pub(super) config: Arc<str>,
    pub(super) grace: Duration,
    pub(super) log: Log,
    pub(super) clock: Instant,
    /// Whether more input is wanted.
    pub(super) reading: bool,
}

impl Pump {
    /// Runs until the session ends; the exit code.
    pub(super) fn run(mut self) -> u8 {
        // A panic must not leave half a reply or start an action: the session ends.
        let end = catch_unwind(AssertUnwindSafe(|| self.converse())).unwrap_or(End::Internal);
        self.finish(end)
    }

    fn now(&self) -> Moment {
        Moment::since_start(self.clock.elapsed())
    }

    /// Until something ends the session.
    fn converse(&mut self) -> End {
        self.reader.demand();
        loop {
            let pause = self.calls.next_heartbeat().map(|due| due.since(self.now()));
            let end = match self.queue.recv(pause) {
                Ok(Event::Read(ReadEvent::Bytes { buffer, length })) => {
                    self.frames.push(buffer.get(..length).unwrap_or_default());
                    self.reader.recycle(buffer);
                    self.take_input()
                }
                Ok(Event::Read(ReadEvent::End)) => {
                    self.frames.end();
                    self.reading = false;
                    self.take_input()
                }
                Ok(Event::Write(WriteEvent::Drained)) => self.take_input(),
                Ok(Event::Write(WriteEvent::Failed)) => Some(End::OutputGone),
                Ok(Event::Terminate) => Some(End::Signal),
                Ok(Event::Ledger(LedgerEvent::Dead)) => Some(self.journal_died()),
                Ok(Event::Ledger(LedgerEvent::Finished { ticket, outcome, recorded: true }))
                    if outcome.redirect().is_some() =>
                {
                    self.go_on(ticket, &outcome)
                }
                Ok(Event::Ledger(event)) => {
                    self.settle(event);
                    self.start_calls()
                }
                Err(RecvTimeoutError::Timeout) => {
                    self.beat();
                    None
                }
                Err(RecvTimeoutError::Disconnected) => Some(End::Internal),
            };
            if let Some(end) = end {
                return end;
            }
        }
    }

    /// Takes frames while there are any and replies do not pile up; then asks for more bytes.
    fn take_input(&mut self) -> Option<End> {
        loop {
            if self.writer.is_full() {
                return None;
            }
            match self.pass_next() {
                Passed::Step(None) => {}
                Passed::Step(end) => return end,
                Passed::Nothing if self.reading => {
                    self.reader.demand();
                    return None;
                }
                Passed::Nothing => return Some(self.end_of_input()),
            }
        }
    }

    fn pass_next(&mut self) -> Passed {
        let now = self.now();
        let step = match self.frames.next() {
            None => return Passed::Nothing,
            Some(Ok(frame)) => self.session.receive(Input::Frame(frame), now),
            Some(Err(refusal)) => self.session.receive(Input::Refused(refusal), now),
        };
        Passed::Step(self.carry_out(step))
    }

    fn end_of_input(&mut self) -> End {
        let now = self.now();
        let step = self.session.receive(Input::End, now);
        self.carry_out(step).unwrap_or(End::Input)
    }

    /// Records refusals, sends replies, cancels, starts permits: in this order.
    fn carry_out(&mut self, step: Step) -> Option<End> {
        if let Some(negotiated) = step.negotiated {
            self.log.info(&format!("session: revision {}", negotiated.revision));
            self.ledger.negotiated(negotiated);
        }
        for note in &step.refusals {
            self.record_refusal(note, &self.evidence(note.refusal.offset()));
        }
        if step.dropped > 0 {
            self.log.debug("dropped a notification or response of no consequence");
        }
        self.send(&step.replies);
        for permit in step.cancels.into_iter().filter_map(|ticket| self.calls.cancel(ticket)) {
            let outcome = Outcome::not_started("cancelled before it was started".to_owned());
            // Nothing is sent for a cancelled request; settling frees its id.
            let _ = self.session.settle(permit.surrender(), &outcome);
        }
        for permit in step.permits {
            // Only a call that waits can be refused later, when its line is gone.
            let evidence = if self.calls.must_wait() { self.evidence(0) } else { Evidence::default() };
            if let Err(refused) = self.calls.enqueue(permit, evidence) {
                let (permit, evidence) = *refused;
                self.withdraw(permit, Reason::Busy, &evidence);
            }
        }
        match step.close {
            Some(Close::EndOfInput) => Some(End::Input),
            Some(Close::Refused(reason)) => Some(End::Refused(reason)),
            None => self.start_calls(),
        }
    }

    /// Starts what a slot is free for.
    fn start_calls(&mut self) -> Option<End> {
        let now = self.now();
        while let Some(Next { permit, start, evidence }) = self.calls.next(now) {
            if !permit.holds(now, &self.config) {
                self.calls.settled(permit.ticket());
                self.withdraw(permit, Reason::PermitExpired, &evidence);
            } else if self.writer.is_broken() {
                // An answer that cannot be given is no reason to act.
                self.calls.settled(permit.ticket());
                let outcome = Outcome::not_started("the reader of stdout is gone".to_owned());
                let _ = self.session.settle(permit.surrender(), &outcome);
                return Some(End::OutputGone);
            } else {
                self.ledger.commit(permit, start);
            }
        }
        None
    }

    fn journal_died(&mut self) -> End {
        self.calls.forget_running();
        End::Internal
    }

    fn withdraw(&mut self, permit: Permit, reason: Reason, evidence: &Evidence) {
        let tool = permit.granted().call().tool().name().into();
        let request = Some(permit.granted().call().request().clone());
        let note = RefusalNote { refusal: Refusal::new(reason, 0), request, tool: Some(tool), rule: None };
        self.record_refusal(&note, evidence);
        let reply = self.session.withdraw(permit.surrender(), reason);
        self.send(reply.as_slice());
    }

    fn settle(&mut self, event: LedgerEvent) {
        match event {
            LedgerEvent::Finished { ticket, mut outcome, recorded } => {
                self.calls.settled(ticket.number());
                if !recorded {
                    let text = format!(
                        "{}\n(the outcome could not be recorded; no further action is taken)",
                        outcome.text()
                    );
                    outcome = Outcome::unknown(text);
                }
                let reply = self.session.settle(ticket, &outcome);
                self.send(reply.as_slice());
            }
            LedgerEvent::Unrecorded(tickets) => {
                for ticket in tickets {
                    self.calls.settled(ticket.number());
                    let reply = self.session.withdraw(ticket, Reason::JournalUnavailable);
                    self.send(reply.as_slice());
                }
            }
            // Dealt with where it is received: it ends the session.
            LedgerEvent::Dead => self.calls.forget_running(),
        }
    }

    /// Goes on to where a redirect leads, if the doors let it. Each hop waits for its turn like any call.
    fn go_on(&mut self, ticket: Ticket, outcome: &Outcome) -> Option<End> {
        self.calls.settled(ticket.number());
        let now = self.now();
        let step = self.session.redirect(ticket, outcome, now);
        for note in &step.refusals {
            // A target's location is no line of the peer.
            self.record_refusal(note, &Evidence::default());
        }
        self.send(&step.replies);
        for permit in step.permits {
            if let Err(refused) = self.calls.enqueue(permit, Evidence::default()) {
                let (permit, evidence) = *refused;
                self.withdraw(permit, Reason::Busy, &evidence);
            }
        }
        self.start_calls()
    }

    fn beat(&mut self) {
        let now = self.now();
        for (ticket, seconds) in self.calls.heartbeats(now) {
            let reply = self.session.progress(ticket, &format!("in progress for {seconds} s"));
            self.send(reply.as_slice());
        }
    }

    fn send(&self, replies: &[Reply]) {
        if replies.is_empty() {
            return;
        }
        let mut lines = Vec::new();
        for reply in replies {
            reply.write(&mut lines);
        }
        self.writer.send(lines);
    }

    fn evidence(&self, offset: usize) -> Evidence {
        Evidence::of_last(&self.frames, offset, &self.fingerprinter)
    }

    fn record_refusal(&self, note: &RefusalNote, evidence: &Evidence) {
        let Evidence { line, length, fingerprint, excerpt } = evidence.clone();
        let reason = note.refusal.reason();
        self.log.warn(&format!(
            "refused line {line} at byte {}: {} ({reason}); {excerpt}",
            note.refusal.offset(),
            reason.summary(),
        ));
        self.ledger.refused(Refused { note: note.clone(), line, length, fingerprint, excerpt });
    }

    /// Starts nothing new, gives started actions their grace, writes what can be written.
    fn finish(mut self, end: End) -> u8 {
        let waiting: Vec<_> = self.calls.take_waiting().collect();
        for permit in waiting {
            let outcome = Outcome::not_started("the session ended before it was started".to_owned());
            let reply = self.session.settle(permit.surrender(), &outcome);
            self.send(reply.as_slice());
        }
        let mut end = end;
        self.wait(self.grace, &mut end, |pump| pump.calls.is_idle());
        if !self.calls.is_idle() {
            // Abandoned actions settle at once, as unknown; this wait only bounds a stuck disk.
            self.calls.cancel_running();
            self.wait(SETTLE, &mut end, |pump| pump.calls.is_idle());
        }
        if !self.calls.is_idle() && end.exit_code() == exit::OK {
            end = End::Internal;
        }
        let patience = self.grace.max(SETTLE);
        self.wait(patience, &mut end, |pump| pump.writer.is_drained());
        if !self.writer.is_drained() && end != End::OutputGone {
            end = if self.writer.is_broken() { End::OutputGone } else { End::OutputStuck };
        }
        let sound = self.ledger.stop(end.exit_code(), end.words(), self.frames.lines());
        match end {
            End::Input | End::Signal => {}
            End::Refused(reason) => self.log.error(&format!(
                "session closed: {} ({reason}); fix the client that sends it; see `framegate why`",
                reason.summary()
            )),
            End::OutputGone | End::OutputStuck | End::Internal => {
                self.log.error(&format!("session ended: {}", end.words()));
            }
        }
        self.log.flush(Duration::from_millis(200));
        match (end.exit_code(), sound) {
            (exit::OK, false) => exit::IO,
            (code, _) => code,
        }
    }

    /// Carries on until `over`, at most this long; shorter when stdout fails, or when a signal asks for the end
    /// again after the input has ended: the next one is likely to kill.
    fn wait(&mut self, at_most: Duration, end: &mut End, over: impl Fn(&Self) -> bool) {
        let deadline = self.now().plus(at_most);
        while !over(self) {
            let left = deadline.since(self.now());
            let pause = self.calls.next_heartbeat().map_or(left, |due| due.since(self.now()).min(left));
            match self.queue.recv(Some(pause)) {
                Ok(Event::Ledger(LedgerEvent::Dead)) => {
                    *end = End::Internal;
                    self.calls.forget_running();
                }
                Ok(Event::Ledger(event)) => self.settle(event),
                Ok(Event::Write(WriteEvent::Failed)) => {
                    *end = End::OutputGone;
                    if self.calls.is_idle() {
                        return;
                    }
                }
                Ok(Event::Terminate) if *end == End::Input => {
                    *end = End::Signal;
                    return;
                }
                Ok(Event::Write(WriteEvent::Drained) | Event::Read(_) | Event::Terminate) => {}
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return,
                Err(RecvTimeoutError::Timeout) => self.beat(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

/// How long abandoned actions have to be recorded, and replies to be written, whatever the grace.
const SETTLE: Duration = Duration::from_secs(2);

enum Passed {
    Nothing,
    Step(Option<End>),
}
