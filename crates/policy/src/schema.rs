//! The Cedar schema of the declared tools: what a rule may speak of.
//!
//! Belongs here: one action a tool with the closed type of its context, as text that operators can read.
//! Does not belong here: values, rules.
//!
//! A path is a record of its segments, never a plain string: `like "reports/*"` over a path would match
//! `reports/../admin`, so it does not type. The peer's own name for itself is text in the context; no
//! entity exists for it, so no rule can take it for the principal.

use std::collections::BTreeSet;

use cedar_policy::{Schema, SchemaFragment};
use framegate_gate::schema::{Catalog, Parameter, Shape, Tool};
use serde_json::{Map, Value, json};

use crate::fault::{Place, PolicyFault, printable};

/// What the printed schema opens with.
const NOTES: &str = "\
// Written by framegate: what a rule may speak of.
// Client: by the name that `--client` or the configuration gives it. Target: as declared.
// Path: the segments of a path; order and repetition are not part of it.
// Request: the rendered action; `body_sha256` is of the exact bytes, in lower-case hexadecimal.
// claimed_client: what the peer calls itself; anyone can claim any name.
// user: the operating system user of this process.
";

/// The schema of these tools, in Cedar's own syntax, the same for the same tools in every process.
///
/// # Errors
/// A fault for names that Cedar cannot take.
pub fn schema_text(catalog: &Catalog) -> Result<String, PolicyFault> {
    let text = fragment(catalog)?.to_cedarschema().map_err(|error| fault(&error.to_string()))?;
    Ok(format!("{NOTES}{text}"))
}

/// The schema of these tools, for validation.
pub(crate) fn schema(catalog: &Catalog) -> Result<Schema, PolicyFault> {
    fragment(catalog)?.try_into().map_err(|error: cedar_policy::SchemaError| fault(&error.to_string()))
}

/// One source for both: built as data, because reading it from text takes ten times as long.
fn fragment(catalog: &Catalog) -> Result<SchemaFragment, PolicyFault> {
    let targets: BTreeSet<&str> = catalog
        .iter()
        .flat_map(|tool| core::iter::once(tool.target()).chain(tool.redirect_targets()))
        .collect();
    let mut entities = Map::new();
    entities.insert("Client".to_owned(), json!({}));
    if !targets.is_empty() {
        entities.insert("Target".to_owned(), json!({ "enum": targets }));
    }
    let actions: Map<String, Value> =
        catalog.iter().map(|tool| (tool.name().to_owned(), action(tool))).collect();
    let namespace = json!({
        "commonTypes": { "Path": path(), "Request": request() },
        "entityTypes": entities,
        "actions": actions,
    });
    SchemaFragment::from_json_value(json!({ "Framegate": namespace }))
        .map_err(|error| fault(&error.to_string()))
}

fn action(tool: &Tool) -> Value {
    let judged = tool.parameters().iter().filter(|parameter| parameter.shape() != Shape::Open);
    let arguments = judged.map(|parameter| {
        (parameter.name().to_owned(), attribute(parameter_type(parameter), parameter.is_always_present()))
    });
    let context = record([
        ("arguments".to_owned(), attribute(record(arguments), true)),
        ("request".to_owned(), attribute(named("Request"), true)),
        ("claimed_client".to_owned(), attribute(named("String"), false)),
        ("user".to_owned(), attribute(named("Long"), true)),
    ]);
    json!({ "appliesTo": { "principalTypes": ["Client"], "resourceTypes": ["Target"], "context": context } })
}

fn path() -> Value {
    fields([("segments", strings(), true), ("first", named("String"), true), ("depth", named("Long"), true)])
}

fn request() -> Value {
    fields([
        ("method", named("String"), true),
        ("scheme", named("String"), true),
        ("host", named("String"), true),
        ("port", named("Long"), true),
        ("path_segments", strings(), true),
        ("query_names", strings(), true),
        ("has_body", named("Bool"), true),
        ("content_type", named("String"), false),
        ("body_sha256", named("String"), false),
    ])
}

fn parameter_type(parameter: &Parameter) -> Value {
    match (parameter.shape(), parameter.item_shape()) {
        (Shape::List, Some(item)) => json!({ "type": "Set", "element": scalar(item) }),
        (shape, _) => scalar(shape),
    }
}

fn scalar(shape: Shape) -> Value {
    named(match shape {
        Shape::Boolean => "Bool",
        Shape::Integer => "Long",
        Shape::Decimal => "decimal",
        Shape::Path => "Path",
        Shape::ClosedText | Shape::Name | Shape::Url | Shape::FreeText | Shape::List | Shape::Open => {
            "String"
        }
    })
}

fn named(name: &str) -> Value {
    json!({ "type": "EntityOrCommon", "name": name })
}

fn strings() -> Value {
    json!({ "type": "Set", "element": named("String") })
}

fn fields<const N: usize>(fields: [(&str, Value, bool); N]) -> Value {
    record(fields.map(|(name, kind, required)| (name.to_owned(), attribute(kind, required))))
}

fn record(attributes: impl IntoIterator<Item = (String, Value)>) -> Value {
    let attributes: Map<String, Value> = attributes.into_iter().collect();
    json!({ "type": "Record", "attributes": attributes })
}

fn attribute(mut kind: Value, required: bool) -> Value {
    if let Some(members) = kind.as_object_mut() {
        members.insert("required".to_owned(), Value::Bool(required));
    }
    kind
}

fn fault(problem: &str) -> PolicyFault {
    PolicyFault { place: Place::Schema, problem: printable(problem), hint: None }
}

/// A Cedar string literal of this text: Cedar takes the escapes that Rust writes.
pub(crate) fn quoted(text: &str) -> String {
    format!("{text:?}")
}
