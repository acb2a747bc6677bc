//! How refusals are told to the peer.
//!
//! Belongs here: error objects and error results, per revision.
//! Does not belong here: whether something is refused, or whether that closes the session.

use framegate_wire::message::{ErrorId, Reply, RequestId, Revision};
use framegate_wire::{Reason, Refusal};
use serde_json::{Value, json};

use crate::outcome::{Outcome, Status};
use crate::protocol::{State, call_result};

/// What a peer should do after the session was closed.
const NEXT_STEP: &str =
    "the session is closed; fix the sender, then start the server again and begin with a new handshake";

/// An error response to a refusal. `extra` is merged into its data.
pub(super) fn error(
    refusal: Refusal,
    id: &ErrorId,
    message: &str,
    extra: Option<&Value>,
    closed: bool,
) -> Reply {
    let reason = refusal.reason();
    let mut data = json!({
        "reason": reason.code(),
        "door": reason.door().name(),
        "offset": refusal.offset(),
        "session": if closed { "closed" } else { "open" },
    });
    if let Some(members) = data.as_object_mut() {
        if closed {
            members.insert("next".to_owned(), json!(NEXT_STEP));
        }
        for (name, value) in extra.and_then(Value::as_object).into_iter().flatten() {
            members.insert(name.clone(), value.clone());
        }
    }
    Reply::error(id, reason.rpc_code(), message, Some(data))
}

/// The answer to arguments that do not fit: an error up to 2025-06-18, a result from 2025-11-25 on,
/// where the model is meant to see it and correct itself. An unknown tool is an error everywhere.
pub(super) fn schema(
    state: &State,
    refusal: Refusal,
    text: &str,
    request: &RequestId,
    revision: Revision,
) -> Reply {
    let is_result = revision >= Revision::V2025_11_25 && refusal.reason() != Reason::ToolUnknown;
    if is_result {
        error_result(state, refusal.reason().code(), text, request, revision)
    } else {
        error(refusal, &ErrorId::Known(request.clone()), text, None, false)
    }
}

/// An error inside a result: the text reaches the agent.
pub(super) fn error_result(
    state: &State,
    reason: &str,
    text: &str,
    request: &RequestId,
    revision: Revision,
) -> Reply {
    let result = call_result(text, None, Some(&json!(reason)), revision);
    Reply::result(request, state.complete(result, revision))
}

/// The result of a permitted action.
pub(super) fn outcome(state: &State, outcome: &Outcome, request: &RequestId, revision: Revision) -> Reply {
    let result = match outcome.status() {
        Status::Done => call_result(outcome.text(), outcome.structured(), None, revision),
        status @ (Status::Failed | Status::Unknown | Status::NotStarted | Status::Simulated) => {
            call_result(outcome.text(), None, Some(&json!(status.name())), revision)
        }
    };
    Reply::result(request, state.complete(result, revision))
}
