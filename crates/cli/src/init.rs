//! `framegate init`.
//!
//! Belongs here: writing the starter configuration where nothing is overwritten.
//! Does not belong here: its text.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::PathBuf;

use framegate_gateway::config::{STARTER, locate};
use framegate_gateway::exit;

use crate::failure::Failure;
use crate::out;

/// Creates the file, readable by its owner only; an existing one is left alone.
pub(crate) fn run(path: Option<PathBuf>) -> Result<u8, Failure> {
    let path = match path {
        Some(path) => path,
        None => {
            let folder = |name| std::env::var_os(name);
            locate(None, folder("XDG_CONFIG_HOME").as_deref(), folder("HOME").as_deref())
                .map_err(|error| Failure::usage(error.to_string()))?
        }
    };
    let shown = path.display().to_string().escape_debug().to_string();
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)
            .map_err(|error| Failure::io(format!("cannot create the folder of `{shown}`: {error}")))?;
    }
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).map_err(|error| {
            if error.kind() == ErrorKind::AlreadyExists {
                Failure::usage(format!("`{shown}` exists already; nothing was written"))
            } else {
                Failure::io(format!("cannot create `{shown}`: {error}"))
            }
        })?;
    file.write_all(STARTER.as_bytes())
        .map_err(|error| Failure::io(format!("cannot write `{shown}`: {error}")))?;
    out::line(&format!("wrote {shown}"));
    out::line(&format!("next: edit it, then `framegate config check --config {shown}`"));
    Ok(exit::OK)
}
