//! Canaries: secrets that are none, in the target's environment, looked for in everything that it gives.
//!
//! Belongs here: their values, the spellings that are looked for. Does not belong here: sessions.

use std::ffi::OsString;
use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::launching::set;
use crate::observe::{Folder, Recorders, excerpt};
use crate::target::Snapshot;

/// Variables, and the values that they get where the caller has none of the name. Fixed: a replay finds the same.
const CANARIES: &[(&str, &str)] = &[
    ("FRAMEGATE_CANARY", "fgcanaryQ7m2Zx9LkT4vWp1R"),
    ("API_KEY", "fgcanaryB3nYc8Ht5SdJq6Ke"),
    ("SECRET_TOKEN", "fgcanaryU1rFa0Gw7PxMz2Vo"),
    ("DB_PASSWORD", "fgcanaryE9iLs4Dy6NbXt8Cj"),
];

/// How much of the line is shown in which one came out, in bytes.
const LINE_SHOWN: usize = 300;

/// The canaries that this process can be given: a variable that is set already stays what it is.
fn given(without: &[String]) -> impl Iterator<Item = (&'static str, &'static str)> {
    let is_free = |name: &str| std::env::var_os(name).is_none() && !without.iter().any(|no| no == name);
    CANARIES.iter().copied().filter(move |(name, _)| is_free(name))
}

pub(super) fn environment(without: &[String]) -> Vec<(OsString, Option<OsString>)> {
    given(without).map(|(name, value)| set(name, value.as_ref())).collect()
}

/// The first canary that came out: its variable, and where.
pub(super) fn leaked(
    without: &[String],
    bytes: &Snapshot,
    folder: &Folder,
    recorders: &Recorders,
) -> Option<(&'static str, String)> {
    given(without).find_map(|(name, value)| {
        let spellings = spellings(value);
        let holds =
            |bytes: &[u8]| spellings.iter().any(|spelling| holds_any_case(bytes, spelling.as_bytes()));
        let mut lines = bytes.stdout.split_inclusive(|byte| *byte == b'\n');
        let place = if let Some(line) = lines.find(|line| holds(line)) {
            format!("on stdout, in {}", excerpt(line, LINE_SHOWN))
        } else if holds(&bytes.stdout) {
            "on stdout, over several lines".to_owned()
        } else if holds(&bytes.stderr) {
            "on stderr".to_owned()
        } else {
            let mut looks = spellings.iter().flat_map(|spelling| recorders.sights(spelling, folder, None));
            let sight = looks.next()?;
            format!("at `{}`: {}", sight.observer, sight.what)
        };
        Some((name, place))
    })
}

/// How a value may be written: as it is, in hexadecimal, in base64 at each of the three alignments.
fn spellings(value: &str) -> Vec<String> {
    let mut hex = String::new();
    for byte in value.bytes() {
        let _ = write!(hex, "{byte:02x}");
    }
    let mut spellings = vec![value.to_owned(), hex];
    for before in 0..3_usize {
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(value.as_bytes());
        let text = STANDARD_NO_PAD.encode(&bytes);
        // The characters that also depend on what stands before and behind are left out.
        let first = [0, 2, 3].get(before).copied().unwrap_or(3);
        let last = text.len().saturating_sub(usize::from(!bytes.len().is_multiple_of(3)));
        spellings.extend(text.get(first..last).map(str::to_owned));
    }
    spellings
}

fn holds_any_case(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted))
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn every_spelling_is_found_wherever_it_stands() {
        let spellings = spellings("fgcanaryQ7m2Zx9LkT4vWp1R");
        let found = |text: &str| {
            spellings.iter().any(|spelling| holds_any_case(text.as_bytes(), spelling.as_bytes()))
        };
        for before in ["", "a", "ab", "abc", "abcd"] {
            for behind in ["", "x", "xy"] {
                let text = format!("{before}fgcanaryQ7m2Zx9LkT4vWp1R{behind}");
                assert!(found(&text));
                assert!(found(&STANDARD.encode(&text)), "{text}");
            }
        }
        assert!(found("666763616E61727951376D325A78394C6B54347657703152"));
        assert!(!found("fgcanary"));
    }
}
