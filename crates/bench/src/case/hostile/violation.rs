//! Calls whose arguments the tool's own schema does not permit (T-06).
//!
//! Belongs here: arguments that break one rule of an `inputSchema` and still carry the marker.
//! Does not belong here: frames that are no call at all.

use framegate_corpus::Revision;
use serde_json::{Map, Value, json};

use super::{Body, HostileCase, of_tool, ready};
use crate::bench::Bench;
use crate::case::{Delivery, Level};
use crate::observe::Folder;
use crate::options::Call;

/// What is added to a name that must not exist.
const UNKNOWN: &str = "framegate_unknown";

/// A broken rule: its name, what is wrong, the arguments.
#[derive(Debug, PartialEq)]
struct Violation {
    name: String,
    gist: String,
    arguments: Value,
}

/// Every violation of the schemas of these calls' tools, in these revisions.
pub(crate) fn plan(bench: &Bench<'_>, calls: &[Call], revisions: &[Revision]) -> Vec<HostileCase> {
    let mut planned = Vec::new();
    for call in calls {
        for Violation { name, gist, arguments } in of_call(bench, call) {
            for revision in revisions.iter().copied() {
                let tool = of_tool(call, calls);
                planned.push(HostileCase {
                    id: format!("schema/{name}{tool}@{}", revision.name()),
                    gist: gist.clone(),
                    requirements: vec!["T-06".to_owned()],
                    level: Level::Must,
                    state: ready(revision),
                    twin_state: ready(revision),
                    call: call.clone(),
                    body: Body::Arguments(arguments.to_string()),
                    delivery: Delivery::Whole,
                    ends_input: false,
                });
            }
        }
    }
    planned
}

/// Those that the schema really refuses, once the placeholders are filled in, and that carry the marker.
fn of_call(bench: &Bench<'_>, call: &Call) -> Vec<Violation> {
    let tools = bench.tools().iter();
    let mut named = tools.filter(|tool| tool.get("name").and_then(Value::as_str) == Some(&*call.tool));
    let Some(schema) = named.next().and_then(|tool| tool.get("inputSchema")) else { return Vec::new() };
    let (Ok(validator), Ok(folder)) = (jsonschema::validator_for(schema), Folder::make()) else {
        return Vec::new();
    };
    let Ok(arguments) = serde_json::from_str::<Map<String, Value>>(&call.arguments) else {
        return Vec::new();
    };
    let marker = bench.marker();
    let permits = |arguments: &Value| {
        let text = bench.fill(&arguments.to_string(), &folder, &marker);
        serde_json::from_str(&text).is_ok_and(|arguments: Value| validator.is_valid(&arguments))
    };
    if !permits(&Value::Object(arguments.clone())) {
        return Vec::new();
    }
    let mut violations = violations(schema, &arguments);
    violations.retain(|violation| {
        let text = violation.arguments.to_string();
        Call::carries_marker(&text) && !permits(&violation.arguments)
    });
    violations
}

/// Arguments that may break a rule of the schema, one each.
fn violations(schema: &Value, good: &Map<String, Value>) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut add = |name: String, gist: String, change: &dyn Fn(&mut Map<String, Value>)| {
        let mut arguments = good.clone();
        change(&mut arguments);
        violations.push(Violation { name, gist, arguments: Value::Object(arguments) });
    };
    for (member, value) in good {
        let put = |new: Value| {
            move |arguments: &mut Map<String, Value>| drop(arguments.insert(member.clone(), new.clone()))
        };
        add(
            format!("{member}-missing"),
            format!("the required argument `{member}` is missing"),
            &|arguments| {
                arguments.shift_remove(member);
            },
        );
        add(format!("{member}-null"), format!("`{member}` is null"), &put(Value::Null));
        // Wrapped, so that the marker is still there for whoever unwraps it.
        add(
            format!("{member}-in-array"),
            format!("`{member}` is an array around its value"),
            &put(json!([value])),
        );
        add(
            format!("{member}-in-object"),
            format!("`{member}` is an object around its value"),
            &put(json!({ "value": value })),
        );
        match value {
            Value::Number(number) => {
                let text = number.to_string();
                add(
                    format!("{member}-as-text"),
                    format!("the number `{member}` is a text"),
                    &put(json!(text)),
                );
            }
            Value::Bool(value) => {
                let text = value.to_string();
                add(
                    format!("{member}-as-text"),
                    format!("the truth value `{member}` is a text"),
                    &put(json!(text)),
                );
            }
            _ => {}
        }
        let Some(property) = schema.pointer("/properties").and_then(|properties| properties.get(member))
        else {
            continue;
        };
        for (rule, new) in out_of_bounds(property, value) {
            add(format!("{member}-{rule}"), format!("`{member}` breaks its `{rule}`"), &put(new));
        }
    }
    add("unknown-member".to_owned(), "an argument that the schema does not know".to_owned(), &|arguments| {
        arguments.insert(UNKNOWN.to_owned(), json!(1));
    });
    violations
}

/// Values just outside of what a property's own rules permit.
fn out_of_bounds(property: &Value, value: &Value) -> Vec<(&'static str, Value)> {
    let number = |rule: &str| property.get(rule).and_then(Value::as_f64);
    let count = |rule: &str| property.get(rule)?.as_u64().and_then(|count| usize::try_from(count).ok());
    let mut found = Vec::new();
    found.extend(number("minimum").map(|least| ("minimum", json!(least - 1.0))));
    found.extend(number("maximum").map(|most| ("maximum", json!(most + 1.0))));
    found.extend(number("exclusiveMinimum").map(|bound| ("exclusiveMinimum", json!(bound))));
    found.extend(number("exclusiveMaximum").map(|bound| ("exclusiveMaximum", json!(bound))));
    if property.get("enum").is_some() {
        found.push(("enum", json!("framegate-no-such")));
    }
    if let Some(text) = value.as_str() {
        let most = count("maxLength").filter(|most| *most <= 100_000);
        found.extend(most.map(|most| ("maxLength", json!(format!("{text}{}", "x".repeat(most))))));
        if property.get("pattern").is_some() {
            found.push(("pattern", json!(format!("{text}\n framegate"))));
        }
    }
    if let Some(items) = value.as_array() {
        if count("minItems").is_some_and(|least| least > 0) {
            found.push(("minItems", json!([])));
        }
        let most = count("maxItems").filter(|most| *most <= 1_000);
        let filler = || items.iter().cycle().cloned();
        found.extend(most.map(|most| ("maxItems", Value::from_iter(filler().take(most.saturating_add(1))))));
        let wrapped = |item: &Value| json!({ "value": item });
        found.push(("items", items.iter().map(wrapped).collect()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_of_a_schema_has_a_violation() {
        let schema = json!({"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
            "path": {"type": "string", "maxLength": 300, "pattern": "^[a-z/{}.]+$"},
            "n": {"type": "integer", "minimum": 3, "maximum": 9},
            "list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
            "mode": {"enum": ["a", "b"]},
            "yes": {"type": "boolean"},
        }});
        let good = json!({"path": "{effect.file}", "n": 5, "list": ["{marker}"], "mode": "a", "yes": true});
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&good));
        let broken: Vec<_> = violations(&schema, good.as_object().unwrap())
            .into_iter()
            .filter(|violation| !validator.is_valid(&violation.arguments))
            .map(|violation| violation.name)
            .collect();
        for name in [
            "path-missing",
            "path-null",
            "path-in-array",
            "path-in-object",
            "path-maxLength",
            "path-pattern",
            "n-null",
            "n-in-array",
            "n-as-text",
            "n-minimum",
            "n-maximum",
            "list-null",
            "list-in-array",
            "list-in-object",
            "list-minItems",
            "list-maxItems",
            "list-items",
            "mode-enum",
            "mode-in-array",
            "yes-as-text",
            "yes-null",
            "unknown-member",
        ] {
            assert!(broken.iter().any(|broken| broken == name), "{name} is not among {broken:?}");
        }
    }
}
