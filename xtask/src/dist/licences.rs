//! Whose work is in the program, and under which terms.
//!
//! Belongs here: the packages that are linked, their licence texts as they bring them.
//! Does not belong here: which licences are allowed (`deny.toml`).

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{self, Package};
use crate::tree::Tree;

/// How the names of licence files begin, in lower case.
const NAMES: &[&str] = &["license", "licence", "copying", "copyright", "notice", "unlicense"];
const INTRODUCTION: &str = "\
framegate contains the packages below, each under the terms that are named with it (SPDX). Their licence texts follow,\n\
as they come with the packages; a text that several packages share stands once.\n\n";

/// Every linked package with its licence, and all of their texts.
pub fn text(tree: &Tree, target: &str) -> Result<String, Box<dyn Error>> {
    let metadata = cargo::metadata(tree.root(), true)?;
    let mut list = String::from(INTRODUCTION);
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in linked(tree, target)? {
        let package = metadata
            .packages
            .iter()
            .find(|package| format!("{} {}", package.name, package.version) == name)
            .ok_or_else(|| format!("cargo metadata does not know {name}"))?;
        if is_own(package, tree) {
            continue;
        }
        let licence = package.license.as_deref().ok_or_else(|| format!("{name} names no licence"))?;
        let files = files(package)?;
        let note = if files.is_empty() { ", without a text of its own" } else { "" };
        writeln!(list, "{name}: {licence}{note}")?;
        for file in files {
            let text = cargo::text(&fs::read(&file)?).replace("\r\n", "\n");
            let named = file.file_name().unwrap_or_default().to_string_lossy();
            texts.entry(text).or_default().push(format!("{name}: {named}"));
        }
    }
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by(|(_, left), (_, right)| left.cmp(right));
    for (text, of) in texts {
        write!(list, "\n{}\n{}\n\n{}\n", "=".repeat(80), of.join("\n"), text.trim_matches('\n'))?;
    }
    Ok(list)
}

/// What the toolchain says of the standard library, which is linked as well.
pub fn standard_library() -> Result<Vec<u8>, Box<dyn Error>> {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output()?;
    let sysroot = PathBuf::from(cargo::text(&output.stdout).trim());
    let file = sysroot.join("share/doc/rust/COPYRIGHT-library.html");
    fs::read(&file).map_err(|error| {
        format!("{}: {error}; rustup's toolchains bring this file along", file.display()).into()
    })
}

/// `NAME VERSION` of every package that is linked: neither build scripts' nor macros' are.
fn linked(tree: &Tree, target: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let output = cargo::command(tree.root())
        .args(["tree", "--locked", "--package", "framegate", "--edges", "normal,no-proc-macro"])
        .args(["--target", target, "--prefix", "none", "--no-dedupe", "--format", "{p}"])
        .output()?;
    if !output.status.success() {
        return Err(format!("cargo tree: {}", cargo::text(&output.stderr)).into());
    }
    let mut names: Vec<String> = cargo::text(&output.stdout)
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some(format!("{} {}", words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn is_own(package: &Package, tree: &Tree) -> bool {
    Path::new(&package.manifest_path).starts_with(tree.root())
}

/// The licence files of a package, wherever it keeps them: code that it took over may have its own.
fn files(package: &Package) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let folder = Path::new(&package.manifest_path).parent().ok_or("a manifest lies in a folder")?;
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().to_ascii_lowercase();
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if NAMES.iter().any(|begin| name.starts_with(begin)) && !name.ends_with(".rs") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
