//! The official schemas of the five revisions (`crates/bench/schema/`).
//!
//! Belongs here: asking one definition of one revision. Does not belong here: which one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use framegate_corpus::Revision;
use jsonschema::Validator;
use serde_json::{Value, json};

/// The definition of what answers a method; none for methods that are not of the protocol.
pub(super) fn result_of(method: &str, revision: Revision) -> Option<&'static str> {
    Some(match method {
        "initialize" if !revision.is_modern() => "InitializeResult",
        "ping" if !revision.is_modern() => "EmptyResult",
        "server/discover" if revision.is_modern() => "DiscoverResult",
        "tools/list" => "ListToolsResult",
        "tools/call" => "CallToolResult",
        "resources/list" => "ListResourcesResult",
        "resources/templates/list" => "ListResourceTemplatesResult",
        "resources/read" => "ReadResourceResult",
        "prompts/list" => "ListPromptsResult",
        "prompts/get" => "GetPromptResult",
        _ => return None,
    })
}

/// The definition of a notification from a server; none if the revision has no such notification.
pub(super) fn notification(method: &str, revision: Revision) -> Option<&'static str> {
    let (from, fourth, to) = (Revision::V2024_11_05, Revision::V2025_11_25, Revision::V2026_07_28);
    let (name, first, last) = match method {
        "notifications/cancelled" => ("CancelledNotification", from, to),
        "notifications/progress" => ("ProgressNotification", from, to),
        "notifications/message" => ("LoggingMessageNotification", from, to),
        "notifications/resources/updated" => ("ResourceUpdatedNotification", from, to),
        "notifications/resources/list_changed" => ("ResourceListChangedNotification", from, to),
        "notifications/tools/list_changed" => ("ToolListChangedNotification", from, to),
        "notifications/prompts/list_changed" => ("PromptListChangedNotification", from, to),
        "notifications/elicitation/complete" => ("ElicitationCompleteNotification", fourth, fourth),
        "notifications/tasks/status" => ("TaskStatusNotification", fourth, fourth),
        "notifications/subscriptions/acknowledged" => ("SubscriptionsAcknowledgedNotification", to, to),
        _ => return None,
    };
    (first..=last).contains(&revision).then_some(name)
}

/// Why the value is not what the revision calls `definition`.
pub(super) fn fault(revision: Revision, definition: &str, value: &Value) -> Option<String> {
    let document = document(revision)?;
    let definitions = if document.get("$defs").is_some() { "$defs" } else { "definitions" };
    document.get(definitions)?.get(definition)?;
    let key = format!("{} {definition}", revision.name());
    let schema = || {
        json!({
            "$schema": document.get("$schema"),
            "allOf": [{ "$ref": format!("#/{definitions}/{definition}") }],
            definitions: document.get(definitions),
        })
    };
    let validator = cached(&key, schema)?;
    first_fault(&validator, value)
        .map(|fault| format!("not a `{definition}` of {}: {fault}", revision.name()))
}

/// Why the value is not what a tool published; `None` too if that is no schema.
pub(super) fn fault_by(published: &Value, value: &Value) -> Option<String> {
    first_fault(&jsonschema::validator_for(published).ok()?, value)
}

/// Why this is no JSON Schema.
pub(super) fn schema_fault(published: &Value) -> Option<String> {
    if let Err(fault) = jsonschema::meta::validate(published) {
        return Some(format!("{fault} at `{}`", fault.instance_path()));
    }
    None
}

fn first_fault(validator: &Validator, value: &Value) -> Option<String> {
    let fault = validator.iter_errors(value).next()?;
    let text: String = fault.to_string().chars().take(200).collect();
    Some(format!("{text} at `{}`", fault.instance_path()))
}

fn cached(key: &str, schema: impl FnOnce() -> Value) -> Option<Arc<Validator>> {
    static VALIDATORS: Mutex<BTreeMap<String, Arc<Validator>>> = Mutex::new(BTreeMap::new());
    let mut validators = VALIDATORS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = validators.get(key) {
        return Some(Arc::clone(known));
    }
    let validator = Arc::new(jsonschema::validator_for(&schema()).ok()?);
    validators.insert(key.to_owned(), Arc::clone(&validator));
    Some(validator)
}

fn document(revision: Revision) -> Option<&'static Value> {
    static DOCUMENTS: OnceLock<BTreeMap<Revision, Value>> = OnceLock::new();
    let read = |revision: Revision| {
        let text = match revision {
            Revision::V2024_11_05 => include_str!("../../../schema/2024-11-05.json"),
            Revision::V2025_03_26 => include_str!("../../../schema/2025-03-26.json"),
            Revision::V2025_06_18 => include_str!("../../../schema/2025-06-18.json"),
            Revision::V2025_11_25 => include_str!("../../../schema/2025-11-25.json"),
            Revision::V2026_07_28 => include_str!("../../../schema/2026-07-28.json"),
        };
        (revision, serde_json::from_str(text).unwrap_or_default())
    };
    DOCUMENTS.get_or_init(|| Revision::ALL.into_iter().map(read).collect()).get(&revision)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_that_is_asked_exists_and_can_say_no() {
        let methods = ["initialize", "ping", "server/discover", "tools/list", "tools/call", "resources/list"];
        let more = ["resources/templates/list", "resources/read", "prompts/list", "prompts/get"];
        for revision in Revision::ALL {
            for method in methods.iter().chain(&more) {
                let Some(definition) = result_of(method, revision) else { continue };
                assert!(fault(revision, definition, &json!(7)).is_some(), "{} {definition}", revision.name());
            }
        }
    }

    #[test]
    fn every_notification_that_is_named_is_in_its_revisions_schema() {
        for revision in Revision::ALL {
            for method in [
                "notifications/cancelled",
                "notifications/progress",
                "notifications/message",
                "notifications/resources/updated",
                "notifications/resources/list_changed",
                "notifications/tools/list_changed",
                "notifications/prompts/list_changed",
                "notifications/elicitation/complete",
                "notifications/tasks/status",
                "notifications/subscriptions/acknowledged",
            ] {
                let Some(definition) = notification(method, revision) else { continue };
                let text = document(revision).unwrap().to_string();
                assert!(text.contains(&format!("\"const\":\"{method}\"")), "{} {method}", revision.name());
                assert!(
                    fault(revision, definition, &json!({})).is_some(),
                    "{} {definition}",
                    revision.name()
                );
            }
        }
    }

    #[test]
    fn a_schema_that_is_none_is_named() {
        assert_eq!(schema_fault(&json!({"type": "object"})), None);
        assert!(schema_fault(&json!({"type": "objekt"})).is_some());
    }
}
