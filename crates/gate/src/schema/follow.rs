//! Where a target sends a caller on to, as the next call: the same arguments, another rendered request.
//!
//! Belongs here: which redirects (RFC 9110, 15.4) become a request, in the one spelling that we would write.
//! Does not belong here: whether it is allowed, which the next door judges anew; sending.
//!
//! A target steers this request, so it is held to less than an agent's: no body, only methods that change nothing,
//! only declared origins, and only a location that is written exactly as we would write it.

use std::sync::Arc;

use super::call::{Call, Checked};
use super::open;
use super::parameter::{Kind, Parameter};
use super::template::SegmentTemplate;
use super::text::{is_line, is_plain_segment};
use crate::action::{Action, HttpAction, HttpParts, Method, Origin, percent_decode};
use crate::outcome::Redirect;
use crate::protocol::Ticket;

/// How many redirects of one call are followed.
const MAX_HOPS: usize = 3;

/// The call that a redirect makes of this one.
///
/// # Errors
/// The ticket, when the redirect is not one that is followed.
pub(crate) fn follow(call: &Call, redirect: &Redirect, ticket: Ticket) -> Result<Checked, Ticket> {
    let Some((action, trail)) = next(call, redirect) else { return Err(ticket) };
    let call = Call {
        request: call.request.clone(),
        revision: call.revision,
        principal: Arc::clone(&call.principal),
        claimed_client: call.claimed_client.clone(),
        tool: Arc::clone(&call.tool),
        arguments: call.arguments.clone(),
        action,
        trail,
        progress: call.progress.clone(),
    };
    Ok(Checked::new(call, ticket))
}

fn next(call: &Call, redirect: &Redirect) -> Option<(Action, Vec<String>)> {
    let Action::Http(action) = &call.action;
    let method = method(action.method(), redirect.status)?;
    let (target, origin, rest) = destination(call, action, &redirect.location)?;
    let (path, query) = match rest.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (rest, None),
    };
    // A reference of a query only keeps the path (RFC 3986, 5.2.2).
    let segments = if path.is_empty() { action.segments().to_vec() } else { segments(path)? };
    let parts = HttpParts {
        target,
        origin,
        method,
        segments,
        query: pairs(query.unwrap_or_default())?,
        headers: action.headers().to_vec(),
        body: None,
        save: action.save_as().cloned(),
        cursor: None,
    };
    let next = HttpAction::new(parts);
    let written = next.path_and_query();
    let as_written = if path.is_empty() { written.strip_prefix(&action.path())? } else { &written };
    if as_written != rest || !is_within_reach(call, next.segments()) {
        return None;
    }
    let mut trail = call.trail.clone();
    trail.push(place(action));
    let action = Action::Http(next);
    let Action::Http(next) = &action;
    (trail.len() <= MAX_HOPS && !trail.contains(&place(next))).then_some((action, trail))
}

/// The method of the next request. What changed something is not repeated: only 303 leaves it, for GET.
const fn method(method: Method, status: u16) -> Option<Method> {
    match (status, method) {
        (303, Method::Head) => Some(Method::Head),
        (303, _) => Some(Method::Get),
        (301 | 302 | 307 | 308, Method::Get | Method::Head) => Some(method),
        _ => None,
    }
}

/// The target and its origin, and what of the location follows the origin.
fn destination<'l>(
    call: &Call,
    action: &HttpAction,
    location: &'l str,
) -> Option<(Arc<str>, Origin, &'l str)> {
    let relative = (location.starts_with('/') && !location.starts_with("//")) || location.starts_with('?');
    let own = |origin: &Origin| *origin == *action.origin();
    call.tool.template.redirects.iter().find_map(|(target, origin)| {
        let rest = if relative && own(origin) {
            location
        } else {
            location.strip_prefix(&origin.to_string()).filter(|rest| rest.starts_with('/'))?
        };
        Some((Arc::clone(target), origin.clone(), rest))
    })
}

/// The decoded segments of a path; the last one may be empty.
fn segments(path: &str) -> Option<Vec<String>> {
    let relative = path.strip_prefix('/')?;
    let count = relative.split('/').count();
    let segments = relative.split('/').enumerate().map(|(index, text)| {
        let segment = percent_decode(text)?;
        let is_end = segment.is_empty() && index.saturating_add(1) == count;
        (is_end || is_plain_segment(&segment)).then_some(segment)
    });
    segments.collect()
}

/// The decoded pairs of a query.
fn pairs(query: &str) -> Option<Vec<(String, String)>> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=')?;
        let (name, value) = (percent_decode(name)?, percent_decode(value)?);
        (is_line(&name) && is_line(&value)).then_some((name, value))
    });
    pairs.collect()
}

/// Whether the path is one that an open tool may ask for. Other tools have no such bound: a rule can set one.
fn is_within_reach(call: &Call, segments: &[String]) -> bool {
    let [SegmentTemplate::Request(name)] = call.tool.template.path.as_slice() else { return true };
    let is_path = |parameter: &&Parameter| parameter.name() == &**name;
    let patterns = match call.tool.parameters.iter().find(is_path).map(|parameter| &parameter.kind) {
        Some(Kind::RequestPath { patterns, .. }) => patterns,
        Some(_) | None => return false,
    };
    // The root is one empty segment in a request, and none in a pattern. An agent can ask for no other.
    let segments: Vec<&str> = match segments {
        [root] if root.is_empty() => Vec::new(),
        segments => segments.iter().map(String::as_str).collect(),
    };
    !segments.contains(&"") && open::is_within(&segments, patterns)
}

/// By what a loop is recognised.
fn place(action: &HttpAction) -> String {
    format!("{} {}", action.target(), action.path_and_query())
}
