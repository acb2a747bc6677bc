//! The session: one page that reads as the list of doors.
//!
//! Belongs here: the order of the doors, what each refusal does to the session.
//! Does not belong here: what any single door decides, I/O, clocks.

mod step;
mod wording;

use core::time::Duration;
use std::sync::Arc;

use framegate_wire::frame::Frame;
use framegate_wire::json::Parser;
use framegate_wire::message::{self, ErrorId, MessageRefusal, Reply, Revision};
use framegate_wire::reason::Closing;
use framegate_wire::{Limits, Reason, Refusal};

pub use step::{Close, Input, RefusalNote, Step};

use crate::Moment;
use crate::authorization::{Denial, PermitTerms, Policy, Principal, authorize};
use crate::outcome::Outcome;
use crate::protocol::{Admission, Admitted, ProtocolOptions, ProtocolRefusal, State, Ticket};
use crate::schema::{Catalog, Checked, SchemaRefusal, check, follow};

/// What happens after a frame that is not a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInvalidFrame {
    /// The session ends: the peer may have lost framing.
    #[default]
    Close,
    /// The session goes on and inherits nothing from the refused frame.
    Continue,
}

/// What a session needs to know at start.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Bounds on frames, documents, ids and batches.
    pub limits: Limits,
    /// What happens after a frame that is not a message.
    pub on_invalid_frame: OnInvalidFrame,
    /// Under [`OnInvalidFrame::Continue`], how many such frames end the session after all.
    pub max_refusals: u32,
    /// The served revisions, oldest first; not empty.
    pub revisions: Vec<Revision>,
    /// How many used ids are remembered before further requests are refused.
    pub max_used_ids: usize,
    /// How long a permit holds.
    pub permit_lifetime: Duration,
    /// The digest of configuration and policy: SHA-256, lower-case hexadecimal.
    pub config: Arc<str>,
    /// Who this process serves.
    pub principal: Arc<Principal>,
    /// Our version, for `serverInfo`.
    pub server_version: &'static str,
    /// Instructions for the agent.
    pub instructions: Option<String>,
}

/// One session over one connection. Never blocks, never acts.
pub struct Session {
    parser: Parser,
    doors: Doors,
    closed: bool,
}

/// Everything but the parser, which the document borrows while it passes the doors.
struct Doors {
    state: State,
    catalog: Arc<Catalog>,
    policy: Arc<dyn Policy>,
    limits: Limits,
    on_invalid_frame: OnInvalidFrame,
    refusals_left: u32,
    permit_lifetime: Duration,
    config: Arc<str>,
}

impl core::fmt::Debug for Session {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Session")
            .field("state", &self.doors.state)
            .field("closed", &self.closed)
            .finish_non_exhaustive()
    }
}

impl Session {
    /// A session in which nothing was said yet.
    #[must_use]
    pub fn new(options: SessionOptions, catalog: Arc<Catalog>, policy: Arc<dyn Policy>) -> Self {
        let protocol = ProtocolOptions {
            limits: options.limits.clone(),
            revisions: options.revisions,
            max_used_ids: options.max_used_ids,
            principal: options.principal,
            server_version: options.server_version,
            instructions: options.instructions,
        };
        Self {
            parser: Parser::new(&options.limits),
            doors: Doors {
                state: State::new(protocol, Arc::clone(&catalog)),
                catalog,
                policy,
                limits: options.limits,
                on_invalid_frame: options.on_invalid_frame,
                refusals_left: options.max_refusals,
                permit_lifetime: options.permit_lifetime,
                config: options.config,
            },
            closed: false,
        }
    }

    /// Takes one input through the doors. After a step that closes, nothing is received any more.
    pub fn receive(&mut self, input: Input<'_>, now: Moment) -> Step {
        if self.closed {
            return Step::default();
        }
        let before = self.doors.state.negotiated().is_some();
        let mut step = match input {
            Input::Frame(frame) => self.pass(frame, now),
            Input::Refused(refusal) => self.doors.refuse_frame(refusal),
            Input::End => Step { close: Some(Close::EndOfInput), ..Step::default() },
        };
        if !before {
            step.negotiated = self.doors.state.negotiated();
        }
        self.closed = step.close.is_some();
        step
    }

    /// The doors, in their order.
    fn pass(&mut self, frame: Frame<'_>, now: Moment) -> Step {
        let Self { parser, doors, .. } = self;
        let document = match parser.parse(frame) {
            Ok(document) => document,
            Err(refusal) => return doors.refuse_frame(refusal),
        };
        let incoming = match message::read(&document, doors.state.has_batches(), &doors.limits) {
            Ok(incoming) => incoming,
            Err(refused) => return doors.refuse_message(&refused),
        };
        let admitted = match doors.state.admit(incoming) {
            Ok(Admission::Call(admitted)) => admitted,
            Ok(Admission::Answer(reply)) => {
                return Step { replies: vec![reply], ..Step::default() };
            }
            Ok(Admission::Batch(reply, refusals)) => return Step::batch(reply, refusals),
            Ok(Admission::Cancel(ticket)) => {
                return Step { cancels: vec![ticket], ..Step::default() };
            }
            Ok(Admission::Ignore { unknown }) => {
                return Step { dropped: u32::from(unknown), ..Step::default() };
            }
            Err(refused) => return doors.refuse_protocol(&refused),
        };
        doors.judge(admitted, now)
    }

    /// Settles a ticket with what became of its action. The reply, unless the request was cancelled.
    pub fn settle(&mut self, ticket: Ticket, outcome: &Outcome) -> Option<Reply> {
        let state = &mut self.doors.state;
        let (request, revision) = state.settle(ticket)?;
        Some(wording::outcome(state, outcome, &request, revision))
    }

    /// Goes on to where a redirect leads, through the doors again from the schema on, under the same ticket; settles
    /// the ticket with the outcome where that is not to be.
    pub fn redirect(&mut self, ticket: Ticket, outcome: &Outcome, now: Moment) -> Step {
        let call = self.doors.state.performing(&ticket);
        let next = match call.zip(outcome.redirect()) {
            Some((call, redirect)) if !self.closed => follow(&call, redirect, ticket),
            _ => Err(ticket),
        };
        let (ticket, refusals) = match next.map(|checked| self.doors.authorize(checked, now)) {
            Ok(Ok(step)) => return step,
            Ok(Err(denial)) => {
                let note = denied(&denial);
                (denial.into_ticket(), vec![note])
            }
            Err(ticket) => (ticket, Vec::new()),
        };
        let replies = self.settle(ticket, outcome).into_iter().collect();
        Step { replies, refusals, ..Step::default() }
    }

    /// Settles the ticket of a permit that was refused after all: busy, expired, not recordable.
    pub fn withdraw(&mut self, ticket: Ticket, reason: Reason) -> Option<Reply> {
        let state = &mut self.doors.state;
        let (request, revision) = state.settle(ticket)?;
        let text = format!("{}; nothing was performed", reason.summary());
        Some(wording::error_result(state, reason.code(), &text, &request, revision))
    }

    /// A progress notification for an unsettled call, if its peer asked for progress.
    pub fn progress(&mut self, ticket: u64, message: &str) -> Option<Reply> {
        self.doors.state.progress(ticket, message)
    }

    /// How many calls are not settled yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.doors.state.in_flight()
    }
}

impl Doors {
    /// Schema, then authorization.
    fn judge(&mut self, admitted: Admitted<'_>, now: Moment) -> Step {
        let checked = match check(admitted, &self.catalog) {
            Ok(checked) => checked,
            Err(refused) => return self.refuse_schema(refused),
        };
        self.authorize(checked, now).unwrap_or_else(|denial| self.deny(denial))
    }

    fn authorize(&mut self, checked: Checked, now: Moment) -> Result<Step, Denial> {
        let terms = PermitTerms { expires: now.plus(self.permit_lifetime), config: Arc::clone(&self.config) };
        let permit = authorize(checked, &*self.policy, terms)?;
        let granted = permit.granted();
        if granted.call().tool().redirect_targets().next().is_some() {
            self.state.remember(permit.ticket(), granted.shared_call());
        }
        Ok(Step { permits: vec![permit], ..Step::default() })
    }

    fn refuse_frame(&mut self, refusal: Refusal) -> Step {
        let (close, mut refusals) = self.consequence(refusal);
        // An unterminated last line is never answered: nobody knows what it was going to be.
        let answered = refusal.reason() != Reason::FrameUnterminated;
        let reply = || {
            wording::error(
                refusal,
                &self.state.unreadable_id(),
                refusal.reason().summary(),
                None,
                close.is_some(),
            )
        };
        refusals.insert(0, refusal.into());
        Step { replies: answered.then(reply).into_iter().collect(), refusals, close, ..Step::default() }
    }

    fn refuse_message(&mut self, refused: &MessageRefusal) -> Step {
        let refusal = refused.refusal();
        let (close, mut refusals) = self.consequence(refusal);
        let id = refused.id().cloned().map_or_else(|| self.state.unreadable_id(), ErrorId::Known);
        let reply = || wording::error(refusal, &id, refusal.reason().summary(), None, close.is_some());
        refusals.insert(0, refusal.into());
        Step {
            replies: refused.is_answered().then(reply).into_iter().collect(),
            refusals,
            close,
            ..Step::default()
        }
    }

    fn refuse_protocol(&mut self, refused: &ProtocolRefusal) -> Step {
        let refusal = refused.refusal();
        let (close, mut refusals) = self.consequence(refusal);
        let reply = wording::error(
            refusal,
            refused.id(),
            refusal.reason().summary(),
            refused.data(),
            close.is_some(),
        );
        let request = match refused.id() {
            ErrorId::Known(id) => Some(id.clone()),
            ErrorId::Null | ErrorId::Absent => None,
        };
        refusals.insert(0, RefusalNote { request, ..refusal.into() });
        Step { replies: vec![reply], refusals, close, ..Step::default() }
    }

    fn refuse_schema(&mut self, refused: SchemaRefusal) -> Step {
        let refusal = refused.refusal();
        let text = refused.explanation().to_owned();
        let tool = refused.tool().map(|tool| tool.name().into());
        let settled = self.state.settle(refused.into_ticket());
        let reply = settled
            .as_ref()
            .map(|(request, revision)| wording::schema(&self.state, refusal, &text, request, *revision));
        let request = settled.map(|(request, _)| request);
        let note = RefusalNote { refusal, request, tool, rule: None };
        Step { replies: reply.into_iter().collect(), refusals: vec![note], ..Step::default() }
    }

    fn deny(&mut self, denial: Denial) -> Step {
        let reason = denial.reason();
        let (tool, rule) = (denial.call().tool().name(), denial.rule());
        let text =
            format!("denied: {} (tool `{tool}`, rule: {rule}); nothing was performed", reason.summary());
        let note = denied(&denial);
        let settled = self.state.settle(denial.into_ticket());
        let reply = settled.as_ref().map(|(request, revision)| {
            wording::error_result(&self.state, reason.code(), &text, request, *revision)
        });
        let request = settled.map(|(request, _)| request);
        let note = RefusalNote { request, ..note };
        Step { replies: reply.into_iter().collect(), refusals: vec![note], ..Step::default() }
    }

    /// Whether a refusal ends the session, and the note of the limit if that is why.
    fn consequence(&mut self, refusal: Refusal) -> (Option<Close>, Vec<RefusalNote>) {
        let closed = Some(Close::Refused(refusal.reason()));
        match (refusal.reason().closing(), self.on_invalid_frame) {
            (Closing::Never, _) => (None, Vec::new()),
            (Closing::Always, _) | (Closing::ByProfile, OnInvalidFrame::Close) => (closed, Vec::new()),
            (Closing::ByProfile, OnInvalidFrame::Continue) => {
                self.refusals_left = self.refusals_left.saturating_sub(1);
                if self.refusals_left > 0 {
                    return (None, Vec::new());
                }
                let limit = Refusal::new(Reason::RefusalLimit, 0);
                (Some(Close::Refused(Reason::RefusalLimit)), vec![limit.into()])
            }
        }
    }
}

fn denied(denial: &Denial) -> RefusalNote {
    RefusalNote {
        refusal: Refusal::new(denial.reason(), 0),
        request: Some(denial.call().request().clone()),
        tool: Some(denial.call().tool().name().into()),
        rule: Some(denial.rule().clone()),
    }
}

#[cfg(test)]
mod tests;
