//! Calls for a target that no call was given for: of tools that say that they only read, unless all are allowed.
//!
//! Belongs here: which tools may be called unasked, and arguments from their schemas. Does not belong here: calling them.

use serde_json::{Map, Value, json};

use crate::options::{Call, Unasked};

/// How many tools that only read are tried.
const MAX_READING: usize = 3;
/// A text that leads to the HTTP recorder, and another for tools that refuse loopback addresses: a name that does not
/// exist (RFC 6761), whose look-up carries the marker.
const URL: &str = "{effect.url}";
const LOOKED_UP: &str = "http://{marker}.invalid/";

/// Calls in which a text that is the tool's to choose carries the marker: nothing else would tell one call's effect from
/// another's. Several of the same tool are alternatives, the better first.
pub(crate) fn unasked_calls(tools: &[Value], unasked: Unasked) -> Vec<Call> {
    let most = match unasked {
        Unasked::Reading => MAX_READING,
        Unasked::All => usize::MAX,
    };
    let allowed = tools.iter().filter(|tool| unasked == Unasked::All || only_reads(tool));
    let of_each = allowed.filter_map(|tool| {
        let name = tool.get("name")?.as_str()?;
        let arguments = arguments(tool.get("inputSchema")?)?.to_string();
        let call = |arguments: &str| Call::read(&format!("{name}={arguments}")).ok();
        let other = arguments.contains(URL).then(|| arguments.replace(URL, LOOKED_UP));
        Some([call(&arguments)?].into_iter().chain(other.and_then(|other| call(&other))))
    });
    of_each.take(most).flatten().collect()
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
                json!(URL)
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
        let count = |annotations| unasked_calls(&tool(annotations, schema.clone()), Unasked::Reading).len();
        assert_eq!(count(json!({"readOnlyHint": true})), 1);
        for annotations in [
            json!({}),
            json!(null),
            json!({"readOnlyHint": false}),
            json!({"readOnlyHint": "true"}),
            json!({"readOnlyHint": true, "destructiveHint": true}),
        ] {
            assert_eq!(count(annotations.clone()), 0, "{annotations}");
            let tools = tool(annotations.clone(), schema.clone());
            assert_eq!(unasked_calls(&tools, Unasked::All).len(), 1, "{annotations}");
        }
    }

    #[test]
    fn arguments_come_from_the_schema_and_carry_the_marker() {
        let made = |properties: Value, required: Value| {
            let schema = json!({"type": "object", "properties": properties, "required": required});
            let calls = unasked_calls(&tool(json!({"readOnlyHint": true}), schema), Unasked::Reading);
            calls.into_iter().map(|call| call.arguments).reduce(|all, other| format!("{all} {other}"))
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
            Some("{\"url\":\"{effect.url}\"} {\"url\":\"http://{marker}.invalid/\"}".to_owned())
        );
        // Without a text of its own to choose, no call can be told from another.
        assert_eq!(made(json!({"n": {"type": "integer"}}), json!(["n"])), None);
        assert_eq!(made(json!({}), json!([])), None);
        assert_eq!(made(json!({"x": {"$ref": "#/y"}}), json!(["x"])), None);
    }
}
