//! The recorder: writes the typed action down instead of performing it.
//!
//! Belongs here: the record file.
//! Does not belong here: credentials, names, connections; the recorder has none.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use framegate_gate::action::{Action, TypedValue};
use framegate_gate::outcome::Outcome;
use framegate_journal::Recorded;
use framegate_wire::frame::write_line;
use serde::Serialize;
use serde_json::json;

use super::{Executor, Performing};

#[cfg(test)]
mod tests;

/// The record file cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot create the record file `{path}`: {cause}")]
pub struct RecordError {
    path: String,
    #[source]
    cause: io::Error,
}

/// One line of the record file.
#[derive(Serialize)]
struct Record<'a> {
    v: u64,
    intent: &'a str,
    request: &'a str,
    tool: &'a str,
    arguments: BTreeMap<&'a str, &'a TypedValue>,
    action: &'a Action,
}

/// Writes each action as one JSON line.
#[derive(Debug)]
pub struct Recorder {
    /// `None` once a write has failed: what follows half a line would not be read.
    file: Mutex<Option<File>>,
}

impl Recorder {
    /// Creates the file: it must not exist, and only its owner may read it (mode 0600).
    ///
    /// # Errors
    /// [`RecordError`] when it exists, also as a symbolic link, or cannot be created.
    pub fn create(path: &Path) -> Result<Self, RecordError> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
        match file {
            Ok(file) => Ok(Self { file: Mutex::new(Some(file)) }),
            Err(cause) => {
                Err(RecordError { path: path.display().to_string().escape_default().to_string(), cause })
            }
        }
    }

    fn write(&self, recorded: &Recorded) -> io::Result<()> {
        let call = recorded.granted().call();
        let arguments = call.arguments().iter().map(|(name, value)| (&**name, value)).collect();
        let record = Record {
            v: 1,
            intent: recorded.intent(),
            request: &call.request().to_string(),
            tool: call.tool().name(),
            arguments,
            action: call.action(),
        };
        let mut line = Vec::with_capacity(1024);
        write_line(&mut line, &record)?;
        let failed_before = || io::Error::other("the recorder failed before");
        let mut held = self.file.lock().map_err(|_| failed_before())?;
        let mut file = held.take().ok_or_else(failed_before)?;
        let whole = file.stream_position()?;
        match file.write_all(&line) {
            Ok(()) => {
                *held = Some(file);
                Ok(())
            }
            Err(fault) => {
                // Half a record is none; if it cannot be removed, at least nothing follows it.
                let _ = file.set_len(whole);
                Err(fault)
            }
        }
    }
}

impl Executor for Recorder {
    fn is_immediate(&self) -> bool {
        true
    }

    fn perform(&self, recorded: Recorded) -> Performing<'_> {
        Box::pin(async move {
            match self.write(&recorded) {
                Ok(()) => Outcome::simulated(
                    json!({"performed": false, "recorded": recorded.granted().call().action().summary(recorded.granted().call().hop())})
                        .to_string(),
                ),
                Err(_) => Outcome::not_started(
                    "the record file cannot be written; nothing was performed".to_owned(),
                ),
            }
        })
    }
}
