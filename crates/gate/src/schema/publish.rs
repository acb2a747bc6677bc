//! The JSON Schema that `tools/list` publishes: a small subset, always closed.
//!
//! Belongs here: the schema of each type (JSON Schema 2020-12, and valid in draft 7).
//! Does not belong here: checking.

use serde_json::{Map, Value, json};

use super::declaration::ResultDeclaration;
use super::parameter::{Kind, Parameter};
use super::template::HttpTemplate;

/// The schema of a whole call.
pub(super) fn input_schema(parameters: &[Parameter]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for parameter in parameters {
        properties.insert(parameter.name().to_owned(), parameter.schema.clone());
        if parameter.required {
            required.push(parameter.name());
        }
    }
    let mut schema = json!({"type": "object", "properties": properties, "additionalProperties": false});
    if let (false, Value::Object(members)) = (required.is_empty(), &mut schema) {
        members.insert("required".to_owned(), json!(required));
    }
    schema
}

/// The schema of a tool's structured result: the gateway's own envelope around what a target answered, which
/// is nobody's to promise. A `body` that is not selected from is any JSON value.
pub(super) fn output_schema(result: &ResultDeclaration, template: &HttpTemplate) -> Value {
    let headers: Map<String, Value> =
        result.headers.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
    let body = match &result.selected {
        None => json!({"description": "The body: JSON if the target sent JSON, otherwise text."}),
        Some(names) => {
            let members: Map<String, Value> = names.iter().map(|name| (name.clone(), json!({}))).collect();
            json!({
                "type": "object",
                "description": "Parts of the body. A part that the body does not have is left out.",
                "properties": members,
                "additionalProperties": false,
            })
        }
    };
    let mut schema = json!({
        "type": "object",
        "properties": {
            "status": {"type": "integer", "minimum": 200, "maximum": 999},
            "headers": {"type": "object", "properties": headers, "additionalProperties": false},
            "redirect_not_followed": {
                "type": "string",
                "description": "The origin that the target redirects to.",
            },
            "truncated": {"type": "boolean", "description": "Whether the body is longer than what is shown."},
            "body": body,
            "body_base64": {"type": "string", "description": "A body that is not text."},
            "body_refused": {"type": "string", "description": "Why the body is not shown."},
        },
        "required": ["status", "headers", "truncated"],
        "additionalProperties": false,
    });
    let Some(members) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return schema };
    let files = [
        (template.sends_file(), "sent_file", "The file that was sent."),
        (template.saves_file(), "saved_file", "The body, which was saved as the file that was named."),
    ];
    for (_, name, description) in files.into_iter().filter(|(exists, ..)| *exists) {
        let file = json!({
            "type": "object",
            "description": description,
            "properties": {"bytes": {"type": "integer"}, "sha256": {"type": "string"}},
            "required": ["bytes", "sha256"],
            "additionalProperties": false,
        });
        members.insert(name.to_owned(), file);
    }
    if let Some(argument) = &result.cursor {
        let description =
            format!("There is more: call again with the same arguments, and this as `{argument}`.");
        members.insert("next_cursor".to_owned(), json!({"type": "string", "description": description}));
    }
    schema
}

/// The schema of one parameter.
pub(super) fn parameter_schema(kind: &Kind, description: Option<&str>, default: Option<&Value>) -> Value {
    let mut schema = kind_schema(kind);
    if let Value::Object(members) = &mut schema {
        if let Some(description) = description {
            members.insert("description".to_owned(), json!(description));
        }
        if let Some(default) = default {
            members.insert("default".to_owned(), default.clone());
        }
    }
    schema
}

fn kind_schema(kind: &Kind) -> Value {
    match kind {
        Kind::Bool => json!({"type": "boolean"}),
        Kind::Int { min, max, string_form } => {
            let mut integer = json!({"type": "integer"});
            if let Value::Object(members) = &mut integer {
                if *min != i64::MIN {
                    members.insert("minimum".to_owned(), json!(min));
                }
                if *max != i64::MAX {
                    members.insert("maximum".to_owned(), json!(max));
                }
            }
            if *string_form {
                json!({"anyOf": [integer, {"type": "string", "pattern": "^(0|-?[1-9][0-9]*)$"}]})
            } else {
                integer
            }
        }
        Kind::Number { min, max } => {
            let mut number = json!({"type": "number"});
            if let Value::Object(members) = &mut number {
                let bounds = [("minimum", min), ("maximum", max)];
                for (keyword, bound) in bounds {
                    if let Some(bound) = bound {
                        let token = bound.to_string();
                        members
                            .insert(keyword.to_owned(), serde_json::from_str(&token).unwrap_or(Value::Null));
                    }
                }
            }
            number
        }
        Kind::String { min, max, pattern } => {
            let mut string = json!({"type": "string", "maxLength": max});
            if let Value::Object(members) = &mut string {
                if *min > 0 {
                    // Lengths are counted in bytes here and in characters there: a lower bound of
                    // one character is the most that can be published.
                    members.insert("minLength".to_owned(), json!(1));
                }
                if let Some(pattern) = pattern {
                    members.insert("pattern".to_owned(), json!(pattern.as_str()));
                }
            }
            string
        }
        Kind::Word { max, pattern } => {
            let word = "^[A-Za-z0-9_][A-Za-z0-9_.~-]*$";
            json!({"type": "string", "maxLength": max, "pattern": pattern.as_ref().map_or(word, |pattern| pattern.as_str())})
        }
        Kind::Enum { values } => json!({"type": "string", "enum": values}),
        Kind::Path { max } | Kind::AbsPath { max, .. } | Kind::Text { max } => {
            json!({"type": "string", "maxLength": max})
        }
        Kind::Base64 { max } => {
            json!({"type": "string", "maxLength": max, "contentEncoding": "base64"})
        }
        Kind::RequestPath { .. } => json!({"type": "string", "maxLength": 2048, "pattern": "^/"}),
        Kind::Query => {
            let scalar = json!(["string", "integer", "boolean"]);
            let value = json!({"anyOf": [{"type": scalar}, {"type": "array", "items": {"type": scalar}}]});
            json!({"type": "object", "additionalProperties": value})
        }
        Kind::Json => json!({}),
        Kind::Host => json!({"type": "string", "maxLength": 253, "pattern": "^[a-z0-9.-]+$"}),
        Kind::Url { schemes } => {
            json!({"type": "string", "maxLength": 2048, "pattern": format!("^({})://", schemes.join("|"))})
        }
        Kind::List { item, min, max } => {
            json!({"type": "array", "items": kind_schema(item), "minItems": min, "maxItems": max})
        }
    }
}
