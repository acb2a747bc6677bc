//! Lists of exceptions, each with its reason, that are wrong in both directions: what is not listed fails,
//! and so does a listed exception that is no longer needed.
//!
//! Belongs here: reading `xtask/allowed.toml` and comparing it with what was found.
//! Does not belong here: finding.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use serde::Deserialize;

use crate::tree::Tree;

const FILE: &str = "xtask/allowed.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Allowed {
    what: String,
    file: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    #[serde(default)]
    allowed: Vec<Allowed>,
}

/// Compares the files where `what` was found, each with its lines, with those that may hold it.
pub fn compare(
    tree: &Tree,
    what: &str,
    found: &BTreeMap<String, Vec<usize>>,
) -> Result<Vec<String>, Box<dyn Error>> {
    let list: List = toml::from_str(&tree.read(FILE)?).map_err(|error| format!("`{FILE}`: {error}"))?;
    let mut faults = Vec::new();
    let mut listed = BTreeSet::new();
    for entry in list.allowed.iter().filter(|entry| entry.what == what) {
        if entry.reason.trim().is_empty() {
            faults.push(format!("{FILE}: `{what}` in {} has no reason", entry.file));
        }
        if !listed.insert(&entry.file) {
            faults.push(format!("{FILE}: `{what}` in {} is listed twice", entry.file));
        }
        if !found.contains_key(&entry.file) {
            faults.push(format!("{FILE}: `{what}` is allowed in {}, which does not hold it", entry.file));
        }
    }
    for (file, lines) in found {
        if !listed.contains(file) {
            let places: Vec<String> = lines.iter().map(usize::to_string).collect();
            faults.push(format!("{file}:{}: `{what}` is not allowed here ({FILE})", places.join(",")));
        }
    }
    Ok(faults)
}

/// The kinds of exception that the list holds, to find those that no check reads.
pub fn kinds(tree: &Tree) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let list: List = toml::from_str(&tree.read(FILE)?).map_err(|error| format!("`{FILE}`: {error}"))?;
    Ok(list.allowed.into_iter().map(|entry| entry.what).collect())
}
