//! The protocol door: what a session accepts next.
//!
//! Belongs here: each phase lists what it expects; everything else is refused.
//! Does not belong here: tool arguments, policy, how refusals are worded.

use std::sync::Arc;

use framegate_wire::json::Value;
use framegate_wire::message::{
    CallParams, CancelParams, ErrorId, Incoming, Notification, Reply, Request, RequestId, Revision,
};
use framegate_wire::{Limits, Reason, Refusal};
use serde_json::json;

use super::admitted::{Admission, Admitted, AdmittedCall};
use super::answer::Server;
use super::era::{Claim, ClaimFault, Negotiated, Phase, claim, client_name, names_version, printable};
use super::ids::UsedIds;
use super::method::{Method, NotificationMethod};
use super::pending::PendingCalls;
use super::ticket::Ticket;
use crate::authorization::Principal;
use crate::schema::{Call, Catalog, ProgressToken};

/// What a session's protocol state needs to know at start.
#[derive(Clone, Debug)]
pub struct ProtocolOptions {
    /// Bounds on ids and batches.
    pub limits: Limits,
    /// The served revisions, oldest first; not empty.
    pub revisions: Vec<Revision>,
    /// How many used ids are remembered before further requests are refused.
    pub max_used_ids: usize,
    /// Who this process serves.
    pub principal: Arc<Principal>,
    /// Our version, for `serverInfo`.
    pub server_version: &'static str,
    /// Instructions for the agent.
    pub instructions: Option<String>,
}

/// A message that is not legal now.
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a refusal must be answered or recorded"]
pub struct ProtocolRefusal {
    refusal: Refusal,
    id: ErrorId,
    data: Option<serde_json::Value>,
}

impl ProtocolRefusal {
    /// The reason and the place.
    pub const fn refusal(&self) -> Refusal {
        self.refusal
    }

    /// The id that the error carries.
    #[must_use]
    pub const fn id(&self) -> &ErrorId {
        &self.id
    }

    /// Members of the error's `data` that the protocol asks for.
    #[must_use]
    pub const fn data(&self) -> Option<&serde_json::Value> {
        self.data.as_ref()
    }
}

/// The protocol state of one session.
#[derive(Debug)]
pub struct State {
    pub(super) limits: Limits,
    revisions: Vec<Revision>,
    principal: Arc<Principal>,
    server: Server,
    catalog: Arc<Catalog>,
    phase: Phase,
    used: UsedIds,
    pub(super) pending: PendingCalls,
}

impl State {
    /// A session in which nothing was said yet.
    #[must_use]
    pub fn new(options: ProtocolOptions, catalog: Arc<Catalog>) -> Self {
        let ProtocolOptions { limits, revisions, max_used_ids, principal, server_version, instructions } =
            options;
        Self {
            limits,
            revisions,
            principal,
            server: Server { version: server_version, instructions },
            catalog,
            phase: Phase::New,
            used: UsedIds::new(max_used_ids),
            pending: PendingCalls::default(),
        }
    }

    /// The revision in use, once an admitted request has fixed it, and what the peer calls itself.
    #[must_use]
    pub fn negotiated(&self) -> Option<Negotiated> {
        match &self.phase {
            Phase::New => None,
            Phase::Initializing(negotiated) | Phase::Ready(negotiated) => Some(negotiated.clone()),
            Phase::Modern => Some(Negotiated { revision: Revision::V2026_07_28, claimed_client: None }),
        }
    }

    /// Whether an array of messages is a message now.
    #[must_use]
    pub fn has_batches(&self) -> bool {
        self.phase.revision().is_some_and(Revision::has_batches)
    }

    /// The id of an error whose request's id could not be read or must not be repeated.
    #[must_use]
    pub fn unreadable_id(&self) -> ErrorId {
        match self.phase.revision() {
            Some(Revision::V2025_11_25 | Revision::V2026_07_28) => ErrorId::Absent,
            Some(Revision::V2024_11_05 | Revision::V2025_03_26 | Revision::V2025_06_18) | None => {
                ErrorId::Null
            }
        }
    }

    /// How many calls are not settled yet.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.pending.len()
    }

    /// Consumes a ticket and frees its wire id. The request and its revision, if it may still be
    /// answered: nothing is sent for a cancelled request.
    pub fn settle(&mut self, ticket: Ticket) -> Option<(RequestId, Revision)> {
        let pending = self.pending.settle(ticket)?;
        (!pending.cancelled).then_some((pending.request, pending.revision))
    }

    /// Remembers what is performed under a ticket, so that a redirect can make the next call of it.
    pub(crate) fn remember(&mut self, ticket: u64, call: Arc<Call>) {
        self.pending.remember(ticket, call);
    }

    /// What is performed under this ticket, if it was remembered and not cancelled.
    pub(crate) fn performing(&self, ticket: &Ticket) -> Option<Arc<Call>> {
        self.pending.call(ticket.number())
    }

    /// A progress notification for an unsettled call, if its peer asked for progress.
    pub fn progress(&mut self, ticket: u64, message: &str) -> Option<Reply> {
        self.pending.progress(ticket, message)
    }

    /// Adds what every result of the revision carries.
    #[must_use]
    pub fn complete(&self, result: serde_json::Value, revision: Revision) -> serde_json::Value {
        self.server.complete(result, revision)
    }

    /// Admits a message, or says why it is not legal now.
    ///
    /// # Errors
    /// [`ProtocolRefusal`]; the state is unchanged then, but that an id of the handshake era counts as used once
    /// its request was legal, whatever its parameters.
    pub fn admit<'a>(&mut self, incoming: Incoming<'a>) -> Result<Admission<'a>, ProtocolRefusal> {
        match incoming {
            Incoming::Request(request) => self.admit_request(&request),
            Incoming::Notification(notification) => Ok(self.admit_notification(&notification)),
            Incoming::Response(_) => Ok(Admission::Ignore { unknown: true }),
            Incoming::Batch(batch) => self.settle_batch(batch),
        }
    }

    /// The order is fixed: id, method, era, state, params.
    fn admit_request<'a>(&mut self, request: &Request<'a>) -> Result<Admission<'a>, ProtocolRefusal> {
        if self.pending.is_busy(request.id()) {
            return Err(self.refuse_unnamed(Refusal::new(Reason::IdInFlight, 0)));
        }
        let method = self.method(request)?;
        match self.expect(method, request)? {
            Expected::Discover => self.discover(request),
            Expected::Initialize => self.initialize(request),
            Expected::Request(negotiated) => {
                self.admit_id(request)?;
                match method {
                    Method::ToolsCall => self.call(request, negotiated),
                    Method::ToolsList => self.list(request, &negotiated),
                    Method::Ping | Method::Discover | Method::Initialize => self.ping(request),
                }
            }
            Expected::Ping => self.ping(request),
        }
    }

    pub(super) fn method(&self, request: &Request<'_>) -> Result<Method, ProtocolRefusal> {
        let name = request.method();
        if NotificationMethod::from_name(name) != NotificationMethod::Unknown {
            return Err(refuse(request, Refusal::new(Reason::NotificationWithId, 0)));
        }
        let unknown = || refuse(request, Refusal::new(Reason::MethodUnknown, 0));
        let method = Method::from_name(name).ok_or_else(unknown)?;
        // A method that the era in use does not have, or that no served revision has, is unknown.
        let is_modern = self.phase == Phase::Modern || names_version(request.params());
        let serves_modern = self.revisions.iter().any(|revision| revision.is_modern());
        match method {
            Method::Ping if is_modern => Err(unknown()),
            Method::Discover if !serves_modern => Err(unknown()),
            Method::Ping | Method::Discover | Method::Initialize | Method::ToolsCall | Method::ToolsList => {
                Ok(method)
            }
        }
    }

    /// What the phase expects of this method; anything else is refused.
    fn expect(&self, method: Method, request: &Request<'_>) -> Result<Expected, ProtocolRefusal> {
        let refused = |reason| Err(refuse(request, Refusal::new(reason, 0)));
        if method == Method::Initialize {
            return match &self.phase {
                _ if names_version(request.params()) => refused(Reason::EraBoth),
                Phase::Modern => Err(self.unsupported(request, 0, None)),
                Phase::Initializing(_) | Phase::Ready(_) => refused(Reason::InitializedAlready),
                Phase::New if self.latest_legacy().is_none() => Err(self.unsupported(request, 0, None)),
                Phase::New => Ok(Expected::Initialize),
            };
        }
        let is_legacy = matches!(self.phase, Phase::Initializing(_) | Phase::Ready(_));
        if is_legacy && method != Method::Discover && names_version(request.params()) {
            return refused(Reason::EraConflict);
        }
        let claim = claim(request.params(), &self.revisions).map_err(|fault| match fault {
            ClaimFault::Refused(refusal) => refuse(request, refusal),
            ClaimFault::Unsupported { offset, requested } => {
                self.unsupported(request, offset, Some(requested))
            }
        })?;
        match (&self.phase, method, claim) {
            (_, Method::Discover, Claim::Modern(_)) => Ok(Expected::Discover),
            (_, Method::Discover, Claim::None) => refused(Reason::MetaMissing),
            (Phase::New | Phase::Modern, _, Claim::Modern(negotiated)) => Ok(Expected::Request(negotiated)),
            (Phase::Modern, _, Claim::None) => refused(Reason::MetaMissing),
            (Phase::New, Method::Ping, Claim::None) => Ok(Expected::Ping),
            (Phase::New, _, Claim::None) => refused(Reason::NotInitialized),
            (Phase::Initializing(_), Method::ToolsCall, _) => refused(Reason::NotReady),
            (Phase::Initializing(negotiated) | Phase::Ready(negotiated), _, _) => {
                Ok(Expected::Request(negotiated.clone()))
            }
        }
    }

    /// In the handshake era an id is used once in a session.
    fn admit_id(&mut self, request: &Request<'_>) -> Result<(), ProtocolRefusal> {
        if !matches!(self.phase, Phase::Initializing(_) | Phase::Ready(_)) {
            return Ok(());
        }
        if self.used.contains(request.id()) {
            return Err(refuse(request, Refusal::new(Reason::IdUsed, 0)));
        }
        if self.used.is_full() {
            return Err(refuse(request, Refusal::new(Reason::IdsExhausted, 0)));
        }
        self.used.insert(request.id());
        Ok(())
    }

    fn ping<'a>(&self, request: &Request<'a>) -> Result<Admission<'a>, ProtocolRefusal> {
        request.params().object().map_err(|refusal| refuse(request, refusal))?;
        Ok(Admission::Answer(Reply::result(request.id(), json!({}))))
    }

    fn discover<'a>(&self, request: &Request<'a>) -> Result<Admission<'a>, ProtocolRefusal> {
        Ok(Admission::Answer(Reply::result(request.id(), self.server.discover(&self.revisions))))
    }

    fn initialize<'a>(&mut self, request: &Request<'a>) -> Result<Admission<'a>, ProtocolRefusal> {
        let params = request.params().object().map_err(|refusal| refuse(request, refusal))?;
        let read = params.and_then(|params| {
            let version = params.get("protocolVersion")?.as_str()?;
            params.get("capabilities")?.as_object()?;
            Some((version, client_name(params.get("clientInfo")?.as_object())?))
        });
        let Some((version, claimed_client)) = read else {
            return Err(refuse(request, Refusal::new(Reason::ParamsMalformed, 0)));
        };
        let known = Revision::from_name(version)
            .filter(|revision| !revision.is_modern() && self.revisions.contains(revision));
        let Some(revision) = known.or_else(|| self.latest_legacy()) else {
            return Err(self.unsupported(request, 0, Some(printable(version))));
        };
        self.used.insert(request.id());
        self.phase = Phase::Initializing(Negotiated { revision, claimed_client: Some(claimed_client) });
        Ok(Admission::Answer(Reply::result(request.id(), self.server.initialize(revision))))
    }

    fn list<'a>(
        &mut self,
        request: &Request<'a>,
        negotiated: &Negotiated,
    ) -> Result<Admission<'a>, ProtocolRefusal> {
        let reply = self.list_reply(request, negotiated.revision)?;
        self.pin(negotiated);
        Ok(Admission::Answer(reply))
    }

    pub(super) fn list_reply(
        &self,
        request: &Request<'_>,
        revision: Revision,
    ) -> Result<Reply, ProtocolRefusal> {
        let params = request.params().object().map_err(|refusal| refuse(request, refusal))?;
        // Everything fits one page, so no cursor was ever given out.
        if let Some(cursor) = params.and_then(|params| params.get("cursor")) {
            let reason =
                if cursor.as_str().is_some() { Reason::CursorUnknown } else { Reason::ParamsMalformed };
            return Err(refuse(request, Refusal::new(reason, cursor.span().start)));
        }
        Ok(Reply::result(request.id(), self.server.tools(&self.catalog, revision)))
    }

    fn call<'a>(
        &mut self,
        request: &Request<'a>,
        negotiated: Negotiated,
    ) -> Result<Admission<'a>, ProtocolRefusal> {
        let params =
            CallParams::read(request, negotiated.revision).map_err(|refusal| refuse(request, refusal))?;
        let token = params.progress_token().map_err(|refusal| refuse(request, refusal))?;
        let progress = token.map(Value::to_owned_json).map(ProgressToken::new);
        self.pin(&negotiated);
        let Negotiated { revision, claimed_client } = negotiated;
        let ticket = self.pending.open(request.id().clone(), revision, progress.clone());
        let call = AdmittedCall {
            request: request.id().clone(),
            revision,
            principal: Arc::clone(&self.principal),
            claimed_client,
            params,
            progress,
        };
        Ok(Admission::Call(Admitted::new(call, ticket)))
    }

    /// The first admitted request that stands alone fixes the modern era.
    fn pin(&mut self, negotiated: &Negotiated) {
        if self.phase == Phase::New && negotiated.revision.is_modern() {
            self.phase = Phase::Modern;
        }
    }

    fn admit_notification<'a>(&mut self, notification: &Notification<'_>) -> Admission<'a> {
        match NotificationMethod::from_name(notification.method()) {
            NotificationMethod::Initialized => {
                if let Phase::Initializing(negotiated) = &self.phase {
                    self.phase = Phase::Ready(negotiated.clone());
                }
                Admission::Ignore { unknown: false }
            }
            NotificationMethod::Cancelled => CancelParams::read(notification.params(), &self.limits)
                .and_then(|params| self.pending.cancel(&params.id))
                .map_or(Admission::Ignore { unknown: false }, Admission::Cancel),
            NotificationMethod::Other => Admission::Ignore { unknown: false },
            NotificationMethod::Unknown => Admission::Ignore { unknown: true },
        }
    }

    fn latest_legacy(&self) -> Option<Revision> {
        self.revisions.iter().copied().filter(|revision| !revision.is_modern()).max()
    }

    fn unsupported(
        &self,
        request: &Request<'_>,
        offset: usize,
        requested: Option<String>,
    ) -> ProtocolRefusal {
        let requested = requested.or_else(|| {
            let params = request.params().object().ok().flatten()?;
            params.get("protocolVersion")?.as_str().map(printable)
        });
        let supported: Vec<_> = self.revisions.iter().map(|revision| revision.name()).collect();
        let data = json!({"supported": supported, "requested": requested.unwrap_or_default()});
        let id = ErrorId::Known(request.id().clone());
        ProtocolRefusal { refusal: Refusal::new(Reason::VersionUnsupported, offset), id, data: Some(data) }
    }

    /// A refusal whose error does not carry the request's id.
    pub(super) fn refuse_unnamed(&self, refusal: Refusal) -> ProtocolRefusal {
        ProtocolRefusal { refusal, id: self.unreadable_id(), data: None }
    }
}

/// What a phase expects.
enum Expected {
    Discover,
    Initialize,
    Ping,
    /// A request under this revision, by this claimed client.
    Request(Negotiated),
}

/// A refusal that carries the request's id.
pub(super) fn refuse(request: &Request<'_>, refusal: Refusal) -> ProtocolRefusal {
    ProtocolRefusal { refusal, id: ErrorId::Known(request.id().clone()), data: None }
}
