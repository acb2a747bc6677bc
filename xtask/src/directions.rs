//! Crates depend downwards only.
//!
//! Belongs here: the table of ARCHITECTURE.md and its comparison with `cargo metadata`.
//! Does not belong here: dependencies on other people's crates (`deny`, `features`).

use crate::tree::Tree;
use crate::{Findings, cargo};

/// Each crate's folder and the folders that it may use, in normal and build dependencies and in tests alike.
/// `journal` names `wire` because the gate's own signatures do: reasons, revisions, request ids.
const MAY_USE: &[(&str, &[&str])] = &[
    ("wire", &[]),
    ("gate", &["wire"]),
    ("policy", &["gate"]),
    ("journal", &["wire", "gate"]),
    ("vault", &[]),
    ("gateway", &["wire", "gate", "policy", "journal", "vault"]),
    ("guard", &["wire", "gate", "policy", "journal"]),
    ("corpus", &[]),
    ("bench", &["wire", "corpus"]),
    ("cli", &["wire", "gate", "policy", "journal", "vault", "gateway", "guard", "corpus", "bench"]),
];

/// What tests may use besides: the two crates that use nothing of ours, so that no arrow turns round.
const TESTS_MAY_USE: &[&str] = &["corpus", "wire"];

/// Compares the workspace with the table.
pub fn check(tree: &Tree) -> Findings {
    let metadata = cargo::metadata(tree.root(), false)?;
    let mut faults = Vec::new();
    for package in &metadata.packages {
        let Some(folder) = crate_folder(tree, &package.manifest_path) else {
            continue;
        };
        let Some((_, may_use)) = MAY_USE.iter().find(|(name, _)| *name == folder) else {
            faults.push(format!("crates/{folder}: not in the table of directions"));
            continue;
        };
        for dependency in &package.dependencies {
            let Some(path) = &dependency.path else {
                continue;
            };
            let used = crate_folder(tree, &format!("{path}/Cargo.toml"));
            let kind = dependency.kind.as_deref().unwrap_or("normal");
            let allowed = used.as_deref().is_some_and(|used| {
                may_use.contains(&used) || (kind == "dev" && TESTS_MAY_USE.contains(&used))
            });
            if !allowed {
                faults.push(format!("crates/{folder}: may not use {} ({kind} dependency)", dependency.name));
            }
        }
    }
    Ok(faults)
}

/// The folder below `crates/` of a manifest; `None` for the harnesses beside it, which may use anything.
fn crate_folder(tree: &Tree, manifest: &str) -> Option<String> {
    let relative = tree.relative(manifest.as_ref());
    relative.strip_prefix("crates/")?.strip_suffix("/Cargo.toml").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::MAY_USE;

    #[test]
    fn the_table_has_no_cycle() {
        for (at, (name, uses)) in MAY_USE.iter().enumerate() {
            for used in *uses {
                let below = MAY_USE.iter().position(|(other, _)| other == used);
                let above = MAY_USE.iter().find(|(other, _)| other == used).map(|(_, uses)| *uses);
                assert!(below.is_some_and(|below| below != at), "{name} uses {used}");
                assert!(!above.unwrap_or_default().contains(name), "{name} and {used} use each other");
            }
        }
    }
}
