//! `[target.NAME]`: where requests go, and with which credential.
//!
//! Belongs here: keys, bounds and defaults of a target, and that they fit each other.
//! Does not belong here: the spelling of origins and headers, connections, secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use framegate_gate::action::Scheme;

use super::document::{Entry, Table};
use super::fault::{Report, quoted};
use super::header::{self, Setter};
use super::model::{Auth, Authorities, Redirects, Target};
use super::origin::{self, PinnedOrigin};
use super::tables::{seconds, set};
use super::{credential, path, proxy, suggest};
use crate::net::address::{AddressPolicy, Class, IpRange, classify};
use crate::net::host::Host;
use crate::net::proxy::Proxy;

pub(super) const KEYS: [&str; 13] = [
    "origin",
    "ca",
    "address_ranges",
    "proxy",
    "allow_plain_loopback",
    "auth",
    "headers",
    "deadline_seconds",
    "connect_seconds",
    "idle_seconds",
    "keep_alive",
    "max_response_bytes",
    "redirects",
];
pub(super) const AUTH_KEYS: [(&str, &[&str]); 3] = [
    ("basic", &["scheme", "user", "secret"]),
    ("bearer", &["scheme", "secret"]),
    ("header", &["scheme", "name", "secret"]),
];

/// The most address ranges of one target.
const MAX_RANGES: usize = 64;

/// What a target refers to outside of its table.
pub(super) struct Surroundings<'a> {
    /// The folder that paths are relative to.
    pub(super) base: &'a Path,
    /// The names of the declared secrets.
    pub(super) secrets: &'a BTreeSet<&'a str>,
    /// The proxy of `[network]`.
    pub(super) proxy: Option<&'a Proxy>,
    /// Whether `[network]` names one, sound or not.
    pub(super) has_proxy: bool,
}

/// Reads one target's table.
pub(super) fn read(table: &Table<'_>, around: &Surroundings<'_>, report: &mut Report) -> Option<Target> {
    table.only(&KEYS, report);
    let plain = table.boolean("allow_plain_loopback", report).unwrap_or(false);
    let pinned = table
        .required("origin", "origin = \"https://api.example.com\"", report)
        .and_then(|entry| read_origin(&entry, plain, report));
    if let (true, Some(pinned), Some(entry)) = (plain, &pinned, table.get("allow_plain_loopback"))
        && pinned.origin.scheme() == Scheme::Https
    {
        let problem = "`allow_plain_loopback` has no use for an `https` origin";
        report.error(&entry.key_span, problem, "remove it");
    }
    let ca = table.string("ca", report).and_then(|text| match text.text {
        "system" => Some(Authorities::System),
        _ => path::read(&text, around.base, report).map(Authorities::File),
    });
    if let Some(pinned) = &pinned {
        check_ca(table, pinned, report);
    }
    let addresses = addresses(table, pinned.as_ref(), report);
    let proxy = proxy::of_target(table, around.proxy, around.has_proxy, pinned.as_ref(), report);
    let auth = table.get("auth").and_then(|entry| auth(&entry, around.secrets, report));
    let headers = match table.get("headers").and_then(|entry| entry.table("`headers`", report)) {
        Some(headers) => read_headers(&headers, auth.as_ref(), report),
        None => Vec::new(),
    };
    let mut deadline = Duration::from_secs(50);
    set(&mut deadline, seconds(table, "deadline_seconds", 1..=600, report));
    let connect = within(table, "connect_seconds", 10, deadline, report);
    let idle = within(table, "idle_seconds", 30, deadline, report);
    let keep_alive = table.boolean("keep_alive", report).unwrap_or(true);
    let max_response_bytes = table.integer("max_response_bytes", 1024..=16_777_216, report);
    let redirects = table.get("redirects").and_then(|entry| redirects(&entry, report)).unwrap_or_default();
    let PinnedOrigin { origin, host } = pinned?;
    Some(Target {
        origin,
        host,
        ca,
        addresses: addresses?,
        proxy,
        auth,
        headers,
        deadline,
        connect,
        idle,
        keep_alive,
        max_response_bytes: max_response_bytes.unwrap_or(1_048_576),
        redirects,
    })
}

fn redirects(entry: &Entry<'_>, report: &mut Report) -> Option<Redirects> {
    if entry.array_or_none().is_some() {
        let names = entry.strings(report)?;
        if names.is_empty() {
            report.error(&entry.span, "`redirects` is empty", "leave it out to follow none");
        }
        return Some(Redirects::Declared(names.into_iter().map(|name| name.text.to_owned()).collect()));
    }
    let text = entry.string(report)?;
    match text.text {
        "none" => Some(Redirects::None),
        "same-origin" => Some(Redirects::SameOrigin),
        _ => {
            let hint = "`\"none\"`, `\"same-origin\"`, or a list of other targets";
            report.error(&text.span, "`redirects` has no such value", hint);
            None
        }
    }
}

/// What must hold between a target and those that its redirects lead to.
pub(super) fn check_redirects(
    name: &str,
    table: &Table<'_>,
    targets: &BTreeMap<&str, Option<Target>>,
    report: &mut Report,
) {
    let declared = match targets.get(name).and_then(Option::as_ref).map(|target| &target.redirects) {
        Some(Redirects::Declared(declared)) => declared,
        _ => return,
    };
    let Some(texts) = table.get("redirects").and_then(|entry| entry.strings(report)) else { return };
    for (text, other) in texts.iter().zip(declared) {
        let (problem, hint) = match targets.get(other.as_str()) {
            None => (
                "there is no such target".to_owned(),
                suggest::hint(other, targets.keys().copied()).unwrap_or_default(),
            ),
            Some(_) if other == name => (
                "a target cannot name itself here".to_owned(),
                "write `redirects = \"same-origin\"` for its own origin".to_owned(),
            ),
            Some(Some(target)) if target.auth.is_some() => (
                format!(
                    "{} has a credential, and another target would steer what is sent with it",
                    quoted(other)
                ),
                "declare a second target of the same origin without `auth`".to_owned(),
            ),
            Some(_) if declared.iter().filter(|name| *name == other).count() > 1 => {
                ("the target is given twice".to_owned(), "remove one of them".to_owned())
            }
            Some(_) => continue,
        };
        report.error(&text.span, problem, hint);
    }
}

fn read_origin(entry: &Entry<'_>, plain: bool, report: &mut Report) -> Option<PinnedOrigin> {
    let text = entry.string(report)?;
    match origin::read(text.text, plain) {
        Ok(pinned) => Some(pinned),
        Err(fault) => {
            if text.text.contains(['@', '?']) {
                report.mask(&text.span);
            }
            report.error(&text.span, fault.problem, fault.hint);
            None
        }
    }
}

fn check_ca(table: &Table<'_>, pinned: &PinnedOrigin, report: &mut Report) {
    match (pinned.origin.scheme(), table.get("ca")) {
        (Scheme::Https, None) => report.error(
            &table.get("origin").map_or(table.span.clone(), |entry| entry.span),
            "an `https` origin needs `ca`",
            "write `ca = \"system\"` for the system's trust store, or name a PEM file of the authorities to trust",
        ),
        (Scheme::Http, Some(entry)) => {
            report.error(&entry.key_span, "`ca` has no use for an `http` origin", "remove it");
        }
        (Scheme::Https, Some(_)) | (Scheme::Http, None) => {}
    }
}

fn addresses(table: &Table<'_>, pinned: Option<&PinnedOrigin>, report: &mut Report) -> Option<AddressPolicy> {
    let mut ranges: Vec<IpRange> = Vec::new();
    let mut sound = true;
    if let Some(entry) = table.get("address_ranges") {
        let texts = entry.strings(report)?;
        if entry.array(report)?.is_empty() {
            report.error(&entry.span, "`address_ranges` is empty", "leave it out for public addresses");
        }
        if let Some(extra) = texts.get(MAX_RANGES) {
            report.bare_error(&extra.span, format!("there are more than {MAX_RANGES} ranges"));
        }
        for text in texts.into_iter().take(MAX_RANGES) {
            let range: Result<IpRange, String> = text.text.parse().map_err(|fault| format!("{fault}"));
            let range = range.and_then(|range| match AddressPolicy::new(vec![range]) {
                Ok(_) => Ok(range),
                Err(fault) => Err(format!("{fault}")),
            });
            match range {
                Ok(range) if ranges.contains(&range) => {
                    report.error(&text.span, "the range is given twice", "remove one of them");
                }
                Ok(range) => ranges.push(range),
                Err(problem) => {
                    sound = false;
                    report.error(&text.span, problem, "write a range such as `10.0.0.0/8` or `fd00::/8`");
                }
            }
        }
    }
    let mut policy = AddressPolicy::new(ranges).ok().filter(|_| sound)?;
    let Some(PinnedOrigin { origin, host }) = pinned else {
        return Some(policy);
    };
    if origin.scheme() == Scheme::Http {
        policy = policy.with_plain_loopback();
    }
    if let Host::Address(address) = host
        && let Err(refusal) = policy.check(*address)
        && let Some(entry) = table.get("origin")
    {
        let hint = match classify(*address) {
            Class::Never(_) => "no target can live there",
            Class::Declarable(_) | Class::Public => {
                "declare it in `address_ranges`, if the target lives there"
            }
        };
        report.error(&entry.span, format!("{refusal}"), hint);
    }
    Some(policy)
}

fn auth(entry: &Entry<'_>, secrets: &BTreeSet<&str>, report: &mut Report) -> Option<Auth> {
    let Some(table) = entry.table("`auth`", report) else {
        report.mask(&entry.span);
        return None;
    };
    // Whatever else stands here may be the secret.
    let is_known = |key: &str| AUTH_KEYS.iter().any(|(_, keys)| keys.contains(&key));
    for entry in table.entries().filter(|entry| !is_known(entry.key)) {
        report.mask(&entry.span);
    }
    let schemes = AUTH_KEYS.iter().map(|(scheme, _)| *scheme);
    let scheme = table.required("scheme", "scheme = \"bearer\"", report)?.string(report)?;
    let Some((scheme, keys)) = AUTH_KEYS.iter().find(|(name, _)| *name == scheme.text) else {
        let hint = suggest::hint(scheme.text, schemes).unwrap_or_default();
        report.error(&scheme.span, "`scheme` has no such value", hint);
        return None;
    };
    table.only(keys, report);
    let secret = table
        .required("secret", "secret = \"NAME\"", report)
        .and_then(|entry| secret(&entry, secrets, report));
    match *scheme {
        "basic" => {
            let user = table.required("user", "user = \"me\"", report)?.string(report)?;
            let printable = user.text.bytes().all(|byte| matches!(byte, 0x20..=0x7E) && byte != b':');
            if user.text.is_empty() || !printable || user.text.len() > 255 {
                report.error(
                    &user.span,
                    "`user` is no user name",
                    "1 to 255 characters of printable ASCII without `:`",
                );
            }
            let user = user.text.to_owned();
            Some(Auth::Basic { user, secret: secret? })
        }
        "header" => {
            let name = table.required("name", "name = \"x-api-key\"", report)?.string(report)?;
            header::check_name(name.text, &name.span, Setter::Auth, report);
            let name = name.text.to_owned();
            Some(Auth::Header { name, secret: secret? })
        }
        _ => Some(Auth::Bearer { secret: secret? }),
    }
}

fn secret(entry: &Entry<'_>, secrets: &BTreeSet<&str>, report: &mut Report) -> Option<String> {
    let name = entry.string(report)?;
    if secrets.contains(name.text) {
        return Some(name.text.to_owned());
    }
    match suggest::nearest(name.text, secrets.iter().copied()) {
        Some(near) => report.error(&name.span, "there is no such secret", format!("did you mean `{near}`?")),
        None => {
            // It may be the secret itself, unless it reads like a name and is too short for a secret.
            if !super::names::Kind::Secret.admits(name.text) || name.text.len() >= 12 {
                report.mask(&name.span);
                report.error(&name.span, "there is no such secret", credential::HINT);
            } else {
                let hint = format!("declare {}", quoted(&format!("[secret.{}]", name.text)));
                report.error(&name.span, "there is no such secret", hint);
            }
        }
    }
    None
}

fn read_headers(table: &Table<'_>, auth: Option<&Auth>, report: &mut Report) -> Vec<(String, String)> {
    let headers = header::read(table, Setter::Target, report);
    for entry in table.entries() {
        let twin = auth.is_some_and(|auth| header::are_twins(auth.header(), entry.key));
        if twin && !report.knows(&entry.key_span) {
            let problem = format!("the header {} carries the target's credential", quoted(entry.key));
            report.error(&entry.key_span, problem, "remove it: `auth` sets it");
        }
    }
    headers
}

/// A time that is part of the deadline; `default`, in seconds, if it is not given and the deadline allows.
fn within(table: &Table<'_>, key: &str, default: u64, deadline: Duration, report: &mut Report) -> Duration {
    let given = seconds(table, key, 1..=600, report);
    match (given, table.get(key)) {
        (Some(given), Some(entry)) if given > deadline => {
            report.error(
                &entry.span,
                format!("`{key}` is above the deadline of {} seconds", deadline.as_secs()),
                "the deadline covers the whole request",
            );
            deadline
        }
        (Some(given), _) => given,
        (None, _) => deadline.min(Duration::from_secs(default)),
    }
}
