//! The published schema says what the reader does, as far as a schema can.

use std::collections::BTreeSet;
use std::path::Path;

use jsonschema::Validator;
use serde_json::Value;

use super::model::FULL;
use super::read;
use crate::config::{STARTER, parameter, read as document, schema, secret, tables, target, tool};

fn published() -> Value {
    serde_json::from_str(schema()).unwrap()
}

fn validator() -> Validator {
    jsonschema::validator_for(&published()).unwrap()
}

fn json(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|fault| panic!("{fault}\n{text}"))
}

fn keys(schema: &Value) -> BTreeSet<&str> {
    assert_eq!(schema["additionalProperties"], false, "{schema}");
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_schema_is_a_schema() {
    jsonschema::meta::validate(&published()).unwrap();
}

#[test]
fn good_files_are_valid() {
    for text in [STARTER, FULL, "version = 1"] {
        let instance = json(text);
        let errors: Vec<_> = validator().iter_errors(&instance).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

#[test]
fn both_know_the_same_keys() {
    let schema = published();
    let top = &schema["properties"];
    let definitions = &schema["$defs"];
    let tables: [(&Value, &[&str]); 10] = [
        (&schema, &document::KEYS),
        (&top["session"], &tables::SESSION),
        (&top["limits"], &tables::LIMITS),
        (&top["journal"], &tables::JOURNAL),
        (&top["log"], &tables::LOG),
        (&top["network"], &tables::NETWORK),
        (&top["policy"], &tables::POLICY),
        (&definitions["secret"], &secret::KEYS),
        (&definitions["target"], &target::KEYS),
        (&definitions["tool"], &tool::KEYS),
    ];
    for (schema, known) in tables {
        assert_eq!(keys(schema), known.iter().copied().collect());
    }
    let auth = definitions["target"]["properties"]["auth"]["oneOf"].as_array().unwrap();
    assert_eq!(auth.len(), target::AUTH_KEYS.len());
    for (schema, (scheme, known)) in auth.iter().zip(target::AUTH_KEYS) {
        assert_eq!(schema["properties"]["scheme"]["const"], scheme);
        assert_eq!(keys(schema), known.iter().copied().collect());
    }
    for (name, common, types) in [
        ("parameter", parameter::KEYS.as_slice(), parameter::TYPES.as_slice()),
        ("item", &["type"], &parameter::TYPES[..parameter::TYPES.len() - 1]),
    ] {
        let variants = definitions[name]["oneOf"].as_array().unwrap();
        assert_eq!(variants.len(), types.len());
        for (schema, (kind, own)) in variants.iter().zip(types) {
            assert_eq!(schema["properties"]["type"]["const"], *kind);
            assert_eq!(keys(schema), common.iter().chain(*own).copied().collect(), "{kind}");
        }
    }
}

#[test]
fn both_have_the_same_integer_bounds() {
    let schema = published();
    let validator = validator();
    let target = "[target.a]\norigin = 'https://a.b'\nca = 'c'\n";
    let tool = "[tool.t]\ndescription = 't'\ntarget = 'a'\nmethod = 'GET'\npath = '/'\n";
    let mut checked = 0;
    for (pointer, head) in [
        ("/properties/limits", "[limits]\n".to_owned()),
        ("/properties/journal", "[journal]\n".to_owned()),
        ("/properties/log", "[log]\nfile = 'f'\n".to_owned()),
        ("/$defs/target", target.to_owned()),
        ("/$defs/tool", format!("{target}{tool}")),
    ] {
        for (key, property) in schema.pointer(pointer).unwrap()["properties"].as_object().unwrap() {
            let (Some(least), Some(most)) = (property["minimum"].as_i64(), property["maximum"].as_i64())
            else {
                continue;
            };
            // The parts of the deadline are also bounded by it.
            let is_part = matches!(key.as_str(), "connect_seconds" | "idle_seconds");
            let room = if is_part { "deadline_seconds = 600\n" } else { "" };
            for (value, good) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
                let text = format!("version = 1\n{head}{room}{key} = {value}\n");
                assert_eq!(read(&text).is_ok(), good, "{text}");
                assert_eq!(validator.is_valid(&json(&text)), good, "{text}");
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 9 + 1 + 2 + 4 + 1);
    let bounds = [
        ("string", "min_length", 0, 4096),
        ("string", "max_length", 1, 4096),
        ("word", "max_length", 1, 128),
    ];
    let more = [("path", "max_length", 1, 1024), ("text", "max_length", 1, 1_048_576)];
    for (kind, key, least, most) in bounds.into_iter().chain(more) {
        for (value, good) in [(least - 1, false), (least, true), (most, true), (most + 1, false)] {
            let room = if key == "min_length" { "max_length = 4096\n" } else { "" };
            let text = format!(
                "version = 1\n{target}{tool}headers = {{ x = '{{p}}' }}\n[tool.t.params.p]\ntype = '{kind}'\n{room}{key} = {value}\n"
            );
            assert_eq!(read(&text).is_ok(), good, "{text}");
            assert_eq!(validator.is_valid(&json(&text)), good, "{text}");
        }
    }
}

/// What the schema refuses, loading refuses; and of what loading refuses, the schema has a fair part.
#[test]
fn the_schema_is_no_stricter_than_the_reader() {
    let validator = validator();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/config/faults");
    let (mut seen, mut caught) = (0, 0);
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let Ok(instance) = toml::from_str::<Value>(&text) else { continue };
        seen += 1;
        let refused = !validator.is_valid(&instance);
        caught += usize::from(refused);
        assert!(refused || !name.contains("unknown-key"), "{name} has an unknown key");
        assert!(
            refused || !name.contains("missing") || name == "target-ca-missing.toml",
            "{name} misses a key"
        );
    }
    assert!(seen > 150 && caught > 90, "{caught} of {seen}");
}

#[test]
fn every_removal_from_a_good_file_is_judged_alike() {
    // Removing one line of the full file keeps it good, or both refuse it, or only loading does.
    let lines: Vec<&str> = FULL.lines().collect();
    let validator = validator();
    let mut alike = 0;
    for skip in 0..lines.len() {
        let kept = lines.iter().enumerate().filter(|(index, _)| *index != skip).map(|(_, line)| *line);
        let text = kept.collect::<Vec<_>>().join("\n");
        let Ok(instance) = toml::from_str::<Value>(&text) else { continue };
        let (loads, valid) = (read(&text).is_ok(), validator.is_valid(&instance));
        assert!(
            valid || !loads,
            "loading accepts, the schema refuses, without line {}: {}",
            skip + 1,
            lines[skip]
        );
        alike += usize::from(loads == valid);
    }
    assert!(alike >= 90, "{alike}");
}
