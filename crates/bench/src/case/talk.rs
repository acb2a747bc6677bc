//! A conversation with a target: the handshake of either era, requests and their answers, a sign of life.
//!
//! Belongs here: sound messages, waiting for answers. Does not belong here: hostile frames, judging.

use std::sync::Arc;
use std::time::{Duration, Instant};

use framegate_corpus::{Phase, Revision};
use serde_json::{Value, json};

use crate::judge::Sent;
use crate::observe::{Watch, excerpt};
use crate::target::{Running, Snapshot, Stdin};

use super::Step;

/// The most that is shown of what was sent, in bytes.
const SHOWN: usize = 2_000;

/// A target and what was said so far.
#[derive(Debug)]
pub(crate) struct Talk {
    running: Running,
    wait: Duration,
    next: i64,
    sent: Vec<Sent>,
    scanned: usize,
    steps: Vec<Step>,
}

/// What a target left.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) bytes: Snapshot,
    pub(crate) sent: Vec<Sent>,
    pub(crate) watch: Option<Arc<Watch>>,
}

impl Talk {
    pub(crate) fn new(running: Running, wait: Duration) -> Self {
        Self { running, wait, next: 1, sent: Vec::new(), scanned: 0, steps: Vec::new() }
    }

    pub(crate) fn running(&mut self) -> &mut Running {
        &mut self.running
    }

    /// An id, unused, with the one above it unused too.
    pub(crate) fn take_id(&mut self) -> i64 {
        let id = self.next;
        self.next = self.next.saturating_add(2);
        id
    }

    /// Notes that this id was asked with.
    pub(crate) fn asked(&mut self, id: i64) {
        self.sent.push(Sent { id: id.to_string() });
    }

    pub(crate) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Forgets what was done: the next case begins.
    pub(crate) fn begin_case(&mut self) {
        self.steps.clear();
    }

    pub(crate) fn send(&mut self, what: &str, bytes: &[u8]) -> Stdin {
        self.steps.push(Step { what: what.to_owned(), bytes: excerpt(bytes, SHOWN) });
        self.running.send(bytes)
    }

    pub(crate) fn send_cut(&mut self, what: &str, bytes: &[u8], cuts: &[usize]) -> Stdin {
        self.steps.push(Step {
            what: format!("{what}, in {} pieces", cuts.len().saturating_add(1)),
            bytes: excerpt(bytes, SHOWN),
        });
        let starts = std::iter::once(0).chain(cuts.iter().copied());
        let ends = cuts.iter().copied().chain([bytes.len()]);
        let pieces = starts.zip(ends).filter_map(|(start, end)| bytes.get(start..end));
        self.running.send_pieces(pieces)
    }

    /// Writes a request without waiting; its id.
    pub(crate) fn write_request(&mut self, method: &str, params: Option<&Value>) -> i64 {
        let id = self.take_id();
        self.asked(id);
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if let (Some(params), Some(object)) = (params, request.as_object_mut()) {
            object.insert("params".to_owned(), params.clone());
        }
        let line = format!("{request}\n");
        self.send(method, line.as_bytes());
        id
    }

    /// The answer to this id, if it comes in time.
    pub(crate) fn answer(&mut self, id: i64) -> Option<Value> {
        self.answer_within(self.wait, id)
    }

    /// How many of these are not answered in time, all together.
    pub(crate) fn missing(&mut self, ids: &[i64]) -> usize {
        let begun = Instant::now();
        let left = |talk: &Self| talk.wait.saturating_sub(begun.elapsed());
        ids.iter().filter(|id| self.answer_within(left(self), **id).is_none()).count()
    }

    fn answer_within(&mut self, at_most: Duration, id: i64) -> Option<Value> {
        let scanned = self.scanned;
        self.running.wait_for(at_most, |bytes| {
            let behind = bytes.stdout.get(scanned..).unwrap_or_default();
            let mut lines =
                behind.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"));
            lines.find_map(|line| answer_in(line, id))
        })
    }

    /// A request and its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Option<&Value>) -> Option<Value> {
        let id = self.write_request(method, params);
        self.answer(id)
    }

    /// Says what has been said in this phase; `None` if the target does not speak the revision, or not at all.
    pub(crate) fn reach(&mut self, phase: Phase, revision: Revision) -> Option<()> {
        if phase == Phase::New {
            return Some(());
        }
        if revision.is_modern() {
            let reply = self.ask("tools/list", Some(&json!({"_meta": meta()})))?;
            return reply.get("result").map(|_| ());
        }
        let params = json!({
            "protocolVersion": revision.name(),
            "capabilities": {},
            "clientInfo": {"name": "framegate-check", "version": env!("CARGO_PKG_VERSION")},
        });
        let reply = self.ask("initialize", Some(&params))?;
        let spoken = reply.pointer("/result/protocolVersion").and_then(Value::as_str);
        if spoken != Some(revision.name()) {
            return None;
        }
        if phase == Phase::Ready {
            self.send(
                "notifications/initialized",
                b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
            );
        }
        Some(())
    }

    /// Whether the target speaks 2026-07-28: it answers `server/discover` with a result.
    pub(crate) fn is_modern(&mut self) -> bool {
        let reply = self.ask("server/discover", Some(&json!({"_meta": meta()})));
        reply.is_some_and(|reply| reply.get("result").is_some())
    }

    /// Whether the target still answers: `ping`, or `server/discover` in the stateless era.
    pub(crate) fn is_alive(&mut self, revision: Revision) -> bool {
        if revision.is_modern() {
            self.ask("server/discover", Some(&json!({"_meta": meta()}))).is_some()
        } else {
            self.ask("ping", None).is_some()
        }
    }

    /// What was written to stdout by now, in bytes.
    pub(crate) fn stdout_length(&self) -> usize {
        self.running.snapshot().stdout.len()
    }

    /// Answers so far are not looked at again.
    pub(crate) fn skip_to(&mut self, offset: usize) {
        self.scanned = offset;
    }

    /// Ends its input, waits for its end, ends it otherwise.
    pub(crate) fn finish(mut self) -> Left {
        self.running.close_stdin();
        self.running.wait_end(self.wait);
        self.stop()
    }

    /// As it is, without waiting for anything.
    pub(crate) fn stop(self) -> Left {
        let watch = self.running.watch();
        Left { bytes: self.running.end(), sent: self.sent, watch }
    }
}

fn answer_in(line: &[u8], id: i64) -> Option<Value> {
    let value: Value = serde_json::from_slice(line).ok()?;
    let is_answer = value.get("id").and_then(Value::as_i64) == Some(id) && value.get("method").is_none();
    is_answer.then_some(value)
}

/// `_meta` of a request of 2026-07-28.
pub(crate) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}
