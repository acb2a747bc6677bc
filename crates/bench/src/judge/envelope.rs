//! JSON-RPC from a server: what is a message, which request it answers.
//!
//! Belongs here: the envelope in the direction from server to client, ids.
//! Does not belong here: what is in a result.

use framegate_wire::json::Value;

use super::{Code, Sent};

/// A message.
pub(super) enum Message {
    /// A result or an error; its id as JSON text, or none, and where that stands in the line.
    Response { id: Option<Id>, at: usize },
    /// A request, a notification, or a batch (2025-03-26).
    Other,
}

/// An id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Id {
    Text(String),
    /// A number, as it is written.
    Number(String),
    Null,
    /// Something that no id may be.
    Wrong,
}

impl Id {
    fn of(value: Value<'_>) -> Self {
        if value.is_null() {
            Self::Null
        } else if let Some(text) = value.as_str() {
            Self::Text(text.to_owned())
        } else if let Some(number) = value.as_number() {
            Self::Number(number.text().to_owned())
        } else {
            Self::Wrong
        }
    }

    /// The id as text, whatever its type: two ids that agree in it are meant to be the same.
    fn loose(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Number(text) => Some(text.strip_suffix(".0").unwrap_or(text).to_owned()),
            Self::Null | Self::Wrong => None,
        }
    }
}

impl Message {
    /// What the value is; `None` if it is no message.
    pub(super) fn of(value: Value<'_>) -> Option<Self> {
        if let Some(items) = value.as_array() {
            let all = !items.is_empty()
                && items.iter().all(|item| item.as_object().is_some() && Self::of(item).is_some());
            return all.then_some(Self::Other);
        }
        let object = value.as_object()?;
        if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return None;
        }
        if let Some(method) = object.get("method") {
            let is_request =
                method.as_str().is_some() && object.get("result").or(object.get("error")).is_none();
            return is_request.then_some(Self::Other);
        }
        let id = object.get("id");
        match (object.get("result"), object.get("error")) {
            (Some(_), None) => {}
            (None, Some(error)) => {
                let error = error.as_object()?;
                error.get("code")?.as_number().filter(|code| code.is_integer())?;
                error.get("message")?.as_str()?;
            }
            _ => return None,
        }
        let at = id.map_or(0, |id| id.span().start);
        Some(Self::Response { id: id.map(Id::of), at })
    }
}

/// Which requests were answered.
pub(super) struct Answers {
    asked: Vec<(Id, bool)>,
}

impl Answers {
    pub(super) fn new(sent: &[Sent]) -> Self {
        let id = |sent: &Sent| match serde_json::from_str::<serde_json::Value>(&sent.id) {
            Ok(serde_json::Value::String(text)) => Id::Text(text),
            Ok(serde_json::Value::Number(_)) => Id::Number(sent.id.clone()),
            _ => Id::Wrong,
        };
        Self { asked: sent.iter().map(|sent| (id(sent), false)).collect() }
    }

    /// Notes an answer; what is wrong with it.
    pub(super) fn take(&mut self, id: &Option<Id>) -> Option<Code> {
        let id = match id {
            // The id of what could not be read.
            None | Some(Id::Null) => return None,
            Some(id) => id,
        };
        if let Some((_, answered)) = self.asked.iter_mut().find(|(asked, answered)| asked == id && !*answered)
        {
            *answered = true;
            return None;
        }
        if self.asked.iter().any(|(asked, _)| asked == id) {
            return Some(Code::DuplicateResponse);
        }
        let loosely =
            self.asked.iter_mut().find(|(asked, _)| asked.loose().is_some() && asked.loose() == id.loose());
        match loosely {
            Some((_, answered)) => {
                *answered = true;
                Some(Code::IdType)
            }
            None => Some(Code::UnknownId),
        }
    }
}
