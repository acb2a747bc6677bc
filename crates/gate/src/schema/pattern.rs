//! Patterns: regular expressions that JSON Schema's dialect (ECMA-262) and ours read the same way.
//!
//! Belongs here: the syntax that both dialects share, and compiling a pattern so that it matches whole values.
//! Does not belong here: which types have a pattern, how it is published.

use core::iter::Peekable;
use core::str::Bytes;

use regex::{Regex, RegexBuilder};

/// Longest pattern, in bytes.
const MAX_PATTERN: usize = 1_024;
/// Greatest size of a compiled pattern, in bytes.
const MAX_COMPILED: usize = 262_144;

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternFault {
    TooLong,
    Foreign,
    Unsound,
}

impl PatternFault {
    pub(super) const fn problem(self) -> &'static str {
        match self {
            Self::TooLong => "the pattern is longer than 1,024 bytes",
            Self::Foreign => "the pattern uses syntax that JSON Schema reads differently",
            Self::Unsound => "the pattern is no regular expression, or compiles to more than 256 KiB",
        }
    }

    pub(super) const fn hint(self) -> Option<&'static str> {
        match self {
            Self::Foreign => Some(
                "use ASCII literals, classes such as `[0-9]`, groups `(…)` or `(?:…)`, `|` and repetition",
            ),
            Self::TooLong | Self::Unsound => None,
        }
    }
}

/// Compiles a pattern so that it must match the whole value.
pub(super) fn compile(pattern: &str) -> Result<Regex, PatternFault> {
    if pattern.len() > MAX_PATTERN {
        return Err(PatternFault::TooLong);
    }
    check_syntax(pattern)?;
    RegexBuilder::new(&format!("^(?:{pattern})$"))
        .size_limit(MAX_COMPILED)
        .dfa_size_limit(MAX_COMPILED)
        .build()
        .map_err(|_| PatternFault::Unsound)
}

/// Lets through only what is listed here. Groups must be balanced: `a)|(b` would close the group that
/// anchors the pattern, and match anything that begins with `a`.
fn check_syntax(pattern: &str) -> Result<(), PatternFault> {
    let mut rest = pattern.bytes().peekable();
    let mut depth = 0_usize;
    // Whether what was read last can be repeated.
    let mut repeatable = false;
    while let Some(byte) = rest.next() {
        repeatable = match byte {
            b'\\' => {
                rest.next().is_some_and(is_syntax_character).then_some(true).ok_or(PatternFault::Foreign)?
            }
            b'[' => check_class(&mut rest).map(|()| true)?,
            b'(' => {
                if rest.next_if_eq(&b'?').is_some() && rest.next_if_eq(&b':').is_none() {
                    return Err(PatternFault::Foreign);
                }
                depth = depth.saturating_add(1);
                false
            }
            b')' => {
                depth = depth.checked_sub(1).ok_or(PatternFault::Unsound)?;
                true
            }
            b'|' | b'^' | b'$' => false,
            b'*' | b'+' | b'?' | b'{' => {
                if !repeatable || (byte == b'{' && !is_count(&mut rest)) {
                    return Err(PatternFault::Foreign);
                }
                // Lazy or not makes no difference to what matches as a whole.
                rest.next_if_eq(&b'?');
                false
            }
            b']' | b'}' => return Err(PatternFault::Foreign),
            b' '..=b'~' => true,
            _ => return Err(PatternFault::Foreign),
        };
    }
    if depth == 0 { Ok(()) } else { Err(PatternFault::Unsound) }
}

/// The rest of a class. Nested classes and set operations are ours alone; `[]` is empty there and begins
/// with a literal `]` here.
fn check_class(rest: &mut Peekable<Bytes<'_>>) -> Result<(), PatternFault> {
    rest.next_if_eq(&b'^');
    if rest.peek() == Some(&b']') {
        return Err(PatternFault::Foreign);
    }
    while let Some(byte) = rest.next() {
        let is_shared = match byte {
            b']' => return Ok(()),
            b'[' => false,
            b'\\' => rest.next().is_some_and(|escaped| escaped == b'-' || is_syntax_character(escaped)),
            b'&' | b'~' | b'-' => rest.peek() != Some(&byte),
            b' '..=b'~' => true,
            _ => false,
        };
        if !is_shared {
            return Err(PatternFault::Foreign);
        }
    }
    Err(PatternFault::Unsound)
}

/// The rest of `{n}`, `{n,}` or `{n,m}`.
fn is_count(rest: &mut Peekable<Bytes<'_>>) -> bool {
    let mut digits = || {
        let mut any = false;
        while rest.next_if(u8::is_ascii_digit).is_some() {
            any = true;
        }
        (any, rest.next())
    };
    match digits() {
        (true, Some(b'}')) => true,
        (true, Some(b',')) => matches!(digits(), (_, Some(b'}'))),
        _ => false,
    }
}

/// The characters that ECMA-262 lets a backslash make literal in Unicode mode (`SyntaxCharacter` and `/`).
const fn is_syntax_character(byte: u8) -> bool {
    matches!(
        byte,
        b'^' | b'$'
            | b'\\'
            | b'.'
            | b'*'
            | b'+'
            | b'?'
            | b'('
            | b')'
            | b'['
            | b']'
            | b'{'
            | b'}'
            | b'|'
            | b'/'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_dialects_read_alike_is_compiled_and_anchored() {
        for (pattern, fits, misfits) in [
            ("a|b", &["a", "b"][..], &["", "ab", "a|b", "xb", "ax"][..]),
            ("[A-Z]{2}-[0-9]{1,3}", &["AB-1", "AB-123"], &["AB-", "AB-1234", "xAB-1", "AB-1\n"]),
            ("(?:a|b)+c??", &["a", "abbac"], &["c", "acc"]),
            (r"\(\.\/\)", &["(./)"], &["./"]),
            (r"[^\]\-a-c.]*", &["", "xyz"], &["a", "]", "-", "."]),
            ("^x$", &["x"], &["xx"]),
            ("", &[""], &["x"]),
            ("x{2,}", &["xx", "xxx"], &["x"]),
            ("[a-c-e]", &["-", "e"], &["d"]),
        ] {
            let regex = compile(pattern).unwrap();
            for text in fits {
                assert!(regex.is_match(text), "{pattern} {text:?}");
            }
            for text in misfits {
                assert!(!regex.is_match(text), "{pattern} {text:?}");
            }
        }
    }

    #[test]
    fn what_the_dialects_read_differently_is_refused() {
        for pattern in [
            "(?i)a",
            "(?-u)a",
            "(?P<n>a)",
            "(?<n>a)",
            "(?=a)",
            "(?<!a)",
            "(?#a)",
            r"\d",
            r"\w",
            r"\s",
            r"\pL",
            r"\x41",
            r"\u0041",
            r"\n",
            r"\b",
            r"\B",
            r"\A",
            r"\z",
            r"\Qa\E",
            r"\1",
            r"\-",
            r"\@",
            r"\",
            "[]a]",
            "[^]a]",
            "[[:alpha:]]",
            "[a[b]]",
            "[a-z&&[^b]]",
            "[a&&b]",
            "[a--b]",
            "[a~~b]",
            r"[\d]",
            r"[\b]",
            "a]",
            "a}",
            "a{",
            "a{,2}",
            "a{x}",
            "{2}",
            "*a",
            "a|*",
            "(+a)",
            "^*",
            "a**",
            "a{2}{3}",
            "a+*",
            "é",
            "a\n",
            "[é]",
            "[\t]",
        ] {
            assert_eq!(compile(pattern).unwrap_err(), PatternFault::Foreign, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for pattern in ["(", ")", "a)|(b", "(?:", "a)(b", "[a", "[^", "x{2,1}", "[z-a]"] {
            assert_eq!(compile(pattern).unwrap_err(), PatternFault::Unsound, "{pattern}");
        }
        assert_eq!(compile("((a{99}){99}){99}").unwrap_err(), PatternFault::Unsound);
        assert_eq!(compile(&"a".repeat(1_025)).unwrap_err(), PatternFault::TooLong);
        assert!(compile(&"a".repeat(1_024)).is_ok());
    }
}
