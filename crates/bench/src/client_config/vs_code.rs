//! `servers`: VS Code.
//!
//! Belongs here: its entries. Does not belong here: other shapes.
//!
//! `.vscode/mcp.json` and the user's `mcp.json`: `type` (`stdio`, `http`, `sse`), `command`, `args`, `env`, `envFile`,
//! `cwd`; `${workspaceFolder}`, `${userHome}`, `${env:NAME}`, and `${input:ID}`, which VS Code asks its user for
//! (code.visualstudio.com/docs/copilot/reference/mcp-configuration, .../docs/reference/variables-reference). In
//! `settings.json` and development containers the same stands below `mcp`.

use super::entry::{Written, address, command, is_disabled, skipped};
use super::tree::Place;
use super::variables::{Notation, Surroundings};
use super::{ConfigError, Server, Shape, Skip, opencode};

pub(super) const SHAPE: Shape = Shape { member: "servers", is_in, servers };

fn is_in(root: &Place<'_>) -> bool {
    root.place_if_any("servers").is_some() || nested(root).is_some()
}

/// `mcp.servers`, if it is not opencode's.
fn nested<'t>(root: &Place<'t>) -> Option<Place<'t>> {
    root.place_if_any("mcp")?.place_if_any("servers").filter(|servers| !opencode::are_its(servers))
}

fn servers(root: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let mut servers = Vec::new();
    for entries in root.place_if_any("servers").into_iter().chain(nested(root)) {
        for (name, entry) in entries.places()? {
            servers.push(server(name, &entry, surroundings)?);
        }
    }
    Ok(servers)
}

fn server(name: &str, entry: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Server, ConfigError> {
    if is_disabled(entry)? {
        return Ok(skipped(name, Skip::Disabled));
    }
    match entry.text("type")? {
        None | Some("stdio") => {}
        Some(other) => return Ok(skipped(name, Skip::Transport(other.to_owned()))),
    }
    if !entry.has("command")
        && let Some(skip) = address(entry, &["url"])
    {
        return Ok(skipped(name, skip));
    }
    if entry.has("envFile") {
        return Ok(skipped(name, Skip::OtherFile("envFile".to_owned())));
    }
    let written = Written {
        command: command(entry, "command", "args")?,
        environment: entry.variables("env")?,
        folder: entry.text("cwd")?,
    };
    Ok(Server { name: name.to_owned(), start: written.start(Notation::Editor, surroundings) })
}
