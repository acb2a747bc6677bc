//! Forgeries by other crates.
//!
//! Belongs here: a small package that depends on `wire`, `gate` and `journal`, with one binary for each variant of
//! each case, checked in one run.
//! Does not belong here: what the errors mean.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;

use super::case::{Case, Variant};
use crate::cargo::{self, CompilerError};
use crate::tree::{Tree, write_if_changed};

/// What the compiler said of each variant of each case.
pub type Answers = BTreeMap<(String, Variant), Vec<CompilerError>>;

/// Compiles both variants of every case.
pub fn compile(tree: &Tree, cases: &[Case]) -> Result<Answers, Box<dyn Error>> {
    let mut answers = Answers::new();
    if cases.is_empty() {
        return Ok(answers);
    }
    let folder = tree.join("target/xtask/forge/elsewhere");
    let sources = folder.join("src/bin");
    if sources.is_dir() {
        fs::remove_dir_all(&sources)?;
    }
    fs::create_dir_all(&sources)?;
    write_if_changed(&folder.join("Cargo.toml"), manifest(tree)?.as_bytes())?;
    fs::copy(tree.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    for case in cases {
        for variant in [Variant::Forged, Variant::Twin] {
            fs::write(sources.join(format!("{}.rs", target(case, variant))), case.source(variant))?;
        }
    }
    let output = cargo::command(&folder)
        .args(["check", "--bins", "--keep-going", "--message-format=json", "--offline"])
        .env("CARGO_TARGET_DIR", tree.join("target/xtask/forge/target"))
        .env("RUSTFLAGS", "--cap-lints allow")
        .output()?;
    let errors = cargo::compiler_errors(&output);
    let is_case = |name: &str| name.starts_with("forged_") || name.starts_with("twin_");
    if let Some(foreign) = errors.keys().find(|name| !is_case(name)) {
        return Err(format!("`{foreign}` itself does not compile").into());
    }
    let was_checked = cargo::text(&output.stdout).lines().any(|line| line.contains("\"build-finished\""));
    if !was_checked {
        return Err(format!(
            "cargo did not check the forgeries: {}",
            cargo::tail(&cargo::text(&output.stderr), 12)
        )
        .into());
    }
    for case in cases {
        for variant in [Variant::Forged, Variant::Twin] {
            let found = errors.get(&target(case, variant)).cloned().unwrap_or_default();
            answers.insert((case.name.clone(), variant), found);
        }
    }
    Ok(answers)
}

fn target(case: &Case, variant: Variant) -> String {
    format!("{variant}_{}", case.name)
}

/// The manifest of a package outside the workspace that uses the crates of the doors, and what their own
/// signatures use.
fn manifest(tree: &Tree) -> Result<String, Box<dyn Error>> {
    let mut out = String::from(
        "[package]\nname = \"forgeries\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    );
    for name in ["wire", "gate", "journal"] {
        writeln!(out, "framegate-{name} = {{ path = '{}' }}", tree.join(format!("crates/{name}")).display())?;
    }
    Ok(out)
}
