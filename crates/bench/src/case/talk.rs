//! A conversation with a target: the handshake of either era, requests and their answers, a sign of life.
//!
//! Belongs here: sound messages, waiting for answers. Does not belong here: hostile frames, judging.

use std::sync::Arc;
use std::time::Duration;

use framegate_corpus::{Phase, Revision};
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::judge::Sent;
use crate::observe::{Watch, excerpt};
use crate::target::{Running, Snapshot, Stdin};

use super::Step;

/// The most that is shown of what was sent, in bytes.
const SHOWN: usize = 2_000;

/// A longer line, in bytes, is held to be no message that was cut off.
const LONGEST: usize = 16 * 1024 * 1024;
/// The most messages that are looked at together.
const MAX_MESSAGES: usize = 50_000;
/// The most values in one message.
const MAX_VALUES: usize = 1_000_000;

/// What is asked for where any revision will do.
const PREFERRED: Revision = Revision::V2025_06_18;

/// A request that was sent.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) id: Value,
    pub(crate) method: String,
    pub(crate) params: Option<Value>,
}

/// A target and what was said so far.
#[derive(Debug)]
pub(crate) struct Talk {
    running: Running,
    /// Who it is told that it talks with.
    client: Client,
    wait: Duration,
    next: i64,
    /// What is spoken, once that is settled: a modern request carries it.
    revision: Option<Revision>,
    asked: Vec<Asked>,
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

impl Left {
    /// Whether stdout must end with a line: not where we cut a message off, by killing whoever was writing it or by
    /// keeping no more.
    pub(crate) fn must_end_whole(&self) -> bool {
        let last = self.bytes.stdout.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let is_begun = matches!(last.first(), Some(b'{' | b'[')) && last.len() < LONGEST;
        !(is_begun && (self.bytes.stdout_cut || self.bytes.stdout_broken_off))
    }
}

impl Talk {
    pub(crate) fn new(running: Running, client: Client, wait: Duration) -> Self {
        Self {
            running,
            client,
            wait,
            next: 1,
            revision: None,
            asked: Vec::new(),
            scanned: 0,
            steps: Vec::new(),
        }
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

    /// The requests so far.
    pub(crate) fn asked(&self) -> &[Asked] {
        &self.asked
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

    /// Writes a request without waiting; its id. In the stateless era it gets its `_meta` here.
    pub(crate) fn write_request(&mut self, method: &str, params: Option<&Value>) -> i64 {
        let mut params = params.cloned();
        if self.revision.is_some_and(Revision::is_modern) {
            let params = params.get_or_insert_with(|| json!({}));
            if let Some(params) = params.as_object_mut() {
                add_meta(params, self.client);
            }
        }
        self.write_bare(method, params.as_ref())
    }

    /// Writes a request with exactly these params; its id.
    pub(crate) fn write_bare(&mut self, method: &str, params: Option<&Value>) -> i64 {
        let id = self.take_id();
        self.write_with_id(&json!(id), method, params);
        id
    }

    /// Writes a request with this id.
    pub(crate) fn write_with_id(&mut self, id: &Value, method: &str, params: Option<&Value>) {
        let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if let (Some(params), Some(object)) = (params, request.as_object_mut()) {
            object.insert("params".to_owned(), params.clone());
        }
        self.asked.push(Asked { id: id.clone(), method: method.to_owned(), params: params.cloned() });
        self.send(method, format!("{request}\n").as_bytes());
    }

    /// The answer to this id, if it comes in time.
    pub(crate) fn answer(&mut self, id: i64) -> Option<Value> {
        self.answer_to(&json!(id))
    }

    /// Whether the answer to this id has come by now.
    pub(crate) fn is_answered(&self, id: i64) -> bool {
        let mut lines = Lines::behind(self.scanned);
        self.running
            .look(|bytes| lines.messages(&bytes.stdout).any(|message| is_answer(&message, &json!(id))))
    }

    /// The same for an id of any type.
    pub(crate) fn answer_to(&mut self, id: &Value) -> Option<Value> {
        self.message_within(self.wait, |message| is_answer(message, id))
    }

    /// Which of these are not answered in time, all together.
    pub(crate) fn missing(&mut self, ids: &[i64]) -> Vec<i64> {
        let mut missing = ids.to_vec();
        let mut lines = Lines::behind(self.scanned);
        self.running.wait_for(self.wait, |bytes| {
            for message in lines.messages(&bytes.stdout) {
                missing.retain(|id| !is_answer(&message, &json!(id)));
            }
            missing.is_empty().then_some(())
        });
        missing
    }

    /// The first message of which this is true, if it comes in time.
    pub(crate) fn message_within(
        &mut self,
        at_most: Duration,
        is_it: impl Fn(&Value) -> bool,
    ) -> Option<Value> {
        let mut lines = Lines::behind(self.scanned);
        self.running.wait_for(at_most, |bytes| lines.messages(&bytes.stdout).find(|message| is_it(message)))
    }

    /// Every message by now, what was skipped left out; of very many the first [`MAX_MESSAGES`].
    pub(crate) fn messages(&self) -> Vec<Value> {
        let mut lines = Lines::behind(self.scanned);
        self.running.look(|bytes| lines.messages(&bytes.stdout).take(MAX_MESSAGES).collect())
    }

    /// A request and its answer.
    pub(crate) fn ask(&mut self, method: &str, params: Option<&Value>) -> Option<Value> {
        let id = self.write_request(method, params);
        self.answer(id)
    }

    /// Says what has been said in this phase; `None` if the target does not speak the revision, or not at all.
    pub(crate) fn reach(&mut self, phase: Phase, revision: Revision) -> Option<()> {
        if phase == Phase::New {
            self.revision = revision.is_modern().then_some(revision);
            return Some(());
        }
        if revision.is_modern() {
            self.revision = Some(revision);
            let reply = self.ask("tools/list", None)?;
            return reply.get("result").map(|_| ());
        }
        self.revision = None;
        if self.offered(revision.name())? != revision.name() {
            return None;
        }
        self.revision = Some(revision);
        if phase == Phase::Ready {
            self.initialized();
        }
        Some(())
    }

    /// Gets ready in a revision of the target's own choice.
    pub(crate) fn negotiate(&mut self) -> Option<Revision> {
        let revision = self.shake_hands()?;
        if !revision.is_modern() {
            self.initialized();
        }
        Some(revision)
    }

    /// `initialize` and its answer, whichever revision that names; or a discovery.
    pub(crate) fn shake_hands(&mut self) -> Option<Revision> {
        let known = |name: String| Revision::ALL.into_iter().find(|known| known.name() == name);
        if let Some(revision) = self.offered(PREFERRED.name()).and_then(known) {
            self.revision = Some(revision);
            return Some(revision);
        }
        self.is_modern().then_some(Revision::V2026_07_28)
    }

    /// The revision that `initialize` is answered with when this one is asked for.
    pub(crate) fn offered(&mut self, asked: &str) -> Option<String> {
        let answer = self.ask("initialize", Some(&initialize_as(self.client, asked)))?;
        version(&answer).map(str::to_owned)
    }

    /// Says that the client is ready.
    pub(crate) fn initialized(&mut self) {
        self.send(
            "notifications/initialized",
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        );
    }

    /// Whether the target speaks 2026-07-28: it answers `server/discover` with a result.
    pub(crate) fn is_modern(&mut self) -> bool {
        self.revision = Some(Revision::V2026_07_28);
        let is_modern = self.ask("server/discover", None).is_some_and(|reply| reply.get("result").is_some());
        if !is_modern {
            self.revision = None;
        }
        is_modern
    }

    /// A request that every target of the era serves: `ping`, or `server/discover` in the stateless one.
    pub(crate) fn sign_of_life(&self) -> &'static str {
        if self.revision.is_some_and(Revision::is_modern) { "server/discover" } else { "ping" }
    }

    /// Whether the target still answers.
    pub(crate) fn is_alive(&mut self) -> bool {
        self.ask(self.sign_of_life(), None).is_some()
    }

    /// What was written to stdout by now, in bytes.
    pub(crate) fn stdout_length(&self) -> usize {
        self.running.look(|bytes| bytes.stdout.len())
    }

    /// Messages so far are not looked at again.
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
        let sent = self.asked.iter().map(|asked| Sent { id: asked.id.to_string() }).collect();
        Left { bytes: self.running.end(), sent, watch }
    }
}

/// Whole lines of a growing stdout, each read once.
struct Lines {
    /// Where the first line begins that was not read.
    next: usize,
    /// Up to where its end was looked for.
    searched: usize,
}

impl Lines {
    fn behind(offset: usize) -> Self {
        Self { next: offset, searched: offset }
    }

    /// Every message in the lines that have ended by now, whatever else stands there.
    fn messages<'a>(&'a mut self, stdout: &'a [u8]) -> impl Iterator<Item = Value> + 'a {
        std::iter::from_fn(move || self.line(stdout)).filter_map(message)
    }

    fn line<'a>(&mut self, stdout: &'a [u8]) -> Option<&'a [u8]> {
        let Some(length) = memchr::memchr(b'\n', stdout.get(self.searched..)?) else {
            self.searched = stdout.len();
            return None;
        };
        let end = self.searched.saturating_add(length);
        let line = stdout.get(self.next..end);
        self.next = end.saturating_add(1);
        self.searched = self.next;
        line
    }
}

/// The line as a value. One of more values than anything that is judged could need is none: its bytes are judged all
/// the same, and a value takes many times the memory of its bytes.
fn message(line: &[u8]) -> Option<Value> {
    let is_large = line.len() > MAX_VALUES
        && memchr::memchr3_iter(b',', b'[', b'{', line).take(MAX_VALUES).count() >= MAX_VALUES;
    if is_large { None } else { serde_json::from_slice(line).ok() }
}

fn is_answer(message: &Value, id: &Value) -> bool {
    message.get("id") == Some(id) && message.get("method").is_none()
}

/// The revision that an answer to `initialize` names.
pub(crate) fn version(answer: &Value) -> Option<&str> {
    answer.pointer("/result/protocolVersion")?.as_str()
}

/// The params of `initialize`, from the bench itself.
pub(crate) fn initialize(version: &str) -> Value {
    initialize_as(Client::default(), version)
}

/// The params of `initialize` from this client; no capability is declared.
pub(crate) fn initialize_as(client: Client, version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info(client)})
}

fn info(client: Client) -> Value {
    let (name, version) = client.info();
    json!({"name": name, "version": version})
}

/// `_meta` of a request of 2026-07-28, from the bench itself.
pub(crate) fn meta() -> Value {
    meta_as(Client::default())
}

fn meta_as(client: Client) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": Revision::V2026_07_28.name(),
        "io.modelcontextprotocol/clientInfo": info(client),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Adds a client's `_meta` to what is there; members that are there stay.
fn add_meta(params: &mut Map<String, Value>, client: Client) {
    let there = params.entry("_meta").or_insert_with(|| json!({}));
    if let (Some(there), Value::Object(meta)) = (there.as_object_mut(), meta_as(client)) {
        for (name, value) in meta {
            there.entry(name).or_insert(value);
        }
    }
}
