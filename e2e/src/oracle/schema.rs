//! The official JSON Schemas of the five revisions, one validator a definition.
//!
//! Belongs here: loading, compiling once, asking. Does not belong here: which definition to ask.
//!
//! The unions of these schemas accept anything, so a message is always judged by the one definition
//! that its request's method calls for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use framegate_wire::message::Revision;
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::shared;

/// Whether `value` is what the revision calls `definition`. Without the shared data: not checked.
pub(super) fn check(revision: Revision, definition: &str, value: &Value) -> Result<(), String> {
    let Some(document) = document(revision) else {
        return Ok(());
    };
    let key = format!("{revision} {definition}");
    let validator = cached(key.clone(), || {
        let definitions = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
        assert!(!document[definitions][definition].is_null(), "{revision} has no `{definition}`");
        json!({
            "$schema": document["$schema"],
            "allOf": [{ "$ref": format!("#/{definitions}/{definition}") }],
            definitions: document[definitions],
        })
    });
    report(&validator, value, &key)
}

/// Whether a result is what its tool published.
pub(super) fn check_output(published: &Value, structured: &Value) -> Result<(), String> {
    let validator = cached(published.to_string(), || published.clone());
    report(&validator, structured, "the published output schema")
}

fn report(validator: &Validator, value: &Value, what: &str) -> Result<(), String> {
    match validator.iter_errors(value).next() {
        None => Ok(()),
        Some(error) => Err(format!("not valid by {what}: {error} at `{}`", error.instance_path())),
    }
}

fn cached(key: String, schema: impl FnOnce() -> Value) -> Arc<Validator> {
    static VALIDATORS: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let mut validators = VALIDATORS.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let validator = validators.entry(key).or_insert_with_key(|key| {
        let schema = schema();
        Arc::new(jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{key}: {error}")))
    });
    Arc::clone(validator)
}

fn document(revision: Revision) -> Option<&'static Value> {
    static DOCUMENTS: OnceLock<Option<BTreeMap<Revision, Value>>> = OnceLock::new();
    let documents = DOCUMENTS.get_or_init(|| {
        let folder = shared::folder("external/mcp-schema")?;
        let read = |revision: Revision| {
            let file = folder.join(revision.name()).join("schema.json");
            let text = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            (revision, serde_json::from_slice(&text).expect("an official schema is JSON"))
        };
        Some(Revision::ALL.into_iter().map(read).collect())
    });
    documents.as_ref()?.get(&revision)
}
