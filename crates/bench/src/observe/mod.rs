//! Who sees what a target does, without asking it.
//!
//! Belongs here: the recorders, and searching them for a case's marker.
//! Does not belong here: what a sight means for a verdict.
//!
//! Every hostile frame carries a marker of its own. What a recorder holds of it came from that frame and from
//! nothing else.

mod folder;
mod http;
mod program;
mod ssh;
#[cfg(target_os = "linux")]
mod strace;
#[cfg(target_os = "linux")]
mod syscalls;
mod watch;

#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;
use std::path::Path;

use memchr::memmem;
use serde::Serialize;

pub(crate) use folder::Folder;
pub(crate) use http::HttpSink;
pub(crate) use program::{MARKER_PROGRAM, MarkerProgram};
pub(crate) use ssh::SshRecorder;
pub(crate) use watch::{Prepared, Tracer, Watch};

/// How every marker begins, so that a path that is only looked at is noticed if it may hold one.
pub(crate) const MARKER_PREFIX: &str = "fgm-";

/// The names of those who observe system calls, as sights have them.
pub(crate) const SYSTEM_CALLS: [&str; 2] = ["syscalls", "strace"];

/// An effect that carries a marker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sight {
    /// Who saw it: `http`, `ssh`, `program`, `folder`, `syscalls`, `strace`.
    pub observer: &'static str,
    /// What was seen, on one line, escaped.
    pub what: String,
}

impl Sight {
    /// The same of another marker.
    pub(crate) fn signature(&self, marker: &str) -> String {
        format!("{} {}", self.observer, self.what.replace(marker, "{marker}"))
    }
}

/// The recorders of a whole run.
#[derive(Debug)]
pub(crate) struct Recorders {
    http: HttpSink,
    /// These two only where something leads there.
    ssh: Option<SshRecorder>,
    program: Option<MarkerProgram>,
}

impl Recorders {
    /// Starts those that the target is led to: whether something names a text is asked.
    pub(crate) fn start(is_named: impl Fn(&str) -> bool) -> io::Result<Self> {
        let ssh = is_named("{effect.ssh").then(SshRecorder::start).transpose()?;
        let program = is_named(MARKER_PROGRAM).then(MarkerProgram::make).transpose()?;
        Ok(Self { http: HttpSink::start()?, ssh, program })
    }

    /// What the target's PATH must begin with, if it is led to the marker program.
    pub(crate) fn program_folder(&self) -> Option<&Path> {
        self.program.as_ref().map(MarkerProgram::folder)
    }

    pub(crate) fn http_address(&self) -> SocketAddr {
        self.http.address()
    }

    /// Every effect with this marker: at a recorder, in the watched folder, in an observed system call.
    pub(crate) fn sights(&self, marker: &str, watched: &Folder, watch: Option<&Watch>) -> Vec<Sight> {
        let mut sights = self.http.sights(marker);
        sights.extend(self.ssh.iter().flat_map(|ssh| ssh.sights(marker)));
        sights.extend(self.program.iter().flat_map(|program| program.sights(marker)));
        sights.extend(watched.sights(marker));
        sights.extend(watch.map(|watch| watch.sights(marker)).unwrap_or_default());
        sights
    }

    /// Fills placeholders in: where effects can be seen, and the marker.
    pub(crate) fn fill(&self, text: &str, folder: &Path, marker: &str) -> String {
        let address = self.http_address();
        let folder = folder.to_string_lossy();
        let text = self.ssh.as_ref().map_or_else(|| text.to_owned(), |ssh| ssh.fill(text));
        // The marker first: it may itself be a hole that stays open, and then must not be filled in again.
        text.replace("{marker}", marker)
            .replace("{effect.url}", &format!("http://{address}/{marker}"))
            .replace("{effect.host}", &address.ip().to_string())
            .replace("{effect.port}", &address.port().to_string())
            .replace("{effect.file}", &format!("{folder}/{marker}"))
            .replace("{effect.dir}", &folder)
    }
}

/// Bytes on one line: what is not printable ASCII is escaped, and at most so many are shown.
pub(crate) fn excerpt(bytes: &[u8], limit: usize) -> String {
    let shown = bytes.get(..limit.min(bytes.len())).unwrap_or_default();
    let mut text = String::new();
    for byte in shown {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b'\n' => text.push_str("\\n"),
            b'\r' => text.push_str("\\r"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\x{byte:02x}")),
        }
    }
    if shown.len() < bytes.len() {
        text.push('…');
    }
    text
}

/// Whether `bytes` hold `part`.
pub(crate) fn holds(bytes: &[u8], part: &[u8]) -> bool {
    !part.is_empty() && memmem::find(bytes, part).is_some()
}
