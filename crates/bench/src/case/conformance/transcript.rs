//! A session that uses what the target offers, kept message by message.
//!
//! Belongs here: what is asked, which request a message answers. Does not belong here: what is right.

use std::thread;
use std::time::Duration;

use framegate_corpus::{Phase, Revision};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::case::plain::harmless;
use crate::case::{Step, Talk};
use crate::target::Snapshot;

/// How long it stays silent before its end: what comes unasked comes then.
const QUIET: Duration = Duration::from_millis(300);
/// The most pages of a list that are asked for.
const MAX_PAGES: usize = 100;
/// What no target has.
const NO_SUCH: &str = "framegate-no-such";

/// A session that is over.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) revision: Revision,
    pub(super) messages: Vec<Message>,
    /// What the target said that it can do.
    pub(super) capabilities: Value,
    /// Every tool of its list.
    pub(super) tools: Vec<Value>,
    /// Whether its list of tools has an end.
    pub(super) list_ends: bool,
    pub(super) steps: Vec<Step>,
    pub(super) bytes: Snapshot,
}

/// A message from the target.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) value: Value,
    /// The request that it answers, if it answers one.
    pub(super) answers: Option<Request>,
}

/// A request that was sent.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) params: Value,
}

impl Transcript {
    pub(super) fn record(bench: &Bench<'_>, revision: Revision) -> Result<Self, String> {
        let (mut talk, folder) = bench.start_as(|_| {}).map_err(|error| error.to_string())?;
        let silent = |what: &str| format!("`{what}` was not answered");
        let first = if revision.is_modern() {
            let _ = talk.reach(Phase::New, revision);
            talk.ask("server/discover", None).ok_or_else(|| silent("server/discover"))?
        } else {
            talk.reach(Phase::Ready, revision).ok_or_else(|| silent("initialize"))?;
            let _ = talk.ask("ping", None);
            let answer = talk.messages().into_iter().find(|message| message.get("result").is_some());
            answer.unwrap_or_default()
        };
        let capabilities = first.pointer("/result/capabilities").cloned().unwrap_or_default();
        let (lists, list_ends) = pages(&mut talk, "tools/list");
        let items = |list: &Value| list.pointer("/result/tools").and_then(Value::as_array).cloned();
        let tools: Vec<_> = lists.iter().filter_map(items).flatten().collect();
        if capabilities.get("resources").is_some() {
            pages(&mut talk, "resources/list");
            pages(&mut talk, "resources/templates/list");
            let _ = talk.ask("resources/read", Some(&json!({"uri": format!("file:///{NO_SUCH}")})));
        }
        if capabilities.get("prompts").is_some() {
            pages(&mut talk, "prompts/list");
            let _ = talk.ask("prompts/get", Some(&json!({ "name": NO_SUCH })));
        }
        let listed = json!({"result": {"tools": tools}});
        for (index, (tool, arguments)) in harmless(bench, &listed, &folder).into_iter().enumerate() {
            let meta = json!({"progressToken": format!("framegate-{index}")});
            let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
            let _ = talk.ask("tools/call", Some(&params));
        }
        let _ = talk.ask("framegate/no-such-method", None);
        let _ = talk.ask("tools/call", Some(&json!({"name": NO_SUCH, "arguments": {}})));
        let _ = talk.ask("tools/list", Some(&json!({ "cursor": NO_SUCH })));
        thread::sleep(QUIET);
        let (steps, asked) = (talk.steps().to_vec(), talk.asked().to_vec());
        let messages = talk.messages().into_iter().map(|value| {
            let is_answer = value.get("method").is_none();
            let request = asked.iter().find(|asked| is_answer && value.get("id") == Some(&asked.id));
            let answers = request.map(|asked| Request {
                method: asked.method.clone(),
                params: asked.params.clone().unwrap_or_default(),
            });
            Message { value, answers }
        });
        let messages = messages.collect();
        let bytes = talk.stop().bytes.evidence(None);
        Ok(Self { revision, messages, capabilities, tools, list_ends, steps, bytes })
    }

    /// Every answer to this method, with what was asked.
    pub(super) fn answers(&self, method: &str) -> impl Iterator<Item = (&Request, &Value)> {
        self.all_answers().filter(move |(request, _)| request.method == method)
    }

    pub(super) fn all_answers(&self) -> impl Iterator<Item = (&Request, &Value)> {
        self.messages.iter().filter_map(|message| Some((message.answers.as_ref()?, &message.value)))
    }

    /// Requests from the target.
    pub(super) fn requests(&self) -> impl Iterator<Item = &Value> {
        let has = |value: &Value, name| value.get(name).is_some();
        self.values().filter(move |value| has(value, "method") && has(value, "id"))
    }

    /// Its notifications.
    pub(super) fn notifications(&self) -> impl Iterator<Item = &Value> {
        let has = |value: &Value, name| value.get(name).is_some();
        self.values().filter(move |value| has(value, "method") && !has(value, "id"))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.messages.iter().map(|message| &message.value)
    }

    /// Calls that succeeded, with the tool's name.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.answers("tools/call").filter_map(|(request, answer)| {
            let result = answer.get("result")?;
            let failed = result.get("isError") == Some(&Value::Bool(true));
            let name = request.params.get("name")?.as_str()?;
            (!failed && name != NO_SUCH).then_some((name, result))
        })
    }

    /// The answer to a cursor that was never given out.
    pub(super) fn bad_cursor(&self) -> Option<&Value> {
        let is_bad =
            |request: &Request| request.params.get("cursor").and_then(Value::as_str) == Some(NO_SUCH);
        self.answers("tools/list").find(|(request, _)| is_bad(request)).map(|(_, answer)| answer)
    }

    /// The answer to a call of a tool that does not exist.
    pub(super) fn unknown_tool(&self) -> Option<&Value> {
        let is_unknown =
            |request: &Request| request.params.get("name").and_then(Value::as_str) == Some(NO_SUCH);
        self.answers("tools/call").find(|(request, _)| is_unknown(request)).map(|(_, answer)| answer)
    }
}

/// Every page of a list, and whether it has an end.
fn pages(talk: &mut Talk, method: &str) -> (Vec<Value>, bool) {
    let mut pages = Vec::new();
    let mut params = None;
    while pages.len() < MAX_PAGES {
        let Some(page) = talk.ask(method, params.as_ref()) else { return (pages, true) };
        let next = page.pointer("/result/nextCursor").cloned().filter(|next| !next.is_null());
        pages.push(page);
        match next {
            None => return (pages, true),
            Some(cursor) => params = Some(json!({ "cursor": cursor })),
        }
    }
    (pages, false)
}
