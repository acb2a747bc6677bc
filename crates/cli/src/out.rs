//! What commands say to people.
//!
//! Belongs here: whole texts to stdout and stderr; a reader that is gone is no error and no panic.
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
    let line = format!("{text}\n");
    let (done, waiting) = sync_channel(1);
    let written = thread::Builder::new().spawn(move || {
        write(&mut io::stderr().lock(), &line);
        let _ = done.send(());
    });
    if written.is_ok() {
        let _ = waiting.recv_timeout(PATIENCE);
    }
}

fn write(to: &mut dyn Write, text: &str) {
    // Whoever closed the pipe does not want the rest.
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}
