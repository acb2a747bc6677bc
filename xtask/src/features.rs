//! Cargo features that would change what input means.
//!
//! Belongs here: features forbidden anywhere in the graph; they unify, so one crate's choice is everyone's.
//! Does not belong here: which crates are allowed at all (`deny`).

use crate::tree::Tree;
use crate::{Findings, cargo};

/// Package, feature, why.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("serde_json", "arbitrary_precision", "an object with a private key becomes a number"),
    ("clap", "env", "an environment variable would set a flag"),
    ("clap_builder", "env", "an environment variable would set a flag"),
    ("rustls", "logging", "handshake details would reach the log"),
    ("cedar-policy", "tolerant-ast", "policies with errors would be evaluated"),
    ("cedar-policy-core", "tolerant-ast", "policies with errors would be evaluated"),
    ("regex", "logging", "arguments would reach the log"),
];

/// Checks the resolved features of the workspace and, where it has a lock file, of the fuzz targets.
pub fn check(tree: &Tree) -> Findings {
    let mut faults = Vec::new();
    let mut folders = vec![tree.root().to_path_buf()];
    if tree.join("fuzz/Cargo.lock").is_file() {
        folders.push(tree.join("fuzz"));
    }
    for folder in folders {
        let metadata = cargo::metadata(&folder, true)?;
        let nodes = metadata.resolve.map(|resolve| resolve.nodes).unwrap_or_default();
        if nodes.is_empty() {
            return Err("cargo metadata gave no resolved graph".into());
        }
        for package in &metadata.packages {
            let Some(node) = nodes.iter().find(|node| node.id == package.id) else {
                continue;
            };
            for (name, feature, why) in FORBIDDEN {
                if package.name == *name && node.features.iter().any(|have| have == feature) {
                    faults.push(format!(
                        "{} {} is built with `{feature}`: {why}; `cargo tree -e features -i {}` shows who asks",
                        package.name, package.version, package.name
                    ));
                }
            }
        }
    }
    Ok(faults)
}
