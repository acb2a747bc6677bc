//! The whole session: no permit without an allow rule, no ticket settled twice, everything bounded, every
//! reply one strict JSON line.
//!
//! The first byte chooses the handshake and the profile, the second when outcomes arrive; the rest are lines.

#![no_main]

#[path = "../../crates/gate/tests/support/mod.rs"]
mod support;

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use framegate_gate::Moment;
use framegate_gate::authorization::{Permit, RuleId};
use framegate_gate::outcome::Outcome;
use framegate_gate::schema::Catalog;
use framegate_gate::session::{Input, OnInvalidFrame, Session, Step};
use framegate_wire::frame::Reader;
use framegate_wire::json::Parser;
use framegate_wire::message::{Reply, RequestId};
use framegate_wire::{Limits, Reason};
use libfuzzer_sys::fuzz_target;
use support::{AllowAllBut, RULE};

const MAX_FRAME: usize = 16 * 1024;
/// How many calls the world takes at once; the next is withdrawn as busy.
const MAX_HELD: usize = 4;
/// The only tool that the policy has no rule for.
const DENIED: &str = "probe_unruled";
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| support::catalog(&["probe_write", "probe_read", DENIED]));
static INPUTS: AtomicU64 = AtomicU64::new(0);
static PERMITS: AtomicU64 = AtomicU64::new(0);

struct World {
    session: Session,
    held: VecDeque<(Permit, RequestId)>,
    tickets: HashSet<u64>,
    closed: bool,
    sent: Vec<u8>,
}

impl World {
    fn receive(&mut self, input: Input<'_>) {
        let step = self.session.receive(input, Moment::default());
        let Step { replies, permits, refusals, cancels, close, .. } = step;
        assert!(replies.len() <= 1 && permits.len() <= 1 && cancels.len() <= 1);
        let quiet = replies.is_empty() && permits.is_empty() && refusals.is_empty() && cancels.is_empty();
        assert!(!self.closed || (quiet && close.is_none()));
        assert!(permits.is_empty() || (replies.is_empty() && refusals.is_empty() && close.is_none()));
        self.closed |= close.is_some();
        replies.iter().for_each(|reply| self.send(reply));
        for ticket in cancels {
            assert!(self.held.iter().any(|(permit, _)| permit.ticket() == ticket));
        }
        for permit in permits {
            PERMITS.fetch_add(1, Ordering::Relaxed);
            let granted = permit.granted();
            assert_eq!(*granted.rule(), RuleId::Named(RULE.into()));
            assert_ne!(granted.call().tool().name(), DENIED);
            assert!(self.tickets.insert(permit.ticket()), "a ticket for the second time");
            let request = granted.call().request().clone();
            assert!(self.held.iter().all(|(_, busy)| *busy != request), "an id in flight admitted a call");
            if self.held.len() < MAX_HELD {
                self.held.push_back((permit, request));
            } else {
                let reply = self.session.withdraw(permit.surrender(), Reason::Busy);
                reply.iter().for_each(|reply| self.send(reply));
            }
        }
        assert_eq!(self.session.in_flight(), self.held.len());
    }

    fn settle(&mut self) {
        let Some((permit, _)) = self.held.pop_front() else { return };
        let progress = self.session.progress(permit.ticket(), "on its way");
        progress.iter().for_each(|progress| self.send(progress));
        let reply = self.session.settle(permit.surrender(), &Outcome::done("done".to_owned(), None));
        reply.iter().for_each(|reply| self.send(reply));
        assert_eq!(self.session.in_flight(), self.held.len());
    }

    fn send(&mut self, reply: &Reply) {
        self.sent.clear();
        reply.write(&mut self.sent);
        assert_eq!(self.sent.len(), reply.line_length() + 1);
        assert!(self.sent.len() <= 4 * MAX_FRAME, "a reply of {} bytes", self.sent.len());
        let mut reader = Reader::new(&Limits::default());
        reader.push(&self.sent);
        let frame = reader.next().unwrap().unwrap();
        assert_eq!(frame.text().len() + 1, self.sent.len(), "more than one line");
        let mut parser = Parser::new(&Limits::default());
        let document = parser.parse(frame).unwrap();
        let messages = document.root().as_array().map_or(1, |messages| messages.len());
        assert!((1..=100).contains(&messages));
    }
}

fuzz_target!(|data: &[u8]| {
    let [choices, arrivals, lines @ ..] = data else { return };
    let mut options = support::options();
    options.limits = Limits { max_frame: MAX_FRAME, max_depth: 16, max_members: 200, max_nodes: 2_000, ..Limits::default() };
    options.max_used_ids = 32;
    if choices & 1 == 0 {
        options.on_invalid_frame = OnInvalidFrame::Close;
    }
    let mut reader = Reader::new(&options.limits);
    if let Some(revision) = REVISIONS.get(usize::from(choices >> 1 & 7)) {
        reader.push(format!(r#"{{"jsonrpc":"2.0","id":"handshake","method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"n","version":"1"}}}}}}"#).as_bytes());
        reader.push(b"\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    }
    let session = Session::new(options, Arc::clone(&CATALOG), Arc::new(AllowAllBut(DENIED)));
    let mut world =
        World { session, held: VecDeque::new(), tickets: HashSet::new(), closed: false, sent: Vec::new() };
    reader.push(lines);
    let mut ended = false;
    let mut count = 0_u32;
    loop {
        match reader.next() {
            Some(Ok(frame)) => world.receive(Input::Frame(frame)),
            Some(Err(refusal)) => world.receive(Input::Refused(refusal)),
            None if ended => break,
            None => {
                ended = true;
                reader.end();
            }
        }
        if arrivals >> (count % 8) & 1 == 1 {
            world.settle();
        }
        count += 1;
    }
    world.receive(Input::End);
    while !world.held.is_empty() {
        world.settle();
    }
    assert_eq!(world.session.in_flight(), 0);

    let inputs = INPUTS.fetch_add(1, Ordering::Relaxed) + 1;
    if inputs.is_power_of_two() && inputs >= 256 {
        let permits = PERMITS.load(Ordering::Relaxed);
        eprintln!("session: {permits} permits in {inputs} inputs");
        // A run that never comes to a permit proves nothing: it was not given the seeds.
        assert!(inputs < 4_096 || permits > 0, "no input came to a permit; start from fuzz/seeds/session");
    }
});
