//! What was asked, and what has been answered so far.
//!
//! Belongs here: reading the input leniently for ids and methods, the revision in use, counting.
//! Does not belong here: the shape of one message.

use std::collections::BTreeMap;

use framegate_wire::Limits;
use framegate_wire::frame::Reader;
use framegate_wire::json::Parser;
use framegate_wire::message::Revision;
use serde_json::Value;

use super::{Answers, message};

/// The member of `_meta` that a request of the stateless era cannot lack.
pub(super) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// Everything asked under one id.
#[derive(Debug, Default)]
pub(super) struct Asked {
    /// Well-formed requests, by their place in the input.
    requests: Vec<usize>,
    /// Those in batches, which are messages in one revision only.
    batched: Vec<usize>,
    /// The methods asked for, well-formed or not, and whether in the stateless era.
    pub methods: Vec<(String, bool)>,
    replies: usize,
    cancelled: bool,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    asked: BTreeMap<String, Asked>,
    /// Lines that are no well-formed request or notification: each may have one reply without id.
    malformed: usize,
    without_id: usize,
    batches: usize,
    /// Progress tokens given, with the id they belong to and the progress told last.
    tokens: BTreeMap<String, (String, f64)>,
    pub negotiated: Option<Revision>,
    pub modern: bool,
    /// The published output schemas, by tool.
    pub outputs: BTreeMap<String, Value>,
    /// The tools called, by id.
    pub tools: BTreeMap<String, Vec<String>>,
}

impl Ledger {
    pub(super) fn read(stdin: &[u8]) -> Self {
        let mut ledger = Self::default();
        let limits = Limits::default();
        let mut parser = Parser::new(&limits);
        for (place, line) in stdin.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let mut reader = Reader::new(&limits);
            reader.push(line);
            reader.push(b"\n");
            let strict = match reader.next() {
                Some(Ok(frame)) => parser.parse(frame).ok().map(|document| document.root().to_owned_json()),
                _ => None,
            };
            match strict {
                Some(Value::Array(members)) => {
                    ledger.batches += 1;
                    ledger.malformed += 1 + members.len();
                    let settled = is_settled(&members);
                    for member in members {
                        ledger.ask(place, &member, if settled { Form::Batched } else { Form::Malformed });
                    }
                }
                Some(value) => ledger.ask(place, &value, Form::Alone),
                // What a lenient reader sees tells which ids a reply may carry, nothing more.
                None => {
                    ledger.malformed += 1;
                    if let Ok(value) = serde_json::from_slice(line) {
                        ledger.ask(place, &value, Form::Malformed);
                    }
                }
            }
        }
        ledger
    }

    fn ask(&mut self, place: usize, value: &Value, form: Form) {
        let Some(object) = value.as_object() else {
            self.malformed += 1;
            return;
        };
        let envelope = object.get("jsonrpc").is_some_and(|version| version == "2.0")
            && object.get("method").is_some_and(Value::is_string)
            && object.keys().all(|name| ["jsonrpc", "id", "method", "params"].contains(&name.as_str()));
        let params = object.get("params");
        let method = object.get("method").and_then(Value::as_str).unwrap_or_default();
        let id = object.get("id").filter(|id| match id {
            Value::String(text) => text.len() <= Limits::default().max_id,
            Value::Number(number) => number.is_i64() || number.to_string() == "-0.0",
            _ => false,
        });
        // `-0` is an id, `-0.0` is none, and serde_json shows both alike: such a one is owed nothing.
        let certain =
            !id.and_then(Value::as_f64).is_some_and(|number| number == 0.0 && number.is_sign_negative());
        let readable = certain && (id.is_some() || !object.contains_key("id"));
        let well_formed = form != Form::Malformed && envelope && readable;
        self.malformed += usize::from(!well_formed);
        let Some(id) = id else {
            if well_formed
                && method == "notifications/cancelled"
                && let Some(target) = params.and_then(|params| params.get("requestId"))
                && let Some(asked) = self.asked.get_mut(&target.to_string())
            {
                asked.cancelled = true;
            }
            return;
        };
        let key = id.to_string();
        let meta = params.and_then(|params| params.get("_meta"));
        let asked = self.asked.entry(key.clone()).or_default();
        match form {
            Form::Alone if well_formed => asked.requests.push(place),
            Form::Batched if well_formed => asked.batched.push(place),
            _ => {}
        }
        asked.methods.push((method.to_owned(), meta.and_then(|meta| meta.get(META_VERSION)).is_some()));
        if let Some(token) = meta.and_then(|meta| meta.get("progressToken")) {
            self.tokens.insert(token.to_string(), (key.clone(), f64::NEG_INFINITY));
        }
        if let Some(tool) = params.and_then(|params| params.get("name")).and_then(Value::as_str) {
            self.tools.entry(key).or_default().push(tool.to_owned());
        }
    }

    /// Takes the next line of the output.
    pub(super) fn take(&mut self, value: &Value) -> Result<(), String> {
        let Value::Array(members) = value else {
            return self.one(value);
        };
        if self.negotiated != Some(Revision::V2025_03_26) || self.batches == 0 {
            return Err("an array, where no batch was asked for".to_owned());
        }
        self.batches -= 1;
        if members.is_empty() {
            return Err("an empty array".to_owned());
        }
        members.iter().try_for_each(|member| self.one(member))
    }

    fn one(&mut self, value: &Value) -> Result<(), String> {
        match message::kind(value)? {
            message::Kind::Notification => {
                message::check_notification(self, value)?;
                self.progress(value)
            }
            message::Kind::Reply => {
                let id = value.get("id").filter(|id| !id.is_null());
                let Some(id) = id else {
                    self.without_id += 1;
                    if self.without_id > self.malformed + self.repeated() {
                        return Err("a reply without id that nothing in the input accounts for".to_owned());
                    }
                    return message::check_error(self, value);
                };
                let key = id.to_string();
                let Some(asked) = self.asked.get_mut(&key) else {
                    return Err(format!("a reply to an id that was never sent: {key}"));
                };
                asked.replies += 1;
                if asked.replies > asked.methods.len() {
                    return Err(format!("more replies than requests for id {key}"));
                }
                message::check_reply(self, &key, value)
            }
        }
    }

    pub(super) fn asked(&self, key: &str) -> &[(String, bool)] {
        self.asked.get(key).map_or(&[], |asked| &asked.methods)
    }

    /// Requests whose id was asked for before: refused without an id while the first is in flight.
    fn repeated(&self) -> usize {
        self.asked.values().map(|asked| asked.requests.len().saturating_sub(1)).sum()
    }

    fn progress(&mut self, value: &Value) -> Result<(), String> {
        let params = &value["params"];
        let token = params["progressToken"].to_string();
        let Some((key, last)) = self.tokens.get_mut(&token) else {
            return Err(format!("progress for a token that was never given: {token}"));
        };
        let told = params["progress"].as_f64().unwrap_or(f64::NAN);
        if told <= *last || told.is_nan() {
            return Err(format!("progress for {token} does not increase"));
        }
        *last = told;
        match self.asked.get(key) {
            Some(asked) if asked.replies == 0 => Ok(()),
            _ => Err(format!("progress for {token} after its reply")),
        }
    }

    /// Counts what is left without a reply.
    pub(super) fn settle(&self, answers: Answers) -> Result<(), String> {
        if answers == Answers::Any {
            return Ok(());
        }
        let last = self
            .asked
            .values()
            .filter(|asked| asked.replies > 0)
            .filter_map(|asked| asked.requests.first())
            .max();
        let batches = self.negotiated.is_some_and(Revision::has_batches);
        for (key, asked) in &self.asked {
            let first = asked.requests.first().or(asked.batched.first().filter(|_| batches));
            let Some(first) = first else { continue };
            let owed = match answers {
                Answers::All => true,
                Answers::Prefix => last.is_some_and(|last| first < last),
                Answers::Any => false,
            };
            if owed && !asked.cancelled && asked.replies == 0 {
                return Err(format!("no reply to id {key}"));
            }
        }
        Ok(())
    }
}

/// How a request stands in the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Alone,
    Batched,
    Malformed,
}

/// Whether the members of a batch are settled at all: not if two share an id, or there are too many.
fn is_settled(members: &[Value]) -> bool {
    let ids: Vec<String> = members.iter().filter_map(|member| Some(member.get("id")?.to_string())).collect();
    let distinct: std::collections::BTreeSet<&String> = ids.iter().collect();
    distinct.len() == ids.len() && members.len() <= Limits::default().max_batch
}
