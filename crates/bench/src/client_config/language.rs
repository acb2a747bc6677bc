//! From text to tree: JSON as editors write it, TOML, YAML.
//!
//! Belongs here: which language a text is in, and where it is not. Does not belong here: what it says.
//!
//! Messages hold a position and never a line of the file: lines of such files hold secrets.

use jsonc_parser::ParseOptions;
use toml::de::{DeTable, DeValue};

use super::ConfigError;
use super::tree::Tree;

/// Comments and trailing commas are what editors allow; nothing else of JSON5 is.
const JSON: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The tree of a text. One that begins as JSON does is JSON; anything else is TOML if it can be, and YAML otherwise.
pub(super) fn tree(text: &str) -> Result<Tree, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let begins = text.trim_start();
    if ["{", "[{", "//", "/*"].iter().any(|start| begins.starts_with(start)) {
        return jsonc_parser::parse_to_serde_value(text, &JSON).map_err(|fault| ConfigError::Syntax {
            language: "JSON",
            line: fault.line_display(),
            column: fault.column_display(),
        });
    }
    let toml = match DeTable::parse(text) {
        Ok(table) => return Ok(ordered(table.into_inner())),
        Err(fault) => position(text, fault.span().map_or(0, |span| span.start)),
    };
    serde_saphyr::from_str(text).map_err(|fault| {
        let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let yaml = fault.location().map(|place| (number(place.line()), number(place.column())));
        // What it was meant to be is not known: a table's head or a `=` is no YAML, and a `key:` no TOML.
        let is_toml = begins.starts_with('[') || begins.lines().any(|line| line.starts_with('['));
        let (language, (line, column)) =
            if is_toml { ("TOML", toml) } else { ("YAML", yaml.unwrap_or((1, 1))) };
        ConfigError::Syntax { language, line, column }
    })
}

/// A table's members in the order of the file, which the parser keeps only as positions.
fn ordered(table: DeTable<'_>) -> Tree {
    let mut members: Vec<_> = table.into_iter().collect();
    members.sort_by_key(|(name, _)| name.span().start);
    let member = |(name, value): (toml::Spanned<_>, toml::Spanned<DeValue<'_>>)| {
        let name: std::borrow::Cow<'_, str> = name.into_inner();
        (name.into_owned(), value_tree(value.into_inner()))
    };
    Tree::Table(members.into_iter().map(member).collect())
}

fn value_tree(value: DeValue<'_>) -> Tree {
    match value {
        DeValue::String(text) => Tree::Text(text.into_owned()),
        DeValue::Boolean(flag) => Tree::Flag(flag),
        DeValue::Array(list) => {
            Tree::List(list.into_iter().map(|value| value_tree(value.into_inner())).collect())
        }
        DeValue::Table(table) => ordered(table),
        DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => Tree::Other,
    }
}

/// Line and column of a byte, both from 1.
fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.matches('\n').count().saturating_add(1);
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count().saturating_add(1);
    (line, column)
}
