//! rustfmt and clippy, as the project runs them.
//!
//! Belongs here: the exact invocations.
//! Does not belong here: which lints are on (`Cargo.toml`) and what they allow (`clippy.toml`).

use crate::tree::Tree;
use crate::{Findings, cargo};

/// Lints that keep products honest and make tests noisy. clippy.toml exempts tests from some of them, but not
/// the helpers and benchmarks beside them.
const ALLOWED_IN_TESTS: &[&str] = &[
    "clippy::arithmetic_side_effects",
    "clippy::as_conversions",
    "clippy::expect_used",
    "clippy::indexing_slicing",
    "clippy::panic",
    "clippy::print_stderr",
    "clippy::print_stdout",
    "clippy::string_slice",
    "clippy::unreachable",
    "clippy::unwrap_used",
    "clippy::wildcard_enum_match_arm",
    "missing_docs",
];

/// Runs rustfmt, then clippy over the product, then clippy over everything.
pub fn check(tree: &Tree) -> Findings {
    let mut everything = vec!["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
    for lint in ALLOWED_IN_TESTS {
        everything.extend(["-A", lint]);
    }
    let runs: [&[&str]; 3] = [
        &["fmt", "--all", "--check"],
        &["clippy", "--quiet", "--workspace", "--lib", "--bins", "--", "-D", "warnings"],
        &everything,
    ];
    let mut faults = Vec::new();
    for arguments in runs {
        let output = cargo::command(tree.root()).args(arguments).output()?;
        if !output.status.success() {
            let said = cargo::text(&output.stdout) + &cargo::text(&output.stderr);
            faults.push(format!("cargo {}\n{}", arguments.join(" "), cargo::tail(&said, 40)));
        }
    }
    Ok(faults)
}
