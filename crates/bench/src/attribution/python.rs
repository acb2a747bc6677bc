//! Python: the kit's `dist-info` in the environment's `site-packages` (PEP 376, PEP 405).
//!
//! Belongs here: finding the environment, the version. Does not belong here: what is imported.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Process, Sdk};

pub(super) fn sdk(process: &Process) -> Option<Sdk> {
    let name = process.program.file_name()?.to_str()?;
    if !["python", "pypy"].iter().any(|runtime| name.starts_with(runtime)) {
        return None;
    }
    // An environment is known by the path that its interpreter, or a script of it, was started by.
    let started = process.arguments.first().map(|first| process.folder.join(first));
    let mut starts = started.into_iter().chain(process.files()).chain([process.program.clone()]);
    starts.find_map(|path| of_prefix(path.parent()?.parent()?))
}

fn of_prefix(prefix: &Path) -> Option<Sdk> {
    let entries = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    let mut libraries = entries(prefix.join("lib")).filter(|entry| starts(&entry.file_name(), "python3"));
    libraries.find_map(|library| {
        ["site-packages", "dist-packages"].iter().find_map(|packages| {
            entries(library.path().join(packages)).find_map(|entry| {
                let name = entry.file_name().into_string().ok()?;
                let version = name.strip_prefix("mcp-")?.strip_suffix(".dist-info")?.to_owned();
                Some(Sdk { name: "python-sdk", version, seen_in: entry.path().display().to_string() })
            })
        })
    })
}

fn starts(name: &std::ffi::OsStr, start: &str) -> bool {
    name.to_str().is_some_and(|name| name.starts_with(start))
}
