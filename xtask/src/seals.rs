//! What types cannot stop: another answerer of questions, and code that the compiler does not check.
//!
//! Belongs here: which phrases are sealed and where they are looked for.
//! Does not belong here: the list of exceptions (`xtask/allowed.toml`).

use std::collections::BTreeMap;

use crate::rooms::PRINTING;
use crate::tree::Tree;
use crate::{Findings, lists, source};

/// Each sealed word with what it means in `xtask/allowed.toml`.
const SEALS: &[&str] = &["impl Policy for", "unsafe"];

/// Checks the seals over every source file, tests and fuzz targets included.
pub fn check(tree: &Tree) -> Findings {
    let mut found: BTreeMap<&str, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for file in tree.files(&["crates", "e2e", "fuzz", "xtask", "examples"], "rs")? {
        let blanked = source::blank(&tree.read(&file)?);
        for &seal in SEALS {
            let lines =
                if seal == "unsafe" { source::lines_with(&blanked, seal) } else { implementations(&blanked) };
            if !lines.is_empty() {
                found.entry(seal).or_default().insert(file.clone(), lines);
            }
        }
    }
    let mut faults = Vec::new();
    for &seal in SEALS {
        faults.extend(lists::compare(tree, seal, found.get(seal).unwrap_or(&BTreeMap::new()))?);
    }
    for kind in lists::kinds(tree)? {
        if !SEALS.contains(&kind.as_str()) && kind != PRINTING {
            faults.push(format!("xtask/allowed.toml: no check knows `{kind}`"));
        }
    }
    Ok(faults)
}

/// Lines that implement the gate's `Policy`, whether it is named with its path and whatever generics stand before.
fn implementations(blanked: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, line) in blanked.lines().enumerate() {
        let text = line.trim_start();
        let is_implementation = text.starts_with("impl ") || text.starts_with("impl<");
        let names_policy = text
            .split(" for ")
            .next()
            .is_some_and(|before| before.ends_with(" Policy") || before.ends_with("::Policy"));
        if is_implementation && text.contains(" for ") && names_policy {
            found.push(index + 1);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::implementations;

    #[test]
    fn every_way_to_write_an_implementation_is_found() {
        for line in [
            "impl Policy for Rules {",
            "impl<T> Policy for Rules<T> {",
            "    impl framegate_gate::authorization::Policy for All {}",
            "impl<F: Fn(Question) -> Verdict> Policy for F {",
        ] {
            assert_eq!(implementations(line), [1], "{line}");
        }
        for line in
            ["impl Policy {", "impl Display for Policy {", "impl From<Policy> for A {", "let policy = 1;"]
        {
            assert!(implementations(line).is_empty(), "{line}");
        }
    }
}
