//! Calls for a target that no call was given for: tools that say that they only read.
//!
//! Belongs here: which tools may be called unasked, and arguments from their schemas.
//! Does not belong here: calling them; tools that do not say so are never called unasked.

use serde_json::{Map, Value, json};

use crate::options::Call;

/// How many tools are tried.
const MAX_TOOLS: usize = 3;

/// Calls of tools with `readOnlyHint`, in which a text that is the tool's to choose carries the marker: nothing else
/// would tell one call's effect from another's.
pub(crate) fn reading_calls(tools: &[Value]) -> Vec<Call> {
    let calls = tools.iter().filter(|tool| only_reads(tool)).filter_map(|tool| {
        let name = tool.get("name")?.as_str()?;
        let arguments = arguments(tool.get("inputSchema")?)?;
        Call::read(&format!("{name}={arguments}")).ok()
    });
    calls.take(MAX_TOOLS).collect()
}

/// Whether the tool says that it changes nothing, and does not say otherwise.
fn only_reads(tool: &Value) -> bool {
    let hint = |name: &str| tool.pointer(&format!("/annotations/{name}")).and_then(Value::as_bool);
    hint("readOnlyHint") == Some(true) && hint("destructiveHint") != Some(true)
}

/// A value for every required argument; `None` if one of them cannot be made up. Whether it is good is seen when the
/// call is made: without an effect, it is not used.
fn arguments(schema: &Value) -> Option<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let mut arguments = Map::new();
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        let property = schema.pointer("/properties")?.get(name)?;
        arguments.insert(name.to_owned(), made_up(name, property)?);
    }
    Some(Value::Object(arguments))
}

fn made_up(name: &str, property: &Value) -> Option<Value> {
    if let Some(value) = property.get("const").or_else(|| property.get("enum")?.get(0)) {
        return Some(value.clone());
    }
    match property.get("type")?.as_str()? {
        "string" => {
            let name = name.to_ascii_lowercase();
            let is = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
            Some(if is(&["url", "uri"]) {
                json!("{effect.url}")
            } else if is(&["path", "file", "dir", "folder"]) {
                json!("{effect.file}")
            } else {
                json!("{marker}")
            })
        }
        "integer" | "number" => Some(property.get("minimum").cloned().unwrap_or_else(|| json!(1))),
        "boolean" => Some(json!(false)),
        "array" => {
            let least = property.get("minItems").and_then(Value::as_u64).unwrap_or(1).min(8);
            let item = made_up(name, property.get("items")?)?;
            Some(json!(vec![item; usize::try_from(least).ok()?]))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(annotations: Value, schema: Value) -> [Value; 1] {
        [json!({"name": "t", "annotations": annotations, "inputSchema": schema})]
    }

    #[test]
    fn only_tools_that_say_that_they_read_are_called() {
        let schema =
            json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
        let count = |annotations| reading_calls(&tool(annotations, schema.clone())).len();
        assert_eq!(count(json!({"readOnlyHint": true})), 1);
        for annotations in [
            json!({}),
            json!(null),
            json!({"readOnlyHint": false}),
            json!({"readOnlyHint": "true"}),
            json!({"readOnlyHint": true, "destructiveHint": true}),
        ] {
            assert_eq!(count(annotations.clone()), 0, "{annotations}");
        }
    }

    #[test]
    fn arguments_come_from_the_schema_and_carry_the_marker() {
        let made = |properties: Value, required: Value| {
            let schema = json!({"type": "object", "properties": properties, "required": required});
            reading_calls(&tool(json!({"readOnlyHint": true}), schema)).pop().map(|call| call.arguments)
        };
        assert_eq!(
            made(
                json!({"path": {"type": "string"}, "n": {"type": "integer", "minimum": 3}, "o": {"type": "string"}}),
                json!(["path", "n"])
            ),
            Some("{\"path\":\"{effect.file}\",\"n\":3}".to_owned())
        );
        assert_eq!(
            made(json!({"paths": {"type": "array", "items": {"type": "string"}}}), json!(["paths"])),
            Some("{\"paths\":[\"{effect.file}\"]}".to_owned())
        );
        assert_eq!(
            made(json!({"url": {"type": "string"}}), json!(["url"])),
            Some("{\"url\":\"{effect.url}\"}".to_owned())
        );
        // Without a text of its own to choose, no call can be told from another.
        assert_eq!(made(json!({"n": {"type": "integer"}}), json!(["n"])), None);
        assert_eq!(made(json!({}), json!([])), None);
        assert_eq!(made(json!({"x": {"$ref": "#/y"}}), json!(["x"])), None);
    }
}
