//! A process of its own for one check.
//!
//! Belongs here: starting it, asking, looking at what came without being asked for.
//! Does not belong here: what is right.

use std::io;
use std::thread;
use std::time::Duration;

use framegate_corpus::{Phase, Revision};
use serde_json::{Value, json};

use super::Found;
use crate::bench::Bench;
use crate::case::plain::harmless;
use crate::case::talk::meta;
use crate::case::{Step, Talk};
use crate::observe::Folder;
use crate::target::Snapshot;
use crate::verdict::Kind;

/// How long what must not come is waited for, behind a sign of life that was answered.
const QUIET: Duration = Duration::from_millis(150);

pub(super) struct Probe<'a> {
    pub(super) bench: &'a Bench<'a>,
    pub(super) talk: Talk,
    pub(super) revision: Revision,
    folder: Folder,
}

impl<'a> Probe<'a> {
    pub(super) fn start(bench: &'a Bench<'a>, revision: Revision) -> io::Result<Self> {
        let (mut talk, folder) = bench.start_as(|_| {})?;
        // Nothing is said yet; in the stateless era every request has its `_meta` from here on.
        let _ = talk.reach(Phase::New, revision);
        Ok(Self { bench, talk, revision, folder })
    }

    /// Another process in the same state.
    pub(super) fn another(&self) -> io::Result<Self> {
        Self::start(self.bench, self.revision)
    }

    /// Gets to where calls are served.
    pub(super) fn ready(&mut self) -> Result<(), Found> {
        // A server of both eras knows by the first request which one is spoken.
        if self.revision.is_modern() {
            return self.ask("tools/list", None).map(|_| ());
        }
        let reached = self.talk.reach(Phase::Ready, self.revision);
        reached.ok_or_else(|| Found::unanswered("`initialize`, in another process,"))
    }

    /// A request's answer.
    pub(super) fn ask(&mut self, method: &str, params: Option<&Value>) -> Result<Value, Found> {
        self.talk.ask(method, params).ok_or_else(|| Found::unanswered(&format!("`{method}`")))
    }

    /// A request's answer; its params are exactly these.
    pub(super) fn ask_bare(&mut self, method: &str, params: Option<&Value>) -> Result<Value, Found> {
        let id = self.talk.write_bare(method, params);
        self.talk.answer(id).ok_or_else(|| Found::unanswered(&format!("`{method}`")))
    }

    /// A line as it is.
    pub(super) fn say(&mut self, what: &str, line: &str) {
        self.talk.send(what, format!("{line}\n").as_bytes());
    }

    /// Calls that may be made, with arguments.
    pub(super) fn harmless(&self, listed: &Value) -> Vec<(String, Value)> {
        harmless(self.bench, listed, &self.folder)
    }

    /// A request that every server of the era serves, with its params.
    pub(super) fn sign(&self) -> (&'static str, Option<Value>) {
        let params = self.revision.is_modern().then(|| json!({ "_meta": meta() }));
        (self.talk.sign_of_life(), params)
    }

    /// Whether a request is still answered.
    pub(super) fn alive(&mut self, behind: &str) -> Result<(), Found> {
        let sign = self.talk.sign_of_life();
        match self.talk.is_alive() {
            true => Ok(()),
            false => Err(Found::unanswered(&format!("`{sign}` behind {behind}"))),
        }
    }

    /// Says what must not be answered: fails if it was, or if nothing is answered any more.
    pub(super) fn say_unanswered(&mut self, what: &str, line: &Value) -> Result<(), Found> {
        let before = self.talk.stdout_length();
        self.say(what, &line.to_string());
        self.alive(what)?;
        thread::sleep(QUIET);
        self.talk.skip_to(before);
        let sign = self.talk.asked().last().map(|asked| &asked.id);
        let is_answer = |message: &Value| message.get("method").is_none() && message.get("id") != sign;
        match self.talk.messages().iter().any(is_answer) {
            true => Err(Found::Broken(Kind::ExtraReply, format!("{what} was answered"))),
            false => Ok(()),
        }
    }

    pub(super) fn stop(self) -> (Vec<Step>, Snapshot) {
        let steps = self.talk.steps().to_vec();
        (steps, self.talk.stop().bytes.evidence(None))
    }
}

/// What an `Err` holds is a finding too.
pub(super) fn told(found: Result<Found, Found>) -> Found {
    found.unwrap_or_else(|found| found)
}

/// Whether it is an error with this code.
pub(super) fn has_code(reply: &Value, code: i64) -> bool {
    reply.pointer("/error/code").and_then(Value::as_i64) == Some(code)
}

/// What a reply is, in a few words, for whoever reads what came instead.
pub(super) fn described(reply: &Value) -> String {
    match (reply.get("result"), reply.pointer("/error/code")) {
        (_, Some(code)) => format!("error {code}"),
        (Some(result), None) if result.get("isError") == Some(&Value::Bool(true)) => {
            "a result with `isError`".to_owned()
        }
        (Some(_), None) => "a result".to_owned(),
        (None, None) => "neither result nor error".to_owned(),
    }
}
