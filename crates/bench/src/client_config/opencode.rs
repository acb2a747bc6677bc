//! `mcp`: opencode.
//!
//! Belongs here: its entries, below `mcp` and below `mcp.servers`. Does not belong here: other shapes.
//!
//! `opencode.json`, `opencode.jsonc`: `type` (`local`, `remote`), `command` (a list), `environment`, `cwd`; switched off by
//! `enabled` (opencode.ai/docs/mcp-servers), since version 2 by `disabled` (opencode.ai/v2/docs/mcp-servers). An entry
//! without a type changes one that comes from elsewhere. `{env:NAME}`, `{file:PATH}` (opencode.ai/docs/config).

use super::entry::{Written, is_disabled, skipped};
use super::tree::Place;
use super::variables::{Notation, Surroundings};
use super::{ConfigError, Server, Shape, Skip};

pub(super) const SHAPE: Shape = Shape { member: "mcp", is_in, servers };

fn is_in(root: &Place<'_>) -> bool {
    entries(root).is_some()
}

fn entries<'t>(root: &Place<'t>) -> Option<Place<'t>> {
    let mcp = root.place_if_any("mcp")?;
    mcp.place_if_any("servers").filter(are_its).or_else(|| Some(mcp).filter(are_its))
}

/// Whether these entries are opencode's: its types are nobody else's.
pub(super) fn are_its(entries: &Place<'_>) -> bool {
    let is_its = |entry: &Place<'_>| matches!(entry.text("type"), Ok(Some("local" | "remote")));
    entries.places().is_ok_and(|entries| entries.iter().any(|(_, entry)| is_its(entry)))
}

fn servers(root: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let Some(entries) = entries(root) else { return Ok(Vec::new()) };
    entries.places()?.iter().map(|(name, entry)| server(name, entry, surroundings)).collect()
}

fn server(name: &str, entry: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Server, ConfigError> {
    if is_disabled(entry)? {
        return Ok(skipped(name, Skip::Disabled));
    }
    match entry.text("type")? {
        Some("local") => {}
        Some(other) => return Ok(skipped(name, Skip::Transport(other.to_owned()))),
        None => return Ok(skipped(name, Skip::Elsewhere)),
    }
    let command = entry.texts("command")?;
    if command.first().is_none_or(|program| program.is_empty()) {
        return Err(entry.fault("command", "names no program"));
    }
    let written =
        Written { command, environment: entry.variables("environment")?, folder: entry.text("cwd")? };
    Ok(Server { name: name.to_owned(), start: written.start(Notation::Braces, surroundings) })
}
