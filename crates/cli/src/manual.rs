//! `framegate completions` and `framegate man`: the command line as shells and `man` know it.
//!
//! Belongs here: both, made of the same definitions as the help. Does not belong here: those definitions (`args`).

use std::fs;
use std::path::Path;

use clap::CommandFactory;
use framegate_gateway::exit;

use crate::args::Arguments;
use crate::failure::Failure;
use crate::out;

pub(crate) fn completions(shell: clap_complete::Shell) -> Result<u8, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "framegate", &mut script);
    out::text(&String::from_utf8_lossy(&script));
    Ok(exit::OK)
}

/// One page for each command: `framegate.1`, `framegate-mcp.1`, `framegate-config-check.1`.
pub(crate) fn pages(folder: &Path) -> Result<u8, Failure> {
    fs::create_dir(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
        .map_err(|error| Failure::io(format!("{}: {error}", folder.display())))?;
    Ok(exit::OK)
}
