//! Calls on their way from permit to outcome, in every order that matters.
//!
//! Belongs here: the queue, the journal's thread and `perform`, with an executor that is held by channels.
//! Does not belong here: bytes, descriptors, replies on the wire.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use framegate_gate::Moment;
use framegate_gate::action::{Origin, Scheme};
use framegate_gate::authorization::{Permit, Principal};
use framegate_gate::outcome::{Outcome, Status};
use framegate_gate::schema::{Catalog, HttpDeclaration, ResultDeclaration, ToolDeclaration};
use framegate_gate::session::{Input, OnInvalidFrame, Session, SessionOptions};
use framegate_journal::{
    Entry, Journal, JournalOptions, Mode, Receipt, Record, Recorded, Start as StartRecord, read_folder,
};
use framegate_policy::{Allow, CedarPolicy, Sources};
use framegate_wire::Limits;
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::calls::{Calls, Next};
use super::evidence::Evidence;
use super::ledger::{Ledger, LedgerEvent, perform};
use super::start::Start;
use crate::config::{self, LogFormat, LogLevel};
use crate::executor::{Executor, Performing};
use crate::log::Log;

/// A session that permits every call of one tool.
struct Peer {
    session: Session,
    reader: Reader,
    calls: u64,
}

impl Peer {
    fn new() -> Self {
        let tool = ToolDeclaration {
            name: "act".to_owned(),
            title: None,
            description: "Acts".to_owned(),
            parameters: Vec::new(),
            ignore_arguments: Vec::new(),
            result: ResultDeclaration::default(),
            http: HttpDeclaration {
                target: "t".to_owned(),
                origin: Origin::new(Scheme::Https, "t.test".into(), 443),
                method: "POST".to_owned(),
                path: "/".to_owned(),
                query: Vec::new(),
                headers: Vec::new(),
                open_query: None,
                cursor: None,
                save: None,
                redirects: Vec::new(),
                body: None,
                reserved_names: Vec::new(),
            },
        };
        let catalog = Arc::new(Catalog::compile(vec![tool]).unwrap());
        let sources = Sources { allows: vec![("act".to_owned(), Allow::Every)], ..Sources::default() };
        let policy = Arc::new(CedarPolicy::compile(sources, &catalog).unwrap());
        let options = SessionOptions {
            limits: Limits::default(),
            on_invalid_frame: OnInvalidFrame::Close,
            max_refusals: 16,
            revisions: vec![Revision::V2026_07_28],
            max_used_ids: 10,
            permit_lifetime: Duration::from_secs(60),
            config: "digest".into(),
            principal: Arc::new(Principal::new("tester".to_owned(), 1)),
            server_version: "0",
            instructions: None,
        };
        let reader = Reader::new(&options.limits);
        Self { session: Session::new(options, catalog, policy), reader, calls: 0 }
    }

    fn permit(&mut self) -> Permit {
        self.calls += 1;
        let id = self.calls;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"act","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
        );
        self.reader.push(line.as_bytes());
        self.reader.push(b"\n");
        let frame = self.reader.next().unwrap().unwrap();
        let mut step = self.session.receive(Input::Frame(frame), Moment::default());
        step.permits.pop().unwrap_or_else(|| panic!("{step:?}"))
    }
}

/// What the held executor does once it is released.
#[derive(Clone, Copy, Debug)]
enum Act {
    Done,
    /// Panics in the call that makes the future.
    PanicAtOnce,
    /// Panics when the future is polled after its release.
    PanicLater,
}

/// Counts performs and holds each until it is released.
struct Held {
    act: Act,
    performs: AtomicUsize,
    entered: Mutex<Sender<String>>,
    release: Semaphore,
}

impl Held {
    fn new(act: Act) -> (Arc<Self>, Receiver<String>) {
        let (entered, entries) = channel();
        let held = Self {
            act,
            performs: AtomicUsize::new(0),
            entered: Mutex::new(entered),
            release: Semaphore::new(0),
        };
        (Arc::new(held), entries)
    }

    fn performs(&self) -> usize {
        self.performs.load(Ordering::SeqCst)
    }
}

impl Executor for Held {
    fn perform(&self, recorded: Recorded) -> Performing<'_> {
        self.performs.fetch_add(1, Ordering::SeqCst);
        self.entered.lock().unwrap().send(recorded.intent().to_owned()).unwrap();
        if matches!(self.act, Act::PanicAtOnce) {
            panic!("meant by the test");
        }
        Box::pin(async move {
            self.release.acquire().await.unwrap().forget();
            if matches!(self.act, Act::PanicLater) {
                panic!("meant by the test");
            }
            Outcome::done("done".to_owned(), None)
        })
    }
}

fn journal(folder: &TempDir, started: bool) -> Journal {
    let dir = folder.path().join("journal");
    let mut journal =
        Journal::open(&JournalOptions { dir, sync: false, max_refusal_bytes: 1 << 20 }).unwrap();
    if started {
        let start = StartRecord {
            version: "0",
            mode: Mode::Live,
            client: "tester",
            config: "digest",
            revisions: &[Revision::V2026_07_28],
        };
        journal.start(&start).unwrap();
    }
    journal
}

/// The statuses of the outcomes on disk, each after its intent.
fn outcomes(folder: &TempDir) -> Vec<String> {
    let view = read_folder(&folder.path().join("journal")).unwrap();
    let mut intents = Vec::new();
    let mut statuses = Vec::new();
    for record in view.entries().iter().map(Entry::record) {
        match record {
            Record::Intent(intent) => intents.push(intent.intent.clone()),
            Record::Outcome(outcome) => {
                assert!(intents.contains(&outcome.intent), "an outcome before its intent");
                statuses.push(outcome.status.clone());
            }
            _ => {}
        }
    }
    statuses
}

/// After which a missing event is a failure instead of a hang. Nothing that passes waits for it.
const HANG: Duration = Duration::from_secs(60);

/// The journal's thread with a held executor.
struct World {
    folder: TempDir,
    peer: Peer,
    executor: Arc<Held>,
    entries: Receiver<String>,
    ledger: Ledger,
    events: Receiver<LedgerEvent>,
}

impl World {
    fn new(act: Act, started: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (executor, entries) = Held::new(act);
        let (report, events) = channel();
        let settings = config::Log { level: LogLevel::Error, format: LogFormat::Text, file: None };
        let ledger = Ledger::start(
            journal(&folder, started),
            Arc::clone(&executor) as Arc<dyn Executor>,
            Log::start(&settings, true, &std::fs::File::open("/dev/null").unwrap()).unwrap(),
            move |event| report.send(event).unwrap(),
        )
        .unwrap();
        Self { folder, peer: Peer::new(), executor, entries, ledger, events }
    }

    fn commit(&mut self) -> Start {
        let start = Start::default();
        let permit = self.peer.permit();
        self.ledger.commit(permit, start.clone());
        start
    }

    /// The intent of the next action that is performed.
    fn entry(&self) -> String {
        self.entries.recv_timeout(HANG).expect("nothing was performed")
    }

    fn event(&self) -> LedgerEvent {
        self.events.recv_timeout(HANG).expect("a call that is never settled")
    }

    /// The next outcome; its ticket settles exactly one call.
    fn finished(&mut self) -> Outcome {
        let LedgerEvent::Finished { ticket, outcome, recorded } = self.event() else {
            panic!("not recorded");
        };
        assert!(recorded);
        let before = self.peer.session.in_flight();
        assert!(self.peer.session.settle(ticket, &outcome).is_some());
        assert_eq!(self.peer.session.in_flight(), before - 1);
        outcome
    }

    /// Stops the journal; the statuses on disk.
    fn stop(self) -> (bool, Vec<String>) {
        let sound = self.ledger.stop(0, "end of the test", 0);
        assert!(self.events.try_recv().is_err(), "an event nobody waited for");
        (sound, outcomes(&self.folder))
    }
}

#[test]
fn a_call_cancelled_before_it_starts_is_not_performed() {
    let mut world = World::new(Act::Done, true);
    let start = Start::default();
    start.cancel();
    let permit = world.peer.permit();
    world.ledger.commit(permit, start);
    assert_eq!(world.finished().status(), Status::NotStarted);
    assert_eq!(world.executor.performs(), 0);
    assert_eq!(world.stop(), (true, vec!["not-started".to_owned()]));
}

#[test]
fn a_call_cancelled_while_it_is_performed_is_unknown() {
    let mut world = World::new(Act::Done, true);
    let start = world.commit();
    world.entry();
    start.cancel();
    assert_eq!(world.finished().status(), Status::Unknown);
    assert_eq!(world.executor.performs(), 1);
    assert_eq!(world.stop(), (true, vec!["unknown".to_owned()]));
}

#[test]
fn a_panic_of_an_executor_is_unknown_and_settles() {
    for act in [Act::PanicAtOnce, Act::PanicLater] {
        let mut world = World::new(act, true);
        let _start = world.commit();
        world.entry();
        world.executor.release.add_permits(1);
        assert_eq!(world.finished().status(), Status::Unknown, "{act:?}");
        // The next call is served all the same.
        let _start = world.commit();
        world.entry();
        world.executor.release.add_permits(1);
        assert_eq!(world.finished().status(), Status::Unknown, "{act:?}");
        assert_eq!(world.peer.session.in_flight(), 0);
        assert_eq!(world.stop(), (true, vec!["unknown".to_owned(); 2]));
    }
}

#[test]
fn what_is_not_recorded_is_not_performed() {
    // A journal without its `start` record takes nothing.
    let mut world = World::new(Act::Done, false);
    for _ in 0..2 {
        let _start = world.commit();
        let LedgerEvent::Unrecorded(tickets) = world.event() else { panic!("recorded") };
        assert_eq!(tickets.len(), 1);
        for ticket in tickets {
            let reason = framegate_wire::Reason::JournalUnavailable;
            assert!(world.peer.session.withdraw(ticket, reason).is_some());
        }
    }
    assert_eq!(world.peer.session.in_flight(), 0);
    assert_eq!(world.executor.performs(), 0);
    assert!(world.entries.try_recv().is_err());
    assert_eq!(world.stop(), (false, Vec::new()));
}

/// Outcomes come back under the tickets of their own calls, in whatever order they end.
#[test]
fn calls_that_end_in_another_order_keep_their_outcomes() {
    let mut world = World::new(Act::Done, true);
    let (first, _second) = (world.commit(), world.commit());
    let entered = [world.entry(), world.entry()];
    assert_ne!(entered[0], entered[1]);
    first.cancel();
    let LedgerEvent::Finished { ticket, outcome, .. } = world.event() else { panic!() };
    assert_eq!((ticket.number(), outcome.status()), (1, Status::Unknown));
    world.executor.release.add_permits(1);
    let LedgerEvent::Finished { ticket: other, outcome, .. } = world.event() else { panic!() };
    assert_eq!((other.number(), outcome.status()), (2, Status::Done));
    for ticket in [ticket, other] {
        assert!(world.peer.session.settle(ticket, &outcome).is_some());
    }
    assert_eq!(world.executor.performs(), 2);
    assert_eq!(world.stop(), (true, vec!["unknown".to_owned(), "done".to_owned()]));
}

/// One move of the schedule below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    /// The executor's thread runs the call as far as it goes.
    Run,
    /// The peer cancels it, or the session ends.
    Cancel,
    /// The target answers.
    Answer,
}

/// Every order of these moves, each order once.
fn orders(left: [(Move, usize); 3], order: &mut Vec<Move>, visit: &mut dyn FnMut(&[Move])) {
    if left.iter().all(|(_, count)| *count == 0) {
        visit(order);
    }
    for index in 0..left.len() {
        let mut next = left;
        if next[index].1 > 0 {
            next[index].1 -= 1;
            order.push(left[index].0);
            orders(next, order, visit);
            order.pop();
        }
    }
}

fn record(journal: &mut Journal, peer: &mut Peer) -> (Recorded, Receipt) {
    journal.commit(vec![peer.permit()]).unwrap().pop().unwrap()
}

/// The one step that decides: whatever the order, `not-started` means that nothing was performed, and
/// everything else that it was performed once.
#[test]
fn whatever_the_order_the_outcome_tells_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = journal(&folder, true);
    let mut peer = Peer::new();
    let mut explored = 0;
    let mut seen = Vec::new();
    let moves = [(Move::Run, 3), (Move::Cancel, 2), (Move::Answer, 1)];
    orders(moves, &mut Vec::new(), &mut |order| {
        explored += 1;
        let (executor, _entries) = Held::new(Act::Done);
        let (recorded, receipt) = record(&mut journal, &mut peer);
        let start = Start::default();
        let mut performing = Box::pin(perform(&*executor, recorded, &start));
        let mut context = Context::from_waker(Waker::noop());
        let (mut begun, mut cancelled, mut answered) = (false, false, false);
        let mut outcome: Option<Outcome> = None;
        // At the end the peer cancels and the call runs once more, so that every schedule ends.
        for step in order.iter().copied().chain([Move::Cancel, Move::Run]) {
            match step {
                Move::Cancel => {
                    start.cancel();
                    cancelled = true;
                }
                Move::Answer => {
                    executor.release.add_permits(1);
                    answered = true;
                }
                Move::Run if outcome.is_some() => {}
                Move::Run => {
                    let expected = match (begun, cancelled, answered) {
                        (false, true, _) => Some(Status::NotStarted),
                        (_, _, true) => Some(Status::Done),
                        (true, true, false) => Some(Status::Unknown),
                        (_, false, false) => None,
                    };
                    begun |= !cancelled;
                    if let Poll::Ready(ready) = performing.as_mut().poll(&mut context) {
                        outcome = Some(ready);
                    }
                    assert_eq!(outcome.as_ref().map(Outcome::status), expected, "{order:?}");
                    assert_eq!(executor.performs(), usize::from(begun), "{order:?}");
                }
            }
        }
        let outcome = outcome.unwrap();
        assert_eq!(outcome.status() == Status::NotStarted, executor.performs() == 0, "{order:?}");
        seen.push(outcome.status().name());
        let (ticket, written) = journal.close(receipt, &outcome);
        written.unwrap();
        assert!(peer.session.settle(ticket, &outcome).is_some());
    });
    println!("{explored} schedules");
    assert_eq!(explored, 60);
    for status in ["done", "unknown", "not-started"] {
        assert!(seen.contains(&status), "{status}");
    }
}

/// One slot, one place in the queue: what waits can be cancelled, what is refused comes back, and nothing
/// starts twice.
#[test]
fn what_waits_starts_in_order_or_not_at_all() {
    let mut peer = Peer::new();
    let mut calls = Calls::new(1, 1);
    let now = Moment::default();
    calls.enqueue(peer.permit(), Evidence::default()).unwrap();
    let Next { permit: first, start: first_start, .. } = calls.next(now).unwrap();
    calls.enqueue(peer.permit(), Evidence::default()).unwrap();
    // The slot is taken and the queue is full.
    assert!(calls.next(now).is_none());
    let (refused, _) = *calls.enqueue(peer.permit(), Evidence::default()).unwrap_err();
    assert_eq!(refused.ticket(), 3);
    let second = calls.cancel(2).unwrap();
    assert_eq!(second.ticket(), 2);
    assert!(calls.cancel(2).is_none(), "it waits no more");
    calls.settled(first.ticket());
    assert!(calls.next(now).is_none() && calls.is_idle());
    assert!(first_start.begin(), "another call's cancellation reached this one");
    // A started call is cancelled through its start.
    calls.enqueue(peer.permit(), Evidence::default()).unwrap();
    let Next { permit: fourth, start: fourth_start, .. } = calls.next(now).unwrap();
    assert!(calls.cancel(4).is_none());
    assert!(!fourth_start.begin());
    calls.enqueue(peer.permit(), Evidence::default()).unwrap();
    let waiting: Vec<_> = calls.take_waiting().map(Permit::surrender).collect();
    assert_eq!(waiting.len(), 1);
    for permit in [first, refused, second, fourth] {
        let _ = permit.surrender();
    }
}
