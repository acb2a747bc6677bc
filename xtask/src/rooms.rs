//! Rooms: how large a file may be, how it opens, and that it does not print.
//!
//! Belongs here: properties of one source file at a time.
//! Does not belong here: dependencies between crates (`directions`).

use std::collections::BTreeMap;

use crate::tree::Tree;
use crate::{Findings, lists, source};

/// The most lines that a source file may have.
const MOST_LINES: usize = 600;

/// The name of this exception in `xtask/allowed.toml`.
pub const PRINTING: &str = "printing";

const PRINTING_MACROS: &[&str] = &["print!", "println!", "eprint!", "eprintln!", "dbg!"];

/// Checks every source file of the workspace.
pub fn check(tree: &Tree) -> Findings {
    let mut faults = Vec::new();
    let mut printing = BTreeMap::new();
    for file in tree.files(&["crates", "e2e", "fuzz", "xtask"], "rs")? {
        let text = tree.read(&file)?;
        let lines = text.lines().count();
        if lines > MOST_LINES {
            faults.push(format!("{file}: {lines} lines; the most is {MOST_LINES}: split the room"));
        }
        if !text.starts_with("//! ") {
            faults
                .push(format!("{file}:1: does not open with `//!`: say what belongs here and what does not"));
        }
        if file.starts_with("crates/") && !source::is_test_file(&file) {
            let code = source::without_tests(&source::blank(&text));
            let mut found: Vec<usize> =
                PRINTING_MACROS.iter().flat_map(|name| source::lines_with(&code, name)).collect();
            found.sort_unstable();
            if !found.is_empty() {
                printing.insert(file, found);
            }
        }
    }
    faults.extend(lists::compare(tree, PRINTING, &printing)?);
    Ok(faults)
}
