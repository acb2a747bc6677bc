//! The configuration files of MCP clients: which servers they start, and how.
//!
//! Belongs here: one file a shape, each with its source; languages, variables, faults with their place.
//! Does not belong here: starting anything, choosing among the servers.
//!
//! The shape is found from what is in the file, never from its name:
//!
//! | member | shape | clients |
//! |---|---|---|
//! | `mcpServers`, `projects.PATH.mcpServers` | `mcp_servers` | Claude Desktop and Code, Cursor, Gemini CLI, Windsurf, Copilot CLI, LM Studio, Cline, Kiro |
//! | `servers`, `mcp.servers` | `vs_code` | VS Code |
//! | `mcp_servers` | `codex` | Codex |
//! | `context_servers` | `zed` | Zed |
//! | `extensions` | `goose` | goose |
//! | `mcp`, `mcp.servers` with `type = local` or `remote` | `opencode` | opencode |
//!
//! Only what a launch needs is looked at. There, a fault of one server is a fault of the file: what is left out would
//! look like a server that was judged.

mod codex;
mod entry;
mod goose;
mod language;
mod mcp_servers;
mod opencode;
mod tree;
mod variables;
mod vs_code;
mod zed;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::environment::Environment;
use tree::Place;
pub use variables::Surroundings;

/// The longest file that is read, in bytes. Claude Code keeps a history beside its servers, which may be long.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A server of a client.
#[derive(Clone, Debug)]
pub struct Server {
    /// Its name in the file; `NAME@PATH` if it is one of a project's.
    pub name: String,
    /// How it is started, or why it is not.
    pub start: Result<Start, Skip>,
}

/// How a client starts a server.
#[derive(Clone, Debug)]
pub struct Start {
    /// Program and arguments as they were written: [`Environment`] holds what `${env:NAME}` in them stands for.
    pub command: Vec<OsString>,
    /// What is set for it.
    pub environment: Environment,
    /// Its working folder, if the file names one.
    pub folder: Option<PathBuf>,
}

/// Why a server is not started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Skip {
    /// The file says so.
    #[error("disabled")]
    Disabled,
    /// It is reached by other means.
    #[error("not on stdio (`{}`)", .0.escape_debug())]
    Transport(String),
    /// An extension of the client, or another file, has its command.
    #[error("its command is not in this file")]
    Elsewhere,
    /// A text that only the client knows the value of.
    #[error("only its client knows what `{}` stands for", .0.escape_debug())]
    Unknown(String),
    /// A variable that is needed and not set.
    #[error("`{}`: the variable is not set here", .0.escape_debug())]
    Unset(String),
    /// Variables or texts come from another file.
    #[error("`{}`: a file that is not read here", .0.escape_debug())]
    OtherFile(String),
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be opened or read.
    #[error("{0}")]
    Read(#[source] io::Error),
    /// It is longer than is read.
    #[error("longer than {} MiB", LONGEST >> 20)]
    TooLong,
    /// It is no text.
    #[error("not UTF-8 at byte {0}")]
    NotText(usize),
    /// It is in no language that clients use.
    #[error("not {language}: line {line}, column {column}")]
    Syntax {
        /// What it begins as.
        language: &'static str,
        /// Counted from 1.
        line: usize,
        /// Counted from 1, in characters.
        column: usize,
    },
    /// It is no client's.
    #[error(
        "no configuration of an MCP client: there is no `mcpServers`, `servers`, `mcp.servers`, `mcp_servers`, \
         `context_servers`, `extensions` with servers, or `mcp` with servers"
    )]
    NoShape,
    /// It is of two clients at once.
    #[error("`{0}` and `{1}` are two clients' shapes; which one is meant cannot be told")]
    TwoShapes(&'static str, &'static str),
    /// A member is not what it must be.
    #[error("`{place}` {what}")]
    Member {
        /// Its path, escaped.
        place: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Two servers have one name.
    #[error("two servers are named `{}`", .0.escape_debug())]
    Twice(String),
}

/// A shape: the member that it is known by, whether a file has it, and its servers.
struct Shape {
    member: &'static str,
    is_in: fn(&Place<'_>) -> bool,
    servers: fn(&Place<'_>, &Surroundings<'_>) -> Result<Vec<Server>, ConfigError>,
}

const SHAPES: &[Shape] =
    &[mcp_servers::SHAPE, vs_code::SHAPE, codex::SHAPE, zed::SHAPE, goose::SHAPE, opencode::SHAPE];

/// Every server of a client's configuration, in the order of the file.
///
/// # Errors
/// If it cannot be read, is no client's configuration, or a server in it is not written as its client documents.
pub fn read(file: &Path, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(ConfigError::Read)?;
    opened.take(LONGEST.saturating_add(1)).read_to_end(&mut bytes).map_err(ConfigError::Read)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > LONGEST) {
        return Err(ConfigError::TooLong);
    }
    let text = std::str::from_utf8(&bytes).map_err(|fault| ConfigError::NotText(fault.valid_up_to()))?;
    servers(text, surroundings)
}

fn servers(text: &str, surroundings: &Surroundings<'_>) -> Result<Vec<Server>, ConfigError> {
    let tree = language::tree(text)?;
    let root = Place::root(&tree).ok_or(ConfigError::NoShape)?;
    let mut shapes = SHAPES.iter().filter(|shape| (shape.is_in)(&root));
    let shape = shapes.next().ok_or(ConfigError::NoShape)?;
    if let Some(other) = shapes.next() {
        return Err(ConfigError::TwoShapes(shape.member, other.member));
    }
    let servers = (shape.servers)(&root, surroundings)?;
    let mut names = BTreeSet::new();
    match servers.iter().find(|server| !names.insert(server.name.as_str())) {
        Some(twice) => Err(ConfigError::Twice(twice.name.clone())),
        None => Ok(servers),
    }
}

#[cfg(test)]
mod tests;
