//! The declared tools of one configuration.
//!
//! Belongs here: compiled tools, found by name, in a stable order.
//! Does not belong here: how a declaration is compiled or arguments are checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::declaration::{DeclarationFault, ToolDeclaration};
use super::parameter::Parameter;
use super::template::HttpTemplate;

/// A compiled tool.
#[derive(Debug)]
pub struct Tool {
    pub(super) name: Arc<str>,
    pub(super) title: Option<String>,
    pub(super) description: String,
    pub(super) parameters: Vec<Parameter>,
    pub(super) ignored: Vec<String>,
    pub(super) template: HttpTemplate,
    pub(super) output_schema: Value,
    pub(super) input_schema: Value,
}

impl Tool {
    /// The declared name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The title for people.
    #[must_use]
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref()
    }

    /// What the tool does.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// The parameters in published order.
    #[must_use]
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// The target that every call of this tool is bound to.
    #[must_use]
    pub fn target(&self) -> &str {
        self.template.target()
    }

    /// The targets that redirects of this tool may lead to; its own may be among them.
    pub fn redirect_targets(&self) -> impl Iterator<Item = &str> {
        self.template.redirects.iter().map(|(target, _)| &**target)
    }

    /// Whether every method the tool can use is safe (RFC 9110, 9.2.1).
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.template.is_safe()
    }

    /// The published JSON Schema of the arguments (2020-12), closed.
    #[must_use]
    pub const fn input_schema(&self) -> &Value {
        &self.input_schema
    }

    /// The published JSON Schema of `structuredContent` (2020-12), closed, and independent of what a target
    /// answers.
    #[must_use]
    pub const fn output_schema(&self) -> &Value {
        &self.output_schema
    }
}

/// All tools of one configuration, by name.
#[derive(Debug, Default)]
pub struct Catalog {
    tools: BTreeMap<Arc<str>, Arc<Tool>>,
}

impl Catalog {
    /// Compiles declarations into a catalog.
    ///
    /// # Errors
    /// Every fault found, each with the index of its declaration.
    pub fn compile(declarations: Vec<ToolDeclaration>) -> Result<Self, Vec<(usize, DeclarationFault)>> {
        let mut tools = BTreeMap::new();
        let mut folded: BTreeMap<String, String> = BTreeMap::new();
        let mut faults = Vec::new();
        for (index, declaration) in declarations.into_iter().enumerate() {
            let name = declaration.name.clone();
            // Clients fold case, `-`, `.` and `_`: twins after folding would be one tool to them.
            let fold = name.to_ascii_lowercase().replace(['-', '.', '_'], "");
            if let Some(twin) = folded.insert(fold, name.clone()) {
                faults.push((
                    index,
                    DeclarationFault::new(
                        &[],
                        format!("`{name}` and `{twin}` are one name to clients that fold `_`"),
                        None,
                    ),
                ));
            }
            match super::compile::compile(declaration) {
                Ok(tool) => {
                    tools.insert(Arc::clone(&tool.name), Arc::new(tool));
                }
                Err(found) => faults.extend(found.into_iter().map(|fault| (index, fault))),
            }
        }
        if faults.is_empty() { Ok(Self { tools }) } else { Err(faults) }
    }

    /// The tool of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Arc<Tool>> {
        self.tools.get(name)
    }

    /// All tools in the order of their names, the same in every process.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Tool>> {
        self.tools.values()
    }
}
