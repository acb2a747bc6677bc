//! Diagnostics: one line each, to stderr or a file, never to stdout, never blocking.
//!
//! Belongs here: levels, forms, masking, the sink's thread, rotation.
//! Does not belong here: what is worth a line; lines of libraries, which could hold what they handle.
//!
//! A line holds fixed words, names from the configuration, numbers, and masked excerpts; never what a peer
//! sent, never a secret. Everything outside printable characters is escaped.

mod file;
mod line;
mod masks;
mod sink;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{self, LogFormat, LogLevel};
pub use masks::Masks;
use sink::{Output, Sink};

/// Writes lines of at least its level. Clones share one sink.
#[derive(Clone, Debug)]
pub struct Log {
    level: LogLevel,
    format: LogFormat,
    masks: Masks,
    sink: Arc<Sink>,
}

impl Log {
    /// Starts the log that the configuration asks for. `merged` says that stderr must stay silent, because
    /// it is one stream with stdout; a log file is written all the same. A file that cannot be opened is
    /// replaced by stderr, and said there: diagnostics are no reason not to serve. So is a file that is the
    /// protocol's own output.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(settings: &config::Log, merged: bool, protocol: &File) -> io::Result<Self> {
        let fallback = if merged { Output::Nowhere } else { Output::Stderr };
        let (output, fault) = match &settings.file {
            None => (fallback, None),
            Some(file) => match file::Rotating::open(file, protocol) {
                Ok(file) => (Output::File(file), None),
                Err(fault) => (fallback, Some((&file.path, fault))),
            },
        };
        let log = Self {
            level: settings.level,
            format: settings.format,
            masks: Masks::default(),
            sink: Arc::new(Sink::start(output, settings.format)?),
        };
        if let Some((path, fault)) = fault {
            log.error(&format!("the log file `{}` cannot be opened: {fault}", path.display()));
        }
        Ok(log)
    }

    /// What stops something.
    pub fn error(&self, text: &str) {
        self.line(LogLevel::Error, text);
    }

    /// What is hardly meant.
    pub fn warn(&self, text: &str) {
        self.line(LogLevel::Warn, text);
    }

    /// What was done.
    pub fn info(&self, text: &str) {
        self.line(LogLevel::Info, text);
    }

    /// How.
    pub fn debug(&self, text: &str) {
        self.line(LogLevel::Debug, text);
    }

    /// Where whoever opens a credential leaves what finds it.
    #[must_use]
    pub fn masks(&self) -> Masks {
        self.masks.clone()
    }

    /// Waits until what was said is written, at most this long.
    pub fn flush(&self, at_most: Duration) {
        self.sink.flush(at_most);
    }

    fn line(&self, level: LogLevel, text: &str) {
        if level <= self.level {
            self.sink.write(line::format(self.format, level, &self.masks.mask(text)));
        }
    }
}
