//! Templates as compiled: where each parameter goes in a request.
//!
//! Belongs here: the compiled form and the placeholder grammar.
//! Does not belong here: which types may stand where, rendering.

use std::sync::Arc;

use serde_json::{Number, Value};

use crate::action::{Method, Origin};

/// A piece of a text template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Literal(String),
    Parameter(Arc<str>),
}

/// Text with placeholders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextTemplate(pub(super) Vec<Piece>);

impl TextTemplate {
    /// Reads `{name}` as a placeholder, `{{` and `}}` as braces.
    pub(super) fn read(text: &str) -> Result<Self, &'static str> {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut characters = text.chars().peekable();
        while let Some(character) = characters.next() {
            match character {
                '{' if characters.next_if_eq(&'{').is_some() => literal.push('{'),
                '}' if characters.next_if_eq(&'}').is_some() => literal.push('}'),
                '}' => return Err("a `}` without its `{`; a literal brace is written `}}`"),
                '{' => {
                    let mut name = String::new();
                    loop {
                        match characters.next() {
                            Some('}') => break,
                            Some(character) if character.is_ascii_alphanumeric() || character == '_' => {
                                name.push(character)
                            }
                            Some(_) | None => {
                                return Err("a placeholder is `{name}`; a literal brace is written `{{`");
                            }
                        }
                    }
                    if !literal.is_empty() {
                        pieces.push(Piece::Literal(core::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Parameter(name.into()));
                }
                _ => literal.push(character),
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Self(pieces))
    }

    /// The one parameter that is the whole template.
    pub(super) fn whole_parameter(&self) -> Option<&Arc<str>> {
        match self.0.as_slice() {
            [Piece::Parameter(name)] => Some(name),
            _ => None,
        }
    }

    /// The parameters in it.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &Arc<str>> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Parameter(name) => Some(name),
            Piece::Literal(_) => None,
        })
    }
}

/// One segment of a path template, or a path parameter that stands for several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SegmentTemplate {
    Literal(String),
    Text(TextTemplate),
    Path(Arc<str>),
    /// The whole path of an open tool.
    Request(Arc<str>),
}

/// A node of a JSON body template.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BodyTemplate {
    Null,
    Boolean(bool),
    Number(Number),
    Text(TextTemplate),
    Array(Vec<BodyTemplate>),
    Object(Vec<(String, BodyTemplate)>),
}

impl BodyTemplate {
    pub(super) fn read(tree: &Value) -> Result<Self, (Vec<String>, &'static str)> {
        let under = |key: String| {
            move |(mut place, problem): (Vec<String>, &'static str)| {
                place.insert(0, key);
                (place, problem)
            }
        };
        Ok(match tree {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Boolean(*value),
            Value::Number(value) => Self::Number(value.clone()),
            Value::String(text) => {
                Self::Text(TextTemplate::read(text).map_err(|problem| (Vec::new(), problem))?)
            }
            Value::Array(items) => Self::Array(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| Self::read(item).map_err(under(index.to_string())))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(members) => Self::Object(
                members
                    .iter()
                    .map(|(name, value)| Ok((name.clone(), Self::read(value).map_err(under(name.clone()))?)))
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    /// Calls `visit` for every text template in it, with the keys that lead there.
    pub(super) fn visit_texts<'a>(
        &'a self,
        place: &mut Vec<String>,
        visit: &mut dyn FnMut(&[String], &'a TextTemplate),
    ) {
        match self {
            Self::Null | Self::Boolean(_) | Self::Number(_) => {}
            Self::Text(text) => visit(place, text),
            Self::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    place.push(index.to_string());
                    item.visit_texts(place, visit);
                    place.pop();
                }
            }
            Self::Object(members) => {
                for (name, value) in members {
                    place.push(name.clone());
                    value.visit_texts(place, visit);
                    place.pop();
                }
            }
        }
    }
}

/// A body as compiled.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BodySource {
    Json {
        content_type: Arc<str>,
        tree: BodyTemplate,
    },
    Form(Vec<(String, TextTemplate)>),
    Text {
        content_type: Arc<str>,
        text: TextTemplate,
    },
    /// A base64 parameter.
    Binary {
        content_type: Arc<str>,
        parameter: Arc<str>,
    },
    /// A path parameter: a file beneath the root.
    File {
        content_type: Arc<str>,
        root: Arc<str>,
        parameter: Arc<str>,
    },
}

impl BodySource {
    /// The one parameter that is the whole body.
    pub(super) fn whole_parameter(&self) -> Option<&Arc<str>> {
        match self {
            Self::Json { tree: BodyTemplate::Text(text), .. } | Self::Text { text, .. } => {
                text.whole_parameter()
            }
            Self::Binary { parameter, .. } | Self::File { parameter, .. } => Some(parameter),
            Self::Json { .. } | Self::Form(_) => None,
        }
    }
}

/// How the method is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MethodTemplate {
    Literal(Method),
    /// An enum parameter whose values are all methods.
    Parameter {
        name: Arc<str>,
        safe: bool,
    },
}

/// A compiled request template.
#[derive(Clone, Debug)]
pub(super) struct HttpTemplate {
    pub(super) target: Arc<str>,
    pub(super) origin: Origin,
    pub(super) method: MethodTemplate,
    pub(super) path: Vec<SegmentTemplate>,
    pub(super) query: Vec<(String, TextTemplate)>,
    /// The query parameter of an open tool, and the names that it may not hold, folded.
    pub(super) open_query: Option<(Arc<str>, Vec<String>)>,
    pub(super) headers: Vec<(String, TextTemplate)>,
    pub(super) body: Option<BodySource>,
    /// The parameter that asks for the rest of a stored answer.
    pub(super) cursor: Option<Arc<str>>,
    /// The root beneath which an answer is saved, and the path parameter that names the file.
    pub(super) save: Option<(Arc<str>, Arc<str>)>,
    /// Where redirects may lead.
    pub(super) redirects: Vec<(Arc<str>, Origin)>,
}

impl HttpTemplate {
    pub(super) fn target(&self) -> &str {
        &self.target
    }

    pub(super) const fn saves_file(&self) -> bool {
        self.save.is_some()
    }

    pub(super) const fn sends_file(&self) -> bool {
        matches!(self.body, Some(BodySource::File { .. }))
    }

    pub(super) const fn is_safe(&self) -> bool {
        match &self.method {
            MethodTemplate::Literal(method) => method.is_safe(),
            MethodTemplate::Parameter { safe, .. } => *safe,
        }
    }
}
