//! One forgery and its twin, in one file.
//!
//! Belongs here: reading a case and writing out either variant with the same line numbers.
//! Does not belong here: compiling it.
//!
//! A line that ends in `//~ forged` stands in the forgery only, `//~ forged E0451` says which error the compiler
//! must give for it, and a line that ends in `//~ twin` stands in the twin only. All other lines stand in both, so
//! that the twin differs from the forgery in the forged lines and in nothing else.

use std::collections::BTreeSet;
use std::fmt;

/// A forgery with its twin.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file's stem.
    pub name: String,
    pub file: String,
    /// The door type that it tries.
    pub door: String,
    /// The crate that the intruder is added to; `None` when it is another crate.
    pub room: Option<String>,
    lines: Vec<Line>,
}

/// Which of the two is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variant {
    /// Must not compile.
    Forged,
    /// Must compile.
    Twin,
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Forged => "forged",
            Self::Twin => "twin",
        })
    }
}

#[derive(Clone, Debug)]
struct Line {
    text: String,
    only: Option<Variant>,
    codes: Vec<String>,
}

impl Case {
    /// Reads a case; the error says what it lacks.
    pub fn parse(file: &str, text: &str) -> Result<Self, String> {
        let fault = |what: &str| format!("{file}: {what}");
        let header = |key: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix("//! ")?.strip_prefix(key))
                .map(|value| value.trim().to_owned())
        };
        let (folder, name) = file.rsplit_once('/').ok_or_else(|| fault("not in a folder"))?;
        let room = if folder.ends_with("/other-room") {
            Some(
                header("room:")
                    .ok_or_else(|| fault("`//! room:` does not say which crate the intruder is in"))?,
            )
        } else {
            None
        };
        let lines =
            text.lines().map(Line::parse).collect::<Result<Vec<_>, _>>().map_err(|what| fault(&what))?;
        let case = Self {
            name: name.trim_end_matches(".rs").to_owned(),
            file: file.to_owned(),
            door: header("door:").ok_or_else(|| fault("`//! door:` does not say which type is tried"))?,
            room,
            lines,
        };
        if case.expected().is_empty() {
            return Err(fault("no line is marked `//~ forged CODE`"));
        }
        if !case.lines.iter().any(|line| line.only == Some(Variant::Twin)) {
            return Err(fault("no line is marked `//~ twin`"));
        }
        Ok(case)
    }

    /// The source of one variant.
    pub fn source(&self, variant: Variant) -> String {
        let mut out = String::new();
        for line in &self.lines {
            if line.only.is_none_or(|only| only == variant) {
                out.push_str(&line.text);
            }
            out.push('\n');
        }
        out
    }

    /// The lines and codes of the errors that the forgery must get.
    pub fn expected(&self) -> BTreeSet<(usize, String)> {
        let numbered = self.lines.iter().enumerate();
        numbered
            .flat_map(|(index, line)| line.codes.iter().map(move |code| (index + 1, code.clone())))
            .collect()
    }
}

impl Line {
    fn parse(text: &str) -> Result<Self, String> {
        let Some((code, mark)) = text.split_once("//~") else {
            return Ok(Self { text: text.to_owned(), only: None, codes: Vec::new() });
        };
        let mut words = mark.split_whitespace();
        let only = match words.next() {
            Some("forged") => Variant::Forged,
            Some("twin") => Variant::Twin,
            other => return Err(format!("unknown mark `{}`", other.unwrap_or_default())),
        };
        let codes: Vec<String> = words.map(str::to_owned).collect();
        let are_codes = codes.iter().all(|code| code.len() == 5 && code.starts_with('E'));
        if !are_codes || (only == Variant::Twin && !codes.is_empty()) {
            return Err(format!("a mark that is not understood: `{}`", mark.trim()));
        }
        Ok(Self { text: code.trim_end().to_owned(), only: Some(only), codes })
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, Variant};

    const TEXT: &str = "\
//! A permit by literal.
//! door: Permit
fn main() {
    let a = 1; //~ forged E0451 E0063
    let b = 3; //~ forged
    let a = 2; //~ twin
}
";

    #[test]
    fn both_variants_keep_their_line_numbers() {
        let case = Case::parse("xtask/forge/other-crate/permit.rs", TEXT).unwrap();
        let forged = case.source(Variant::Forged);
        let twin = case.source(Variant::Twin);
        assert_eq!(forged.lines().nth(3), Some("    let a = 1;"));
        assert_eq!(forged.lines().nth(5), Some(""));
        assert_eq!(twin.lines().nth(3), Some(""));
        assert_eq!(twin.lines().nth(5), Some("    let a = 2;"));
        assert_eq!(case.expected().len(), 2);
        assert_eq!((case.door.as_str(), case.name.as_str()), ("Permit", "permit"));
    }

    #[test]
    fn a_case_that_proves_nothing_is_refused() {
        for (file, text) in [
            ("xtask/forge/other-crate/a.rs", TEXT.replace(" E0451 E0063", "")),
            ("xtask/forge/other-crate/a.rs", TEXT.replace(" //~ twin", "")),
            ("xtask/forge/other-crate/a.rs", TEXT.replace("door:", "gate:")),
            ("xtask/forge/other-crate/a.rs", TEXT.replace("//~ twin", "//~ twn")),
            ("xtask/forge/other-room/a.rs", TEXT.to_owned()),
        ] {
            assert!(Case::parse(file, &text).is_err(), "{text}");
        }
    }
}
