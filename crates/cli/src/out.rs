//! What commands say to people.
//!
//! Belongs here: whole texts to stdout and stderr; a reader that is gone is no error and no panic;
//! foreign text made harmless for a terminal.
//! Does not belong here: a session's stdout, which is never written from here.

use std::io::{self, Write};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

/// How long a line for stderr may take.
const PATIENCE: Duration = Duration::from_secs(1);

/// One line on stdout.
pub(crate) fn line(text: &str) {
    write(&mut io::stdout().lock(), &format!("{text}\n"));
}

/// Text that brings its own line ends, on stdout.
pub(crate) fn text(text: &str) {
    write(&mut io::stdout().lock(), text);
}

/// One line on stderr. A stderr that nobody drains holds nothing up.
pub(crate) fn complain(text: &str) {
    complain_to(io::stderr(), text);
}

/// One line for a stream that perhaps nobody drains: after [`PATIENCE`] it is given up.
pub(crate) fn complain_to(mut to: impl Write + Send + 'static, text: &str) {
    let line = format!("{text}\n");
    let (done, waiting) = sync_channel(1);
    let written = thread::Builder::new().spawn(move || {
        write(&mut to, &line);
        let _ = done.send(());
    });
    if written.is_ok() {
        let _ = waiting.recv_timeout(PATIENCE);
    }
}

/// Foreign text for one line of a terminal: what a terminal obeys, hides or reorders is escaped (`\n`,
/// `\u{9b}`); all else, quotes and backslashes included, stands as it is.
pub(crate) fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_obeyed_or_hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// [`printable`] for text whose line feeds are to stay.
pub(crate) fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// Controls, line separators, bidirectional controls, and what shows nothing (Unicode default-ignorable
/// code points).
const fn is_obeyed_or_hidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' | '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

fn write(to: &mut dyn Write, text: &str) {
    // Whoever closed the pipe does not want the rest.
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}
