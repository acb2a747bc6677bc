//! Text that cannot move a cursor, end a line or turn a reading direction.
//!
//! Belongs here: escaping for JSON lines and for people.
//! Does not belong here: which text may be written at all.

use core::fmt::Write as _;
use std::io;

use serde_json::ser::Formatter;

/// Writes JSON in printable ASCII only.
///
/// An allow-list: control, bidirectional, invisible and line-separating characters need no table that
/// would have to follow Unicode.
#[derive(Debug)]
pub(crate) struct AsciiFormatter;

impl Formatter for AsciiFormatter {
    fn write_string_fragment<W>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()>
    where
        W: ?Sized + io::Write,
    {
        let mut rest = fragment;
        while let Some(at) = rest.find(|character| !matches!(character, ' '..='~')) {
            let (plain, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
            writer.write_all(plain.as_bytes())?;
            let mut characters = behind.chars();
            if let Some(character) = characters.next() {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
            rest = characters.as_str();
        }
        writer.write_all(rest.as_bytes())
    }
}

/// The text for a terminal: printable ASCII and the two signs that mark masked and shortened text.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, ' '..='~' | '·' | '…') {
            shown.push(character);
        } else {
            // Writing to a `String` cannot fail.
            let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
        }
    }
    shown
}
