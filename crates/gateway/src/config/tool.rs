//! `[tool.NAME]`: an action as an operator declares it.
//!
//! Belongs here: a tool's keys, its reference to a target, what must hold between the two.
//! Does not belong here: types and templates, which the gate compiles; policy.

use std::collections::BTreeMap;

use framegate_gate::action::{Origin, Scheme};
use framegate_gate::schema::{HttpDeclaration, ParameterDeclaration, ToolDeclaration};
use serde_json::Value;
use toml::de::DeValue;

use super::document::{Entry, Table};
use super::fault::{Report, quoted};
use super::header::{self, Setter};
use super::model::{Allow, Target, Tool};
use super::tables::{prose, seconds};
use super::{code_position, credential, parameter, suggest, value};

pub(super) const KEYS: [&str; 14] = [
    "title",
    "description",
    "allow",
    "target",
    "method",
    "path",
    "query",
    "headers",
    "body",
    "ignore_arguments",
    "deadline_seconds",
    "idempotency_key",
    "code_position",
    "params",
];

/// The most arguments that a tool ignores.
const MAX_IGNORED: usize = 64;
/// The most parameters of a tool.
const MAX_PARAMETERS: usize = 128;

/// A tool that could be read: its declaration for the gate, and the rest.
#[derive(Debug)]
pub(super) struct ReadTool {
    pub(super) declaration: ToolDeclaration,
    pub(super) tool: Tool,
}

/// Reads one tool's table. `targets` has every declared target, also those that could not be read.
/// `None` if the tool could not be read so far that compiling it would tell more.
pub(super) fn read(
    name: &str,
    table: &Table<'_>,
    targets: &BTreeMap<&str, Option<Target>>,
    report: &mut Report,
) -> Option<ReadTool> {
    let before = report.errors();
    table.only(&KEYS, report);
    let title = table.string("title", report).and_then(|text| prose(&text, "title", 128, report));
    let description = table
        .required("description", "description = \"What the tool does, for the agent\"", report)
        .and_then(|entry| entry.string(report))
        .and_then(|text| prose(&text, "description", 4096, report));
    let allow = table.get("allow").and_then(|entry| allow(&entry, report));
    let target = table
        .required("target", "target = \"NAME\"", report)
        .and_then(|entry| target_name(&entry, targets, report));
    let method = template(table, "method", "method = \"GET\"", report);
    let path = template(table, "path", "path = \"/items/{id}\"", report);
    let query = match table.get("query").and_then(|entry| entry.table("`query`", report)) {
        Some(query) => read_query(&query, report),
        None => Vec::new(),
    };
    let ignore_arguments = match table.get("ignore_arguments") {
        Some(entry) => ignored(&entry, report),
        None => Vec::new(),
    };
    let deadline = seconds(table, "deadline_seconds", 1..=600, report);
    let accepted = table.get("code_position").is_some_and(|entry| is_accepted(&entry, report));
    let parameters = parameters(table, report);
    let body = table.get("body").and_then(|entry| value::read(&entry, report));
    let structure_is_sound = report.errors() == before;

    // From here on, faults do not keep the gate from finding more.
    let target_settings = target.and_then(|name| targets.get(name)).and_then(Option::as_ref);
    let headers = match table.get("headers").and_then(|entry| entry.table("`headers`", report)) {
        Some(headers) => read_headers(&headers, target_settings, body.is_some(), report),
        None => Vec::new(),
    };
    let idempotency_key = table
        .get("idempotency_key")
        .and_then(|entry| idempotency_key(&entry, &headers, target_settings, report));
    if let Some(body) = &body {
        refuse_literal_secrets(table, body, &mut vec!["body".to_owned()], report);
    }
    if !structure_is_sound {
        return None;
    }
    let target = target?;
    let declaration = ToolDeclaration {
        name: name.to_owned(),
        title,
        description: description?,
        parameters,
        ignore_arguments,
        http: HttpDeclaration {
            target: target.to_owned(),
            // A target that could not be read is a fault already; its place is taken by none.
            origin: target_settings.map_or_else(
                || Origin::new(Scheme::Https, "unread.invalid".into(), 443),
                |target| target.origin.clone(),
            ),
            method: method?,
            path: path?,
            query,
            headers,
            body,
            reserved_names: target_settings
                .and_then(|target| target.auth.as_ref())
                .map(|auth| auth.header().to_owned())
                .into_iter()
                .collect(),
        },
    };
    code_position::check(&declaration, table, accepted, report);
    let tool = Tool { target: target.to_owned(), allow, deadline, idempotency_key };
    Some(ReadTool { declaration, tool })
}

fn allow(entry: &Entry<'_>, report: &mut Report) -> Option<Allow> {
    match entry.value {
        DeValue::Boolean(true) => Some(Allow::All),
        DeValue::String(text) if text == "read" => Some(Allow::Read),
        _ => {
            let hint = "leave it out to let only policy files decide";
            report.error(&entry.span, "`allow` must be `true` or `\"read\"`", hint);
            None
        }
    }
}

fn target_name<'d>(
    entry: &Entry<'d>,
    targets: &BTreeMap<&str, Option<Target>>,
    report: &mut Report,
) -> Option<&'d str> {
    let name = entry.string(report)?;
    if targets.contains_key(name.text) {
        return Some(name.text);
    }
    let hint = suggest::hint(name.text, targets.keys().copied())
        .unwrap_or_else(|| format!("declare {}", quoted(&format!("[target.{}]", name.text))));
    report.error(&name.span, "there is no such target", hint);
    None
}

fn template(table: &Table<'_>, key: &str, example: &str, report: &mut Report) -> Option<String> {
    let text = table.required(key, example, report)?.string(report)?;
    Some(text.text.to_owned())
}

fn read_query(table: &Table<'_>, report: &mut Report) -> Vec<(String, String)> {
    let mut query = Vec::new();
    for entry in table.entries() {
        if entry.key.is_empty() || entry.key.len() > 128 || entry.key.chars().any(char::is_control) {
            let problem = format!("{} is no query name", quoted(entry.key));
            report.error(&entry.key_span, problem, "1 to 128 characters without control characters");
        }
        if let Some(text) = entry.string(report) {
            if credential::is_secret_name(entry.key) && !text.text.contains('{') {
                report.mask(&text.span);
                report.error(&text.span, "a secret must not stand in a query", credential::HINT);
            }
            query.push((entry.key.to_owned(), text.text.to_owned()));
        }
    }
    query
}

fn read_headers(
    table: &Table<'_>,
    target: Option<&Target>,
    has_body: bool,
    report: &mut Report,
) -> Vec<(String, String)> {
    let headers = header::read(table, Setter::Tool, report);
    for entry in table.entries() {
        if let Some((problem, hint)) = set_elsewhere(entry.key, target, has_body)
            && !report.knows(&entry.key_span)
        {
            report.error(&entry.key_span, problem, hint);
        }
    }
    headers
}

/// The header of a tool's idempotency key: one that the tool may set, and that nothing else sets.
fn idempotency_key(
    entry: &Entry<'_>,
    headers: &[(String, String)],
    target: Option<&Target>,
    report: &mut Report,
) -> Option<String> {
    let name = entry.string(report)?;
    header::check_name(name.text, &name.span, Setter::Tool, report);
    let by_tool = headers.iter().any(|(other, _)| header::are_twins(other, name.text));
    let clash = if by_tool {
        Some((format!("the header {} is set in `headers`", quoted(name.text)), "remove it here or there"))
    } else if matches!(name.text, "accept" | "content-type") {
        Some((format!("the header {} says something else", quoted(name.text)), "such as `idempotency-key`"))
    } else {
        set_elsewhere(name.text, target, false)
    };
    if let Some((problem, hint)) = clash
        && !report.knows(&name.span)
    {
        report.error(&name.span, problem, hint);
    }
    Some(name.text.to_owned())
}

/// What is wrong with a tool's header if the target or the body sets it.
fn set_elsewhere(name: &str, target: Option<&Target>, has_body: bool) -> Option<(String, &'static str)> {
    let twin = |other: &str| header::are_twins(other, name);
    if target.and_then(|target| target.auth.as_ref()).is_some_and(|auth| twin(auth.header())) {
        let problem = format!("the header {} carries the target's credential", quoted(name));
        Some((problem, "remove it: `auth` sets it"))
    } else if target.is_some_and(|target| target.headers.iter().any(|(other, _)| twin(other))) {
        Some((format!("the header {} is set by the target", quoted(name)), "remove it here or there"))
    } else if has_body && name == "content-type" {
        Some(("the header `content-type` is set by the JSON body".to_owned(), "remove it"))
    } else {
        None
    }
}

fn ignored(entry: &Entry<'_>, report: &mut Report) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let texts = entry.strings(report).unwrap_or_default();
    if let Some(extra) = texts.get(MAX_IGNORED) {
        report.bare_error(&extra.span, format!("there are more than {MAX_IGNORED} arguments to ignore"));
    }
    for text in texts.into_iter().take(MAX_IGNORED) {
        let plain = matches!(text.text.len(), 1..=64)
            && text
                .text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        if !plain {
            report.error(&text.span, "this is no argument name", "1 to 64 letters, digits, `_`, `-` and `.`");
        } else if names.iter().any(|name| name == text.text) {
            report.error(&text.span, "the name is given twice", "remove one of them");
        } else {
            names.push(text.text.to_owned());
        }
    }
    names
}

fn is_accepted(entry: &Entry<'_>, report: &mut Report) -> bool {
    let accepted = matches!(entry.value, DeValue::String(text) if text == "accepted");
    if !accepted {
        report.error(
            &entry.span,
            "`code_position` has no such value",
            "write `\"accepted\"`, or leave it out",
        );
    }
    accepted
}

fn parameters(table: &Table<'_>, report: &mut Report) -> Vec<ParameterDeclaration> {
    let Some(params) = table.get("params").and_then(|entry| entry.table("`params`", report)) else {
        return Vec::new();
    };
    let mut read = Vec::new();
    if let Some(extra) = params.entries().nth(MAX_PARAMETERS) {
        report.bare_error(&extra.key_span, format!("there are more than {MAX_PARAMETERS} parameters"));
    }
    for entry in params.entries().take(MAX_PARAMETERS) {
        let title = format!("`params.{}`", super::fault::printable(entry.key));
        if let Some(table) = entry.table(&title, report) {
            read.extend(parameter::read(entry.key, &table, report));
        }
    }
    read
}

fn refuse_literal_secrets(table: &Table<'_>, node: &Value, place: &mut Vec<String>, report: &mut Report) {
    let under = |key: String, child: &Value, place: &mut Vec<String>, report: &mut Report| {
        place.push(key);
        refuse_literal_secrets(table, child, place, report);
        place.pop();
    };
    match node {
        Value::Object(members) => {
            for (name, child) in members {
                under(name.clone(), child, place, report);
            }
        }
        Value::Array(items) => {
            for (index, child) in items.iter().enumerate() {
                under(index.to_string(), child, place, report);
            }
        }
        Value::String(text) => {
            let named = place.last().is_some_and(|name| credential::is_secret_name(name));
            if named && !text.is_empty() && !text.contains('{') {
                let span = table.place(place).value;
                report.mask(&span);
                report.error(&span, "a secret must not stand in a body", credential::HINT);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
