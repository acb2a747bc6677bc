//! The requirements and the tests that exist.
//!
//! Belongs here: reading `requirements/*.toml` and finding every test of the workspace by name.
//! Does not belong here: what must hold between them (`requirements`, `reasons`).

use std::collections::BTreeSet;
use std::error::Error;

use serde::Deserialize;

use crate::tree::Tree;
use crate::{forge, source};

/// One rule.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    pub id: String,
    pub level: Level,
    pub revisions: Vec<String>,
    pub elsewhere: Option<String>,
    pub section: String,
    pub text: String,
    pub applies: bool,
    pub because: Option<String>,
    pub tests: Vec<String>,
    pub reasons: Vec<String>,
}

/// Whose word a rule is.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub enum Level {
    #[serde(rename = "MUST")]
    Must,
    #[serde(rename = "SHOULD")]
    Should,
    #[serde(rename = "JR")]
    JsonRpc,
    #[serde(rename = "DER")]
    Derived,
    #[serde(rename = "POL")]
    Policy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    requirement: Vec<Requirement>,
}

/// All requirements, each with the file that holds it.
pub fn requirements(tree: &Tree) -> Result<Vec<(String, Requirement)>, Box<dyn Error>> {
    let mut found = Vec::new();
    for file in tree.files(&["requirements"], "toml")? {
        let page: Page = toml::from_str(&tree.read(&file)?).map_err(|error| format!("`{file}`: {error}"))?;
        found.extend(page.requirement.into_iter().map(|requirement| (file.clone(), requirement)));
    }
    Ok(found)
}

/// The name under which each test of the workspace is cited, and each forgery as `forge::CASE`.
pub fn tests(tree: &Tree) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let mut found = BTreeSet::new();
    for file in tree.files(&["crates", "e2e", "xtask"], "rs")? {
        let prefix = prefix(&file);
        for name in source::test_names(&tree.read(&file)?) {
            found.insert(format!("{prefix}{name}"));
        }
    }
    for case in forge::cases(tree)? {
        found.insert(format!("forge::{}", case.name));
    }
    Ok(found)
}

/// `crates/wire/src/json/tests.rs` gives `wire::json::tests::`; a file of a `tests` folder gives its path and `::`.
fn prefix(file: &str) -> String {
    let relative = file.strip_prefix("crates/").unwrap_or(file);
    let Some((owner, path)) = relative.split_once("/src/") else {
        return format!("{file}::");
    };
    let mut parts: Vec<&str> = path.trim_end_matches(".rs").split('/').collect();
    if matches!(parts.last(), Some(&("mod" | "lib" | "main"))) {
        parts.pop();
    }
    parts.insert(0, owner);
    format!("{}::", parts.join("::"))
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn tests_are_cited_by_module_or_by_file() {
        assert_eq!(prefix("crates/wire/src/json/tests.rs"), "wire::json::tests::");
        assert_eq!(prefix("crates/wire/src/json/mod.rs"), "wire::json::");
        assert_eq!(prefix("crates/cli/src/main.rs"), "cli::");
        assert_eq!(prefix("crates/wire/tests/suite.rs"), "crates/wire/tests/suite.rs::");
        assert_eq!(prefix("e2e/tests/demo.rs"), "e2e/tests/demo.rs::");
        assert_eq!(prefix("e2e/src/oracle.rs"), "e2e::oracle::");
    }
}
