//! Text that others wrote, for a page: escaped, and cut.
//!
//! Belongs here: the one way by which such text comes onto the page. Does not belong here: where it stands there.

use maud::Render;

use crate::report::SHOWN;

/// The most of one text that is shown where a case is told in full, in characters.
const FULL: usize = 2_000;
/// The same where it is told in short.
const SHORT: usize = 300;

// A line with wrong bytes, each written as `\x00`, is not cut: the caret below it stands where it must.
const _: () = assert!(SHOWN * 4 < FULL);

/// Text of the target, or of whoever started it. Characters that are obeyed, hidden or reorder others are shown as
/// escapes (`\n`, `\u{202e}`), and what is markup in HTML is none.
#[derive(Debug)]
pub(super) struct Foreign<'a> {
    text: &'a str,
    limit: usize,
}

impl<'a> Foreign<'a> {
    /// Up to [`FULL`] characters.
    pub(super) const fn full(text: &'a str) -> Self {
        Self { text, limit: FULL }
    }

    /// Up to [`SHORT`] characters.
    pub(super) const fn short(text: &'a str) -> Self {
        Self { text, limit: SHORT }
    }

    /// The last [`FULL`] characters.
    pub(super) fn end(text: &'a str) -> Self {
        let start = text.char_indices().rev().take(FULL).last().map_or(0, |(start, _)| start);
        Self::full(text.get(start..).unwrap_or_default())
    }
}

impl Render for Foreign<'_> {
    fn render_to(&self, page: &mut String) {
        let mut shown = String::new();
        for character in self.text.chars().take(self.limit) {
            match character {
                '"' | '\'' | '\\' => shown.push(character),
                _ => shown.extend(character.escape_debug()),
            }
        }
        let more = self.text.chars().skip(self.limit).count();
        if more > 0 {
            shown.push_str(&format!(" … ({more} characters more)"));
        }
        shown.render_to(page);
    }
}
