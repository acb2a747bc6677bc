//! Every interleaving of calls, cancellations, reuse of ids, outcomes and the end of input, on a small model.
//!
//! Belongs here: 3 calls under 2 ids, both eras, real frames through `Session::receive`, and what must hold
//! after every step.
//! Does not belong here: threads; how an outcome comes about.

mod support;

use std::collections::BTreeMap;
use std::sync::Arc;

use framegate_gate::Moment;
use framegate_gate::authorization::Permit;
use framegate_gate::outcome::Outcome;
use framegate_gate::schema::Catalog;
use framegate_gate::session::{Input, Session, Step};
use framegate_wire::frame::Reader;
use framegate_wire::message::Reply;
use serde_json::{Value, json};
use support::AllowAllBut;

/// Calls in a schedule.
const CALLS: usize = 3;
/// Wire ids that they share.
const IDS: [&str; 2] = ["1", "\"a\""];
/// Cancellations in a schedule.
const CANCELS: usize = 2;
/// Tools, one a call: an outcome that reaches another call shows by its tool.
const TOOLS: [&str; CALLS] = ["first", "second", "third"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Handshake,
    Stateless,
}

/// One move of the peer or of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The next tool is called under this id.
    Call(usize),
    /// The request of this id is cancelled.
    Cancel(usize),
    /// The outcome of this call arrives.
    Settle(usize),
    /// The input ends.
    Close,
}

/// What must be the case, kept apart from the session.
#[derive(Clone, Debug, Default)]
struct Model {
    calls: usize,
    cancels: usize,
    closed: bool,
    /// Unsettled calls: which id each has, and whether it was cancelled.
    open: BTreeMap<usize, (usize, bool)>,
    used: [bool; IDS.len()],
}

impl Model {
    /// The moves that can come next.
    fn moves(&self) -> Vec<Event> {
        let mut moves = Vec::new();
        // What the peer says after the end of the input is asked once, not in every interleaving.
        if !self.closed {
            for id in 0..IDS.len() {
                if self.calls < CALLS {
                    moves.push(Event::Call(id));
                }
                if self.cancels < CANCELS {
                    moves.push(Event::Cancel(id));
                }
            }
            moves.push(Event::Close);
        }
        moves.extend(self.open.keys().map(|call| Event::Settle(*call)));
        moves
    }

    fn holder(&self, id: usize) -> Option<usize> {
        self.open.iter().find(|(_, (busy, _))| *busy == id).map(|(call, _)| *call)
    }
}

/// One session with the permits that it gave.
struct Run {
    era: Era,
    session: Session,
    reader: Reader,
    permits: BTreeMap<usize, Permit>,
}

impl Run {
    fn new(era: Era, catalog: &Arc<Catalog>) -> Self {
        let options = support::options();
        let reader = Reader::new(&options.limits);
        let session = Session::new(options, Arc::clone(catalog), Arc::new(AllowAllBut("")));
        let mut run = Self { era, session, reader, permits: BTreeMap::new() };
        if era == Era::Handshake {
            let client = json!({"name": "n", "version": "1"});
            let params = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
            let _ = run.receive(
                &json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string(),
            );
            let _ = run.receive(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        }
        run
    }

    fn receive(&mut self, line: &str) -> Step {
        self.reader.push(line.as_bytes());
        self.reader.push(b"\n");
        let frame = self.reader.next().unwrap().unwrap();
        self.session.receive(Input::Frame(frame), Moment::default())
    }

    fn call(&mut self, tool: &str, id: &str) -> Step {
        let meta = match self.era {
            Era::Handshake => String::new(),
            Era::Stateless => r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#.to_owned(),
        };
        self.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"marker":"m"}}{meta}}}}}"#
        ))
    }
}

fn parse(reply: &Reply) -> Value {
    let mut line = Vec::new();
    reply.write(&mut line);
    serde_json::from_slice(&line).unwrap()
}

/// Plays one move on both sides and compares.
fn play(run: &mut Run, model: &mut Model, event: Event) {
    match event {
        Event::Call(id) => {
            let call = model.calls;
            model.calls += 1;
            let step = run.call(TOOLS[call], IDS[id]);
            assert!(step.cancels.is_empty() && step.close.is_none());
            let reused = run.era == Era::Handshake && model.used[id];
            if model.holder(id).is_some() || reused {
                // An id in flight never admits a second call, and its refusal does not carry the id.
                assert!(step.permits.is_empty(), "a busy or used id admitted a call");
                let [reply] = &step.replies[..] else { panic!("{step:?}") };
                let reply = parse(reply);
                let (reason, carried) = match model.holder(id) {
                    Some(_) => ("id-in-flight", None),
                    None => ("id-used", Some(serde_json::from_str::<Value>(IDS[id]).unwrap())),
                };
                assert_eq!(reply["error"]["data"]["reason"], reason);
                assert_eq!(reply.get("id").filter(|id| !id.is_null()), carried.as_ref());
            } else {
                assert!(step.replies.is_empty() && step.refusals.is_empty(), "{step:?}");
                let [permit] = <[Permit; 1]>::try_from(step.permits).unwrap();
                assert_eq!(permit.granted().call().tool().name(), TOOLS[call]);
                assert_eq!(permit.granted().call().request().to_string(), IDS[id]);
                run.permits.insert(call, permit);
                model.open.insert(call, (id, false));
                model.used[id] = true;
            }
        }
        Event::Cancel(id) => {
            model.cancels += 1;
            let line = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                IDS[id]
            );
            let step = run.receive(&line);
            assert!(step.replies.is_empty() && step.permits.is_empty() && step.close.is_none());
            let expected = match model.holder(id) {
                Some(call) if !model.open[&call].1 => {
                    model.open.insert(call, (id, true));
                    vec![run.permits[&call].ticket()]
                }
                Some(_) | None => Vec::new(),
            };
            assert_eq!(step.cancels, expected);
        }
        Event::Settle(call) => {
            let (id, cancelled) = model.open.remove(&call).unwrap();
            let ticket = run.permits.remove(&call).unwrap().surrender();
            let outcome = Outcome::done(format!("outcome of {}", TOOLS[call]), None);
            let reply = run.session.settle(ticket, &outcome);
            if cancelled {
                assert_eq!(reply, None, "a cancelled request was answered");
            } else {
                let reply = parse(&reply.expect("an outcome without its reply"));
                assert_eq!(reply["id"].to_string(), IDS[id], "an outcome under another id");
                assert_eq!(reply["result"]["content"][0]["text"], format!("outcome of {}", TOOLS[call]));
            }
        }
        Event::Close => {
            model.closed = true;
            let step = run.session.receive(Input::End, Moment::default());
            assert!(step.replies.is_empty() && step.permits.is_empty() && step.close.is_some());
            // Whatever follows is not heard: no permit, no reply, no cancellation.
            for id in IDS {
                let late = run.call(TOOLS[0], id);
                assert!(late.permits.is_empty() && late.replies.is_empty(), "heard after the end");
            }
            let late = run
                .receive(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
            assert!(late.cancels.is_empty());
        }
    }
    assert_eq!(run.session.in_flight(), model.open.len());
    assert_eq!(run.permits.len(), model.open.len());
    for (call, permit) in &run.permits {
        // Nobody asked for progress, so nothing may be sent for a call on its way.
        assert!(run.session.progress(permit.ticket(), "m").is_none(), "{call}");
    }
}

/// Replays a schedule from the start: a session cannot be copied, nor can a permit.
fn replay(era: Era, catalog: &Arc<Catalog>, schedule: &[Event]) -> Model {
    let mut run = Run::new(era, catalog);
    let mut model = Model::default();
    for event in schedule {
        play(&mut run, &mut model, *event);
    }
    for (_, permit) in std::mem::take(&mut run.permits) {
        let _ = permit.surrender();
    }
    model
}

#[derive(Debug, Default)]
struct Explored {
    schedules: u64,
    calls_refused: u64,
    cancelled: u64,
}

fn explore(
    era: Era,
    catalog: &Arc<Catalog>,
    schedule: &mut Vec<Event>,
    model: &Model,
    explored: &mut Explored,
) {
    let moves = model.moves();
    // A schedule is complete when nothing can follow; every shorter one is its beginning.
    if moves.is_empty() {
        let context = Context(schedule);
        let end = replay(era, catalog, context.0);
        std::mem::forget(context);
        explored.schedules += 1;
        explored.calls_refused +=
            u64::from(end.calls > count(schedule, |event| matches!(event, Event::Settle(_))));
        explored.cancelled += u64::from(count(schedule, |event| matches!(event, Event::Cancel(_))) > 0);
        return;
    }
    for event in moves {
        let mut next = model.clone();
        advance(era, &mut next, event);
        schedule.push(event);
        explore(era, catalog, schedule, &next, explored);
        schedule.pop();
    }
}

/// Prints the schedule that failed.
struct Context<'a>(&'a [Event]);

impl Drop for Context<'_> {
    fn drop(&mut self) {
        eprintln!("schedule: {:?}", self.0);
    }
}

fn count(schedule: &[Event], wanted: impl Fn(&Event) -> bool) -> usize {
    schedule.iter().filter(|event| wanted(event)).count()
}

/// The model's half of [`play`].
fn advance(era: Era, model: &mut Model, event: Event) {
    match event {
        Event::Call(id) => {
            let call = model.calls;
            model.calls += 1;
            if model.holder(id).is_none() && !(era == Era::Handshake && model.used[id]) {
                model.open.insert(call, (id, false));
                model.used[id] = true;
            }
        }
        Event::Cancel(id) => {
            model.cancels += 1;
            if let Some(call) = model.holder(id) {
                model.open.insert(call, (id, true));
            }
        }
        Event::Settle(call) => drop(model.open.remove(&call)),
        Event::Close => model.closed = true,
    }
}

#[test]
fn every_interleaving_keeps_its_promises() {
    let catalog = support::catalog(&TOOLS);
    for (era, least) in [(Era::Handshake, 1_000), (Era::Stateless, 1_000)] {
        let mut explored = Explored::default();
        explore(era, &catalog, &mut Vec::new(), &Model::default(), &mut explored);
        println!("{era:?}: {explored:?}");
        assert!(explored.schedules > least, "{era:?}: {explored:?}");
        assert!(explored.calls_refused > 0 && explored.cancelled > 0, "{era:?}: {explored:?}");
    }
}
