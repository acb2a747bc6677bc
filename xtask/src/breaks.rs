//! Breaks: one changed line, and the named test that turns red for it.
//!
//! Belongs here: applying each break of `xtask/breaks/*.toml` to a copy of the tree and running its test.
//! Does not belong here: what the tests check.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Deserialize;

use crate::tree::{Tree, alone_in, mirror, read};
use crate::{cargo, forge};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Break {
    /// What the break does, in a few words.
    why: String,
    file: String,
    /// Stands exactly once in the file, within one line.
    find: String,
    /// What stands there instead, within one line.
    replace: String,
    /// The test that must turn red, as `requirements/` cites tests.
    test: String,
}

/// Lists the breaks and the tests that watch them.
pub fn list(tree: &Tree) -> ExitCode {
    match load(tree) {
        Ok(breaks) => {
            for (name, entry) in &breaks {
                println!("{name:<34} {:<58} {}", entry.why, entry.test);
            }
            ExitCode::SUCCESS
        }
        Err(error) => fail(&*error),
    }
}

/// Runs every break, or the one of this name, and prints a table.
pub fn run(tree: &Tree, only: Option<&str>) -> ExitCode {
    match run_all(tree, only) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => fail(&*error),
    }
}

fn fail(error: &dyn Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn load(tree: &Tree) -> Result<BTreeMap<String, Break>, Box<dyn Error>> {
    let mut found = BTreeMap::new();
    for file in tree.files(&["xtask/breaks"], "toml")? {
        let entry: Break =
            toml::from_str(&tree.read(&file)?).map_err(|error| format!("`{file}`: {error}"))?;
        if entry.find.is_empty() || entry.find.contains('\n') || entry.replace.contains('\n') {
            return Err(format!("`{file}`: a break changes one line").into());
        }
        let name = file.rsplit('/').next().unwrap_or(&file).trim_end_matches(".toml").to_owned();
        found.insert(name, entry);
    }
    Ok(found)
}

fn run_all(tree: &Tree, only: Option<&str>) -> Result<bool, Box<dyn Error>> {
    let mut breaks = load(tree)?;
    breaks.retain(|name, _| only.is_none_or(|only| only == name));
    if breaks.is_empty() {
        return Err("no such break".into());
    }
    let _lock = alone_in(&tree.join("target/xtask/break"))?;
    let copy = Copy::of(tree)?;
    let mut sound = true;
    let mut green: BTreeMap<String, bool> = BTreeMap::new();
    for entry in breaks.values() {
        if !green.contains_key(&entry.test) {
            let run = copy.test(entry)?;
            if run.verdict != Verdict::Green {
                println!("not green unbroken: {}\n{}", entry.test, run.said);
            }
            green.insert(entry.test.clone(), run.verdict == Verdict::Green);
        }
    }
    println!("{:<34} {:<6} {:<58} turned red by the break", "break", "", "what it does");
    for (name, entry) in &breaks {
        let broken = copy.apply(entry).map_err(|error| format!("`{name}`: {error}"))?;
        let run = copy.test(entry);
        broken.undo()?;
        let run = run?;
        let holds = run.verdict == Verdict::Red && green.get(&entry.test) == Some(&true);
        sound &= holds;
        let word = match run.verdict {
            Verdict::Red if holds => "red",
            Verdict::Red => "red*",
            Verdict::Green => "GREEN",
            Verdict::NotRun => "NOT RUN",
        };
        println!("{name:<34} {word:<6} {:<58} {}", entry.why, entry.test);
        if run.verdict == Verdict::NotRun {
            println!("{}", run.said);
        }
    }
    Ok(sound)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Green,
    Red,
    /// It did not compile, or no such test ran.
    NotRun,
}

struct Run {
    verdict: Verdict,
    said: String,
}

struct Copy {
    tree: Tree,
    target: PathBuf,
}

struct Broken {
    path: PathBuf,
    honest: String,
}

impl Broken {
    fn undo(self) -> std::io::Result<()> {
        fs::write(self.path, self.honest)
    }
}

impl Copy {
    fn of(tree: &Tree) -> Result<Self, Box<dyn Error>> {
        let folder = tree.join("target/xtask/break/tree");
        mirror(tree.root(), &folder)?;
        Ok(Self { tree: Tree::at(folder), target: tree.join("target/xtask/break/target") })
    }

    fn apply(&self, entry: &Break) -> Result<Broken, Box<dyn Error>> {
        let path = self.tree.join(&entry.file);
        let honest = read(&path)?;
        match honest.matches(&entry.find).count() {
            1 => {}
            count => {
                return Err(format!("`{}` stands {count} times in {}", entry.find, entry.file).into());
            }
        }
        fs::write(&path, honest.replacen(&entry.find, &entry.replace, 1))?;
        Ok(Broken { path, honest })
    }

    fn test(&self, entry: &Break) -> Result<Run, Box<dyn Error>> {
        if let Some(case) = entry.test.strip_prefix("forge::") {
            let faults = forge::faults(&self.tree, Some(case))?;
            let refused = faults.iter().any(|fault| fault.ends_with("the forgery was not refused"));
            let verdict = if refused { Verdict::Red } else { Verdict::Green };
            return Ok(Run { verdict, said: faults.join("\n") });
        }
        let target =
            Target::of(&entry.test).ok_or_else(|| format!("no cargo target holds `{}`", entry.test))?;
        if entry.test.starts_with("e2e/") {
            let output = self.cargo().args(["build", "--package", "framegate"]).output()?;
            if !output.status.success() {
                return Ok(Run {
                    verdict: Verdict::NotRun,
                    said: cargo::tail(&cargo::text(&output.stderr), 20),
                });
            }
        }
        let output = self.cargo().arg("test").args(&target.arguments).args(["--", &target.name]).output()?;
        let said = cargo::text(&output.stdout) + &cargo::text(&output.stderr);
        let ended = |how: &str| said.lines().any(|line| target.is_result(line, how));
        let verdict = match output.status.success() {
            true if ended("ok") => Verdict::Green,
            false if ended("FAILED") => Verdict::Red,
            true | false => Verdict::NotRun,
        };
        Ok(Run { verdict, said: cargo::tail(&said, 20) })
    }

    fn cargo(&self) -> std::process::Command {
        let mut command = cargo::command(self.tree.root());
        command.env("CARGO_TARGET_DIR", &self.target);
        // End-to-end tests start the program that this variable names; the unoptimised one builds faster.
        command.env("FRAMEGATE_BIN", self.target.join("debug/framegate"));
        command
    }
}

/// Where cargo finds a test.
struct Target {
    arguments: Vec<String>,
    /// Its name, with the modules that are known: those of a file below `tests` may be named otherwise.
    name: String,
    /// Whether `name` is the whole of it.
    is_whole: bool,
}

impl Target {
    /// `wire::json::tests::x` is in the library of `framegate-wire`; `crates/wire/tests/f.rs::x` is in its test `f`.
    fn of(test: &str) -> Option<Self> {
        let package = |folder: &str| match folder {
            "cli" => "framegate".to_owned(),
            "xtask" => "xtask".to_owned(),
            folder => format!("framegate-{folder}"),
        };
        if let Some((file, name)) = test.split_once(".rs::") {
            let (owner, path) = file.split_once("/tests/")?;
            let target = path.split('/').next().unwrap_or(path);
            let folder = owner.strip_prefix("crates/").unwrap_or(owner);
            let arguments = ["-p", &package(folder), "--test", target].map(str::to_owned).to_vec();
            return Some(Self { arguments, name: name.to_owned(), is_whole: target == path });
        }
        let (folder, name) = test.split_once("::")?;
        let kind = if matches!(folder, "cli" | "xtask") { "--bins" } else { "--lib" };
        Some(Self {
            arguments: ["-p", &package(folder), kind].map(str::to_owned).to_vec(),
            name: name.to_owned(),
            is_whole: true,
        })
    }

    /// Whether a line is the harness's result of this test.
    fn is_result(&self, line: &str, how: &str) -> bool {
        let Some((name, said)) = line.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ")) else {
            return false;
        };
        let name = name.trim_end_matches(" - should panic");
        let is_this = name == self.name || (!self.is_whole && name.ends_with(&format!("::{}", self.name)));
        is_this && said == how
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_cited_test_is_found_by_cargo() {
        let unit = Target::of("wire::json::tests::x").unwrap();
        assert_eq!(
            (unit.arguments.join(" "), unit.name.as_str()),
            ("-p framegate-wire --lib".into(), "json::tests::x")
        );
        let file = Target::of("e2e/tests/demo.rs::x").unwrap();
        assert_eq!(
            (file.arguments.join(" "), file.name.as_str()),
            ("-p framegate-e2e --test demo".into(), "x")
        );
        let cli = Target::of("cli::arguments::tests::x").unwrap();
        assert_eq!(cli.arguments.join(" "), "-p framegate --bins");
        let below = Target::of("crates/policy/tests/policy/verdicts.rs::x").unwrap();
        assert_eq!(below.arguments.join(" "), "-p framegate-policy --test policy");
    }

    #[test]
    fn only_the_named_test_counts() {
        let whole = Target::of("wire::a::b").unwrap();
        assert!(whole.is_result("test a::b ... FAILED", "FAILED"));
        assert!(!whole.is_result("test a::bc ... FAILED", "FAILED"));
        assert!(!whole.is_result("test x::a::b ... FAILED", "FAILED"));
        assert!(!whole.is_result("test a::b ... ok", "FAILED"));
        let below = Target::of("e2e/tests/clients/rmcp.rs::b").unwrap();
        assert!(below.is_result("test rmcp_client::b ... FAILED", "FAILED"));
        assert!(!below.is_result("test rmcp_client::ab ... FAILED", "FAILED"));
    }
}
