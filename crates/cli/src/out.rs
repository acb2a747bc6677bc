//! What commands say to people.
//!
//! Belongs here: whole texts to stdout and stderr; a reader that is gone is no error and no panic.
//! Does not belong here: a session's stdout, which is never written from here.

use std::io::{self, Write};

/// One line on stdout.
pub(crate) fn line(text: &str) {
    write(&mut io::stdout().lock(), &format!("{text}\n"));
}

/// Text that brings its own line ends, on stdout.
pub(crate) fn text(text: &str) {
    write(&mut io::stdout().lock(), text);
}

/// One line on stderr.
pub(crate) fn complain(text: &str) {
    write(&mut io::stderr().lock(), &format!("{text}\n"));
}

fn write(to: &mut dyn Write, text: &str) {
    // Whoever closed the pipe does not want the rest.
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}
