//! A target's origin: one spelling, all others refused.
//!
//! Belongs here: scheme, host and port as written (RFC 6454), and when plain HTTP may be used.
//! Does not belong here: paths, look-ups, which addresses a target may have.

use std::net::IpAddr;
use std::sync::Arc;

use framegate_gate::action::{Origin, Scheme};
use url::Url;

use crate::net::host::Host;

/// An origin and its host as the network room takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PinnedOrigin {
    pub(super) origin: Origin,
    pub(super) host: Host,
}

/// Why a text is no origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OriginFault {
    pub(super) problem: String,
    pub(super) hint: String,
}

/// Reads an origin: `https://host` or `https://host:port`, and `http://` only for a literal loopback
/// address.
///
/// Two readers must agree, this strict one and the `url` crate: parse, serialise, compare.
pub(super) fn read(text: &str, allow_plain_loopback: bool) -> Result<PinnedOrigin, OriginFault> {
    let (scheme, authority) = split(text)?;
    if authority.contains('@') {
        return Err(fault("an origin holds no user or password", "name a secret in the target's `auth`"));
    }
    if authority.contains(['/', '?', '#']) {
        return Err(fault(
            "an origin ends after host and port",
            "move the path and the query into the tools, and write no final `/`",
        ));
    }
    let (host, port) = host_and_port(authority, scheme)?;
    let host: Host = host
        .parse()
        .map_err(|fault| self::fault("the host cannot be pinned as it is written", &format!("{fault}")))?;
    let bare = match &host {
        Host::Address(address) => address.to_string(),
        Host::Name(name) => name.as_str().to_owned(),
    };
    let origin = Origin::new(scheme, Arc::from(bare), port);
    let parsed = Url::parse(text).map(String::from);
    if parsed.as_deref().ok() != Some(format!("{text}/").as_str()) {
        return Err(fault(
            "the origin is not in its one spelling",
            "write it as a browser shows it, in lower case",
        ));
    }
    if scheme == Scheme::Http {
        plain_is_declared(&host, allow_plain_loopback)?;
    }
    Ok(PinnedOrigin { origin, host })
}

fn split(text: &str) -> Result<(Scheme, &str), OriginFault> {
    if let Some(rest) = text.strip_prefix("https://") {
        return Ok((Scheme::Https, rest));
    }
    if let Some(rest) = text.strip_prefix("http://") {
        return Ok((Scheme::Http, rest));
    }
    Err(fault("an origin starts with `https://`", "write `https://host` or `https://host:port`"))
}

fn host_and_port(authority: &str, scheme: Scheme) -> Result<(&str, u16), OriginFault> {
    let (host, port) = match authority.rfind(']') {
        Some(_) => match authority.rsplit_once("]:") {
            Some((_, port)) => {
                let length = authority.len().saturating_sub(port.len()).saturating_sub(1);
                (authority.get(..length).unwrap_or_default(), Some(port))
            }
            None => (authority, None),
        },
        None => match authority.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        },
    };
    let Some(text) = port else {
        return Ok((host, scheme.default_port()));
    };
    let port: u16 = text.parse().unwrap_or(0);
    if port == 0 || port.to_string() != text {
        return Err(fault("the port is not a plain number", "write a port from 1 to 65535"));
    }
    if port == scheme.default_port() {
        return Err(fault("the port is the scheme's own", "leave it out: an origin has one spelling"));
    }
    Ok((host, port))
}

fn plain_is_declared(host: &Host, allowed: bool) -> Result<(), OriginFault> {
    let loopback = matches!(host, Host::Address(address) if is_loopback(*address));
    if !loopback {
        return Err(fault(
            "plain `http` reaches this machine only",
            "write `https://`; a literal 127.0.0.0/8 or [::1] address may use `http://`",
        ));
    }
    if !allowed {
        return Err(fault(
            "plain `http` needs the target's consent",
            "add `allow_plain_loopback = true`: any user of this machine can listen on a free port",
        ));
    }
    Ok(())
}

/// A literal loopback address. An IPv4-mapped one is not: it has a second spelling.
fn is_loopback(address: IpAddr) -> bool {
    address.is_loopback()
}

fn fault(problem: &str, hint: &str) -> OriginFault {
    OriginFault { problem: problem.to_owned(), hint: hint.to_owned() }
}
