//! `cargo xtask dist`: the archive that is released.
//!
//! Belongs here: what is in it, under which names. Does not belong here: how the program is built, how files are
//! packed, whose licences they are.

mod archive;
mod licences;
mod program;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo;
use crate::tree::Tree;
use archive::{Entry, Mode};
use program::{PLATFORM, TARGET};

/// Completion scripts: the shell, and the file's name by which it finds them.
const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "framegate.bash"), ("zsh", "_framegate"), ("fish", "framegate.fish")];
/// What is taken from the tree as it is.
const DOCUMENTS: &[&str] = &["CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

/// Builds the program and packs it into `out`, by default `target/dist`; says what was made.
pub fn run(tree: &Tree, out: Option<&str>) -> Result<String, Box<dyn Error>> {
    let out = out.map_or_else(|| tree.join("target/dist"), PathBuf::from);
    fs::create_dir_all(&out)?;
    let program = program::build(tree)?;
    let bytes = fs::read(&program)?;
    program::check_static(&bytes)?;
    let version = version(&program)?;
    let mut entries = vec![
        Entry::new("framegate", Mode::Program, bytes.clone()),
        Entry::new("LICENSES/third-party.txt", Mode::Text, licences::text(tree, TARGET)?.into_bytes()),
        Entry::new("LICENSES/glibc.txt", Mode::Text, include_bytes!("glibc.txt").to_vec()),
        Entry::new("LICENSES/rust-standard-library.html", Mode::Text, licences::standard_library()?),
    ];
    for name in DOCUMENTS {
        entries.push(Entry::new(*name, Mode::Text, tree.read(name)?.into_bytes()));
    }
    for (shell, name) in COMPLETIONS {
        let script = output(Command::new(&program).args(["completions", shell]))?;
        entries.push(Entry::new(format!("completions/{name}"), Mode::Text, script));
    }
    entries.extend(pages(tree, &program)?);

    let folder = format!("framegate-{version}-{PLATFORM}");
    let name = format!("{folder}.tar.gz");
    let packed = archive::pack(&folder, entries, commit_time(tree)?)?;
    let sum = archive::sum(&packed);
    fs::write(out.join(&name), &packed)?;
    fs::write(out.join("SHA256SUMS"), format!("{sum}  {name}\n"))?;
    Ok(format!(
        "{}: {} bytes; the static program in it: {} bytes{}",
        out.join(&name).display(),
        packed.len(),
        bytes.len(),
        if is_committed(tree)? { "" } else { "; NOT OF A COMMIT: the tree has changes" }
    ))
}

/// The manual pages, where `man` looks for them beneath a folder of its path.
fn pages(tree: &Tree, program: &Path) -> Result<Vec<Entry>, Box<dyn Error>> {
    let folder = tree.join("target/xtask/man");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(tree.join("target/xtask"))?;
    output(Command::new(program).arg("man").arg(&folder))?;
    let mut pages = Vec::new();
    for file in fs::read_dir(&folder)? {
        let file = file?;
        let name = format!("man/man1/{}", file.file_name().to_string_lossy());
        pages.push(Entry::new(name, Mode::Text, fs::read(file.path())?));
    }
    Ok(pages)
}

/// What the program itself says.
fn version(program: &Path) -> Result<String, Box<dyn Error>> {
    let said = cargo::text(&output(Command::new(program).arg("--version"))?);
    let version =
        said.trim().strip_prefix("framegate ").ok_or("`framegate --version` says something else")?;
    Ok(version.to_owned())
}

/// When the commit was made, in seconds since 1970: every file of the archive is as old as it.
fn commit_time(tree: &Tree) -> Result<u64, Box<dyn Error>> {
    let time = output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(tree.root()))?;
    Ok(cargo::text(&time).trim().parse()?)
}

fn is_committed(tree: &Tree) -> Result<bool, Box<dyn Error>> {
    let changes = Command::new("git").args(["status", "--porcelain"]).current_dir(tree.root()).output()?;
    Ok(changes.stdout.is_empty())
}

/// What a command that must succeed writes to stdout.
fn output(command: &mut Command) -> Result<Vec<u8>, Box<dyn Error>> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{command:?}: {}", cargo::text(&output.stderr)).into())
}
