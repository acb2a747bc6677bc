//! Does a text look like a secret that somebody wrote into the configuration?
//!
//! Belongs here: words for secrets, and the public prefixes of well-known tokens.
//! Does not belong here: where secrets come from.
//!
//! This is a net for slips, not a proof: a configuration is no place for any secret.

use core::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::Report;

/// What to write instead of a secret.
pub(super) const HINT: &str = "keep secrets out of this file: declare `[secret.NAME]` with \
    `source = \"env:VARIABLE\"` or `\"file:/path\"`, and name it in the target's `auth`";

/// Names that carry a secret when they have a literal value.
const NAMES: [&str; 18] = [
    "access_token",
    "api_key",
    "apikey",
    "auth_token",
    "authorization",
    "bearer",
    "client_secret",
    "cookie",
    "credential",
    "credentials",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "private_token",
    "pwd",
    "secret",
    "token",
];

/// Words that make a longer name a likely secret.
const WORDS: [&str; 8] =
    ["apikey", "api_key", "authorization", "cookie", "credential", "passw", "secret", "token"];

/// The fixed beginnings of tokens, as their makers publish them.
const PREFIXES: [&str; 27] = [
    "AIza",
    "AKIA",
    "ASIA",
    "Basic ",
    "Bearer ",
    "SG.",
    "dop_v1_",
    "eyJ",
    "ghp_",
    "gho_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "hvs.",
    "npm_",
    "pypi-",
    "rk_live_",
    "sk-",
    "sk_live_",
    "token ",
    "xoxa-",
    "xoxb-",
    "xoxp-",
    "xoxs-",
    "ya29.",
];

/// Whether a key, member or header of this name holds a secret when its value is literal.
pub(super) fn is_secret_name(name: &str) -> bool {
    NAMES.contains(&fold(name).as_str())
}

/// Whether the value of this name should not be shown.
pub(super) fn may_hold_secret(name: &str) -> bool {
    let name = fold(name);
    WORDS.iter().any(|word| name.contains(word)) || NAMES.contains(&name.as_str())
}

/// Whether a text has the form of a well-known kind of token or key.
pub(super) fn looks_like_secret(text: &str) -> bool {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY-----") {
        return true;
    }
    PREFIXES.iter().any(|prefix| {
        text.strip_prefix(prefix).is_some_and(|rest| {
            let opaque = |byte: u8| {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'=' | b'/' | b'+')
            };
            rest.len() >= 12 && rest.bytes().all(opaque)
        })
    })
}

/// Masks every string that may be a secret, and refuses those that look like one, anywhere.
pub(super) fn sweep(table: &DeTable<'_>, report: &mut Report) {
    for (key, value) in table {
        sweep_value(key.get_ref(), value, report);
    }
}

/// Masks what follows a secret's name on its line. For a text that is no TOML, so that a token on a
/// faulty line is not shown either.
pub(super) fn sweep_lines(text: &str, report: &mut Report) {
    let mut start: usize = 0;
    let mut inside = false;
    for line in text.split_inclusive('\n') {
        let end = start.saturating_add(line.len());
        let value = line.find('=').map_or(0, |equals| equals.saturating_add(1));
        let rest = line.get(value..).unwrap_or_default();
        let has_token = PREFIXES.iter().any(|prefix| rest.contains(prefix));
        let is_named = value > 0 && (may_hold_secret(line) || line.contains("source"));
        if inside {
            report.mask(&(start..end));
        } else if has_token || is_named {
            report.mask(&(start.saturating_add(value)..end));
        }
        // A string of several lines that began with a secret goes on to its end.
        let quotes = rest.matches("'''").count().saturating_add(rest.matches("\"\"\"").count());
        if (inside || is_named) && quotes % 2 == 1 {
            inside = !inside;
        }
        start = end;
    }
}

fn sweep_value(key: &str, value: &Spanned<DeValue<'_>>, report: &mut Report) {
    match value.get_ref() {
        DeValue::String(text) => sweep_string(key, text, &value.span(), report),
        DeValue::Array(items) => {
            for item in items {
                sweep_value(key, item, report);
            }
        }
        DeValue::Table(table) => sweep(table, report),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) | DeValue::Datetime(_) => {}
    }
}

fn sweep_string(key: &str, text: &str, span: &Range<usize>, report: &mut Report) {
    if looks_like_secret(text) {
        report.mask(span);
        report.error(span, "this looks like a secret", HINT);
    } else if may_hold_secret(key) && key != "secret" && !text.contains('{') {
        // A target's `secret` is a name, and is masked by its reader if it is not one.
        report.mask(span);
    }
}

fn fold(name: &str) -> String {
    let name = name.to_ascii_lowercase().replace('-', "_");
    name.strip_prefix("x_").map(str::to_owned).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_tokens_are_recognised_and_prose_is_not() {
        for text in [
            "ghp_0123456789abcdefghij",
            "Bearer abcdefabcdef0123",
            "sk-abcdefghijklmnop",
            "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
        ] {
            assert!(looks_like_secret(text), "{text}");
        }
        for text in ["Bearer of bad news, for all", "sk-short", "framegate", "ghp_ is a prefix of tokens"] {
            assert!(!looks_like_secret(text), "{text}");
        }
    }

    #[test]
    fn secret_names_are_found_under_any_spelling() {
        assert!(["token", "X-Api-Key", "Client-Secret"].iter().all(|name| is_secret_name(name)));
        assert!(!["x-atlassian-token", "tokens", "key"].iter().any(|name| is_secret_name(name)));
        assert!(may_hold_secret("x-atlassian-token"));
    }
}
