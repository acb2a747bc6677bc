//! Case ids in which `*` stands for any characters.
//!
//! Belongs here: reading one. Does not belong here: which cases there are.

use regex::Regex;

/// `None` if the text is longer than any id's pattern can be.
pub(crate) fn pattern(text: &str) -> Option<Regex> {
    Regex::new(&format!("^(?s:{})$", regex::escape(text).replace("\\*", ".*"))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_asterisk_is_special() {
        let is = |text: &str, id: &str| pattern(text).unwrap().is_match(id);
        assert!(is("a/b", "a/b") && is("a/*", "a/b~cut") && is("*@2025-06-18", "x/y@2025-06-18"));
        assert!(!is("a/b", "a/bc") && !is("a.b", "a/b") && !is("a/*", "b/a/c") && !is("", "a"));
        assert!(is("x/[a](b)+", "x/[a](b)+"));
    }
}
