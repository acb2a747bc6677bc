//! What we send: results, errors, notifications, and the answer to a batch.
//!
//! Belongs here: the envelope of outgoing messages.
//! Does not belong here: what a result says.

use serde_json::{Value, json};

use super::id::RequestId;
use crate::frame::write_line;
use crate::reason::INTERNAL_ERROR;

/// The id of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorId {
    /// The id of the request.
    Known(RequestId),
    /// `"id": null`: the id could not be read, before negotiation and up to 2025-06-18.
    Null,
    /// No `id` member: the id could not be read, from 2025-11-25 on.
    Absent,
}

/// One outgoing message, not yet written.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    form: Form,
}

#[derive(Clone, Debug, PartialEq)]
enum Form {
    /// An object without its `id`, and the `id` as JSON text.
    One {
        id: Option<String>,
        members: Value,
    },
    Many(Vec<Reply>),
}

impl Reply {
    /// A result.
    #[must_use]
    pub fn result(id: &RequestId, result: Value) -> Self {
        Self {
            form: Form::One {
                id: Some(id.to_string()),
                members: json!({"jsonrpc": "2.0", "result": result}),
            },
        }
    }

    /// An error.
    #[must_use]
    pub fn error(id: &ErrorId, code: i32, message: &str, data: Option<Value>) -> Self {
        let mut error = json!({"code": code, "message": message});
        if let (Some(data), Value::Object(members)) = (data, &mut error) {
            members.insert("data".to_owned(), data);
        }
        let id = match id {
            ErrorId::Known(id) => Some(id.to_string()),
            ErrorId::Null => Some("null".to_owned()),
            ErrorId::Absent => None,
        };
        Self { form: Form::One { id, members: json!({"jsonrpc": "2.0", "error": error}) } }
    }

    /// A notification.
    #[must_use]
    pub fn notification(method: &str, params: Value) -> Self {
        Self {
            form: Form::One {
                id: None,
                members: json!({"jsonrpc": "2.0", "method": method, "params": params}),
            },
        }
    }

    /// The one answer to a batch (2025-03-26).
    #[must_use]
    pub const fn batch(replies: Vec<Self>) -> Self {
        Self { form: Form::Many(replies) }
    }

    /// The same ids, each answered with one internal error: for a batch whose answers are too large.
    #[must_use]
    pub fn replace_each_with_error(self, message: &str) -> Self {
        let form = match self.form {
            Form::One { id, .. } => {
                let error = json!({"code": INTERNAL_ERROR, "message": message});
                Form::One { id, members: json!({"jsonrpc": "2.0", "error": error}) }
            }
            Form::Many(replies) => {
                Form::Many(replies.into_iter().map(|reply| reply.replace_each_with_error(message)).collect())
            }
        };
        Self { form }
    }

    /// Appends the message as one line.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.write_value(out);
        out.push(b'\n');
    }

    /// The length of the line, without its LF.
    #[must_use]
    pub fn line_length(&self) -> usize {
        let mut out = Vec::new();
        self.write_value(&mut out);
        out.len()
    }

    fn write_value(&self, out: &mut Vec<u8>) {
        match &self.form {
            Form::One { id: None, members } => write_object(out, members),
            Form::One { id: Some(id), members } => {
                out.extend_from_slice(b"{\"id\":");
                out.extend_from_slice(id.as_bytes());
                let comma = out.len();
                write_object(out, members);
                // It stands for the bracket that the members begin with.
                if let Some(bracket) = out.get_mut(comma) {
                    *bracket = b',';
                }
            }
            Form::Many(replies) => {
                out.push(b'[');
                for (index, reply) in replies.iter().enumerate() {
                    if index > 0 {
                        out.push(b',');
                    }
                    reply.write_value(out);
                }
                out.push(b']');
            }
        }
    }
}

/// Appends the text of an object. That of a value is never refused.
fn write_object(out: &mut Vec<u8>, members: &Value) {
    if write_line(out, members).is_ok() {
        out.pop();
    }
}
