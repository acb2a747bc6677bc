//! The source tree as files.
//!
//! Belongs here: where the workspace is, walking it, reading a file with an error that names it.
//! Does not belong here: what the text of a file means.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A checkout of the workspace.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The workspace that this program was built from.
    pub fn of_workspace() -> Self {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: manifest.parent().unwrap_or(manifest).to_path_buf() }
    }

    /// A copy of the workspace in this folder.
    pub fn at(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder of the workspace's `Cargo.toml`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path below the root.
    pub fn join(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// The text of a file below the root.
    pub fn read(&self, relative: &str) -> io::Result<String> {
        read(&self.join(relative))
    }

    /// All files below these folders with this extension, as paths relative to the root with `/`, sorted.
    /// A folder that does not exist holds none; build output, hidden folders and fuzz corpora are left out.
    pub fn files(&self, folders: &[&str], extension: &str) -> io::Result<Vec<String>> {
        let mut found = Vec::new();
        for folder in folders {
            walk(&self.join(folder), &mut |path| {
                if path.extension().is_some_and(|have| have == extension) {
                    found.push(self.relative(path));
                }
            })?;
        }
        found.sort();
        Ok(found)
    }

    /// A path of this tree, relative to its root, with `/`.
    pub fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}

/// Waits until no other run works in this folder of build products; holds it until dropped.
pub fn alone_in(folder: &Path) -> io::Result<fs::File> {
    fs::create_dir_all(folder)?;
    let lock = fs::File::create(folder.join("lock"))?;
    lock.lock()?;
    Ok(lock)
}

/// Reads a text file; the error names it.
pub fn read(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map_err(|error| named(&error, path))
}

/// Writes a file only when its content changes, so that cargo does not rebuild for nothing.
pub fn write_if_changed(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|have| have == content) {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, content).map_err(|error| named(&error, path))
}

/// Makes `to` a copy of the folder `from`; files that are the same keep their time of change.
pub fn mirror(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    let mut kept = Vec::new();
    for entry in fs::read_dir(from).map_err(|error| named(&error, from))? {
        let entry = entry?;
        let name = entry.file_name();
        if is_left_out(&entry.path()) {
            continue;
        }
        kept.push(name.clone());
        if entry.file_type()?.is_dir() {
            mirror(&entry.path(), &to.join(&name))?;
        } else {
            write_if_changed(&to.join(&name), &fs::read(entry.path())?)?;
        }
    }
    for entry in fs::read_dir(to)? {
        let entry = entry?;
        if !kept.contains(&entry.file_name()) {
            if entry.file_type()?.is_dir() {
                fs::remove_dir_all(entry.path())?;
            } else {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

fn walk(folder: &Path, visit: &mut dyn FnMut(&Path)) -> io::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            if !is_left_out(&path) {
                walk(&path, visit)?;
            }
        } else {
            visit(&path);
        }
    }
    Ok(())
}

/// Build output, installed packages and what fuzzing writes. A module may be called `target`: only a `target`
/// beside a manifest is build output.
fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let parent = path.parent().unwrap_or(path);
    match name.as_str() {
        "target" => parent.join("Cargo.toml").is_file(),
        "artifacts" | "corpus" | "coverage" => parent.ends_with("fuzz"),
        "node_modules" | ".git" | ".test-env" => true,
        _ => false,
    }
}

fn named(error: &io::Error, path: &Path) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::Tree;

    #[test]
    fn a_module_called_target_is_source_and_build_output_is_not() {
        let tree = Tree::of_workspace();
        let files = tree.files(&["xtask", "e2e/src"], "rs").unwrap();
        assert!(files.contains(&"xtask/src/tree.rs".to_owned()));
        assert!(files.iter().any(|file| file.starts_with("e2e/src/target/")), "{files:?}");
        assert!(tree.files(&["."], "d").unwrap().is_empty(), "the build's own files were walked");
    }
}
