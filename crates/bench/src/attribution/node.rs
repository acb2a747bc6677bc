//! Node.js: the script's own `node_modules`, as Node itself looks for packages.
//!
//! Belongs here: package.json of the kit. Does not belong here: lock files, which say what should be there.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{Process, Sdk};

/// Packages of the kit, in the order of their age.
const PACKAGES: &[&str] = &["@modelcontextprotocol/sdk", "@modelcontextprotocol/server"];

pub(super) fn sdk(process: &Process) -> Option<Sdk> {
    let name = process.program.file_name()?.to_str()?;
    if !["node", "bun", "deno"].iter().any(|runtime| name.starts_with(runtime)) {
        return None;
    }
    process.files().find_map(|script| above(&fs::canonicalize(script).ok()?))
}

/// The first package of the kit in a `node_modules` beside the script or above it.
fn above(script: &Path) -> Option<Sdk> {
    script.ancestors().skip(1).find_map(|folder| {
        PACKAGES.iter().find_map(|package| {
            let file = folder.join("node_modules").join(package).join("package.json");
            let text = fs::read(&file).ok()?;
            let version = serde_json::from_slice::<Value>(&text).ok()?.get("version")?.as_str()?.to_owned();
            Some(Sdk { name: "typescript-sdk", version, seen_in: file.display().to_string() })
        })
    })
}
