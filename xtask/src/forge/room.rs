//! Forgeries by other rooms of the same crate.
//!
//! Belongs here: a copy of the crate with an intruder module appended, checked once for each forgery and once
//! for all twins together.
//! Does not belong here: what the errors mean.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::case::{Case, Variant};
use super::elsewhere::Answers;
use crate::cargo::{self, CompilerError};
use crate::tree::{Tree, mirror, read, write_if_changed};

/// The crates that have doors.
const ROOMS: &[&str] = &["wire", "gate", "journal"];

/// Compiles both variants of every case.
pub fn compile(tree: &Tree, cases: &[Case]) -> Result<Answers, Box<dyn Error>> {
    let mut answers = Answers::new();
    let rooms: BTreeSet<&str> = cases.iter().filter_map(|case| case.room.as_deref()).collect();
    for room in rooms {
        if !ROOMS.contains(&room) {
            return Err(format!("no crate `{room}` has doors").into());
        }
        let mut copy = Copy::of(tree, room)?;
        let here: Vec<&Case> = cases.iter().filter(|case| case.room.as_deref() == Some(room)).collect();
        copy.check(&[])?
            .first()
            .map_or(Ok(()), |error| Err(format!("`{room}` itself does not compile: {error:?}")))?;
        let twins: Vec<(&Case, Variant)> = here.iter().map(|case| (*case, Variant::Twin)).collect();
        let errors = copy.check(&twins)?;
        for case in &here {
            let file = format!("/{}.rs", module(case));
            let own = errors.iter().filter(|error| error.file.ends_with(&file)).cloned().collect();
            answers.insert((case.name.clone(), Variant::Twin), own);
        }
        let stray = errors.iter().find(|error| !error.file.contains("/intruder_"));
        if let Some(stray) = stray {
            return Err(format!("a twin breaks `{room}` elsewhere: {stray:?}").into());
        }
        for case in here {
            answers.insert((case.name.clone(), Variant::Forged), copy.check(&[(case, Variant::Forged)])?);
        }
        copy.check(&[])?;
    }
    Ok(answers)
}

struct Copy {
    folder: PathBuf,
    target: PathBuf,
    room: String,
    /// The crate's `lib.rs` as it is.
    honest: String,
}

impl Copy {
    fn of(tree: &Tree, room: &str) -> Result<Self, Box<dyn Error>> {
        let folder = tree.join("target/xtask/forge/rooms");
        mirror(&tree.join("crates"), &folder.join("crates"))?;
        write_if_changed(&folder.join("Cargo.toml"), manifest(tree)?.as_bytes())?;
        fs::copy(tree.join("Cargo.lock"), folder.join("Cargo.lock"))?;
        let honest = read(&tree.join(format!("crates/{room}/src/lib.rs")))?;
        Ok(Self { folder, target: tree.join("target/xtask/forge/target"), room: room.to_owned(), honest })
    }

    /// Adds these intruders, checks the crate, and gives the compiler's errors.
    fn check(&mut self, intruders: &[(&Case, Variant)]) -> Result<Vec<CompilerError>, Box<dyn Error>> {
        let sources = self.folder.join(format!("crates/{}/src", self.room));
        remove_intruders(&sources)?;
        let mut lib = self.honest.clone();
        for (case, variant) in intruders {
            fs::write(sources.join(format!("{}.rs", module(case))), case.source(*variant))?;
            writeln!(lib, "\nmod {};", module(case))?;
        }
        write_if_changed(&sources.join("lib.rs"), lib.as_bytes())?;
        let output = cargo::command(&self.folder)
            .args(["check", "--lib", "--message-format=json", "--offline", "-p"])
            .arg(format!("framegate-{}", self.room))
            .env("CARGO_TARGET_DIR", &self.target)
            .env("RUSTFLAGS", "--cap-lints allow")
            .output()?;
        let errors: Vec<CompilerError> = cargo::compiler_errors(&output).into_values().flatten().collect();
        if errors.is_empty() && !output.status.success() {
            return Err(format!("cargo check: {}", cargo::tail(&cargo::text(&output.stderr), 12)).into());
        }
        Ok(errors)
    }
}

fn module(case: &Case) -> String {
    format!("intruder_{}", case.name)
}

fn remove_intruders(sources: &Path) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(sources)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("intruder_") {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The workspace's manifest with only the crates as members.
fn manifest(tree: &Tree) -> Result<String, Box<dyn Error>> {
    let mut manifest: toml::Table = toml::from_str(&tree.read("Cargo.toml")?)?;
    let workspace =
        manifest.get_mut("workspace").and_then(toml::Value::as_table_mut).ok_or("no [workspace]")?;
    workspace.insert("members".to_owned(), vec!["crates/*"].into());
    workspace.remove("exclude");
    Ok(toml::to_string(&manifest)?)
}
