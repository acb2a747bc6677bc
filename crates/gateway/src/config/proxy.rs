//! The proxy of `[network]`: one spelling, all others refused; and which targets it can serve.
//!
//! Belongs here: how a proxy is written, and what makes no sense behind one.
//! Does not belong here: looking its name up, connections.

use std::net::IpAddr;

use framegate_gate::action::Scheme;
use url::Url;

use super::document::{Entry, Table};
use super::fault::Report;
use super::origin::PinnedOrigin;
use crate::net::host::Host;
use crate::net::proxy::Proxy;

const HINT: &str = "write `http://HOST:PORT`";

/// Why a text is no proxy, and what to do.
type Problem = (String, String);

/// Reads `[network] proxy`.
pub(super) fn read(entry: &Entry<'_>, report: &mut Report) -> Option<Proxy> {
    let text = entry.string(report)?;
    match parse(text.text) {
        Ok(proxy) => Some(proxy),
        Err((problem, hint)) => {
            // A password may stand before the `@`, a token after the `?`.
            if text.text.contains(['@', '?']) {
                report.mask(&text.span);
            }
            report.error(&text.span, problem, hint);
            None
        }
    }
}

/// Two readers must agree, as for an origin. The port is always written: proxies have no usual one.
fn parse(text: &str) -> Result<Proxy, Problem> {
    let Some(authority) = text.strip_prefix("http://") else {
        return problem(
            "a proxy starts with `http://`",
            "write `http://HOST:PORT`: TLS with the target goes through it",
        );
    };
    if authority.contains('@') {
        return problem("a proxy holds no user or password", "name a proxy that asks for none");
    }
    if authority.contains(['/', '\\', '?', '#']) {
        return problem("a proxy ends after host and port", "write no path, no query and no final `/`");
    }
    let (host, digits) = match authority.rsplit_once(':') {
        Some(parts) if !authority.ends_with(']') => parts,
        _ => return problem("a proxy needs its port", HINT),
    };
    let port: u16 = digits.parse().unwrap_or(0);
    if port == 0 || port.to_string() != digits {
        return problem("the port is not a plain number", "write a port from 1 to 65535");
    }
    let pinned: Host = match host.parse() {
        Ok(pinned) => pinned,
        Err(fault) => return problem("the proxy cannot be pinned as it is written", &format!("{fault}")),
    };
    let is_same = |url: Url| url.host_str() == Some(host) && url.port_or_known_default() == Some(port);
    if !Url::parse(text).is_ok_and(is_same) {
        return problem("the proxy is not in its one spelling", HINT);
    }
    Proxy::new(pinned, port).or_else(|refusal| {
        problem(&format!("the proxy's address is not allowed: {}", refusal.block), "no proxy can live there")
    })
}

fn problem<T>(problem: &str, hint: &str) -> Result<T, Problem> {
    Err((problem.to_owned(), hint.to_owned()))
}

/// The proxy of one target: that of `[network]`, unless the target says `proxy = false`. `named` tells that
/// `[network]` names one, sound or not.
pub(super) fn of_target(
    table: &Table<'_>,
    network: Option<&Proxy>,
    named: bool,
    pinned: Option<&PinnedOrigin>,
    report: &mut Report,
) -> Option<Proxy> {
    let entry = table.get("proxy");
    let wanted = entry.is_none() || table.boolean("proxy", report) == Some(true);
    if let (false, Some(entry)) = (named, &entry) {
        let problem = "`proxy` has no use without `proxy` under `[network]`";
        report.error(&entry.key_span, problem, "remove it");
    }
    if !named || !wanted {
        return None;
    }
    if let Some(pinned) = pinned {
        check(table, pinned, report);
    }
    network.cloned()
}

fn check(table: &Table<'_>, pinned: &PinnedOrigin, report: &mut Report) {
    let origin = table.get("origin").map_or(table.span.clone(), |entry| entry.span);
    match &pinned.host {
        _ if pinned.origin.scheme() == Scheme::Http => report.error(
            &origin,
            "a plain `http` origin cannot be reached through the proxy of `[network]`",
            "add `proxy = false`: the target is on this machine",
        ),
        Host::Address(address) if IpAddr::is_loopback(address) => report.error(
            &origin,
            "behind the proxy of `[network]`, a loopback address is the proxy's own machine",
            "add `proxy = false`, if this machine is meant",
        ),
        Host::Address(_) => {}
        Host::Name(_) => {
            if let Some(entry) = table.get("address_ranges") {
                report.error(
                    &entry.key_span,
                    "`address_ranges` has no effect on a name that the proxy of `[network]` looks up",
                    "remove it, or reach the target directly with `proxy = false`",
                );
            }
        }
    }
}
