//! The command that runs one case again.
//!
//! Belongs here: its words, and their quoting. Does not belong here: values of an environment: a target that is from a
//! configuration is named by it.

use crate::client::Client;
use crate::options::{Call, Options, Origin};

/// The command that runs one case alone, quoted for a POSIX shell.
pub(super) fn replay(options: &Options, calls: &[Call], id: &str) -> String {
    let mut words = vec!["framegate".to_owned(), "check".to_owned(), "--only".to_owned(), quoted(id)];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    if options.client != Client::Production {
        option("--as", options.client.name());
    }
    // What the case depends on, and nothing else.
    for (name, script) in options.launches.iter().filter(|(name, _)| id == format!("launch/{name}")) {
        option("--launch", &format!("{name}={script}"));
    }
    for name in options.without_canaries.iter().filter(|_| id.starts_with("leak/")) {
        option("--no-canary", name);
    }
    if options.home.is_some() {
        words.push("--isolate".to_owned());
    }
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    if let Some(observer) = options.observer {
        option("--observer", observer.name());
    }
    if options.timeout != Options::DEFAULT_TIMEOUT {
        option("--timeout", &options.timeout.as_secs().to_string());
    }
    if options.origin == Origin::BuiltIn {
        return words.join(" ");
    }
    for call in calls {
        option("--call", &format!("{}={}", call.tool, call.arguments));
    }
    match &options.origin {
        Origin::Configuration { file, server } => {
            option("--config", &file.to_string_lossy());
            option("--server", server);
        }
        Origin::Command | Origin::BuiltIn => {
            words.push("--".to_owned());
            words.extend(options.command.iter().map(|part| quoted(&part.to_string_lossy())));
        }
    }
    words.join(" ")
}

/// A word that the shell reads as this text, in printable ASCII: the text may be another's.
pub(super) fn quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./=:@,+".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    if word.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut format = String::new();
    for byte in word.bytes() {
        match byte {
            b'%' => format.push_str("%%"),
            b'\\' => format.push_str("\\\\"),
            b' '..=b'~' if byte != b'\'' => format.push(char::from(byte)),
            _ => format.push_str(&format!("\\{byte:03o}")),
        }
    }
    format!("\"$(printf '{format}')\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell is asked what it reads.
    #[test]
    fn a_shell_reads_what_was_quoted() {
        for word in ["plain", "", "it's", "a b", "$HOME `x` \\", "\u{1b}[31m%d \\n it's \u{202e}é"] {
            let quoted = quoted(word);
            assert!(quoted.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{quoted}");
            let script = format!("printf %s {quoted}");
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word, "{quoted}");
        }
    }
}
