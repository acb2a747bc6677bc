//! `[tool.NAME.params.NAME]`: a parameter as an operator declares it.
//!
//! Belongs here: which keys each type has, and their TOML types.
//! Does not belong here: bounds of bounds, patterns, templates: the gate compiles them.

use framegate_gate::schema::{ParameterDeclaration, ParameterType};

use super::document::{Entry, Table};
use super::fault::{Report, quoted};
use super::{suggest, value};

/// The keys that every parameter has.
pub(super) const KEYS: [&str; 4] = ["type", "description", "required", "default"];

/// The types, each with its own keys.
pub(super) const TYPES: [(&str, &[&str]); 13] = [
    ("string", &["min_length", "max_length", "pattern"]),
    ("word", &["max_length", "pattern"]),
    ("int", &["min", "max", "string_form"]),
    ("number", &["min", "max"]),
    ("bool", &[]),
    ("enum", &["values"]),
    ("path", &["max_length"]),
    ("abspath", &["roots", "max_length"]),
    ("host", &[]),
    ("url", &["schemes"]),
    ("text", &["max_length"]),
    ("base64", &["max_length"]),
    ("list", &["items", "min_items", "max_items"]),
];

/// No length or count is larger; the gate has closer bounds for each type.
const COUNTS: core::ops::RangeInclusive<i64> = 0..=1_048_576;

/// The most values of an enum, roots or schemes.
const MAX_STRINGS: usize = 1000;

/// Reads one parameter. `None` if any part of it could not be read.
pub(super) fn read(name: &str, table: &Table<'_>, report: &mut Report) -> Option<ParameterDeclaration> {
    let before = report.errors();
    let kind = read_type(table, &KEYS, report);
    let description = table
        .string("description", report)
        .and_then(|text| super::tables::prose(&text, "description", 4096, report));
    let default = table.get("default").and_then(|entry| value::read(&entry, report));
    let required = table.boolean("required", report);
    if report.errors() > before {
        return None;
    }
    Some(ParameterDeclaration {
        name: name.to_owned(),
        description,
        kind: kind?,
        required: required.unwrap_or(default.is_none()),
        default,
    })
}

/// Reads `type` and the keys that belong to it; `common` are the keys that may stand beside them.
fn read_type(table: &Table<'_>, common: &[&str], report: &mut Report) -> Option<ParameterType> {
    let name = table.required("type", "type = \"word\"", report)?.string(report)?;
    let Some((_, own)) = TYPES.iter().find(|(known, _)| *known == name.text) else {
        let names = TYPES.iter().map(|(known, _)| *known);
        let hint = suggest::hint(name.text, names).unwrap_or_default();
        report.error(&name.span, "there is no such type", hint);
        return None;
    };
    refuse_foreign_keys(table, name.text, common, own, report);
    let max_length = || table.get("max_length");
    Some(match name.text {
        "string" => ParameterType::String {
            min_length: table.integer("min_length", COUNTS, report),
            max_length: max_length().and_then(|entry| entry.integer(COUNTS, report)),
            pattern: pattern(table, report),
        },
        "word" => ParameterType::Word {
            max_length: max_length().and_then(|entry| entry.integer(COUNTS, report)),
            pattern: pattern(table, report),
        },
        "int" => ParameterType::Int {
            min: table.integer("min", i64::MIN..=i64::MAX, report),
            max: table.integer("max", i64::MIN..=i64::MAX, report),
            string_form: table.boolean("string_form", report).unwrap_or(false),
        },
        "number" => ParameterType::Number {
            min: table.get("min").and_then(|entry| value::read_decimal(&entry, report)),
            max: table.get("max").and_then(|entry| value::read_decimal(&entry, report)),
        },
        "bool" => ParameterType::Bool,
        "enum" => ParameterType::Enum {
            values: strings(&table.required("values", "values = [\"open\", \"closed\"]", report)?, report)?,
        },
        "path" => {
            ParameterType::Path { max_length: max_length().and_then(|entry| entry.integer(COUNTS, report)) }
        }
        "abspath" => ParameterType::AbsPath {
            roots: strings(&table.required("roots", "roots = [\"/var/log\"]", report)?, report)?,
            max_length: max_length().and_then(|entry| entry.integer(COUNTS, report)),
        },
        "host" => ParameterType::Host,
        "url" => ParameterType::Url {
            schemes: match table.get("schemes") {
                Some(entry) => strings(&entry, report)?,
                None => vec!["https".to_owned()],
            },
        },
        "text" => {
            ParameterType::Text { max_length: max_length().and_then(|entry| entry.integer(COUNTS, report)) }
        }
        "base64" => {
            ParameterType::Base64 { max_length: max_length().and_then(|entry| entry.integer(COUNTS, report)) }
        }
        _ => ParameterType::List {
            item: Box::new(items(table, report)?),
            min_items: table.integer("min_items", COUNTS, report),
            max_items: table.integer("max_items", COUNTS, report),
        },
    })
}

fn items(table: &Table<'_>, report: &mut Report) -> Option<ParameterType> {
    let entry = table.required("items", "items = { type = \"word\" }", report)?;
    let items = entry.table("`items`", report)?;
    // Lists of lists end here, before they can nest: the gate refuses them too.
    if let Some(kind) = items.get("type")
        && matches!(kind.value, toml::de::DeValue::String(text) if text == "list")
    {
        report.bare_error(&kind.span, "a list of lists cannot be declared");
        return None;
    }
    read_type(&items, &["type"], report)
}

/// A key of another type is named as such; any other key is unknown.
fn refuse_foreign_keys(table: &Table<'_>, name: &str, common: &[&str], own: &[&str], report: &mut Report) {
    let known: Vec<&str> = common.iter().chain(own).copied().collect();
    let foreign = |key: &str| !known.contains(&key) && TYPES.iter().any(|(_, keys)| keys.contains(&key));
    let mut shown = known.clone();
    for entry in table.entries() {
        if foreign(entry.key) {
            shown.push(entry.key);
            let own = match own {
                [] => "it has no keys of its own".to_owned(),
                own => format!("it has `{}`", own.join("`, `")),
            };
            let problem = format!("`{}` has no meaning for the type `{name}`", entry.key);
            report.error(&entry.key_span, problem, own);
        }
    }
    table.only(&shown, report);
}

fn pattern(table: &Table<'_>, report: &mut Report) -> Option<String> {
    table.string("pattern", report).map(|text| text.text.to_owned())
}

fn strings(entry: &Entry<'_>, report: &mut Report) -> Option<Vec<String>> {
    let texts = entry.strings(report)?;
    if let Some(extra) = texts.get(MAX_STRINGS) {
        let problem = format!("{} has more than {MAX_STRINGS} items", quoted(entry.key));
        report.bare_error(&extra.span, problem);
        return None;
    }
    Some(texts.into_iter().map(|text| text.text.to_owned()).collect())
}
