//! `[tool.NAME]`: an action as an operator declares it.
//!
//! Belongs here: a tool's keys, its reference to a target, what must hold between the two.
//! Does not belong here: types and templates, which the gate compiles; policy.

use std::collections::BTreeMap;

use framegate_gate::action::{Origin, Scheme};
use framegate_gate::schema::{HttpDeclaration, ResultDeclaration, SaveDeclaration, ToolDeclaration};
use toml::de::DeValue;

use super::document::{Entry, Table};
use super::fault::{Report, quoted};
use super::header::{self, Setter};
use super::model::{Allow, Redirects, Target, Tool};
use super::tables::{prose, seconds};
use super::{code_position, credential, request, result, suggest};

pub(super) const KEYS: [&str; 21] = [
    "title",
    "description",
    "allow",
    "kind",
    "target",
    "method",
    "path",
    "query",
    "headers",
    "body",
    "form",
    "raw",
    "ignore_arguments",
    "deadline_seconds",
    "idempotency_key",
    "code_position",
    "result",
    "params",
    "methods",
    "paths",
    "json_body",
];

/// The most arguments that a tool ignores.
const MAX_IGNORED: usize = 64;

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
    let ignore_arguments = match table.get("ignore_arguments") {
        Some(entry) => ignored(&entry, report),
        None => Vec::new(),
    };
    let deadline = seconds(table, "deadline_seconds", 1..=600, report);
    let request = request::read(table, report);
    let result = result::read(table, report);
    let structure_is_sound = report.errors() == before;

    // From here on, faults do not keep the gate from finding more.
    let target_settings = target.and_then(|name| targets.get(name)).and_then(Option::as_ref);
    let headers = match table.get("headers").and_then(|entry| entry.table("`headers`", report)) {
        Some(headers) => read_headers(&headers, target_settings, request.body.is_some(), report),
        None => Vec::new(),
    };
    let idempotency_key = table
        .get("idempotency_key")
        .and_then(|entry| idempotency_key(&entry, &headers, target_settings, report));
    if !structure_is_sound {
        return None;
    }
    let target = target?;
    let mut parameters = request.parameters;
    parameters.extend(result.cursor.as_deref().map(result::cursor_parameter));
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
            method: request.method?,
            path: request.path?,
            query: request.query,
            open_query: request.open_query,
            headers,
            body: request.body,
            save: result
                .save
                .as_ref()
                .map(|save| SaveDeclaration { root: save.root.clone(), path: save.file.clone() }),
            cursor: result.cursor.clone(),
            redirects: redirects(target, targets),
            reserved_names: target_settings
                .and_then(|target| target.auth.as_ref())
                .map(|auth| auth.header().to_owned())
                .into_iter()
                .collect(),
        },
        result: ResultDeclaration {
            headers: result.headers.clone(),
            cursor: result.cursor.clone(),
            selected: result
                .select
                .as_ref()
                .map(|parts| parts.iter().map(|(name, _)| name.clone()).collect()),
        },
    };
    code_position::check(&declaration, table, request.code_accepted, report);
    let tool = Tool { target: target.to_owned(), allow, deadline, idempotency_key, result };
    Some(ReadTool { declaration, tool })
}

/// The targets that redirects may lead to, with their origins. Those that could not be read are a fault already.
fn redirects(name: &str, targets: &BTreeMap<&str, Option<Target>>) -> Vec<(String, Origin)> {
    let read = |name: &str| targets.get(name).and_then(Option::as_ref);
    let others: &[String] = match read(name).map(|target| &target.redirects) {
        None | Some(Redirects::None) => &[],
        Some(Redirects::SameOrigin) => &[name.to_owned()],
        Some(Redirects::Declared(others)) => others,
    };
    others.iter().filter_map(|other| Some((other.clone(), read(other)?.origin.clone()))).collect()
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

/// Names and templates of a query or a form.
pub(super) fn read_pairs(table: &Table<'_>, place: &str, report: &mut Report) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for entry in table.entries() {
        if entry.key.is_empty() || entry.key.len() > 128 || entry.key.chars().any(char::is_control) {
            let problem = format!("{} is no {place} name", quoted(entry.key));
            report.error(&entry.key_span, problem, "1 to 128 characters without control characters");
        }
        if let Some(text) = entry.string(report) {
            if credential::is_secret_name(entry.key) && !text.text.contains('{') {
                report.mask(&text.span);
                report.error(&text.span, format!("a secret must not stand in a {place}"), credential::HINT);
            }
            pairs.push((entry.key.to_owned(), text.text.to_owned()));
        }
    }
    pairs
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
        Some(("the header `content-type` is set by the body".to_owned(), "remove it"))
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
