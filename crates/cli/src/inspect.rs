//! Commands that look at the configuration: `config check`, `config schema`, `tools`, `policy show`.
//!
//! Belongs here: showing what was loaded.
//! Does not belong here: loading it.

use framegate_gate::schema::Tool;
use framegate_gateway::log::Masks;
use framegate_gateway::{assemble, config, exit};
use framegate_policy::{generate, schema_text};
use serde_json::json;

use crate::args::ConfigArgument;
use crate::context;
use crate::failure::Failure;
use crate::out;

/// `framegate config check`
pub(crate) fn check(argument: &ConfigArgument) -> Result<u8, Failure> {
    let loaded = context::load(argument)?;
    let policy = context::policy(&loaded)?;
    let executor = context::http_executor(&loaded.config, &Masks::default())?;
    out::line(&format!("configuration  {}", loaded.path.display()));
    out::line(&format!("digest         {}", loaded.digest));
    out::line(&format!("client         {}", loaded.config.session.client));
    if !loaded.config.journal.sync {
        out::line(
            "note           `[journal] sync = false`: a power cut can lose intents of actions that happened",
        );
    }
    if let Some(store) = executor.system_store() {
        out::line(&format!(
            "note           `ca = \"system\"`: {} authorities in {}, {} unusable left out",
            store.count(),
            store.path().display(),
            store.skipped(),
        ));
    }
    if loaded.config.targets.values().any(|target| target.proxy.is_some()) {
        out::line(
            "note           `[network] proxy`: it looks the targets' names up, so that their addresses are its to judge",
        );
    }
    out::line("");
    out::text(&format!("{}", policy.matrix()));
    Ok(exit::OK)
}

/// `framegate config schema`
pub(crate) fn config_schema() -> Result<u8, Failure> {
    out::line(&format!("{:#}", config::schema()));
    Ok(exit::OK)
}

/// `framegate tools`
pub(crate) fn tools(argument: &ConfigArgument, as_json: bool) -> Result<u8, Failure> {
    let loaded = context::load(argument)?;
    let catalog = &loaded.config.catalog;
    if as_json {
        let tools: Vec<_> = catalog.iter().map(|tool| tool_json(tool)).collect();
        out::line(&format!("{:#}", json!({"tools": tools})));
        return Ok(exit::OK);
    }
    for tool in catalog.iter() {
        let effect = if tool.is_read_only() { "reads" } else { "may change things" };
        out::line(&format!("{}  ({effect}, on `{}`)", tool.name(), tool.target()));
        out::line(&format!("    {}", tool.description()));
        for parameter in tool.parameters() {
            let need = if parameter.is_required() { "required" } else { "optional" };
            out::line(&format!("    {:<20} {need}: {}", parameter.name(), parameter.expectation()));
        }
    }
    Ok(exit::OK)
}

fn tool_json(tool: &Tool) -> serde_json::Value {
    json!({
        "name": tool.name(),
        "title": tool.title(),
        "description": tool.description(),
        "inputSchema": tool.input_schema(),
        "outputSchema": tool.output_schema(),
    })
}

/// `framegate policy show`
pub(crate) fn policy(argument: &ConfigArgument, schema: bool) -> Result<u8, Failure> {
    let loaded = context::load(argument)?;
    if schema {
        let text =
            schema_text(&loaded.config.catalog).map_err(|fault| Failure::configuration(fault.to_string()))?;
        out::text(&text);
        return Ok(exit::OK);
    }
    // A policy that does not compile is not in force, so it is not shown as if it were.
    context::policy(&loaded)?;
    let generated = generate(&assemble::allows(&loaded.config), &loaded.config.catalog)
        .map_err(|_| Failure::configuration("the `allow` of a tool cannot be turned into a rule"))?;
    out::line(&format!("// generated from `allow`\n{generated}"));
    for policy in &loaded.policies {
        out::line(&format!("// {}\n{}", policy.path.display(), policy.text));
    }
    Ok(exit::OK)
}
