//! Free text where a target expects a program.
//!
//! Belongs here: the names under which targets take queries and code, and the lint over them.
//! Does not belong here: types, policy.
//!
//! A parameter in such a place gives the agent the target's whole query language, whatever the tool
//! was meant for. It is refused unless the tool says that this is accepted.

use std::collections::BTreeSet;

use framegate_gate::schema::{BodyDeclaration, ParameterType, ToolDeclaration};
use serde_json::Value;

use super::document::Table;
use super::fault::Report;

/// Names of parameters, query values and body members that targets evaluate.
const NAMES: [&str; 9] = ["cql", "expression", "filter", "jql", "q", "query", "script", "sql", "template"];

/// Reports each free-text parameter in a code position, once, at the most telling place.
pub(super) fn check(declaration: &ToolDeclaration, table: &Table<'_>, accepted: bool, report: &mut Report) {
    let free: BTreeSet<&str> = declaration
        .parameters
        .iter()
        .filter(|parameter| is_free_text(&parameter.kind))
        .map(|parameter| parameter.name.as_str())
        .collect();
    let mut found: Vec<(&str, Vec<String>)> = Vec::new();
    in_pairs(&free, "query", &declaration.http.query, &mut found);
    match &declaration.http.body {
        Some(BodyDeclaration::Json(tree)) => in_body(&free, tree, &mut vec!["body".to_owned()], &mut found),
        Some(BodyDeclaration::TypedJson { tree, .. }) => {
            in_body(&free, tree, &mut vec!["raw".to_owned(), "json".to_owned()], &mut found);
        }
        Some(BodyDeclaration::Form(pairs)) => in_pairs(&free, "form", pairs, &mut found),
        // The whole body is a program.
        Some(BodyDeclaration::Text { content_type, text }) if is_code_type(content_type) => {
            let place = vec!["raw".to_owned(), "text".to_owned()];
            found.extend(placed(&free, text).map(|parameter| (parameter, place.clone())));
        }
        Some(
            BodyDeclaration::Text { .. } | BodyDeclaration::Binary { .. } | BodyDeclaration::File { .. },
        )
        | None => {}
    }
    for parameter in &free {
        if is_code_name(parameter) {
            found.push((parameter, vec!["params".to_owned(), (*parameter).to_owned()]));
        }
    }
    if accepted {
        if let (true, Some(entry)) = (found.is_empty(), table.get("code_position")) {
            let problem = "`code_position` accepts nothing: no free text is in such a place";
            report.warning(&entry.key_span, problem, "remove it");
        }
        return;
    }
    let mut reported = BTreeSet::new();
    for (parameter, place) in found {
        if reported.insert(parameter) {
            report.error(
                &table.place(&place).value,
                format!("free text of `{parameter}` would be run as code or as a query by the target"),
                "use `enum`, `word` or a `pattern`; or, if that is meant, `code_position = \"accepted\"`",
            );
        }
    }
}

fn in_pairs<'a>(
    free: &BTreeSet<&'a str>,
    table: &str,
    pairs: &[(String, String)],
    found: &mut Vec<(&'a str, Vec<String>)>,
) {
    for (name, text) in pairs.iter().filter(|(name, _)| is_code_name(name)) {
        let place = vec![table.to_owned(), name.clone()];
        found.extend(placed(free, text).map(|parameter| (parameter, place.clone())));
    }
}

/// Media types of queries and programs.
fn is_code_type(content_type: &str) -> bool {
    const TYPES: [&str; 6] = ["graphql", "javascript", "jql", "script", "sparql", "sql"];
    let lower = content_type.to_ascii_lowercase();
    TYPES.iter().any(|word| lower.contains(word))
}

fn is_code_name(name: &str) -> bool {
    NAMES.contains(&name.to_ascii_lowercase().as_str())
}

fn is_free_text(kind: &ParameterType) -> bool {
    match kind {
        ParameterType::String { pattern, .. } => pattern.is_none(),
        ParameterType::Text { .. } => true,
        ParameterType::List { item, .. } => is_free_text(item),
        ParameterType::Word { .. }
        | ParameterType::Int { .. }
        | ParameterType::Number { .. }
        | ParameterType::Bool
        | ParameterType::Enum { .. }
        | ParameterType::Path { .. }
        | ParameterType::AbsPath { .. }
        | ParameterType::Host
        | ParameterType::Url { .. }
        | ParameterType::Base64 { .. }
        | ParameterType::RequestPath { .. }
        | ParameterType::Query
        | ParameterType::Json => false,
    }
}

/// The free-text parameters that a template inserts. A doubled brace is a literal one.
fn placed<'a>(free: &BTreeSet<&'a str>, text: &str) -> impl Iterator<Item = &'a str> {
    let text = text.replace("{{", "").replace("}}", "");
    free.iter().copied().filter(move |name| text.contains(&format!("{{{name}}}")))
}

fn in_body<'a>(
    free: &BTreeSet<&'a str>,
    node: &Value,
    place: &mut Vec<String>,
    found: &mut Vec<(&'a str, Vec<String>)>,
) {
    match node {
        Value::Object(members) => {
            for (name, child) in members {
                place.push(name.clone());
                in_body(free, child, place, found);
                place.pop();
            }
        }
        Value::Array(items) => {
            for (index, child) in items.iter().enumerate() {
                place.push(index.to_string());
                in_body(free, child, place, found);
                place.pop();
            }
        }
        // Everything below a code name counts: `{ query = { sql = ["{text}"] } }`.
        Value::String(text) if place.iter().skip(1).any(|name| is_code_name(name)) => {
            found.extend(placed(free, text).map(|parameter| (parameter, place.clone())));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
