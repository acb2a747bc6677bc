//! The closed envelope: requests, notifications, responses, batches; anything else is refused.
//!
//! Belongs here: the members of a JSON-RPC message and their types (JSON-RPC 2.0, sections 4 to 6).
//! Does not belong here: what a method means, whether it is legal now.

use super::id::RequestId;
use crate::json::{Array, Document, Kind, Object, Value};
use crate::limits::Limits;
use crate::reason::Reason;
use crate::refusal::Refusal;

/// The method of a tool call, the one method that can lead to an action.
pub(super) const TOOLS_CALL: &str = "tools/call";

/// One incoming message.
#[derive(Debug)]
pub enum Incoming<'a> {
    /// A message with `method` and `id`.
    Request(Request<'a>),
    /// A message with `method` and no `id`.
    Notification(Notification<'a>),
    /// A message with `result` or `error`: an answer to a question that we never ask.
    Response(Response),
    /// An array of messages, in the revision that has them.
    Batch(Batch<'a>),
}

/// A request.
#[derive(Debug)]
pub struct Request<'a> {
    pub(super) id: RequestId,
    pub(super) method: &'a str,
    pub(super) params: Params<'a>,
}

impl<'a> Request<'a> {
    /// The id.
    #[must_use]
    pub const fn id(&self) -> &RequestId {
        &self.id
    }

    /// The method's name, decoded.
    #[must_use]
    pub const fn method(&self) -> &'a str {
        self.method
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> Params<'a> {
        self.params
    }
}

/// A notification.
#[derive(Debug)]
pub struct Notification<'a> {
    method: &'a str,
    params: Params<'a>,
}

impl<'a> Notification<'a> {
    /// The method's name, decoded.
    #[must_use]
    pub const fn method(&self) -> &'a str {
        self.method
    }

    /// The parameters.
    #[must_use]
    pub const fn params(&self) -> Params<'a> {
        self.params
    }
}

/// A well-formed response.
#[derive(Debug)]
pub struct Response(());

/// An array of messages, not read yet.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    members: Array<'a>,
}

impl<'a> Batch<'a> {
    /// How many messages.
    #[must_use]
    pub fn len(self) -> usize {
        self.members.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.members.len() == 0
    }

    /// Reads each member as strictly as a frame; a batch inside is not a message.
    pub fn read(self, limits: &Limits) -> impl Iterator<Item = Result<Incoming<'a>, MessageRefusal>> {
        self.members.iter().map(move |member| read_value(member, limits))
    }
}

/// The `params` member.
#[derive(Clone, Copy, Debug)]
pub enum Params<'a> {
    /// Not there.
    Absent,
    /// An object.
    Object(Object<'a>),
    /// Something else.
    Other {
        /// Its type.
        kind: Kind,
        /// Where it begins.
        offset: usize,
    },
}

impl<'a> Params<'a> {
    fn read(value: Option<Value<'a>>) -> Self {
        match value {
            None => Self::Absent,
            Some(value) => match value.as_object() {
                Some(object) => Self::Object(object),
                None => Self::Other { kind: value.kind(), offset: value.span().start },
            },
        }
    }
}

/// Why a document is not a message, and how its sender can be told.
#[derive(Clone, Debug)]
#[must_use = "a refusal must be answered or recorded"]
pub struct MessageRefusal {
    refusal: Refusal,
    id: Option<RequestId>,
    answered: bool,
}

impl MessageRefusal {
    /// The reason and the place.
    pub const fn refusal(&self) -> Refusal {
        self.refusal
    }

    /// The id, if it could be read.
    #[must_use]
    pub const fn id(&self) -> Option<&RequestId> {
        self.id.as_ref()
    }

    /// Whether an error is sent: never to what is a notification or a response.
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        self.answered
    }
}

/// Reads a document as a message.
///
/// # Errors
/// [`MessageRefusal`] for anything but one request, notification or response, or, where `batches` is
/// set, an array of them.
pub fn read<'a>(
    document: &Document<'a>,
    batches: bool,
    limits: &Limits,
) -> Result<Incoming<'a>, MessageRefusal> {
    match document.root().as_array() {
        Some(members) if batches => Ok(Incoming::Batch(Batch { members })),
        Some(_) | None => read_value(document.root(), limits),
    }
}

/// The members of an envelope, before anything is concluded from them.
#[derive(Default)]
struct Members<'a> {
    jsonrpc: Option<Value<'a>>,
    id: Option<Value<'a>>,
    method: Option<Value<'a>>,
    params: Option<Value<'a>>,
    result: Option<Value<'a>>,
    error: Option<Value<'a>>,
    unknown: Option<usize>,
}

impl<'a> Members<'a> {
    fn sort(object: Object<'a>) -> Self {
        let mut members = Self::default();
        for member in object.iter() {
            let slot = match member.name {
                "jsonrpc" => &mut members.jsonrpc,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                "result" => &mut members.result,
                "error" => &mut members.error,
                _ => {
                    members.unknown = members.unknown.or(Some(member.span.start));
                    continue;
                }
            };
            *slot = Some(member.value);
        }
        members
    }

    const fn is_response(&self) -> bool {
        self.method.is_none() && (self.result.is_some() || self.error.is_some())
    }
}

fn read_value<'a>(value: Value<'a>, limits: &Limits) -> Result<Incoming<'a>, MessageRefusal> {
    let at = value.span().start;
    let Some(object) = value.as_object() else {
        let reason = if value.as_array().is_some() { Reason::MessageBatch } else { Reason::MessageNotObject };
        return Err(MessageRefusal { refusal: Refusal::new(reason, at), id: None, answered: true });
    };
    let members = Members::sort(object);
    let id = members.id.map(|id| RequestId::read(id, limits));
    let is_notification =
        members.id.is_none() && members.method.is_some_and(|method| method.as_str().is_some());
    let answered = !members.is_response() && !is_notification;
    let known_id = id.as_ref().and_then(|id| id.as_ref().ok()).cloned();
    let refuse = |reason, offset| MessageRefusal {
        refusal: Refusal::new(reason, offset),
        id: known_id.clone(),
        answered,
    };
    let place = |value: Option<Value<'a>>| value.map_or(at, |value| value.span().start);

    if let Some(offset) = members.unknown {
        return Err(refuse(Reason::MessageUnknownMember, offset));
    }
    if members.jsonrpc.and_then(Value::as_str) != Some("2.0") {
        return Err(refuse(Reason::MessageVersion, place(members.jsonrpc)));
    }
    if members.is_response() {
        return read_response(&members, id, &refuse, &place);
    }
    if members.result.is_some() || members.error.is_some() {
        return Err(refuse(Reason::MessageMixed, place(members.result.or(members.error))));
    }
    let Some(method) = members.method else {
        return Err(refuse(Reason::MessageKind, at));
    };
    let id = id.transpose().map_err(|reason| refuse(reason, place(members.id)))?;
    let Some(method) = method.as_str() else {
        return Err(refuse(Reason::MessageMethod, place(members.method)));
    };
    let params = Params::read(members.params);
    match id {
        Some(id) => Ok(Incoming::Request(Request { id, method, params })),
        None if method == TOOLS_CALL => Err(refuse(Reason::CallWithoutId, at)),
        None => Ok(Incoming::Notification(Notification { method, params })),
    }
}

fn read_response<'a>(
    members: &Members<'a>,
    id: Option<Result<RequestId, Reason>>,
    refuse: &dyn Fn(Reason, usize) -> MessageRefusal,
    place: &dyn Fn(Option<Value<'a>>) -> usize,
) -> Result<Incoming<'a>, MessageRefusal> {
    if members.result.is_some() && members.error.is_some() {
        return Err(refuse(Reason::MessageMixed, place(members.error)));
    }
    if members.params.is_some() {
        return Err(refuse(Reason::MessageMixed, place(members.params)));
    }
    if !matches!(id, Some(Ok(_))) {
        return Err(refuse(Reason::MessageResponse, place(members.id)));
    }
    if let Some(error) = members.error {
        let well_formed = error.as_object().is_some_and(|error| {
            let code = error.get("code").and_then(Value::as_number).is_some_and(|code| code.is_integer());
            code && error.get("message").is_some_and(|message| message.as_str().is_some())
        });
        if !well_formed {
            return Err(refuse(Reason::MessageResponse, place(members.error)));
        }
    }
    if let Some(result) = members.result
        && result.as_object().is_none()
    {
        return Err(refuse(Reason::MessageResponse, place(members.result)));
    }
    Ok(Incoming::Response(Response(())))
}
