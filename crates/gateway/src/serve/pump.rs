//! The pump: carries bytes to the session and its steps to journal, executors and writer.
//!
//! Belongs here: the order in which a step is carried out, back-pressure, the end of a session.
//! Does not belong here: any decision about a message.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use framegate_gate::Moment;
use framegate_gate::outcome::Outcome;
use framegate_gate::session::{Close, Input, RefusalNote, Session, Step};
use framegate_journal::{Fingerprinter, Refused};
use framegate_wire::frame::{self, excerpt};
use framegate_wire::message::Reply;
use framegate_wire::{Reason, Refusal};

use super::Event;
use super::calls::{Calls, Next};
use super::ledger::{Ledger, LedgerEvent};
use crate::exit;
use crate::log::Log;
use crate::stdio::{ReadEvent, Reader, WriteEvent, Writer};

/// Why a session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Input,
    Signal,
    Refused(Reason),
    OutputGone,
    Internal,
}

impl End {
    const fn exit_code(self) -> u8 {
        match self {
            Self::Input | Self::Signal => exit::OK,
            Self::Refused(_) => exit::DATA,
            Self::OutputGone => exit::IO,
            Self::Internal => exit::INTERNAL,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Input => "end of input",
            Self::Signal => "signal",
            Self::Refused(reason) => reason.code(),
            Self::OutputGone => "the reader of stdout is gone",
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
        let end = self.converse();
        self.finish(end)
    }

    fn now(&self) -> Moment {
        Moment::since_start(self.clock.elapsed())
    }

    /// Until something ends the session.
    fn converse(&mut self) -> End {
        self.reader.demand();
        loop {
            let event = match self.calls.next_heartbeat() {
                None => self.queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => self.queue.recv_timeout(due.since(self.now())),
            };
            let end = match event {
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
            // A panic in the session must not leave half a reply or start an action: the session ends.
            let passed = catch_unwind(AssertUnwindSafe(|| self.pass_next()));
            match passed {
                Ok(Passed::Step(end @ Some(_))) => return end,
                Ok(Passed::Step(None)) => {}
                Ok(Passed::Nothing) if self.reading => {
                    self.reader.demand();
                    return None;
                }
                Ok(Passed::Nothing) => return Some(self.end_of_input()),
                Err(_) => return Some(End::Internal),
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
            self.record_refusal(note);
        }
        if step.dropped > 0 {
            self.log.debug("dropped a notification or response of no consequence");
        }
        self.send(&step.replies);
        for ticket in step.cancels {
            self.calls.cancel(ticket);
        }
        for permit in step.permits {
            if let Err(permit) = self.calls.enqueue(permit) {
                self.withdraw(permit, Reason::Busy);
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
        while let Some(next) = self.calls.next(now) {
            match next {
                Next::Cancelled(permit) => {
                    let outcome = Outcome::not_started("cancelled before it was started".to_owned());
                    // Nothing is sent for a cancelled request; settling frees its id.
                    let _ = self.session.settle(permit.surrender(), &outcome);
                }
                Next::Start(permit, _) if !permit.holds(now, &self.config) => {
                    self.calls.settled(permit.ticket());
                    self.withdraw(permit, Reason::PermitExpired);
                }
                // An answer that cannot be given is no reason to act.
                Next::Start(permit, _) if self.writer.is_broken() => {
                    self.calls.settled(permit.ticket());
                    let outcome = Outcome::not_started("the reader of stdout is gone".to_owned());
                    let _ = self.session.settle(permit.surrender(), &outcome);
                    return Some(End::OutputGone);
                }
                Next::Start(permit, start) => self.ledger.commit(permit, start),
            }
        }
        None
    }

    fn withdraw(&mut self, permit: framegate_gate::authorization::Permit, reason: Reason) {
        let tool = permit.granted().call().tool().name().into();
        let request = Some(permit.granted().call().request().clone());
        self.record_refusal(&RefusalNote {
            refusal: Refusal::new(reason, 0),
            request,
            tool: Some(tool),
            rule: None,
        });
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
        }
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

    fn record_refusal(&self, note: &RefusalNote) {
        let line = self.frames.line();
        let reason = note.refusal.reason();
        let excerpt = excerpt(line, note.refusal.offset());
        self.log.warn(&format!(
            "refused line {} at byte {}: {} ({reason}); {excerpt}",
            self.frames.lines(),
            note.refusal.offset(),
            reason.summary(),
        ));
        self.ledger.refused(Refused {
            note: note.clone(),
            line: self.frames.lines(),
            length: line.len(),
            fingerprint: self.fingerprinter.fingerprint(line),
            excerpt,
        });
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
        let deadline = self.now().plus(self.grace);
        self.drain(deadline, &mut end);
        if !self.calls.is_idle() {
            self.calls.cancel_running();
            // Abandoned actions settle at once, as unknown; the second wait only bounds a stuck disk.
            let deadline = self.now().plus(self.grace);
            self.drain(deadline, &mut end);
        }
        let sound = self.ledger.stop(end.exit_code(), end.words(), self.frames.lines());
        if let End::Refused(reason) = end {
            self.log.error(&format!(
                "session closed: {} ({reason}); fix the client that sends it; see `framegate why`",
                reason.summary()
            ));
        }
        self.log.flush(Duration::from_millis(200));
        match (end.exit_code(), sound) {
            (exit::OK, false) => exit::IO,
            (code, _) => code,
        }
    }

    /// Until nothing is started and everything is written, or the deadline.
    fn drain(&mut self, deadline: Moment, end: &mut End) {
        while !(self.calls.is_idle() && (self.writer.is_drained() || *end == End::OutputGone)) {
            let left = deadline.since(self.now());
            if left.is_zero() {
                if self.calls.is_idle() {
                    *end = End::OutputGone;
                }
                return;
            }
            let heartbeat = self.calls.next_heartbeat().map_or(left, |due| due.since(self.now()).min(left));
            match self.queue.recv_timeout(heartbeat) {
                Ok(Event::Ledger(event)) => self.settle(event),
                Ok(Event::Write(WriteEvent::Failed)) => *end = End::OutputGone,
                Ok(Event::Write(WriteEvent::Drained) | Event::Read(_) | Event::Terminate) => {}
                Err(RecvTimeoutError::Timeout) => self.beat(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }
}

enum Passed {
    Nothing,
    Step(Option<End>),
}
