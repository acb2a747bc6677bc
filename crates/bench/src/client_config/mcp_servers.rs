//! `mcpServers`: the shape that most clients share.
//!
//! Belongs here: its entries, and those of Claude Code's projects. Does not belong here: other shapes.
//!
//! - Claude Desktop, `claude_desktop_config.json`: `command`, `args`, `env` (modelcontextprotocol.io, user quickstart).
//! - Claude Code, `.mcp.json` and `~/.claude.json`: also `type` (`stdio`, `http`, `sse`), `url`; `${NAME}` and
//!   `${NAME:-default}` in `command`, `args`, `env`; in `~/.claude.json` a project's own servers stand in
//!   `projects.PATH.mcpServers` and are started in that folder (code.claude.com/docs/en/mcp).
//! - Cursor, `mcp.json`: also `envFile`; `${env:NAME}`, `${userHome}`, `${workspaceFolder}`,
//!   `${workspaceFolderBasename}`, `${pathSeparator}` (cursor.com/docs). LM Studio follows it (lmstudio.ai/docs).
//! - Gemini CLI, `settings.json`: also `cwd`, `url`, `httpUrl` (docs/tools/mcp-server.md). Its `$NAME`, without braces,
//!   is left as it is: to other clients that is a plain text.
//! - Windsurf, `mcp_config.json`: also `serverUrl`, `disabled`; `${env:NAME}` (docs.windsurf.com).
//! - Copilot CLI, `mcp-config.json`: `type` is `local`, `stdio`, `http` or `sse` (docs.github.com).
//! - Cline, Kiro: also `disabled` (docs.cline.bot, kiro.dev/docs/mcp).

use super::entry::{Written, address, command, is_disabled, skipped};
use super::tree::Place;
use super::variables::{Notation, Surroundings};
use super::{ConfigError, Server, Shape, Skip};

pub(super) const SHAPE: Shape = Shape { member: "mcpServers", is_in, servers };

fn is_in(root: &Place<'_>) -> bool {
    let in_projects = || {
        let projects = root.place_if_any("projects")?.places().ok()?;
        Some(projects.iter().any(|(_, project)| project.has("mcpServers")))
    };
    root.has("mcpServers") || in_projects() == Some(true)
}

fn servers(root: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let mut servers = of(root, None, surroundings)?;
    // Other clients may have `projects` of their own.
    let projects = root.place_if_any("projects").and_then(|projects| projects.places().ok());
    for (path, project) in projects.into_iter().flatten() {
        servers.extend(of(&project, Some(path), surroundings)?);
    }
    Ok(servers)
}

fn of(
    place: &Place<'_>,
    project: Option<&str>,
    surroundings: &Surroundings<'_>,
) -> Result<Vec<Server>, ConfigError> {
    let Some(entries) = place.place("mcpServers")? else { return Ok(Vec::new()) };
    let mut servers = Vec::new();
    for (name, entry) in entries.places()? {
        let name = project.map_or_else(|| name.to_owned(), |path| format!("{name}@{path}"));
        servers.push(server(&name, &entry, project, surroundings)?);
    }
    Ok(servers)
}

fn server(
    name: &str,
    entry: &Place<'_>,
    project: Option<&str>,
    surroundings: &Surroundings<'_>,
) -> Result<Server, ConfigError> {
    if is_disabled(entry)? {
        return Ok(skipped(name, Skip::Disabled));
    }
    match entry.text("type")? {
        None | Some("stdio" | "local") => {}
        Some(other) => return Ok(skipped(name, Skip::Transport(other.to_owned()))),
    }
    if !entry.has("command")
        && let Some(skip) = address(entry, &["url", "httpUrl", "serverUrl"])
    {
        return Ok(skipped(name, skip));
    }
    if entry.has("envFile") {
        return Ok(skipped(name, Skip::OtherFile("envFile".to_owned())));
    }
    let written = Written {
        command: command(entry, "command", "args")?,
        environment: entry.variables("env")?,
        folder: entry.text("cwd")?.or(project),
    };
    Ok(Server { name: name.to_owned(), start: written.start(Notation::Shell, surroundings) })
}
