//! The published JSON Schema against the checker: an agent that believes the schema is never misled.
//!
//! Belongs here: both asked about the same arguments, by table and at random.
//! Does not belong here: what the checker itself should say.

use std::sync::Arc;

use framegate_wire::Reason;
use jsonschema::Validator;
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_oneof, proptest};
use proptest::test_runner::{Config, TestCaseError};
use serde_json::{Value, json};

use super::{Catalog, ParameterType, call, catalog, in_body, optional, required, types, with_default};

struct Pair {
    name: String,
    catalog: Arc<Catalog>,
    validator: Validator,
}

impl Pair {
    fn new(name: &str, tool: super::ToolDeclaration) -> Self {
        let catalog = catalog(tool);
        let schema = catalog.get("tool").unwrap().input_schema();
        for dialect in
            [jsonschema::meta::is_valid, |schema: &Value| jsonschema::draft7::meta::is_valid(schema)]
        {
            assert!(dialect(schema), "{name}: {schema}");
        }
        let validator = jsonschema::draft202012::new(schema).unwrap();
        Self { name: name.to_owned(), catalog, validator }
    }

    /// Whether the checker accepts; an error when the two disagree.
    fn judge(&self, arguments: &str) -> Result<bool, String> {
        let instance: Value = serde_json::from_str(arguments).unwrap();
        let valid = self.validator.is_valid(&instance);
        let verdict =
            call(&self.catalog, arguments).map(|_| ()).map_err(|refused| refused.refusal().reason());
        // JSON Schema cannot tell `1.0` from `1`; the checker wants integers written as such.
        let as_real = verdict == Err(Reason::ArgumentType) && has_whole_real(&instance);
        let agree = match verdict {
            Ok(()) => valid,
            Err(
                Reason::ArgumentType
                | Reason::ArgumentEnum
                | Reason::ArgumentMissing
                | Reason::ArgumentUnknown,
            ) => !valid || as_real,
            // Bytes against characters, and grammars that a short pattern cannot say.
            Err(_) => true,
        };
        if agree {
            Ok(verdict.is_ok())
        } else {
            Err(format!("{}: {arguments}: checker {verdict:?}, schema valid: {valid}", self.name))
        }
    }
}

fn has_whole_real(instance: &Value) -> bool {
    match instance {
        Value::Number(number) => number.is_f64() && number.as_f64().is_some_and(|real| real.fract() == 0.0),
        Value::Array(items) => items.iter().any(has_whole_real),
        Value::Object(members) => members.values().any(has_whole_real),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

fn pairs() -> Vec<Pair> {
    types::all()
        .into_iter()
        .map(|edges| Pair::new(edges.name, in_body(vec![required("v", edges.kind)])))
        .collect()
}

#[test]
fn the_edges_of_every_type_are_judged_alike() {
    let edges = types::all();
    // Each type is asked about the edges of every type.
    let values: Vec<_> = edges
        .iter()
        .flat_map(|edges| edges.fits.iter().chain(edges.misfits.iter().map(|(text, _)| text)))
        .collect();
    let mut accepted = 0;
    for pair in pairs() {
        for value in &values {
            let verdict = pair.judge(&format!(r#"{{"v":{value}}}"#)).unwrap_or_else(|text| panic!("{text}"));
            accepted += u32::from(verdict);
        }
        for arguments in ["{}", r#"{"w":1}"#, r#"{"v":"a","w":1}"#, r#"{"V":"a"}"#] {
            pair.judge(arguments).unwrap_or_else(|text| panic!("{text}"));
        }
    }
    assert!(accepted > 300, "{accepted}");
}

#[test]
fn optional_and_defaulted_parameters_are_not_required() {
    let tool = in_body(vec![
        required("a", super::word()),
        optional("b", super::word()),
        with_default("c", super::int(), json!(7)),
    ]);
    let pair = Pair::new("three", tool);
    let schema = pair.catalog.get("tool").unwrap().input_schema();
    assert_eq!(schema["required"], json!(["a"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["c"]["default"], json!(7));
    for arguments in [r#"{"a":"x"}"#, r#"{"a":"x","b":"y"}"#, r#"{"b":"y"}"#, r#"{"a":"x","__proto__":1}"#] {
        pair.judge(arguments).unwrap_or_else(|text| panic!("{text}"));
    }
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-20_i64..2_000).prop_map(Value::from),
        (-30_000_i64..30_000).prop_map(|scaled| json!(scaled as f64 / 16.0)),
        prop::string::string_regex("[-+a-cA-C0-9._~/: é]{0,6}").unwrap().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        prop::sample::select(vec![
            "prod",
            "AB-12",
            "none",
            "a/b",
            "/var/log/x",
            "https://a.test/x",
            "-7",
            "a.test"
        ])
        .prop_map(Value::from),
    ]
}

#[test]
fn whatever_comes_is_judged_alike() {
    let pairs = pairs();
    let value = prop_oneof![4 => scalar(), 1 => prop::collection::vec(scalar(), 0..4).prop_map(Value::from)];
    let accepted = core::cell::Cell::new(0_u32);
    let config = Config { cases: 300, failure_persistence: None, ..Config::default() };
    proptest!(config, |(value in value)| {
        for pair in &pairs {
            let verdict = pair.judge(&json!({"v": value}).to_string()).map_err(TestCaseError::fail)?;
            accepted.set(accepted.get() + u32::from(verdict));
        }
        prop_assert!(true);
    });
    assert!(accepted.get() > 300, "{}", accepted.get());
}

/// Names and descriptions are published as declared.
#[test]
fn a_description_is_published() {
    let mut parameter = required("v", ParameterType::Bool);
    parameter.description = Some("whether \"so\"".to_owned());
    let catalog = catalog(in_body(vec![parameter]));
    let schema = catalog.get("tool").unwrap().input_schema();
    assert_eq!(schema["properties"]["v"], json!({"type": "boolean", "description": "whether \"so\""}));
}
