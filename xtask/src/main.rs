//! `cargo xtask`: the checks that the compiler and the tests cannot make.
//!
//! Belongs here: choosing the check and printing what it found.
//! Does not belong here: a check itself; each has a file of its own.

mod breaks;
mod cargo;
mod deny;
mod directions;
mod dist;
mod features;
mod forge;
mod instructions;
mod ledger;
mod lint;
mod lists;
mod reasons;
mod requirements;
mod rooms;
mod seals;
mod source;
mod tree;

use std::process::ExitCode;

use tree::Tree;

/// What a check found: nothing, or one line for each fault. `Err` means that it could not be made.
pub type Findings = Result<Vec<String>, Box<dyn std::error::Error>>;

type Check = fn(&Tree) -> Findings;

/// The checks of `cargo xtask check`, cheap ones first.
const CHECKS: &[(&str, &str, Check)] = &[
    ("rooms", "size and header of every source file, no printing macros", rooms::check),
    ("seals", "who may implement Policy, who may write unsafe", seals::check),
    ("reasons", "every refusal reason has a true page and a corpus file", reasons::check),
    ("requirements", "every MUST that applies has a test that exists", requirements::check),
    ("directions", "crates depend downwards only", directions::check),
    ("features", "no cargo feature that changes what input means", features::check),
    ("lint", "rustfmt and clippy", lint::check),
    ("deny", "advisories, bans, licences, sources", deny::check),
    ("forge", "every forged door type fails to compile with its named error", forge::check),
];

const USAGE: &str = "usage: cargo xtask check | CHECK... | tests | instructions | dist [--out DIR] | forge [--only NAME] | break [--list | --only NAME]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let tree = Tree::of_workspace();
    match words.as_slice() {
        ["check"] => run(&tree, CHECKS),
        ["tests"] => report("tests", list_tests(&tree)),
        ["instructions"] => instructions::run(&tree),
        ["dist"] => made("dist", dist::run(&tree, None)),
        ["dist", "--out", folder] => made("dist", dist::run(&tree, Some(folder))),
        ["break"] => breaks::run(&tree, None),
        ["break", "--list"] => breaks::list(&tree),
        ["break", "--only", name] => breaks::run(&tree, Some(name)),
        ["forge", "--only", name] => report("forge", forge::check_only(&tree, Some(name))),
        [_, ..] => {
            let mut chosen = Vec::new();
            for word in &words {
                let Some(found) = CHECKS.iter().find(|(name, _, _)| name == word) else {
                    return usage(&format!("no check is named `{}`", word.escape_debug()));
                };
                chosen.push(*found);
            }
            run(&tree, &chosen)
        }
        [] => usage("no check named"),
    }
}

/// Prints the names under which `requirements/` can cite tests.
fn list_tests(tree: &Tree) -> Findings {
    for name in ledger::tests(tree)? {
        println!("{name}");
    }
    Ok(Vec::new())
}

fn usage(fault: &str) -> ExitCode {
    eprintln!("error: {fault}\n{USAGE}\n");
    for (name, purpose, _) in CHECKS {
        eprintln!("  {name:<13} {purpose}");
    }
    eprintln!("  {:<13} of the benchmarks, counted by valgrind", "instructions");
    eprintln!("  {:<13} the archive that is released, and its checksum", "dist");
    eprintln!("  {:<13} one-line breaks of the source, each turning its named test red", "break");
    ExitCode::from(2)
}

fn run(tree: &Tree, checks: &[(&str, &str, Check)]) -> ExitCode {
    let mut failed = false;
    for (name, _, check) in checks {
        failed |= report(name, check(tree)) != ExitCode::SUCCESS;
    }
    ExitCode::from(u8::from(failed))
}

fn made(name: &str, made: Result<String, Box<dyn std::error::Error>>) -> ExitCode {
    match made {
        Ok(what) => {
            println!("{name:<13} {what}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {name}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(name: &str, findings: Findings) -> ExitCode {
    match findings {
        Ok(faults) if faults.is_empty() => {
            println!("{name:<13} ok");
            ExitCode::SUCCESS
        }
        Ok(faults) => {
            println!("{name:<13} {} found", faults.len());
            for fault in &faults {
                println!("  {fault}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            println!("{name:<13} could not be checked: {error}");
            ExitCode::FAILURE
        }
    }
}
