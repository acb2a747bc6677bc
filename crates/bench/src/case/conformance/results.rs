//! Results as their revision's schema has them.
//!
//! Belongs here: shapes of answers to methods of the protocol. Does not belong here: what tools publish.

use serde_json::Value;

use super::transcript::{Request, Transcript};
use super::{Found, all, schema};

/// L-01: `initialize` is answered with what its schema asks for.
pub(super) fn initialize(session: &Transcript) -> Found {
    of_method(session, "initialize")
}

/// M-02: `server/discover` is answered with what its schema asks for.
pub(super) fn discover(session: &Transcript) -> Found {
    of_method(session, "server/discover")
}

/// T-08: a call is answered with what its schema asks for, content types of that revision included.
pub(super) fn call(session: &Transcript) -> Found {
    of_method(session, "tools/call")
}

/// L-06: every other result is what its method's schema asks for.
pub(super) fn others(session: &Transcript) -> Found {
    let of_their_own = ["initialize", "server/discover", "tools/call", "tools/list"];
    let others = session.all_answers().filter(|(request, _)| !of_their_own.contains(&&*request.method));
    let mut any = false;
    let found = all(others.map(|(request, answer)| {
        any |= answer.get("result").is_some();
        judged(session, request, answer)
    }));
    if any { found } else { Found::Untold("there was no other result".to_owned()) }
}

/// T-02: a list is what its schema asks for, and every schema in it is one.
pub(super) fn tools(session: &Transcript) -> Found {
    let shape = of_method(session, "tools/list");
    let schemas = session.tools.iter().flat_map(|tool| {
        ["inputSchema", "outputSchema"].into_iter().filter_map(|name| {
            let fault = schema::schema_fault(tool.get(name)?)?;
            Some(Found::wrong(format!("`{name}` of a tool is no JSON Schema: {fault}")))
        })
    });
    all([shape].into_iter().chain(schemas))
}

fn of_method(session: &Transcript, method: &str) -> Found {
    let mut any = false;
    let found = all(session.answers(method).map(|(request, answer)| {
        any |= answer.get("result").is_some();
        judged(session, request, answer)
    }));
    if any { found } else { Found::Untold(format!("`{method}` had no result")) }
}

fn judged(session: &Transcript, request: &Request, answer: &Value) -> Found {
    let Some(result) = answer.get("result") else { return Found::Holds };
    let definition = schema::result_of(&request.method, session.revision);
    match definition.and_then(|definition| schema::fault(session.revision, definition, result)) {
        Some(fault) => Found::wrong(fault),
        None => Found::Holds,
    }
}

/// M-07: every result says of what type it is.
pub(super) fn result_type(session: &Transcript) -> Found {
    all(session.all_answers().filter_map(|(request, answer)| {
        let result = answer.get("result")?;
        let is_typed = result.get("resultType").is_some_and(Value::is_string);
        (!is_typed).then(|| Found::wrong(format!("the result of `{}` has no `resultType`", request.method)))
    }))
}

/// M-19: results name the server.
pub(super) fn server_info(session: &Transcript) -> Found {
    let name = "io.modelcontextprotocol/serverInfo";
    all(session.all_answers().filter_map(|(request, answer)| {
        let result = answer.get("result")?;
        let names = result.get("_meta").is_some_and(|meta| meta.get(name).is_some());
        (!names)
            .then(|| Found::wrong(format!("the result of `{}` has no `{name}` in `_meta`", request.method)))
    }))
}

/// M-21: lists say how long they may be kept, and all pages of one the same scope.
pub(super) fn cache_hints(session: &Transcript) -> Found {
    all(["server/discover", "tools/list", "resources/list", "prompts/list"].map(|method| {
        let mut scope = None;
        all(session.answers(method).filter_map(|(_, answer)| {
            let result = answer.get("result")?;
            let ttl = result.get("ttlMs").and_then(Value::as_f64).filter(|ttl| *ttl >= 0.0);
            let here = result.get("cacheScope").and_then(Value::as_str);
            let is_known = matches!(here, Some("public" | "private"));
            if ttl.is_none() || !is_known {
                return Some(Found::wrong(format!(
                    "`{method}` has no `ttlMs` of 0 or more, or a `cacheScope` other than `public` and `private`"
                )));
            }
            let differs = scope.is_some_and(|known| known != here);
            scope = Some(here);
            differs.then(|| Found::wrong(format!("pages of `{method}` differ in `cacheScope`")))
        }))
    }))
}
