//! What the entries of all shapes have in common.
//!
//! Belongs here: a server from the texts of its entry, filled in; flags; other transports.
//! Does not belong here: how a client names its members.

use std::path::PathBuf;

use super::tree::Place;
use super::variables::{Notation, Surroundings};
use super::{ConfigError, Server, Skip, Start};
use crate::environment::Environment;

/// The texts of an entry, as they were written.
pub(super) struct Written<'t> {
    pub(super) command: Vec<&'t str>,
    pub(super) environment: Vec<(&'t str, &'t str)>,
    pub(super) folder: Option<&'t str>,
}

impl Written<'_> {
    /// The start that these texts are, in this notation.
    pub(super) fn start(self, notation: Notation, surroundings: &Surroundings<'_>) -> Result<Start, Skip> {
        let mut environment = Environment::default();
        let mut command = Vec::new();
        for part in self.command {
            for (written, value) in notation.fill(part, surroundings)?.places {
                environment.fill_in(&written, value);
            }
            command.push(part.into());
        }
        for (name, value) in self.environment {
            environment.set(name, notation.fill(value, surroundings)?.text);
        }
        let folder = self.folder.map(|folder| notation.fill(folder, surroundings)).transpose()?;
        Ok(Start { command, environment, folder: folder.map(|folder| PathBuf::from(folder.text)) })
    }
}

/// A server that is not started.
pub(super) fn skipped(name: &str, why: Skip) -> Server {
    Server { name: name.to_owned(), start: Err(why) }
}

/// Whether an entry is switched off, by either member that clients use.
pub(super) fn is_disabled(entry: &Place<'_>) -> Result<bool, ConfigError> {
    Ok(entry.flag("disabled")? == Some(true) || entry.flag("enabled")? == Some(false))
}

/// The first of these members that holds an address.
pub(super) fn address(entry: &Place<'_>, members: &[&str]) -> Option<Skip> {
    let member = members.iter().find(|member| entry.has(member))?;
    Some(Skip::Transport((*member).to_owned()))
}

/// The command of an entry that has one as a text, and its arguments.
pub(super) fn command<'t>(
    entry: &Place<'t>,
    member: &str,
    arguments: &str,
) -> Result<Vec<&'t str>, ConfigError> {
    let program = entry.text(member)?.ok_or_else(|| entry.fault(member, "is missing"))?;
    if program.is_empty() {
        return Err(entry.fault(member, "is empty"));
    }
    let mut command = vec![program];
    command.extend(entry.texts(arguments)?);
    Ok(command)
}
