//! A whole document to a [`Config`]: every table, then what must hold between them.
//!
//! Belongs here: the order of reading, references, the gate's faults brought to their places.
//! Does not belong here: files, single tables.

use core::ops::Range;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use framegate_gate::schema::{Catalog, ToolDeclaration};
use framegate_vault::Source;

use super::document::{self, Table};
use super::fault::{Faults, Report, quoted};
use super::model::{Allow, Config, Redirects, Target, Tool};
use super::names::{self, Kind};
use super::target::Surroundings;
use super::{secret, tables, target, tool};

pub(super) const KEYS: [&str; 10] =
    ["version", "session", "limits", "journal", "log", "network", "policy", "secret", "target", "tool"];

/// What was read: the configuration, and what loading needs beside it.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) config: Config,
    /// The place that names each of the policy files.
    pub(super) policy_places: Vec<Range<usize>>,
    /// Warnings so far.
    pub(super) report: Report,
}

/// Reads the text of a configuration. Relative paths in it are relative to `base`.
///
/// # Errors
/// Every fault that was found.
pub(super) fn text(name: &str, text: &str, base: &Path) -> Result<Read, Faults> {
    let mut report = Report::default();
    if text.len() > document::MAX_BYTES {
        report.bare_error(&(0..0), "the file is larger than 1 MiB");
        return Err(report.finish(name, ""));
    }
    let read = document::parse(text, &mut report).and_then(|tree| {
        let root = Table::root(&tree);
        document(&root, base, &mut report)
    });
    match read {
        Some((config, policy_places)) if report.errors() == 0 => Ok(Read { config, policy_places, report }),
        _ => Err(report.finish(name, text)),
    }
}

fn document(root: &Table<'_>, base: &Path, report: &mut Report) -> Option<(Config, Vec<Range<usize>>)> {
    root.only(&KEYS, report);
    version(root, report);
    let session = tables::session(root, report);
    let limits = tables::limits(root, report);
    let journal = tables::journal(root, base, report);
    let log = tables::log(root, base, report);
    let (network, has_proxy) = tables::network(root, report);
    let policies = tables::policy(root, base, report);

    let secret_tables = names::tables(Kind::Secret, root, report);
    let mut secrets: BTreeMap<String, Source> = BTreeMap::new();
    for (name, table) in &secret_tables {
        if let Some(source) = secret::read(table, base, report) {
            secrets.insert((*name).to_owned(), source);
        }
    }
    let secret_names: BTreeSet<&str> = secret_tables.iter().map(|(name, _)| *name).collect();

    let target_tables = names::tables(Kind::Target, root, report);
    let targets: BTreeMap<&str, Option<Target>> = target_tables
        .iter()
        .map(|(name, table)| {
            let surroundings =
                Surroundings { base, secrets: &secret_names, proxy: network.proxy.as_ref(), has_proxy };
            (*name, target::read(table, &surroundings, report))
        })
        .collect();

    for (name, table) in &target_tables {
        target::check_redirects(name, table, &targets, report);
    }

    let tool_tables = names::tables(Kind::Tool, root, report);
    let mut tools: BTreeMap<String, Tool> = BTreeMap::new();
    let mut declared: Vec<(&Table<'_>, ToolDeclaration)> = Vec::new();
    for (name, table) in &tool_tables {
        let read = tool::read(name, table, &targets, report);
        if let Some(read) = read.filter(|_| Kind::Tool.admits(name)) {
            declared.push((table, read.declaration));
            tools.insert((*name).to_owned(), read.tool);
        }
    }
    let catalog = catalog(&declared, &tools, report);

    // With an error anywhere, a use may be in what could not be read.
    if report.errors() == 0 {
        warn_of_unused(root, &secret_tables, &target_tables, &targets, &tools, report);
    }

    let (policy_files, policy_places) = policies.into_iter().unzip::<PathBuf, _, _, _>();
    let config = Config {
        session,
        limits,
        journal,
        log,
        network,
        policy_files,
        secrets,
        targets: targets.into_iter().filter_map(|(name, target)| Some((name.to_owned(), target?))).collect(),
        tools,
        catalog: Arc::new(catalog?),
    };
    Some((config, policy_places))
}

fn version(root: &Table<'_>, report: &mut Report) {
    let Some(entry) = root.required("version", "version = 1", report) else {
        return;
    };
    let is_one = matches!(entry.value, toml::de::DeValue::Integer(integer) if integer.as_str() == "1");
    if !is_one {
        let hint = "this release reads `version = 1`";
        report.error(&entry.span, "this version of the configuration is not known", hint);
    }
}

/// Compiles all tools at once, and each that has a fault alone is reported at its place.
fn catalog(
    declared: &[(&Table<'_>, ToolDeclaration)],
    tools: &BTreeMap<String, Tool>,
    report: &mut Report,
) -> Option<Catalog> {
    let declarations = declared.iter().map(|(_, declaration)| declaration.clone()).collect();
    let catalog = match Catalog::compile(declarations) {
        Ok(catalog) => catalog,
        Err(faults) => {
            for (index, fault) in faults {
                let Some((table, _)) = declared.get(index) else {
                    continue;
                };
                // An open tool's parameters are made of its own keys.
                let keys = match fault.place.as_slice() {
                    [first, _, keys @ ..] if first == "params" && table.get("params").is_none() => keys,
                    keys => keys,
                };
                let place = table.place(keys);
                if !report.knows(&place.key) && !report.knows(&place.value) {
                    report.foreign_error(&place.value, fault.problem, fault.hint);
                }
            }
            return None;
        }
    };
    for (table, declaration) in declared {
        let reads_only = catalog.get(&declaration.name).is_some_and(|tool| tool.is_read_only());
        let allow = tools.get(&declaration.name).and_then(|tool| tool.allow);
        if let (Some(Allow::Read), false, Some(entry)) = (allow, reads_only, table.get("allow")) {
            report.error(
                &entry.span,
                "`allow = \"read\"` is for tools whose methods only read",
                "use GET, HEAD or OPTIONS, or write `allow = true`",
            );
        }
    }
    Some(catalog)
}

fn warn_of_unused(
    root: &Table<'_>,
    secret_tables: &[(&str, Table<'_>)],
    target_tables: &[(&str, Table<'_>)],
    targets: &BTreeMap<&str, Option<Target>>,
    tools: &BTreeMap<String, Tool>,
    report: &mut Report,
) {
    if tools.is_empty() {
        report.warning(&root.span, "no tool is declared", "declare one under `[tool.NAME]`");
    }
    for (name, table) in target_tables {
        let leads_here = |target: &Target| match &target.redirects {
            Redirects::Declared(others) => others.iter().any(|other| other == name),
            Redirects::None | Redirects::SameOrigin => false,
        };
        let used = tools.values().any(|tool| tool.target == *name);
        if !used && !targets.values().flatten().any(leads_here) {
            report.warning(&table.span, format!("no tool uses the target {}", quoted(name)), "remove it");
        }
    }
    for (name, table) in secret_tables {
        let users = targets.values().flatten().filter_map(|target| target.auth.as_ref());
        match users.filter(|auth| auth.secret() == *name).count() {
            0 => report.warning(
                &table.span,
                format!("no target uses the secret {}", quoted(name)),
                "remove it",
            ),
            1 => {}
            _ => report.warning(
                &table.span,
                format!("several targets get the secret {}", quoted(name)),
                "give each target a credential of its own",
            ),
        }
    }
}
