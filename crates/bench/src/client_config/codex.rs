//! `mcp_servers`: Codex.
//!
//! Belongs here: its entries. Does not belong here: other shapes.
//!
//! `~/.codex/config.toml`, `.codex/config.toml`: `[mcp_servers.NAME]` with `command`, `args`, `env`, `env_vars`, `cwd`,
//! `enabled`, or `url` (developers.openai.com/codex/mcp). `env_vars` names variables that are handed on: texts, or
//! tables with `name` and `source`, where `remote` is another machine. Texts are taken as they are.

use super::entry::{Written, address, command, is_disabled, skipped};
use super::tree::Place;
use super::variables::{Notation, Surroundings};
use super::{ConfigError, Server, Shape, Skip};

pub(super) const SHAPE: Shape = Shape { member: "mcp_servers", is_in, servers };

fn is_in(root: &Place<'_>) -> bool {
    root.has("mcp_servers")
}

fn servers(root: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let Some(entries) = root.place("mcp_servers")? else { return Ok(Vec::new()) };
    entries.places()?.iter().map(|(name, entry)| server(name, entry, surroundings)).collect()
}

fn server(name: &str, entry: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Server, ConfigError> {
    if is_disabled(entry)? {
        return Ok(skipped(name, Skip::Disabled));
    }
    if !entry.has("command")
        && let Some(skip) = address(entry, &["url"])
    {
        return Ok(skipped(name, skip));
    }
    let written = Written {
        command: command(entry, "command", "args")?,
        environment: entry.variables("env")?,
        folder: entry.text("cwd")?,
    };
    let mut start = written.start(Notation::None, surroundings);
    for (variable, table) in entry.named("env_vars")? {
        let source = table.map(|table| table.text("source")).transpose()?.flatten();
        if source.is_some_and(|source| source != "local") {
            return Ok(skipped(name, Skip::Unknown(variable.to_owned())));
        }
        // One that is not set is not handed on.
        if let (Ok(start), Some(value)) = (&mut start, (surroundings.variable)(variable)) {
            start.environment.set(variable, value);
        }
    }
    Ok(Server { name: name.to_owned(), start })
}
