//! A compiled parameter: its declaration with the pattern compiled and the bounds filled in.
//!
//! Belongs here: the parameter as the checker uses it.
//! Does not belong here: templates.

use std::sync::Arc;

use regex::Regex;
use serde_json::Value;

use super::open::PathPattern;
use crate::action::{Decimal, TypedValue};

/// A compiled parameter.
#[derive(Debug)]
pub struct Parameter {
    pub(super) name: Arc<str>,
    pub(super) description: Option<String>,
    pub(super) kind: Kind,
    pub(super) required: bool,
    pub(super) default: Option<TypedValue>,
    pub(super) schema: Value,
}

/// A compiled type.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    String { min: usize, max: usize, pattern: Option<Regex> },
    Word { max: usize, pattern: Option<Regex> },
    Int { min: i64, max: i64, string_form: bool },
    Number { min: Option<Decimal>, max: Option<Decimal> },
    Bool,
    Enum { values: Vec<String> },
    Path { max: usize },
    AbsPath { roots: Vec<String>, max: usize },
    Host,
    Url { schemes: Vec<String> },
    Text { max: usize },
    Base64 { max: usize },
    RequestPath { patterns: Vec<PathPattern>, texts: Vec<String> },
    Query,
    Json,
    List { item: Box<Kind>, min: usize, max: usize },
}

/// What policy and lints need to know of a parameter's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A boolean.
    Boolean,
    /// A 64-bit integer.
    Integer,
    /// A decimal with four fraction digits.
    Decimal,
    /// Text from a closed set of values or under an anchored pattern.
    ClosedText,
    /// Text of a strict grammar: word, host.
    Name,
    /// A path: relative, absolute.
    Path,
    /// A URL.
    Url,
    /// Free text.
    FreeText,
    /// A list; its items' shape is given by [`Parameter::item_shape`].
    List,
    /// A query or JSON that the agent chooses: rules see it only in the rendered request.
    Open,
}

impl Parameter {
    /// The declared name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it means, for the agent.
    #[must_use]
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// What a value must be, for people and agents.
    #[must_use]
    pub fn expectation(&self) -> String {
        self.kind.expectation()
    }

    /// Whether a call must give it.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        self.required
    }

    /// Whether every checked call has a value for it: required, or with a default.
    #[must_use]
    pub const fn is_always_present(&self) -> bool {
        self.required || self.default.is_some()
    }

    /// The shape of its values.
    #[must_use]
    pub fn shape(&self) -> Shape {
        shape(&self.kind)
    }

    /// The shape of a list's items; `None` for other types.
    #[must_use]
    pub fn item_shape(&self) -> Option<Shape> {
        match &self.kind {
            Kind::List { item, .. } => Some(shape(item)),
            Kind::String { .. }
            | Kind::Word { .. }
            | Kind::Int { .. }
            | Kind::Number { .. }
            | Kind::Bool
            | Kind::Enum { .. }
            | Kind::Path { .. }
            | Kind::AbsPath { .. }
            | Kind::Host
            | Kind::Url { .. }
            | Kind::Text { .. }
            | Kind::Base64 { .. }
            | Kind::RequestPath { .. }
            | Kind::Query
            | Kind::Json => None,
        }
    }
}

fn shape(kind: &Kind) -> Shape {
    match kind {
        Kind::Bool => Shape::Boolean,
        Kind::Int { .. } => Shape::Integer,
        Kind::Number { .. } => Shape::Decimal,
        Kind::Enum { .. } => Shape::ClosedText,
        Kind::String { pattern: Some(pattern), .. } | Kind::Word { pattern: Some(pattern), .. }
            if is_closed(pattern) =>
        {
            Shape::ClosedText
        }
        Kind::Word { .. } | Kind::Host => Shape::Name,
        Kind::Path { .. } | Kind::AbsPath { .. } | Kind::RequestPath { .. } => Shape::Path,
        Kind::Url { .. } => Shape::Url,
        Kind::String { .. } | Kind::Text { .. } | Kind::Base64 { .. } => Shape::FreeText,
        Kind::List { .. } => Shape::List,
        Kind::Query | Kind::Json => Shape::Open,
    }
}

/// Whether a pattern leaves no second spelling of a word: a case variant, a blank, a look-alike. Asked
/// by example, since it only has to catch patterns that are wide by habit.
fn is_closed(pattern: &Regex) -> bool {
    const VARIANTS: [&str; 6] = ["Prod", "PROD", "prod ", "pr od", "\u{ff50}rod", "prod\u{301}"];
    !VARIANTS.iter().any(|variant| pattern.is_match(variant))
}
