//! `extensions`: goose.
//!
//! Belongs here: its entries. Does not belong here: other shapes.
//!
//! `~/.config/goose/config.yaml`: `type` (`stdio`; others are built in or remote), `cmd`, `args`, `envs`, `env_keys`,
//! `enabled` (goose-docs.ai, configuration files). `env_keys` names secrets that goose looks up in the environment
//! first, and then in a store of its own, which is not read here.

use super::entry::{Written, command, is_disabled, skipped};
use super::tree::Place;
use super::variables::{Notation, Surroundings};
use super::{ConfigError, Server, Shape, Skip};

pub(super) const SHAPE: Shape = Shape { member: "extensions", is_in, servers };

/// Other programs have `extensions` too: an entry of goose has a type.
fn is_in(root: &Place<'_>) -> bool {
    let entries = root.place_if_any("extensions").and_then(|extensions| extensions.places().ok());
    entries.is_some_and(|entries| entries.iter().any(|(_, entry)| entry.has("type")))
}

fn servers(root: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let Some(entries) = root.place("extensions")? else { return Ok(Vec::new()) };
    entries.places()?.iter().map(|(name, entry)| server(name, entry, surroundings)).collect()
}

fn server(name: &str, entry: &Place<'_>, surroundings: &Surroundings<'_>) -> Result<Server, ConfigError> {
    if is_disabled(entry)? {
        return Ok(skipped(name, Skip::Disabled));
    }
    match entry.text("type")?.ok_or_else(|| entry.fault("type", "is missing"))? {
        "stdio" => {}
        other => return Ok(skipped(name, Skip::Transport(other.to_owned()))),
    }
    let written = Written {
        command: command(entry, "cmd", "args")?,
        environment: entry.variables("envs")?,
        folder: None,
    };
    let mut start = written.start(Notation::None, surroundings);
    for key in entry.texts("env_keys")? {
        match ((surroundings.variable)(key), &mut start) {
            (Some(value), Ok(start)) => start.environment.set(key, value),
            (None, Ok(_)) => start = Err(Skip::Unset(key.to_owned())),
            (_, Err(_)) => {}
        }
    }
    Ok(Server { name: name.to_owned(), start })
}
