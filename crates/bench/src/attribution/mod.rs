//! Which software development kit a server is built on, and which of its failures are that kit's.
//!
//! Belongs here: finding the kit's name and version beside a running server, gaps that are known of it.
//! Does not belong here: what failed. A maintainer cannot mend their kit: they update it, or allow for the gap.

mod binary;
mod gaps;
mod node;
mod python;

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use serde::Serialize;

pub(crate) use gaps::attribute;

/// A kit that a server is built on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sdk {
    /// Its name: `typescript-sdk`, `python-sdk`, `rust-sdk`, `go-sdk`.
    pub name: &'static str,
    /// Its version, as its package says.
    pub version: String,
    /// Where that was read.
    pub seen_in: String,
}

/// A process of the server.
#[derive(Debug)]
struct Process {
    /// Its program, every link followed.
    program: PathBuf,
    folder: PathBuf,
    arguments: Vec<OsString>,
}

impl Process {
    fn read(number: u32) -> Option<Self> {
        let entry = |name: &str| PathBuf::from(format!("/proc/{number}/{name}"));
        let arguments = fs::read(entry("cmdline")).ok()?;
        let arguments = arguments.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        Some(Self {
            program: fs::read_link(entry("exe")).ok()?,
            folder: fs::read_link(entry("cwd")).ok()?,
            arguments: arguments.map(|part| OsString::from_vec(part.to_vec())).collect(),
        })
    }

    /// Arguments that are files, as the process would find them.
    fn files(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let whole = |part: &OsString| self.folder.join(part);
        self.arguments.iter().map(whole).filter(|path| path.is_file())
    }
}

/// The kit behind these processes, if it is one that leaves its name.
pub(crate) fn sdk(processes: impl IntoIterator<Item = u32>) -> Option<Sdk> {
    let processes: Vec<_> = processes.into_iter().filter_map(Process::read).collect();
    let readers: [fn(&Process) -> Option<Sdk>; 3] = [node::sdk, python::sdk, binary::sdk];
    readers.iter().find_map(|read| processes.iter().find_map(read))
}
