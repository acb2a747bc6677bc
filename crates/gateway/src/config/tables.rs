//! The small tables: `[session]`, `[limits]`, `[journal]`, `[log]`, `[network]`, `[policy]`.
//!
//! Belongs here: their keys, bounds and defaults.
//! Does not belong here: targets, tools, secrets.

use core::ops::Range;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use framegate_wire::Limits;
use framegate_wire::message::Revision;

use super::document::{Entry, Table, Text};
use super::fault::Report;
use super::model::{
    Journal, LimitSettings, Log, LogFile, LogFormat, LogLevel, Network, OnInvalidFrame, ResolverChoice,
    Session,
};
use super::{path, proxy, suggest};
use crate::net::resolve::Resolver;

pub(super) const SESSION: [&str; 5] =
    ["client", "on_invalid_frame", "revisions", "allow_record", "instructions"];
pub(super) const LIMITS: [&str; 9] = [
    "max_frame_bytes",
    "max_depth",
    "max_members",
    "max_nodes",
    "max_refusals",
    "max_concurrent",
    "max_queued",
    "grace_seconds",
    "permit_seconds",
];
pub(super) const JOURNAL: [&str; 3] = ["dir", "sync", "max_refusal_bytes"];
pub(super) const LOG: [&str; 5] = ["level", "format", "file", "max_bytes", "keep"];
pub(super) const NETWORK: [&str; 2] = ["resolver", "proxy"];
pub(super) const POLICY: [&str; 1] = ["files"];

const LEVELS: [(&str, LogLevel); 4] = [
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
];
const FORMATS: [(&str, LogFormat); 2] = [("text", LogFormat::Text), ("json", LogFormat::Json)];
const ON_INVALID_FRAME: [(&str, OnInvalidFrame); 2] =
    [("close", OnInvalidFrame::Close), ("continue", OnInvalidFrame::Continue)];

/// `[session]`
pub(super) fn session(root: &Table<'_>, report: &mut Report) -> Session {
    let mut session = Session {
        client: "default".to_owned(),
        on_invalid_frame: OnInvalidFrame::Close,
        revisions: Revision::ALL.to_vec(),
        allow_record: false,
        instructions: None,
    };
    let Some(table) = root.table("session", report) else {
        return session;
    };
    table.only(&SESSION, report);
    if let Some(client) = table.string("client", report) {
        if is_client_name(client.text) {
            client.text.clone_into(&mut session.client);
        } else {
            report.error(
                &client.span,
                "`client` is no client name",
                "a name has 1 to 64 of `A-Z`, `a-z`, `0-9`, `.`, `_` and `-`",
            );
        }
    }
    if let Some(choice) = choice(&table, "on_invalid_frame", &ON_INVALID_FRAME, report) {
        session.on_invalid_frame = choice;
    }
    if let Some(revisions) = table.get("revisions").and_then(|entry| revisions(&entry, report)) {
        session.revisions = revisions;
    }
    session.allow_record = table.boolean("allow_record", report).unwrap_or(false);
    session.instructions =
        table.string("instructions", report).and_then(|text| prose(&text, "instructions", 16_384, report));
    session
}

/// Whether `text` may be a policy principal: `[A-Za-z0-9._-]{1,64}`.
#[must_use]
pub fn is_client_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    matches!(text.len(), 1..=64) && text.bytes().all(allowed)
}

/// Text for an agent: not empty, at most `max` bytes, no control characters but line feed and tab. A
/// line end of the file is a line feed.
pub(super) fn prose(text: &Text<'_>, key: &str, max: usize, report: &mut Report) -> Option<String> {
    let prose = text.text.replace("\r\n", "\n");
    if prose.trim().is_empty() {
        report.error(&text.span, format!("`{key}` is empty"), "say it in a sentence");
    } else if prose.len() > max {
        report.bare_error(&text.span, format!("`{key}` is longer than {max} bytes"));
    } else if prose.chars().any(|character| character.is_control() && !matches!(character, '\n' | '\t')) {
        report.bare_error(&text.span, format!("`{key}` holds a control character"));
    } else {
        return Some(prose);
    }
    None
}

/// `[limits]`
pub(super) fn limits(root: &Table<'_>, report: &mut Report) -> LimitSettings {
    let mut limits = LimitSettings {
        wire: Limits::default(),
        max_refusals: 16,
        max_concurrent: 8,
        max_queued: 64,
        grace: Duration::from_secs(5),
        permit_lifetime: Duration::from_secs(60),
    };
    let Some(table) = root.table("limits", report) else {
        return limits;
    };
    table.only(&LIMITS, report);
    let frame_ceiling = i64::try_from(Limits::MAX_FRAME_CEILING).unwrap_or(i64::MAX);
    set(&mut limits.wire.max_frame, table.integer("max_frame_bytes", 1024..=frame_ceiling, report));
    set(&mut limits.wire.max_depth, table.integer("max_depth", 8..=256, report));
    set(&mut limits.wire.max_members, table.integer("max_members", 64..=1_000_000, report));
    set(&mut limits.wire.max_nodes, table.integer("max_nodes", 256..=10_000_000, report));
    set(&mut limits.max_refusals, table.integer("max_refusals", 1..=1_000_000, report));
    set(&mut limits.max_concurrent, table.integer("max_concurrent", 1..=256, report));
    set(&mut limits.max_queued, table.integer("max_queued", 0..=10_000, report));
    set(&mut limits.grace, seconds(&table, "grace_seconds", 0..=300, report));
    set(&mut limits.permit_lifetime, seconds(&table, "permit_seconds", 1..=3600, report));
    limits
}

/// `[journal]`
pub(super) fn journal(root: &Table<'_>, base: &Path, report: &mut Report) -> Journal {
    let mut journal = Journal { dir: base.join("journal"), sync: true, max_refusal_bytes: 16 * 1024 * 1024 };
    let Some(table) = root.table("journal", report) else {
        return journal;
    };
    table.only(&JOURNAL, report);
    let dir = table.string("dir", report);
    set(&mut journal.dir, dir.and_then(|text| path::read(&text, base, report)));
    set(&mut journal.sync, table.boolean("sync", report));
    let bytes = table.integer("max_refusal_bytes", 65_536..=1_073_741_824, report);
    set(&mut journal.max_refusal_bytes, bytes);
    journal
}

/// `[log]`
pub(super) fn log(root: &Table<'_>, base: &Path, report: &mut Report) -> Log {
    let mut log = Log { level: LogLevel::Info, format: LogFormat::Text, file: None };
    let Some(table) = root.table("log", report) else {
        return log;
    };
    table.only(&LOG, report);
    set(&mut log.level, choice(&table, "level", &LEVELS, report));
    set(&mut log.format, choice(&table, "format", &FORMATS, report));
    let max_bytes = table.integer("max_bytes", 65_536..=1_073_741_824, report);
    let keep = table.integer("keep", 0..=100, report);
    if let Some(file) = table.string("file", report) {
        log.file = path::read(&file, base, report).map(|path| LogFile {
            path,
            max_bytes: max_bytes.unwrap_or(10 * 1024 * 1024),
            keep: keep.unwrap_or(3),
        });
    } else if table.get("file").is_none() {
        for key in ["max_bytes", "keep"] {
            if let Some(entry) = table.get(key) {
                let problem = format!("`{key}` needs `file`: standard error is not rotated");
                report.error(&entry.key_span, problem, "name a `file`, or remove it");
            }
        }
    }
    log
}

/// `[network]`, and whether it names a proxy, sound or not.
pub(super) fn network(root: &Table<'_>, report: &mut Report) -> (Network, bool) {
    let mut network = Network { resolver: ResolverChoice::System, proxy: None };
    let Some(table) = root.table("network", report) else {
        return (network, false);
    };
    table.only(&NETWORK, report);
    if let Some(entry) = table.get("resolver") {
        set(&mut network.resolver, resolver(&entry, report));
    }
    let proxy = table.get("proxy");
    network.proxy = proxy.as_ref().and_then(|entry| proxy::read(entry, report));
    (network, proxy.is_some())
}

/// `[policy]`: each file with the place that names it.
pub(super) fn policy(root: &Table<'_>, base: &Path, report: &mut Report) -> Vec<(PathBuf, Range<usize>)> {
    let Some(table) = root.table("policy", report) else {
        return Vec::new();
    };
    table.only(&POLICY, report);
    let Some(files) = table.get("files").and_then(|entry| entry.strings(report)) else {
        return Vec::new();
    };
    if let Some(extra) = files.get(64) {
        report.bare_error(&extra.span, "`files` names more than 64 files");
    }
    let mut read: Vec<(PathBuf, Range<usize>)> = Vec::new();
    for text in files.iter().take(64) {
        let Some(path) = path::read(text, base, report) else {
            continue;
        };
        if read.iter().any(|(other, _)| *other == path) {
            report.error(&text.span, "the file is named twice", "remove one of them");
        }
        read.push((path, text.span.clone()));
    }
    read
}

/// Whole seconds within bounds.
pub(super) fn seconds(
    table: &Table<'_>,
    key: &str,
    bounds: core::ops::RangeInclusive<i64>,
    report: &mut Report,
) -> Option<Duration> {
    table.integer(key, bounds, report).map(Duration::from_secs)
}

/// Replaces a default by what was given.
pub(super) fn set<T>(setting: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *setting = given;
    }
}

fn choice<T: Copy>(table: &Table<'_>, key: &str, choices: &[(&str, T)], report: &mut Report) -> Option<T> {
    let text = table.string(key, report)?;
    let found = choices.iter().find(|(name, _)| *name == text.text).map(|(_, value)| *value);
    if found.is_none() {
        let names = choices.iter().map(|(name, _)| *name);
        let problem = format!("`{key}` has no such value");
        match suggest::hint(text.text, names) {
            Some(hint) => report.error(&text.span, problem, hint),
            None => report.bare_error(&text.span, problem),
        }
    }
    found
}

fn revisions(entry: &Entry<'_>, report: &mut Report) -> Option<Vec<Revision>> {
    let texts = entry.strings(report)?;
    if entry.array(report)?.is_empty() {
        report.error(&entry.span, "`revisions` is empty", "name one, or leave it out for all");
    }
    let mut revisions = Vec::new();
    for text in &texts {
        match Revision::from_name(text.text) {
            None => {
                let hint = suggest::hint(text.text, Revision::ALL.iter().map(|revision| revision.name()));
                report.error(&text.span, "this is no revision that is served", hint.unwrap_or_default());
            }
            Some(revision) if revisions.contains(&revision) => {
                report.error(&text.span, "the revision is named twice", "remove one of them");
            }
            Some(revision) => revisions.push(revision),
        }
    }
    revisions.sort_unstable();
    (!revisions.is_empty()).then_some(revisions)
}

fn resolver(entry: &Entry<'_>, report: &mut Report) -> Option<ResolverChoice> {
    const HINT: &str = "write `\"system\"`, or an array such as `[\"192.0.2.53:53\"]`";
    if let toml::de::DeValue::String(text) = entry.value {
        if text == "system" {
            return Some(ResolverChoice::System);
        }
        report.error(&entry.span, "`resolver` has no such value", HINT);
        return None;
    }
    let toml::de::DeValue::Array(_) = entry.value else {
        return entry.wrong_type("`\"system\"` or an array", report);
    };
    let texts = entry.strings(report)?;
    if texts.is_empty() || texts.len() > Resolver::MAX_SERVERS {
        let problem = format!("`resolver` must name 1 to {} servers", Resolver::MAX_SERVERS);
        report.error(&entry.span, problem, HINT);
        return None;
    }
    let mut servers = Vec::new();
    for text in &texts {
        let server: Option<SocketAddr> = text.text.parse().ok();
        match server.filter(|server| server.to_string() == text.text && server.port() != 0) {
            Some(server) => servers.push(server),
            None => report.error(
                &text.span,
                "this is no address and port of a name server",
                "write `192.0.2.53:53` or `[2001:db8::53]:53`",
            ),
        }
    }
    (servers.len() == texts.len()).then_some(ResolverChoice::Servers(servers))
}
