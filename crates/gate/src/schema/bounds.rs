//! From a declared parameter to a compiled one: bounds, patterns, values, defaults.
//!
//! Belongs here: what can be wrong with one parameter on its own.
//! Does not belong here: templates, calls.

use framegate_wire::Limits;
use framegate_wire::json::Parser;
use regex::Regex;

use super::declaration::{DeclarationFault, ParameterDeclaration, ParameterType};
use super::open::PathPattern;
use super::parameter::{Kind, Parameter};
use super::pattern;
use super::publish::parameter_schema;
use super::text::{is_line, is_plain_segment};
use crate::action::Decimal;

/// Greatest lengths, in bytes.
const MAX_STRING: usize = 4_096;
const MAX_WORD: usize = 128;
const MAX_PATH: usize = 1_024;
const MAX_TEXT: usize = 1_048_576;
const MAX_ITEMS: usize = 1_000;

/// A fault in one key of a parameter.
struct Fault {
    /// The keys that lead to it within the parameter's table.
    place: Vec<&'static str>,
    problem: String,
    hint: Option<&'static str>,
}

fn fault<T>(key: &'static str, problem: impl Into<String>, hint: Option<&'static str>) -> Result<T, Fault> {
    Err(Fault { place: vec![key], problem: problem.into(), hint })
}

/// Compiles a parameter.
pub(super) fn compile_parameter(
    declaration: ParameterDeclaration,
) -> Result<Parameter, Vec<DeclarationFault>> {
    let ParameterDeclaration { name, description, kind, required, default } = declaration;
    let place = |Fault { place, problem, hint }: Fault| {
        let place: Vec<_> = ["params", &name].into_iter().chain(place).collect();
        vec![DeclarationFault::new(&place, problem, hint)]
    };
    if !is_parameter_name(&name) {
        return Err(place(Fault {
            place: Vec::new(),
            problem: format!("`{}` is no parameter name", name.escape_default()),
            hint: Some("use a letter, then up to 63 letters, digits and `_`"),
        }));
    }
    if required && default.is_some() {
        return Err(place(Fault {
            place: vec!["default"],
            problem: "a required parameter has no use for a default".to_owned(),
            hint: Some("remove `required` or `default`"),
        }));
    }
    let kind = compile_kind(kind).map_err(place)?;
    let typed = match &default {
        None => None,
        Some(default) => Some(check_default(&kind, default).map_err(place)?),
    };
    let schema = parameter_schema(&kind, description.as_deref(), default.as_ref());
    Ok(Parameter { name: name.into(), description, kind, required, default: typed, schema })
}

/// `[A-Za-z][A-Za-z0-9_]{0,63}`: no `__` names that policy languages give a meaning (attack A3).
fn is_parameter_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// A default passes the same check as an argument.
fn check_default(kind: &Kind, default: &serde_json::Value) -> Result<crate::action::TypedValue, Fault> {
    let mut parser = Parser::new(&Limits::default());
    let text = default.to_string();
    let checked = parser
        .parse_text(&text)
        .map_err(framegate_wire::Refusal::reason)
        .and_then(|document| kind.check(document.root()).map_err(|misfit| misfit.reason));
    checked.or_else(|reason| {
        fault(
            "default",
            format!("the default does not fit its own type ({reason}): expected {}", kind.expectation()),
            None,
        )
    })
}

fn compile_kind(declared: ParameterType) -> Result<Kind, Fault> {
    Ok(match declared {
        ParameterType::String { min_length, max_length, pattern } => {
            let max = at_most("max_length", max_length, 1_024, MAX_STRING)?;
            let min = min_length.unwrap_or(0);
            if min > max {
                return fault("min_length", "`min_length` is above `max_length`", None);
            }
            Kind::String { min, max, pattern: compile_pattern(pattern)? }
        }
        ParameterType::Word { max_length, pattern } => Kind::Word {
            max: at_most("max_length", max_length, MAX_WORD, MAX_WORD)?,
            pattern: compile_pattern(pattern)?,
        },
        ParameterType::Int { min, max, string_form } => {
            let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
            if min > max {
                return fault("min", "`min` is above `max`", None);
            }
            Kind::Int { min, max, string_form }
        }
        ParameterType::Number { min, max } => {
            let (min, max) = (decimal("min", min)?, decimal("max", max)?);
            if matches!((min, max), (Some(min), Some(max)) if min > max) {
                return fault("min", "`min` is above `max`", None);
            }
            Kind::Number { min, max }
        }
        ParameterType::Bool => Kind::Bool,
        ParameterType::Enum { values } => Kind::Enum { values: enum_values(values)? },
        ParameterType::Path { max_length } => {
            Kind::Path { max: at_most("max_length", max_length, MAX_PATH, MAX_PATH)? }
        }
        ParameterType::AbsPath { roots, max_length } => {
            let is_root = |root: &String| {
                root.strip_prefix('/')
                    .is_some_and(|rest| rest.trim_end_matches('/').split('/').all(is_plain_segment))
            };
            if roots.is_empty() || !roots.iter().all(is_root) {
                return fault(
                    "roots",
                    "`roots` needs at least one absolute path of plain segments",
                    Some("such as `/var/log`"),
                );
            }
            Kind::AbsPath { roots, max: at_most("max_length", max_length, MAX_PATH, MAX_PATH)? }
        }
        ParameterType::Host => Kind::Host,
        ParameterType::Url { schemes } => {
            let is_scheme =
                |scheme: &String| !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_lowercase());
            if schemes.is_empty() || !schemes.iter().all(is_scheme) {
                return fault(
                    "schemes",
                    "`schemes` needs at least one lower-case scheme",
                    Some("such as `https`"),
                );
            }
            Kind::Url { schemes }
        }
        ParameterType::Text { max_length } => {
            Kind::Text { max: at_most("max_length", max_length, 4_096, MAX_TEXT)? }
        }
        ParameterType::Base64 { max_length } => {
            Kind::Base64 { max: at_most("max_length", max_length, 65_536, MAX_TEXT)? }
        }
        ParameterType::RequestPath { patterns: texts } => {
            if texts.is_empty() {
                return fault("paths", "`paths` needs at least one pattern", Some("such as `/items/**`"));
            }
            let patterns = texts.iter().map(|text| {
                PathPattern::read(text).or_else(|problem| {
                    fault("paths", format!("`{}`: {problem}", text.escape_default()), None)
                })
            });
            Kind::RequestPath { patterns: patterns.collect::<Result<_, _>>()?, texts }
        }
        ParameterType::Query => Kind::Query,
        ParameterType::Json => Kind::Json,
        ParameterType::List { item, min_items, max_items } => {
            let item = compile_kind(*item).map_err(|mut found| {
                found.place.insert(0, "items");
                found
            })?;
            if matches!(item, Kind::List { .. } | Kind::RequestPath { .. } | Kind::Query | Kind::Json) {
                return fault("items", "a list of lists cannot be declared", None);
            }
            let max = at_most("max_items", max_items, 100, MAX_ITEMS)?;
            let min = min_items.unwrap_or(0);
            if min > max {
                return fault("min_items", "`min_items` is above `max_items`", None);
            }
            Kind::List { item: Box::new(item), min, max }
        }
    })
}

fn at_most(key: &'static str, given: Option<usize>, default: usize, ceiling: usize) -> Result<usize, Fault> {
    match given {
        None => Ok(default),
        Some(value) if (1..=ceiling).contains(&value) => Ok(value),
        Some(_) => fault(key, format!("`{key}` must be from 1 to {ceiling}"), None),
    }
}

fn decimal(key: &'static str, text: Option<String>) -> Result<Option<Decimal>, Fault> {
    let Some(text) = text else { return Ok(None) };
    match Decimal::from_json_token(&text) {
        Some(bound) => Ok(Some(bound)),
        None => {
            fault(key, format!("`{key}` needs at most four fraction digits and fifteen digits in all"), None)
        }
    }
}

fn enum_values(values: Vec<String>) -> Result<Vec<String>, Fault> {
    if values.is_empty() {
        return fault("values", "`values` needs at least one value", None);
    }
    for (index, value) in values.iter().enumerate() {
        if value.len() > 256 || !is_line(value) {
            return fault(
                "values",
                format!("`{}` cannot be a value", value.escape_default()),
                Some("use one line of text, at most 256 bytes, without invisible characters"),
            );
        }
        if values.iter().take(index).any(|other| other == value) {
            return fault("values", format!("`{value}` is listed twice"), None);
        }
    }
    Ok(values)
}

fn compile_pattern(pattern: Option<String>) -> Result<Option<Regex>, Fault> {
    let compiled = pattern.as_deref().map(pattern::compile).transpose();
    compiled.or_else(|found| fault("pattern", found.problem(), found.hint()))
}
