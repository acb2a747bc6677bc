//! Compiled programs: the kit's path and version, as compilers leave them for panics and build information.
//!
//! Belongs here: looking for them. Does not belong here: other formats than plain bytes.

use std::fs::File;
use std::io::Read;

use regex::bytes::Regex;

use super::{Process, Sdk};

/// The most of a program that is looked at, in bytes.
const MAX_PROGRAM: u64 = 256 * 1024 * 1024;

/// Names and what they leave: a registry's path (cargo), a module's line (`go version -m`).
const MARKS: &[(&str, &str)] = &[
    ("rust-sdk", r"/rmcp-([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*)/src/"),
    ("go-sdk", r"github\.com/modelcontextprotocol/go-sdk\tv([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*)"),
    ("go-sdk", r"github\.com/mark3labs/mcp-go\tv([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*)"),
];

pub(super) fn sdk(process: &Process) -> Option<Sdk> {
    let mut bytes = Vec::new();
    File::open(&process.program).ok()?.take(MAX_PROGRAM).read_to_end(&mut bytes).ok()?;
    MARKS.iter().find_map(|(name, mark)| {
        let found = Regex::new(mark).ok()?.captures(&bytes)?;
        let version = String::from_utf8(found.get(1)?.as_bytes().to_vec()).ok()?;
        Some(Sdk { name, version, seen_in: process.program.display().to_string() })
    })
}
