//! Answers that need no action: the handshake, lists, pings; and the envelope of a call's result.
//!
//! Belongs here: results as each revision shapes them.
//! Does not belong here: whether a request may be answered.

use framegate_wire::message::{META_SERVER_INFO, Revision};
use serde_json::{Map, Value, json};

use crate::schema::{Catalog, Tool};

/// How long a list may be kept: the configuration is fixed for the life of the process, and a client
/// cannot know when that ends, so lists are fresh for five minutes.
const LIST_TTL_MS: u64 = 300_000;

/// What the server says of itself.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) version: &'static str,
    pub(super) instructions: Option<String>,
}

impl Server {
    fn info(&self) -> Value {
        json!({"name": "framegate", "version": self.version})
    }

    pub(super) fn initialize(&self, revision: Revision) -> Value {
        let mut result = json!({
            "protocolVersion": revision.name(),
            "capabilities": {"tools": {}},
            "serverInfo": self.info(),
        });
        self.add_instructions(&mut result);
        result
    }

    pub(super) fn discover(&self, served: &[Revision]) -> Value {
        let versions: Vec<_> = served.iter().map(|revision| revision.name()).collect();
        let mut result = json!({"supportedVersions": versions, "capabilities": {"tools": {}}});
        self.add_instructions(&mut result);
        self.complete(cacheable(result), Revision::V2026_07_28)
    }

    pub(super) fn tools(&self, catalog: &Catalog, revision: Revision) -> Value {
        let tools: Vec<_> = catalog.iter().map(|tool| describe(tool, revision)).collect();
        let result = json!({"tools": tools});
        if revision.is_modern() { self.complete(cacheable(result), revision) } else { result }
    }

    /// Adds what every result of a modern revision carries.
    pub(super) fn complete(&self, mut result: Value, revision: Revision) -> Value {
        if let (true, Some(members)) = (revision.is_modern(), result.as_object_mut()) {
            members.insert("resultType".to_owned(), json!("complete"));
            let meta = members.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert(META_SERVER_INFO.to_owned(), self.info());
            }
        }
        result
    }

    fn add_instructions(&self, result: &mut Value) {
        if let (Some(instructions), Some(members)) = (&self.instructions, result.as_object_mut()) {
            members.insert("instructions".to_owned(), json!(instructions));
        }
    }
}

fn cacheable(mut result: Value) -> Value {
    if let Some(members) = result.as_object_mut() {
        members.insert("ttlMs".to_owned(), json!(LIST_TTL_MS));
        members.insert("cacheScope".to_owned(), json!("private"));
    }
    result
}

/// A tool as the revision can say it.
fn describe(tool: &Tool, revision: Revision) -> Value {
    let mut members = Map::new();
    members.insert("name".to_owned(), json!(tool.name()));
    members.insert("description".to_owned(), json!(tool.description()));
    members.insert("inputSchema".to_owned(), tool.input_schema().clone());
    if revision >= Revision::V2025_03_26 {
        let hints = json!({"readOnlyHint": tool.is_read_only(), "openWorldHint": true});
        members.insert("annotations".to_owned(), hints);
    }
    if revision >= Revision::V2025_06_18 {
        if let Some(title) = tool.title() {
            members.insert("title".to_owned(), json!(title));
        }
        members.insert("outputSchema".to_owned(), tool.output_schema().clone());
    }
    Value::Object(members)
}

/// The result of a call: text, structured content where the revision has it, and the reason of an error.
pub(crate) fn call_result(
    text: &str,
    structured: Option<&Value>,
    error: Option<&Value>,
    revision: Revision,
) -> Value {
    let mut result = json!({"content": [{"type": "text", "text": text}], "isError": error.is_some()});
    if let Some(members) = result.as_object_mut() {
        match (error, structured) {
            // Never structured content beside an error: a client that knows the output schema would
            // throw, and hide the reason.
            (Some(reason), _) => {
                members.insert("_meta".to_owned(), json!({"framegate/reason": reason}));
            }
            (None, Some(structured)) if revision >= Revision::V2025_06_18 => {
                members.insert("structuredContent".to_owned(), structured.clone());
            }
            (None, Some(_) | None) => {}
        }
    }
    result
}
