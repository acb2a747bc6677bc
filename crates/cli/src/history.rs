//! Commands that read the journal: `journal show`, `why`.
//!
//! Belongs here: finding the folder, choosing the form.
//! Does not belong here: reading and wording, which are the journal's.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::SystemTime;

use framegate_gateway::exit;
use framegate_journal::{Fault, JournalError, explain, json_lines, read_folder, text};

use crate::args::ConfigArgument;
use crate::context;
use crate::failure::Failure;
use crate::out;

/// `framegate journal show`
pub(crate) fn show(argument: &ConfigArgument, dir: Option<PathBuf>, as_json: bool) -> Result<u8, Failure> {
    let view = read(argument, dir)?;
    if as_json {
        let lines = json_lines(&view).map_err(|error| Failure::io(error.to_string()))?;
        out::text(&lines);
    } else {
        out::text(&text(&view, SystemTime::now()));
    }
    Ok(exit::OK)
}

/// `framegate why`
pub(crate) fn why(argument: &ConfigArgument, id: Option<&str>) -> Result<u8, Failure> {
    let view = read(argument, None)?;
    match view.find(id) {
        Some(found) => {
            out::text(&explain(&found, SystemTime::now()));
            Ok(exit::OK)
        }
        None => Err(Failure::new(
            exit::FINDINGS,
            match id {
                Some(_) => {
                    "the journal knows no call or refusal with this id; `framegate journal show` lists them"
                }
                None => "the journal holds no refusal",
            },
        )),
    }
}

fn read(argument: &ConfigArgument, dir: Option<PathBuf>) -> Result<framegate_journal::View, Failure> {
    let dir = match dir {
        Some(dir) => dir,
        None => context::load(argument)?.config.journal.dir,
    };
    read_folder(&dir).map_err(|error| match error {
        // The first session makes the folder.
        JournalError::Folder { fault: Fault::Io(cause), path } if cause.kind() == ErrorKind::NotFound => {
            Failure::new(exit::FINDINGS, format!("no session has been recorded yet in `{path}`"))
        }
        error => Failure::new(exit::DATA, format!("journal: {error}")),
    })
}
