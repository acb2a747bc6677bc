//! What a case expects: its replies and its refusal records, and finding them among the others.

use framegate_corpus::{Outcome, Reply, ReplyId, UnreadableId, Values};
use framegate_wire::Reason;
use serde_json::Value;

use super::run::{Job, good_id};
use super::{Executor, Session};

/// The expectations of one case.
#[derive(Debug)]
pub struct Expected {
    replies: Vec<(Reply, Option<String>)>,
    refusals: Vec<(String, String)>,
    /// Whether something before the frame may have been refused, too.
    refused_before: bool,
    /// The ids of requests sent before the frame, one for each.
    earlier: Vec<Value>,
    held: Vec<Value>,
    /// How many lines sent before the frame are answered without an id.
    noise: usize,
    unreadable: UnreadableId,
    values: Values,
    good: i64,
    executor: Executor,
}

impl Expected {
    pub fn new(job: &Job<'_>, values: &Values) -> Self {
        let case = job.case;
        // The limit is recorded beside the reason of the frame that reaches it; the reply tells the latter.
        let told = case.reason.clone().filter(|reason| reason != Reason::RefusalLimit.code());
        let mut replies = vec![(case.reply.clone(), told)];
        let mut reasons: Vec<String> = case.reason.iter().cloned().collect();
        if !job.closes() {
            replies
                .extend(case.also_reasons.iter().map(|also| (also.reply.clone(), Some(also.reason.clone()))));
            reasons.extend(case.also_reasons.iter().map(|also| also.reason.clone()));
        }
        replies.retain(|(reply, _)| reply.outcome != Outcome::Silence);
        let door = |reason: &String| {
            let door = Reason::from_code(reason).map(|reason| reason.door().name().to_owned());
            (door.unwrap_or_default(), reason.clone())
        };
        let (mut earlier, mut held, mut noise) = (Vec::new(), Vec::new(), 0);
        for before in &case.before {
            for n in 0..before.times {
                let frame = before.frame(values, n);
                match id_of(&frame) {
                    Some(id) => {
                        earlier.push(id.clone());
                        held.extend(before.hold.then_some(id));
                    }
                    None if serde_json::from_slice::<Value>(&frame).is_err() && !is_lines(&frame) => {
                        noise += 1
                    }
                    None => {}
                }
            }
        }
        let cancelled = case.before.iter().any(|before| {
            framegate_e2e::canary::position(&before.frame(values, 0), b"notifications/cancelled").is_some()
        });
        Self {
            replies,
            refusals: reasons.iter().map(door).collect(),
            refused_before: !case.before.is_empty(),
            earlier,
            held: if cancelled { Vec::new() } else { held },
            noise,
            unreadable: case.unreadable_id(),
            values: values.clone(),
            good: good_id(case, values),
            executor: job.executor,
        }
    }

    /// Door and reason of each refusal that the frame leads to, in order.
    pub fn refusals(&self) -> &[(String, String)] {
        &self.refusals
    }

    /// Whether the frame is answered at all.
    pub fn answers(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Waits until the frame's own replies have come, where it has any.
    pub fn wait_for_replies(&self, session: &mut Session<'_>, first: usize) {
        let lines = first + self.replies.len();
        if self.answers() && self.earlier.is_empty() {
            session.wait_lines(lines);
        } else if self.answers() {
            let wanted: Vec<_> = self.replies.iter().map(|(reply, _)| reply.clone()).collect();
            let mut seen = 0;
            session.wait_line("the frame's reply", |line| {
                seen += 1;
                seen > first && wanted.iter().any(|reply| self.has_id(line, reply))
            });
        }
    }

    /// Waits for the replies of the calls that were held open.
    pub fn wait_for_held(&self, session: &mut Session<'_>) {
        for id in &self.held {
            session.reply(id);
        }
    }

    /// The frame's replies are these and no others, in order.
    pub fn check_replies(&self, name: &str, lines: &[Value]) {
        let mut own: Vec<&Value> = lines.iter().filter(|line| line.get("method").is_none()).collect();
        let mut remove = |wanted: &dyn Fn(&Value) -> bool| {
            if let Some(at) = own.iter().position(|line| wanted(line)) {
                own.remove(at);
            }
        };
        // The handshake used the ids 1, 2, …; they are answered before anything of the case.
        for id in 1..=8 {
            remove(&|line| line["id"] == id);
        }
        for id in &self.earlier {
            remove(&|line| line.get("id") == Some(id));
        }
        for _ in 0..self.noise {
            remove(&|line| line.get("id").is_none_or(Value::is_null) && line.is_object());
        }
        remove(&|line| line["id"] == self.good);
        assert_eq!(
            own.len(),
            self.replies.len(),
            "{name}: replies {own:#?} where {:?} was expected",
            self.replies
        );
        for (line, (reply, reason)) in own.into_iter().zip(&self.replies) {
            assert!(
                self.matches(line, reply, reason.as_deref()),
                "{name}: {line} is not {reply:?} of {reason:?}"
            );
        }
    }

    /// The refusal records are these, behind those of what came before the frame.
    pub fn check_refusals(&self, name: &str, refused: &[(String, String)]) {
        if self.refusals.iter().any(|(_, reason)| reason == Reason::RefusalLimit.code()) {
            let last = &refused[refused.len().saturating_sub(2)..];
            assert!(last.contains(&self.refusals[0]), "{name}: {refused:?}");
        } else if self.refused_before {
            assert!(
                refused.ends_with(&self.refusals),
                "{name}: {refused:?} does not end in {:?}",
                self.refusals
            );
        } else {
            assert_eq!(refused, self.refusals, "{name}: refusal records");
        }
    }

    fn matches(&self, line: &Value, reply: &Reply, reason: Option<&str>) -> bool {
        let Some(line) = self.unwrapped(line, reply) else { return false };
        let result = &line["result"];
        let told = match reply.outcome {
            Outcome::Silence => false,
            Outcome::Error(code) => {
                line["error"]["code"] == code
                    && reason.is_none_or(|reason| line["error"]["data"]["reason"] == reason)
            }
            Outcome::IsError => {
                result["isError"] == true
                    && result["content"][0]["text"].as_str().is_some_and(|text| !text.is_empty())
                    && reason.is_none_or(|reason| result["_meta"]["framegate/reason"] == reason)
            }
            Outcome::Result => {
                let of_tool = result["content"].is_array();
                result.is_object()
                    && (!of_tool || (result["isError"] == true) == (self.executor == Executor::Recorder))
            }
        };
        told && self.has_id(line, reply)
    }

    /// The message that is the reply: the line itself, or the member of an array that has its id.
    fn unwrapped<'v>(&self, line: &'v Value, reply: &Reply) -> Option<&'v Value> {
        match (line, reply.in_batch) {
            (Value::Array(members), true) => members.iter().find(|member| self.has_id(member, reply)),
            (Value::Object(_), false) => Some(line),
            _ => None,
        }
    }

    fn has_id(&self, line: &Value, reply: &Reply) -> bool {
        match &reply.id {
            ReplyId::None => false,
            ReplyId::Unreadable if self.unreadable == UnreadableId::Null => {
                line.get("id") == Some(&Value::Null)
            }
            ReplyId::Unreadable => {
                line.is_object() && line.get("id").is_none() && line.get("method").is_none()
            }
            ReplyId::Echo | ReplyId::Json(_) => {
                let text = reply.id_json(&self.values).unwrap_or_default();
                serde_json::from_str::<Value>(&text).is_ok_and(|id| line["id"] == id)
            }
        }
    }
}

/// The id of a frame that is one request.
pub fn id_of(frame: &[u8]) -> Option<Value> {
    let value: Value = serde_json::from_slice(frame).ok()?;
    value.get("method")?;
    value.get("id").cloned()
}

/// Whether a frame is several lines, each JSON.
fn is_lines(frame: &[u8]) -> bool {
    let lines = frame.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.clone().count() > 1 && lines.into_iter().all(|line| serde_json::from_slice::<Value>(line).is_ok())
}
