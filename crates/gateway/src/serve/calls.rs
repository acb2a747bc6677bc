//! Permitted calls on their way: waiting for a slot, or started.
//!
//! Belongs here: the bounded queue, the slots, cancellation, when progress is due.
//! Does not belong here: recording, performing, replies.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use framegate_gate::Moment;
use framegate_gate::authorization::Permit;

use super::evidence::Evidence;
use super::start::Start;

/// How often a call in progress tells a peer that asked for it.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(5);

/// A call that holds a slot.
#[derive(Debug)]
struct Running {
    start: Start,
    since: Moment,
    next_heartbeat: Moment,
}

/// A call that waits for a slot.
#[derive(Debug)]
struct Waiting {
    permit: Permit,
    evidence: Evidence,
}

/// A call for which a slot was found: record and perform it.
#[derive(Debug)]
pub(super) struct Next {
    pub(super) permit: Permit,
    pub(super) start: Start,
    /// Of its line, should it be refused after all.
    pub(super) evidence: Evidence,
}

/// All permitted calls that are not settled.
#[derive(Debug)]
pub(super) struct Calls {
    waiting: VecDeque<Waiting>,
    running: HashMap<u64, Running>,
    slots: usize,
    queue: usize,
}

impl Calls {
    pub(super) fn new(slots: usize, queue: usize) -> Self {
        Self { waiting: VecDeque::new(), running: HashMap::new(), slots, queue }
    }

    /// Whether the next call finds no free slot.
    pub(super) fn must_wait(&self) -> bool {
        !self.waiting.is_empty() || self.running.len() >= self.slots
    }

    /// Lets a call wait for a slot; gives the permit back when too many wait.
    pub(super) fn enqueue(
        &mut self,
        permit: Permit,
        evidence: Evidence,
    ) -> Result<(), Box<(Permit, Evidence)>> {
        let free = self.slots.saturating_sub(self.running.len());
        if self.waiting.len() >= self.queue.saturating_add(free) {
            return Err(Box::new((permit, evidence)));
        }
        self.waiting.push_back(Waiting { permit, evidence });
        Ok(())
    }

    /// The next call that needs no more waiting, if there is one.
    pub(super) fn next(&mut self, now: Moment) -> Option<Next> {
        if self.running.len() >= self.slots {
            return None;
        }
        let Waiting { permit, evidence } = self.waiting.pop_front()?;
        let start = Start::default();
        let running = Running { start: start.clone(), since: now, next_heartbeat: now.plus(HEARTBEAT) };
        self.running.insert(permit.ticket(), running);
        Some(Next { permit, start, evidence })
    }

    /// Takes everything that waits.
    pub(super) fn take_waiting(&mut self) -> impl Iterator<Item = Permit> {
        core::mem::take(&mut self.waiting).into_iter().map(|waiting| waiting.permit)
    }

    /// Cancels the call that holds this ticket. Gives its permit back if it was still waiting.
    pub(super) fn cancel(&mut self, ticket: u64) -> Option<Permit> {
        if let Some(running) = self.running.get(&ticket) {
            running.start.cancel();
        }
        let place = self.waiting.iter().position(|waiting| waiting.permit.ticket() == ticket)?;
        self.waiting.remove(place).map(|waiting| waiting.permit)
    }

    /// Cancels everything that was started.
    pub(super) fn cancel_running(&self) {
        for running in self.running.values() {
            running.start.cancel();
        }
    }

    /// Forgets what was started: nobody can say any more what became of it.
    pub(super) fn forget_running(&mut self) {
        self.running.clear();
    }

    /// Frees the slot of a settled call.
    pub(super) fn settled(&mut self, ticket: u64) {
        self.running.remove(&ticket);
    }

    /// Whether nothing is started.
    pub(super) fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// The tickets whose heartbeat is due, each with the seconds since its start.
    pub(super) fn heartbeats(&mut self, now: Moment) -> Vec<(u64, u64)> {
        let mut due = Vec::new();
        for (ticket, running) in &mut self.running {
            if running.next_heartbeat <= now {
                running.next_heartbeat = now.plus(HEARTBEAT);
                due.push((*ticket, now.since(running.since).as_secs()));
            }
        }
        due
    }

    /// When the next heartbeat is due.
    pub(super) fn next_heartbeat(&self) -> Option<Moment> {
        self.running.values().map(|running| running.next_heartbeat).min()
    }
}
