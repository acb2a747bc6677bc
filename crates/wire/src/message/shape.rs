//! The shapes of `params` for the methods that are served.
//!
//! Belongs here: member names and types of `params`, per revision where they differ.
//! Does not belong here: declared tools and their arguments, session state.

use super::envelope::{Params, Request};
use super::id::RequestId;
use super::revision::Revision;
use crate::json::{Object, Value};
use crate::limits::Limits;
use crate::reason::Reason;
use crate::refusal::Refusal;

/// `_meta`: the protocol version of a request that stands alone.
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// `_meta`: the client's capabilities for a request that stands alone.
pub const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// `_meta`: what the client calls itself.
pub const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// `_meta` of a result: what the server calls itself.
pub const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

impl<'a> Params<'a> {
    /// The parameters as an object, for every method but `tools/call`.
    ///
    /// # Errors
    /// [`Reason::MessageParams`] when they are there and are no object.
    pub const fn object(self) -> Result<Option<Object<'a>>, Refusal> {
        match self {
            Self::Absent => Ok(None),
            Self::Object(object) => Ok(Some(object)),
            Self::Other { offset, .. } => Err(Refusal::new(Reason::MessageParams, offset)),
        }
    }

    /// `_meta`, if the parameters hold it as an object.
    #[must_use]
    pub fn meta(self) -> Option<Object<'a>> {
        match self {
            Self::Object(object) => object.get("_meta")?.as_object(),
            Self::Absent | Self::Other { .. } => None,
        }
    }
}

/// The parameters of `tools/call`.
#[derive(Clone, Copy, Debug)]
pub struct CallParams<'a> {
    name: &'a str,
    arguments: Option<Object<'a>>,
    meta: Option<Object<'a>>,
}

impl<'a> CallParams<'a> {
    /// Reads the parameters of a tool call.
    ///
    /// # Errors
    /// [`Reason::CallParams`], [`Reason::CallName`], [`Reason::CallArguments`] for wrong shapes;
    /// [`Reason::CallNotAsked`] for answers to questions that were never asked;
    /// [`Reason::CallUnknownMember`] for members that the revision does not define;
    /// [`Reason::ParamsMalformed`] for a `_meta` that is no object.
    pub fn read(request: &Request<'a>, revision: Revision) -> Result<Self, Refusal> {
        let params = match request.params {
            Params::Object(params) => params,
            Params::Other { offset, .. } => return Err(Refusal::new(Reason::CallParams, offset)),
            Params::Absent => return Err(Refusal::new(Reason::CallParams, 0)),
        };
        let name = match params.get("name") {
            None => return Err(Refusal::new(Reason::CallName, 0)),
            Some(name) => name.as_str().ok_or_else(|| Refusal::new(Reason::CallName, name.span().start))?,
        };
        let arguments = object_member(params, "arguments", Reason::CallArguments)?;
        let meta = object_member(params, "_meta", Reason::ParamsMalformed)?;
        for member in params.iter() {
            let reason = match member.name {
                "name" | "arguments" | "_meta" => continue,
                // Tasks were not declared, so the parameter is ignored (2025-11-25, tasks).
                "task" if revision == Revision::V2025_11_25 => continue,
                "inputResponses" | "requestState" if revision.is_modern() => Reason::CallNotAsked,
                _ => Reason::CallUnknownMember,
            };
            return Err(Refusal::new(reason, member.span.start));
        }
        Ok(Self { name, arguments, meta })
    }

    /// The tool's name as the peer wrote it.
    #[must_use]
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// The arguments.
    #[must_use]
    pub const fn arguments(&self) -> Option<Object<'a>> {
        self.arguments
    }

    /// The progress token: a string or an integer.
    ///
    /// # Errors
    /// [`Reason::ParamsMalformed`] for a token of another type.
    pub fn progress_token(&self) -> Result<Option<Value<'a>>, Refusal> {
        let Some(token) = self.meta.and_then(|meta| meta.get("progressToken")) else {
            return Ok(None);
        };
        let is_integer = token.as_number().is_some_and(|number| number.as_i64().is_some());
        if is_integer || token.as_str().is_some() {
            Ok(Some(token))
        } else {
            Err(Refusal::new(Reason::ParamsMalformed, token.span().start))
        }
    }
}

/// The parameters of `notifications/cancelled`.
#[derive(Debug)]
pub struct CancelParams {
    /// The request to cancel.
    pub id: RequestId,
}

impl CancelParams {
    /// Reads them; malformed ones are ignored by rule (basic/utilities/cancellation), so they are `None`.
    #[must_use]
    pub fn read(params: Params<'_>, limits: &Limits) -> Option<Self> {
        let object = params.object().ok().flatten()?;
        let id = RequestId::read(object.get("requestId")?, limits).ok()?;
        Some(Self { id })
    }
}

fn object_member<'a>(params: Object<'a>, name: &str, reason: Reason) -> Result<Option<Object<'a>>, Refusal> {
    match params.get(name) {
        None => Ok(None),
        Some(value) => value.as_object().map(Some).ok_or_else(|| Refusal::new(reason, value.span().start)),
    }
}
