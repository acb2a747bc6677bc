//! The two eras of the protocol, and where a session stands in them.
//!
//! Belongs here: handshake (2024-11-05 to 2025-11-25) and stateless (2026-07-28) phases, `_meta` claims.
//! Does not belong here: ids, tools.

use std::sync::Arc;

use framegate_wire::json::{Object, Value};
use framegate_wire::message::{META_CAPABILITIES, META_CLIENT_INFO, META_VERSION, Params, Revision};
use framegate_wire::{Reason, Refusal};

/// Where a session stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Nothing was admitted that pins an era.
    New,
    /// `initialize` was answered.
    Initializing(Negotiated),
    /// `notifications/initialized` was received.
    Ready(Negotiated),
    /// A request that stands alone was admitted.
    Modern,
}

impl Phase {
    /// The revision in use, once one is.
    pub(super) const fn revision(&self) -> Option<Revision> {
        match self {
            Self::New => None,
            Self::Initializing(negotiated) | Self::Ready(negotiated) => Some(negotiated.revision),
            Self::Modern => Some(Revision::V2026_07_28),
        }
    }
}

/// What was agreed on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Negotiated {
    /// The revision.
    pub revision: Revision,
    /// What the peer calls itself; a claim.
    pub claimed_client: Option<Arc<str>>,
}

/// What `_meta` of a request claims about its era.
pub(super) enum Claim {
    /// It names no protocol version.
    None,
    /// A served modern revision, with everything that it requires.
    Modern(Negotiated),
}

/// Why a claim is refused.
pub(super) enum ClaimFault {
    Refused(Refusal),
    Unsupported { offset: usize, requested: String },
}

/// Whether the request names a protocol version of its own.
pub(super) fn names_version(params: Params<'_>) -> bool {
    params.meta().is_some_and(|meta| meta.get(META_VERSION).is_some())
}

/// Reads the claim of a request.
pub(super) fn claim(params: Params<'_>, served: &[Revision]) -> Result<Claim, ClaimFault> {
    let missing = |value: Option<Value<'_>>| {
        ClaimFault::Refused(Refusal::new(Reason::MetaMissing, value.map_or(0, |value| value.span().start)))
    };
    let Some(meta) = params.meta() else {
        return Ok(Claim::None);
    };
    let Some(version) = meta.get(META_VERSION) else {
        return Ok(Claim::None);
    };
    let name = version.as_str().ok_or_else(|| missing(Some(version)))?;
    let revision =
        Revision::from_name(name).filter(|revision| revision.is_modern() && served.contains(revision));
    let Some(revision) = revision else {
        return Err(ClaimFault::Unsupported { offset: version.span().start, requested: printable(name) });
    };
    let capabilities = meta.get(META_CAPABILITIES);
    if capabilities.and_then(Value::as_object).is_none() {
        return Err(missing(capabilities));
    }
    if let Some(level) = meta.get("io.modelcontextprotocol/logLevel") {
        const LEVELS: [&str; 8] =
            ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
        if !level.as_str().is_some_and(|level| LEVELS.contains(&level)) {
            return Err(missing(Some(level)));
        }
    }
    let claimed_client = match meta.get(META_CLIENT_INFO) {
        None => None,
        Some(info) => Some(client_name(info.as_object()).ok_or_else(|| missing(Some(info)))?),
    };
    Ok(Claim::Modern(Negotiated { revision, claimed_client }))
}

/// The name in an `Implementation` object: `name` and `version` are required strings.
pub(super) fn client_name(info: Option<Object<'_>>) -> Option<Arc<str>> {
    let info = info?;
    info.get("version")?.as_str()?;
    info.get("name")?.as_str().map(printable).map(Arc::from)
}

/// A peer's own word, safe to repeat: printable ASCII, at most 64 characters.
pub(super) fn printable(text: &str) -> String {
    text.chars()
        .take(64)
        .map(|character| if matches!(character, ' '..='~') { character } else { '?' })
        .collect()
}
