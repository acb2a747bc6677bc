//! What is wrong with a policy, and where.
//!
//! Belongs here: the fault that operators read, and turning byte offsets into lines and columns.
//! Does not belong here: finding faults.

use core::fmt;
use core::ops::Range;

/// Something that keeps a policy from being used. One lower-case line, user input escaped.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct PolicyFault {
    /// Where it is.
    pub place: Place,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub hint: Option<String>,
}

/// Where a fault is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// In a policy text.
    File {
        /// The name that the text was given under.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column of the first character, from 1, in characters.
        column: usize,
        /// How many characters of that line are meant; at least 1.
        length: usize,
    },
    /// In the `allow` of this tool.
    Allow {
        /// The name of the tool.
        tool: String,
    },
    /// In the schema of the declared tools.
    Schema,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { file, line, column, .. } => write!(f, "{}:{line}:{column}", printable(file)),
            Self::Schema => f.write_str("schema of the tools"),
            Self::Allow { tool } => write!(f, "`allow` of tool `{}`", printable(tool)),
        }
    }
}

/// One policy text under its name.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl Source {
    /// A fault at these bytes of the text.
    pub(crate) fn fault(&self, span: Range<usize>, problem: &str, hint: Option<&str>) -> PolicyFault {
        PolicyFault { place: self.place(span), problem: printable(problem), hint: hint.map(printable) }
    }

    fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or_default();
        let line_before = before.rsplit('\n').next().unwrap_or_default();
        let marked = self.text.get(span).unwrap_or_default();
        let marked = marked.split(['\n', '\r']).next().unwrap_or_default();
        Place::File {
            file: self.name.clone(),
            line: before.matches('\n').count().saturating_add(1),
            column: line_before.chars().count().saturating_add(1),
            length: marked.chars().count().max(1),
        }
    }
}

/// The text on one line, every character that a terminal could act on or hide escaped.
pub(crate) fn printable(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => line.push(' '),
            '"' | '\'' | '\\' => line.push(character),
            _ => line.extend(character.escape_debug()),
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Place, Source};

    fn place(text: &str, marked: &str) -> (usize, usize, usize) {
        let source = Source { name: "policy.cedar".to_owned(), text: text.to_owned() };
        let start = text.find(marked).unwrap();
        match source.fault(start..start + marked.len(), "wrong", None).place {
            Place::File { line, column, length, .. } => (line, column, length),
            Place::Allow { .. } | Place::Schema => panic!("a fault in a file is placed in the file"),
        }
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        assert_eq!(place("permit", "permit"), (1, 1, 6));
        assert_eq!(place("// é\n  like \"ö\"", "like"), (2, 3, 4));
        assert_eq!(place("é like", "like"), (1, 3, 4));
        assert_eq!(place("a\r\nbc\nd", "bc\nd"), (2, 1, 2));
    }

    #[test]
    fn a_span_outside_the_text_is_still_a_place() {
        let source = Source { name: "p".to_owned(), text: "é".to_owned() };
        for span in [0..99, 1..2, 50..60] {
            let Place::File { line, length, .. } = source.fault(span, "wrong", None).place else {
                panic!("a fault in a file is placed in the file");
            };
            assert_eq!((line, length), (1, 1));
        }
    }

    #[test]
    fn a_fault_is_one_line_without_characters_that_a_terminal_obeys() {
        let source = Source { name: "a\u{1b}[2J".to_owned(), text: String::new() };
        let fault = source.fault(0..0, "bad `\u{1b}[31m\u{202e}\n\"x\"`", Some("say\u{7}"));
        assert_eq!(fault.to_string(), "a\\u{1b}[2J:1:1: bad `\\u{1b}[31m\\u{202e} \"x\"`");
        assert_eq!(fault.hint.as_deref(), Some("say\\u{7}"));
    }
}
