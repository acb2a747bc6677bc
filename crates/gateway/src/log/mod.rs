//! Diagnostics: one line each, to stderr or a file, never to stdout, never blocking.
//!
//! Belongs here: levels, forms, the sink's thread, rotation.
//! Does not belong here: what is worth a line; lines of libraries, which could hold what they handle.
//!
//! A line holds fixed words, names from the configuration, numbers, and masked excerpts; never what a peer
//! sent, never a secret. Everything outside printable characters is escaped.

mod file;
mod line;
mod sink;

#[cfg(test)]
mod tests;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::config::{self, LogFormat, LogLevel};
use sink::{Output, Sink};

/// The log cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Its file cannot be opened.
    #[error("cannot open the log file: {0}")]
    File(io::Error),
    /// No thread can be started.
    #[error("cannot start the log: {0}")]
    Thread(io::Error),
}

/// Writes lines of at least its level. Clones share one sink.
#[derive(Clone, Debug)]
pub struct Log {
    level: LogLevel,
    format: LogFormat,
    sink: Arc<Sink>,
}

impl Log {
    /// Starts the log that the configuration asks for. `merged` says that stderr must stay silent, because
    /// it is one stream with stdout; a log file is written all the same.
    ///
    /// # Errors
    /// [`LogError`].
    pub fn start(settings: &config::Log, merged: bool) -> Result<Self, LogError> {
        let output = match &settings.file {
            Some(file) => Output::File(file::Rotating::open(file).map_err(LogError::File)?),
            None if merged => Output::Nowhere,
            None => Output::Stderr,
        };
        let sink = Sink::start(output).map_err(LogError::Thread)?;
        Ok(Self { level: settings.level, format: settings.format, sink: Arc::new(sink) })
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

    /// Waits until what was said is written, at most this long.
    pub fn flush(&self, at_most: Duration) {
        self.sink.flush(at_most);
    }

    fn line(&self, level: LogLevel, text: &str) {
        if level <= self.level {
            self.sink.write(line::format(self.format, level, text));
        }
    }
}
