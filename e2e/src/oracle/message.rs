//! One message of a server: its envelope, its ids, its shape in the revision in use.
//!
//! Belongs here: what can be said of one message, given what was asked.
//! Does not belong here: counting replies.

use framegate_wire::message::Revision;
use serde_json::Value;

use super::ledger::Ledger;
use super::schema;

pub(super) enum Kind {
    Notification,
    Reply,
}

/// The envelope, closed: exactly one of `result`, `error` and `method`, and nothing unknown.
pub(super) fn kind(value: &Value) -> Result<Kind, String> {
    let object = value.as_object().ok_or("not an object")?;
    if object.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err("`jsonrpc` is not \"2.0\"".to_owned());
    }
    let (kind, allowed): (_, &[&str]) =
        match (object.contains_key("result"), object.contains_key("error"), object.contains_key("method")) {
            (true, false, false) => (Kind::Reply, &["jsonrpc", "id", "result"]),
            (false, true, false) => (Kind::Reply, &["jsonrpc", "id", "error"]),
            (false, false, true) if object.contains_key("id") => {
                return Err("a request to the client: this server never asks".to_owned());
            }
            (false, false, true) => (Kind::Notification, &["jsonrpc", "method", "params"]),
            _ => return Err("neither exactly one of result and error, nor a notification".to_owned()),
        };
    match object.keys().find(|name| !allowed.contains(&name.as_str())) {
        Some(unknown) => Err(format!("an unknown member: {unknown:?}")),
        None => Ok(kind),
    }
}

pub(super) fn check_notification(ledger: &Ledger, value: &Value) -> Result<(), String> {
    let revision = in_use(ledger);
    let definition = match value["method"].as_str() {
        Some("notifications/progress") => "ProgressNotification",
        other => {
            return Err(format!("a notification that this server never sends: {other:?}"));
        }
    };
    schema::check(revision, "JSONRPCNotification", value)?;
    schema::check(revision, definition, value)
}

/// A reply that carries an id.
pub(super) fn check_reply(ledger: &mut Ledger, key: &str, value: &Value) -> Result<(), String> {
    if value.get("error").is_some() {
        return check_error(ledger, value);
    }
    let result = &value["result"];
    let asked = ledger.asked(key).to_vec();
    // An id asked for twice may be answered as either.
    let mut faults = Vec::new();
    for (method, modern) in &asked {
        match check_result(ledger, method, *modern, value) {
            Ok(()) => {
                remember(ledger, method, *modern, result);
                return check_structured(ledger, key, method, result);
            }
            Err(fault) => faults.push(fault),
        }
    }
    Err(faults.join("; or "))
}

fn check_result(ledger: &Ledger, method: &str, modern: bool, value: &Value) -> Result<(), String> {
    let result = &value["result"];
    let revision = match (modern, method, ledger.negotiated) {
        (true, _, _) | (_, "server/discover", _) => Revision::V2026_07_28,
        (false, "initialize", _) => {
            let version = result["protocolVersion"].as_str().unwrap_or_default();
            Revision::from_name(version)
                .filter(|revision| !revision.is_modern())
                .ok_or("`initialize` answered with a version that has no handshake")?
        }
        (false, _, Some(revision)) => revision,
        (false, "ping", None) => Revision::V2025_06_18,
        (false, _, None) => return Err(format!("a result for {method:?} before any negotiation")),
    };
    let definition = match method {
        "initialize" => "InitializeResult",
        "ping" => "EmptyResult",
        "server/discover" => "DiscoverResult",
        "tools/call" => "CallToolResult",
        "tools/list" => "ListToolsResult",
        _ => {
            return Err(format!("a result for {method:?}, which this server does not have"));
        }
    };
    if method == "ping" && result != &serde_json::json!({}) {
        return Err("the result of `ping` is not empty".to_owned());
    }
    if revision.is_modern() {
        match result["resultType"].as_str() {
            Some("complete") => {}
            other => return Err(format!("`resultType` is {other:?}")),
        }
        if result["_meta"]["io.modelcontextprotocol/serverInfo"].is_null() {
            return Err("no `serverInfo` in the result's `_meta`".to_owned());
        }
    } else if !result["resultType"].is_null() {
        return Err("`resultType` before 2026-07-28".to_owned());
    }
    let envelope = if revision < Revision::V2025_11_25 { "JSONRPCResponse" } else { "JSONRPCResultResponse" };
    schema::check(revision, envelope, value)?;
    schema::check(revision, definition, result)
}

/// Keeps what later replies are judged by.
fn remember(ledger: &mut Ledger, method: &str, modern: bool, result: &Value) {
    ledger.modern |= modern && method != "server/discover";
    match method {
        "initialize" => {
            ledger.negotiated = result["protocolVersion"].as_str().and_then(Revision::from_name);
        }
        "tools/list" => {
            for tool in result["tools"].as_array().into_iter().flatten() {
                if let (Some(name), Some(output)) = (tool["name"].as_str(), tool.get("outputSchema")) {
                    ledger.outputs.insert(name.to_owned(), output.clone());
                }
            }
        }
        _ => {}
    }
}

fn check_structured(ledger: &Ledger, key: &str, method: &str, result: &Value) -> Result<(), String> {
    let structured = result.get("structuredContent");
    if method != "tools/call" {
        return Ok(());
    }
    if structured.is_some() && result["isError"] == true {
        return Err("an error with `structuredContent`: a client would hide its text".to_owned());
    }
    if structured.is_some() && matches!(ledger.negotiated, Some(revision) if revision < Revision::V2025_06_18)
    {
        return Err("`structuredContent` before 2025-06-18".to_owned());
    }
    let tools = ledger.tools.get(key).map_or(&[][..], Vec::as_slice);
    let [tool] = tools else { return Ok(()) };
    let Some(output) = ledger.outputs.get(tool) else {
        return Ok(());
    };
    match structured {
        Some(structured) => schema::check_output(output, structured),
        None if result["isError"] == true => Ok(()),
        None => {
            Err(format!("`{tool}` published an output schema, but its result has no `structuredContent`"))
        }
    }
}

/// An error, with or without an id.
pub(super) fn check_error(ledger: &Ledger, value: &Value) -> Result<(), String> {
    let error = value.get("error").ok_or("a result without an id")?;
    let revision = in_use(ledger);
    let code = error["code"].as_i64().ok_or("the error's code is no integer")?;
    let known = [-32700, -32600, -32601, -32602, -32603, -32022, -32021];
    if !known.contains(&code) {
        return Err(format!("an error code that this server does not have: {code}"));
    }
    let absent = revision >= Revision::V2025_11_25;
    let mut shown = value.clone();
    match value.get("id") {
        Some(id) if id.is_null() && absent => return Err(format!("`id` is null in {revision}")),
        // JSON-RPC wants null here, the schemas of these revisions an id: the rest is checked.
        Some(id) if id.is_null() => shown["id"] = 0.into(),
        None if !absent && ledger.negotiated.is_some() => {
            return Err(format!("an error without `id` in {revision}"));
        }
        None if !absent => shown["id"] = 0.into(),
        _ => {}
    }
    let envelope = if absent { "JSONRPCErrorResponse" } else { "JSONRPCError" };
    schema::check(revision, envelope, &shown)?;
    match code {
        -32022 => schema::check(Revision::V2026_07_28, "UnsupportedProtocolVersionError", value),
        -32021 => schema::check(Revision::V2026_07_28, "MissingRequiredClientCapabilityError", value),
        _ => Ok(()),
    }
}

/// The revision that a message without a request of its own is judged by.
fn in_use(ledger: &Ledger) -> Revision {
    if ledger.modern { Revision::V2026_07_28 } else { ledger.negotiated.unwrap_or(Revision::V2025_06_18) }
}
