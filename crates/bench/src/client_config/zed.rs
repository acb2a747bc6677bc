//! `context_servers`: Zed.
//!
//! Belongs here: its entries, in both forms. Does not belong here: other shapes.
//!
//! `settings.json`: `command`, `args`, `env`, or `url`; `enabled` (zed.dev/docs/ai/mcp). Before, `command` was a table of
//! `path`, `args`, `env` (docs/src/assistant/context-servers.md of that time). An entry with only `settings`, or with
//! `source = "extension"`, configures an extension, which has the command. Texts are taken as they are.

use super::entry::{Written, address, command, is_disabled, skipped};
use super::tree::Place;
use super::variables::{Notation, Surroundings};
use super::{ConfigError, Server, Shape, Skip};

pub(super) const SHAPE: Shape = Shape { member: "context_servers", is_in, servers };

fn is_in(root: &Place<'_>) -> bool {
    root.has("context_servers")
}

fn servers(root: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let Some(entries) = root.place("context_servers")? else { return Ok(Vec::new()) };
    entries.places()?.iter().map(|(name, entry)| server(name, entry, surroundings)).collect()
}

fn server(name: &str, entry: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Server, ConfigError> {
    if is_disabled(entry)? {
        return Ok(skipped(name, Skip::Disabled));
    }
    if !entry.has("command") {
        let elsewhere = entry.has("settings") || entry.text("source")? == Some("extension");
        let why = address(entry, &["url"]).or(elsewhere.then_some(Skip::Elsewhere));
        return why.map(|why| skipped(name, why)).ok_or_else(|| entry.fault("command", "is missing"));
    }
    let nested = entry.place_if_any("command");
    let written = Written {
        command: match &nested {
            Some(nested) => command(nested, "path", "args")?,
            None => command(entry, "command", "args")?,
        },
        environment: nested.as_ref().unwrap_or(entry).variables("env")?,
        folder: None,
    };
    Ok(Server { name: name.to_owned(), start: written.start(Notation::None, surroundings) })
}
