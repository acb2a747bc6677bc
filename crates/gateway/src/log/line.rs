//! The form of a line.
//!
//! Belongs here: text and JSON, both on one line.
//! Does not belong here: where lines go.

use std::time::{SystemTime, UNIX_EPOCH};

use framegate_wire::frame::write_line;
use serde_json::json;

use crate::config::{LogFormat, LogLevel};

/// One line with its LF.
pub(super) fn format(format: LogFormat, level: LogLevel, text: &str) -> Vec<u8> {
    let level = name(level);
    match format {
        LogFormat::Text => {
            let mut line = format!("framegate: {level}: ");
            for character in text.chars() {
                // Quotes and backslashes are printable; escaping them would only blur excerpts.
                if matches!(character, '"' | '\'' | '\\') {
                    line.push(character);
                } else {
                    line.extend(character.escape_debug());
                }
            }
            line.push('\n');
            line.into_bytes()
        }
        LogFormat::Json => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let milliseconds = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
            let mut line = Vec::new();
            // A value always has a text.
            let _ = write_line(&mut line, &json!({"unix_ms": milliseconds, "level": level, "message": text}));
            line
        }
    }
}

const fn name(level: LogLevel) -> &'static str {
    match level {
        LogLevel::Error => "error",
        LogLevel::Warn => "warn",
        LogLevel::Info => "info",
        LogLevel::Debug => "debug",
    }
}
