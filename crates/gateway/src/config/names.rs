//! The names that a configuration gives to its parts.
//!
//! Belongs here: which characters a name has, and which names are too alike.
//! Does not belong here: what is named.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::document::{Entry, Table};
use super::fault::{Report, quoted};

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `[secret.NAME]`
    Secret,
    /// `[target.NAME]`
    Target,
    /// `[tool.NAME]`
    Tool,
}

impl Kind {
    /// The key of the table that holds the names.
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Target => "target",
            Self::Tool => "tool",
        }
    }

    const fn rule(self) -> &'static str {
        match self {
            Self::Secret => "1 to 40 of `a-z`, `0-9`, `_` and `-`",
            Self::Target => "1 to 40 of `a-z`, `0-9` and `-`",
            Self::Tool => "1 to 40 of `a-z`, `0-9` and `_`",
        }
    }

    /// Whether `name` may stand for this.
    pub(super) fn admits(self, name: &str) -> bool {
        let extra = |byte: u8| match self {
            Self::Secret => matches!(byte, b'_' | b'-'),
            Self::Target => byte == b'-',
            Self::Tool => byte == b'_',
        };
        matches!(name.len(), 1..=40)
            && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || extra(byte))
    }
}

/// The named tables `[kind.NAME]`, in the order of the file. A badly named one is reported and still
/// read, so that its other faults are seen too.
pub(super) fn tables<'d>(kind: Kind, root: &Table<'d>, report: &mut Report) -> Vec<(&'d str, Table<'d>)> {
    let Some(entry) = root.get(kind.key()) else {
        return Vec::new();
    };
    let title = format!("[{}]", kind.key());
    if kind == Kind::Secret {
        mask_values(&entry, report);
    }
    let Some(all) = entry.table(&title, report) else {
        return Vec::new();
    };
    let mut tables = Vec::new();
    let mut seen = BTreeMap::new();
    for entry in all.entries() {
        check_name(kind, &entry, &mut seen, report);
        let DeValue::Table(_) = entry.value else {
            report.error(
                &entry.key_span,
                format!("{} stands in {title} itself", quoted(entry.key)),
                format!("put it under a name: `[{}.NAME]`", kind.key()),
            );
            continue;
        };
        let title = format!("[{}.{}]", kind.key(), super::fault::printable(entry.key));
        if let Some(table) = entry.table(&title, report) {
            tables.push((entry.key, table));
        }
    }
    tables
}

/// Whatever stands where a secret's table should may be the secret.
fn mask_values(entry: &Entry<'_>, report: &mut Report) {
    let DeValue::Table(_) = entry.value else {
        report.mask(&entry.span);
        return;
    };
    for inner in entry.table("", report).iter().flat_map(Table::entries) {
        if !matches!(inner.value, DeValue::Table(_)) {
            report.mask(&inner.span);
        }
    }
}

fn check_name<'d>(kind: Kind, entry: &Entry<'d>, seen: &mut BTreeMap<String, &'d str>, report: &mut Report) {
    if !kind.admits(entry.key) {
        report.error(
            &entry.key_span,
            format!("{} is no name for a {}", quoted(entry.key), kind.key()),
            format!("a name has {}", kind.rule()),
        );
        return;
    }
    // Tools fold wider, and their catalog says so.
    if kind != Kind::Tool
        && let Some(twin) = seen.insert(entry.key.replace('-', "_"), entry.key)
    {
        report.error(
            &entry.key_span,
            format!("`{}` and `{twin}` differ only in `-` and `_`", entry.key),
            "rename one of them",
        );
    }
}
