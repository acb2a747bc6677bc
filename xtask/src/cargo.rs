//! Running cargo and reading what it says.
//!
//! Belongs here: one way to start cargo, its metadata, its compiler messages.
//! Does not belong here: what a check makes of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Output};

use serde::Deserialize;

/// `cargo metadata`, the parts that are used here.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    pub packages: Vec<Package>,
    pub resolve: Option<Resolve>,
}

#[derive(Debug, Deserialize)]
pub struct Package {
    pub id: String,
    pub name: String,
    pub version: String,
    pub manifest_path: String,
    /// An SPDX expression.
    pub license: Option<String>,
    pub dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
pub struct Dependency {
    pub name: String,
    /// `None` for a normal dependency, else `dev` or `build`.
    pub kind: Option<String>,
    pub path: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct Resolve {
    pub nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
pub struct Node {
    pub id: String,
    pub features: Vec<String>,
}

/// A compiler error: its code and where it points.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompilerError {
    /// The error's code, such as `E0451`; empty where it has none.
    pub code: String,
    pub file: String,
    pub line: usize,
    pub message: String,
}

/// A cargo command that this program's own cargo runs, without the variables that cargo sets for it.
pub fn command(folder: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder);
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Metadata of the workspace in `folder`; with all packages and their features if `graph`.
pub fn metadata(folder: &Path, graph: bool) -> Result<Metadata, Box<dyn Error>> {
    let mut command = command(folder);
    command.args(["metadata", "--format-version", "1"]);
    command.arg(if graph { "--locked" } else { "--no-deps" });
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", text(&output.stderr)).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Each target's name with the errors that the compiler gave for it.
pub fn compiler_errors(output: &Output) -> BTreeMap<String, Vec<CompilerError>> {
    #[derive(Deserialize)]
    struct Line {
        target: Target,
        message: Diagnostic,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    #[derive(Deserialize)]
    struct Diagnostic {
        level: String,
        message: String,
        code: Option<Code>,
        spans: Vec<Span>,
    }
    #[derive(Deserialize)]
    struct Code {
        code: String,
    }
    #[derive(Deserialize)]
    struct Span {
        file_name: String,
        line_start: usize,
        is_primary: bool,
    }
    let mut found: BTreeMap<String, Vec<CompilerError>> = BTreeMap::new();
    for line in text(&output.stdout).lines() {
        let Ok(Line { target, message }) = serde_json::from_str(line) else {
            continue;
        };
        let span = message.spans.iter().find(|span| span.is_primary);
        // The summary "aborting due to …" has no span.
        if let (true, Some(span)) = (message.level == "error", span) {
            found.entry(target.name).or_default().push(CompilerError {
                code: message.code.map(|code| code.code).unwrap_or_default(),
                file: span.file_name.clone(),
                line: span.line_start,
                message: message.message,
            });
        }
    }
    found
}

/// Builds a benchmark and gives the path of its program.
pub fn bench(folder: &Path, package: &str, name: &str) -> Result<String, Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Artifact {
        target: Target,
        executable: Option<String>,
    }
    #[derive(Deserialize)]
    struct Target {
        name: String,
    }
    let arguments = ["bench", "--package", package, "--bench", name, "--no-run", "--message-format", "json"];
    let output = command(folder).args(arguments).output()?;
    let lines = text(&output.stdout);
    let artifacts = lines.lines().filter_map(|line| serde_json::from_str::<Artifact>(line).ok());
    let program =
        artifacts.filter(|artifact| artifact.target.name == name).find_map(|found| found.executable);
    program.ok_or_else(|| format!("{package} has no benchmark {name}: {}", text(&output.stderr)).into())
}

/// Output as text, for people.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The last lines of some output.
pub fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}
