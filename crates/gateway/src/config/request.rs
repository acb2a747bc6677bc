//! What a tool's table says of its request: templates, or the reach of an open tool.
//!
//! Belongs here: `kind`, and the keys that each kind has.
//! Does not belong here: what every tool has, placeholders and patterns, which the gate compiles.

use framegate_gate::action::Method;
use framegate_gate::schema::{BodyDeclaration, ParameterDeclaration, ParameterType};
use toml::de::DeValue;

use super::document::{Entry, Table};
use super::fault::{Report, quoted};
use super::{body, parameter, suggest, tool};

/// The kinds of tools. The first one is the default.
const KINDS: [&str; 2] = ["http", "http-request"];
/// The keys that only tools with a declared request have.
pub(super) const DECLARED_KEYS: [&str; 8] =
    ["method", "path", "query", "body", "form", "raw", "code_position", "params"];
/// The keys that only open tools have.
pub(super) const OPEN_KEYS: [&str; 3] = ["methods", "paths", "json_body"];

/// The most parameters of a tool.
const MAX_PARAMETERS: usize = 128;
/// The most patterns of an open tool.
const MAX_PATTERNS: usize = 64;

/// The parts of a declared request that depend on the kind.
#[derive(Debug, Default)]
pub(super) struct Request {
    pub(super) method: Option<String>,
    pub(super) path: Option<String>,
    pub(super) query: Vec<(String, String)>,
    pub(super) open_query: Option<String>,
    pub(super) body: Option<BodyDeclaration>,
    pub(super) parameters: Vec<ParameterDeclaration>,
    /// Whether free text in a code position is accepted.
    pub(super) code_accepted: bool,
}

/// Reads the parts. Parts that could not be read are reported and left out.
pub(super) fn read(table: &Table<'_>, report: &mut Report) -> Request {
    let [http, http_request] = KINDS;
    let kind = match table.get("kind") {
        None => Some(http),
        Some(entry) => entry.string(report).and_then(|text| {
            let known = KINDS.into_iter().find(|kind| *kind == text.text);
            if known.is_none() {
                let hint = suggest::hint(text.text, KINDS).unwrap_or_default();
                report.error(&text.span, "there is no such kind of tool", hint);
            }
            known
        }),
    };
    match kind {
        None => Request::default(),
        Some(kind) if kind == http_request => {
            refuse_foreign_keys(table, kind, &DECLARED_KEYS, report);
            open(table, report)
        }
        Some(kind) => {
            refuse_foreign_keys(table, kind, &OPEN_KEYS, report);
            declared(table, report)
        }
    }
}

fn refuse_foreign_keys(table: &Table<'_>, kind: &str, foreign: &[&str], report: &mut Report) {
    for entry in table.entries().filter(|entry| foreign.contains(&entry.key)) {
        let problem = format!("{} has no meaning for the kind `{kind}`", quoted(entry.key));
        report.error(&entry.key_span, problem, "remove it, or write the other `kind`");
    }
}

fn declared(table: &Table<'_>, report: &mut Report) -> Request {
    let template = |key: &str, example: &str, report: &mut Report| {
        let text = table.required(key, example, report)?.string(report)?;
        Some(text.text.to_owned())
    };
    let method = template("method", "method = \"GET\"", report);
    let path = template("path", "path = \"/items/{id}\"", report);
    let query = match table.get("query").and_then(|entry| entry.table("`query`", report)) {
        Some(query) => tool::read_pairs(&query, "query", report),
        None => Vec::new(),
    };
    let code_accepted = table.get("code_position").is_some_and(|entry| is_accepted(&entry, report));
    let parameters = parameters(table, report);
    let body = body::read(table, report);
    Request { method, path, query, open_query: None, body, parameters, code_accepted }
}

/// An open tool is a declared one whose parameters are the parts of the request.
fn open(table: &Table<'_>, report: &mut Report) -> Request {
    let methods = methods(table, report);
    let paths = table.required("paths", "paths = [\"/items/**\"]", report);
    let patterns = paths.and_then(|entry| {
        let texts = entry.strings(report)?;
        if let Some(extra) = texts.get(MAX_PATTERNS) {
            report.bare_error(&extra.span, format!("there are more than {MAX_PATTERNS} patterns"));
        }
        Some(texts.into_iter().take(MAX_PATTERNS).map(|text| text.text.to_owned()).collect::<Vec<_>>())
    });
    let json_body = table.boolean("json_body", report).unwrap_or(false);
    let (Some(methods), Some(patterns)) = (methods, patterns) else { return Request::default() };
    let may_carry_body = |method: &Method| !matches!(method, Method::Get | Method::Head);
    if let (true, false, Some(entry)) =
        (json_body, methods.iter().any(may_carry_body), table.get("json_body"))
    {
        report.error(&entry.key_span, "none of the `methods` carries a body", "remove it, or add a method");
    }
    let parameter = |name: &str, description: String, kind, required, default| ParameterDeclaration {
        name: name.to_owned(),
        description: Some(description),
        kind,
        required,
        default,
    };
    let names: Vec<String> = methods.iter().map(|method| method.name().to_owned()).collect();
    let only = (names.len() == 1).then(|| names.first().cloned().map(Into::into)).flatten();
    let within = patterns.iter().map(|pattern| quoted(pattern)).collect::<Vec<_>>().join(", ");
    let mut parameters = vec![
        parameter(
            "method",
            "The method".to_owned(),
            ParameterType::Enum { values: names },
            only.is_none(),
            only,
        ),
        parameter(
            "path",
            format!("The path, decoded and without a query, within: {within}"),
            ParameterType::RequestPath { patterns },
            true,
            None,
        ),
        parameter("query", "Query names and values".to_owned(), ParameterType::Query, false, None),
    ];
    if json_body {
        let description = "The JSON body; none for GET and HEAD".to_owned();
        parameters.push(parameter("body", description, ParameterType::Json, false, None));
    }
    Request {
        method: Some("{method}".to_owned()),
        path: Some("{path}".to_owned()),
        query: Vec::new(),
        open_query: Some("query".to_owned()),
        body: json_body.then(|| BodyDeclaration::Json("{body}".into())),
        parameters,
        code_accepted: false,
    }
}

fn methods(table: &Table<'_>, report: &mut Report) -> Option<Vec<Method>> {
    let entry = table.required("methods", "methods = [\"GET\"]", report)?;
    let before = report.errors();
    let mut methods = Vec::new();
    for text in entry.strings(report)? {
        match Method::from_name(text.text) {
            Some(method) if methods.contains(&method) => {
                report.error(&text.span, "the method is given twice", "remove one of them");
            }
            Some(method) => methods.push(method),
            None => {
                let hint = "use GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS";
                report.error(
                    &text.span,
                    format!("{} is no method that can be declared", quoted(text.text)),
                    hint,
                );
            }
        }
    }
    if methods.is_empty() && report.errors() == before {
        report.error(&entry.span, "`methods` is empty", "name at least one method");
    }
    (report.errors() == before).then_some(methods)
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
