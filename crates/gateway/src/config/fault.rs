//! What is wrong with a configuration, and how it is shown: file, line, caret, hint.
//!
//! Belongs here: faults as data, the collector that every table reader writes to, the rendering.
//! Does not belong here: what counts as a fault; colours, which the caller decides.
//!
//! A problem names keys and what was expected, never a value: the value is seen only in the quoted
//! line, in which everything that may be a secret is masked.

use core::fmt;
use core::ops::Range;
use std::collections::HashSet;
use std::error::Error;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// How many faults are shown; the rest is counted.
const SHOWN: usize = 50;

/// Whether a fault keeps the configuration from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It does.
    Error,
    /// It does not, but is hardly what was meant.
    Warning,
}

/// One fault and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    severity: Severity,
    span: Range<usize>,
    problem: String,
    hint: Option<String>,
}

impl Fault {
    /// Whether the configuration can be used in spite of it.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.severity
    }

    /// The byte range in the file. It is empty where something is missing.
    #[must_use]
    pub const fn span(&self) -> &Range<usize> {
        &self.span
    }

    /// What is wrong, in one line.
    #[must_use]
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// What to write instead.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// All faults of one file, in the order of their places.
///
/// It keeps the file's text for quoting, with secrets masked and control characters replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    file: String,
    text: String,
    faults: Vec<Fault>,
}

impl Faults {
    /// The faults.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Fault> {
        self.faults.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.faults.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.faults.is_empty()
    }

    /// The line of a fault, counted from 1.
    #[must_use]
    pub fn line(&self, fault: &Fault) -> usize {
        let before = self.text.bytes().take(fault.span.start);
        before.filter(|byte| *byte == b'\n').count().saturating_add(1)
    }

    /// The report for a person: each fault with its line, a caret and a hint. With `colour`, ANSI
    /// escape sequences are written; nothing of the file's own control characters ever is.
    #[must_use]
    pub fn render(&self, colour: bool) -> String {
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        let mut report = String::new();
        for fault in self.faults.iter().take(SHOWN) {
            let group = self.group(fault);
            report.push_str(&renderer.render(&[group]));
            report.push_str("\n\n");
        }
        let more = self.faults.len().saturating_sub(SHOWN);
        if more > 0 {
            let title = format!("{more} more in `{}`", self.file);
            let group = Group::with_title(Level::ERROR.primary_title(title));
            report.push_str(&renderer.render(&[group]));
            report.push_str("\n\n");
        }
        report.truncate(report.trim_end().len());
        report.push('\n');
        report
    }

    fn group<'a>(&'a self, fault: &'a Fault) -> Group<'a> {
        let (start, line) = self.quoted_line(fault.span.start);
        let from = fault.span.start.saturating_sub(start).min(line.len());
        let to = fault.span.end.saturating_sub(start);
        let span = from..to.clamp(from, line.len().max(from));
        let level = match fault.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let snippet = Snippet::source(line)
            .path(self.file.as_str())
            .line_start(self.line(fault))
            .annotation(AnnotationKind::Primary.span(span));
        let group = level.primary_title(&fault.problem).element(snippet);
        match &fault.hint {
            Some(hint) => group.element(Level::HELP.with_name("hint").message(hint.as_str())),
            None => group,
        }
    }

    /// The line that holds the offset, and where it starts.
    fn quoted_line(&self, offset: usize) -> (usize, &str) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let start = before.rfind('\n').map_or(0, |newline| newline.saturating_add(1));
        let rest = self.text.get(start..).unwrap_or_default();
        (start, rest.split('\n').next().unwrap_or_default())
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.render(false))
    }
}

impl Error for Faults {}

/// Collects faults, and what must not be shown, while a file is read.
#[derive(Debug, Default)]
pub(super) struct Report {
    faults: Vec<Fault>,
    errors: usize,
    places: HashSet<(usize, usize)>,
    masks: Vec<Range<usize>>,
}

impl Report {
    /// A fault with what to do about it.
    pub(super) fn error(&mut self, span: &Range<usize>, problem: impl Into<String>, hint: impl Into<String>) {
        self.push(Severity::Error, span, problem.into(), Some(hint.into()));
    }

    /// A fault whose problem says all.
    pub(super) fn bare_error(&mut self, span: &Range<usize>, problem: impl Into<String>) {
        self.push(Severity::Error, span, problem.into(), None);
    }

    /// Something that works but is hardly meant.
    pub(super) fn warning(
        &mut self,
        span: &Range<usize>,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) {
        self.push(Severity::Warning, span, problem.into(), Some(hint.into()));
    }

    /// An error as another room worded it.
    pub(super) fn foreign_error(&mut self, span: &Range<usize>, problem: String, hint: Option<String>) {
        self.push(Severity::Error, span, problem, hint);
    }

    /// Whether this place is already known to be wrong.
    pub(super) fn knows(&self, span: &Range<usize>) -> bool {
        self.places.contains(&(span.start, span.end))
    }

    /// Keeps the bytes of `span` out of every rendering.
    pub(super) fn mask(&mut self, span: &Range<usize>) {
        self.masks.push(span.clone());
    }

    /// How many errors there are so far.
    pub(super) const fn errors(&self) -> usize {
        self.errors
    }

    /// The report on `text`, ordered by place.
    pub(super) fn finish(mut self, file: &str, text: &str) -> Faults {
        self.faults.sort_by_key(|fault| fault.span.start);
        Faults { file: printable(file), text: shown(text, &self.masks), faults: self.faults }
    }

    fn push(&mut self, severity: Severity, span: &Range<usize>, problem: String, hint: Option<String>) {
        if severity == Severity::Error {
            self.errors = self.errors.saturating_add(1);
        }
        self.places.insert((span.start, span.end));
        self.faults.push(Fault { severity, span: span.clone(), problem, hint });
    }
}

/// A key or name from the file for a message: in backticks, escaped, at most 64 characters.
pub(super) fn quoted(text: &str) -> String {
    let mut characters = text.chars();
    let head: String = characters.by_ref().take(64).collect();
    let rest = if characters.next().is_some() { "…" } else { "" };
    format!("`{}{rest}`", printable(&head))
}

/// Text without anything that a terminal would act on.
pub(super) fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe_to_show(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// The text as it may be quoted. Every byte keeps its place, so that spans still fit.
fn shown(text: &str, masks: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut masks: Vec<_> = masks.to_vec();
    masks.sort_by_key(|mask| mask.start);
    let mut masks = masks.into_iter().peekable();
    for (offset, character) in text.char_indices() {
        while masks.next_if(|mask| mask.end <= offset).is_some() {}
        let masked = masks.peek().is_some_and(|mask| mask.contains(&offset));
        let replacement = match character {
            '\n' | '\t' => None,
            '\r' => Some(' '),
            _ if masked => Some('*'),
            _ if is_unsafe_to_show(character) => Some('?'),
            _ => None,
        };
        match replacement {
            None => out.push(character),
            Some(replacement) => {
                for _ in 0..character.len_utf8() {
                    out.push(replacement);
                }
            }
        }
    }
    out
}

/// Control characters, line separators, and characters that reorder or hide what is shown.
fn is_unsafe_to_show(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{AD}' | '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}'
                | '\u{E0000}'..='\u{E0FFF}'
        )
}
