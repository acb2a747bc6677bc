//! Rendering: from checked arguments to the action, without looking at anything else.
//!
//! Belongs here: putting values into templates, and the check that the result keeps their shape.
//! Does not belong here: checking arguments, judging, building a client's request.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::compile::fold;
use super::open;
use super::template::{
    BodySource, BodyTemplate, HttpTemplate, MethodTemplate, Piece, SegmentTemplate, TextTemplate,
};
use super::text::{is_field_value, is_plain_segment};
use crate::action::{Action, Arguments, Body, HttpAction, HttpParts, LocalFile, Method, TypedValue};

/// Where a rendered request left the shape of its template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RenderFault {
    Method,
    /// By this parameter.
    Segment(Arc<str>),
    /// The header of this name.
    Header(String),
    /// A body for a method that carries none.
    Body(Method),
    /// A query name that carries the target's credential.
    Reserved(String),
    Value,
}

impl RenderFault {
    pub(super) fn explanation(&self) -> String {
        let what = match self {
            Self::Method => "the method is not one that the tool declares".to_owned(),
            Self::Segment(parameter) => format!(
                "argument `{parameter}` would make a path segment that is empty, a dot segment, ends in `.` or a space, \
                 or holds one of `% ; \\ / ? #` or a character that servers take for one; example: \"name-1\""
            ),
            Self::Header(name) => format!(
                "header `{name}` would not be visible ASCII without spaces at its ends; example: \"name-1\""
            ),
            Self::Body(method) => format!("a {method} request carries no body; leave the body out"),
            Self::Reserved(name) => {
                format!("the query name `{}` is kept for the target's credential", name.escape_default())
            }
            Self::Value => "a list cannot stand inside text".to_owned(),
        };
        format!("the arguments do not make a request of the declared shape: {what}")
    }
}

/// Renders the request. Pure: the same arguments always give the same action.
pub(super) fn render(template: &HttpTemplate, arguments: &Arguments) -> Result<Action, RenderFault> {
    let method = match &template.method {
        MethodTemplate::Literal(method) => *method,
        MethodTemplate::Parameter { name, .. } => match arguments.get(name) {
            Some(TypedValue::Text(text)) => Method::from_name(text).ok_or(RenderFault::Method)?,
            Some(_) | None => return Err(RenderFault::Method),
        },
    };
    let body = template.body.as_ref().map(|body| render_source(body, arguments)).transpose()?.flatten();
    if body.is_some() && matches!(method, Method::Get | Method::Head) {
        return Err(RenderFault::Body(method));
    }
    let mut query = render_pairs(&template.query, arguments)?;
    if let Some((name, reserved)) = &template.open_query
        && let Some(TypedValue::Pairs(pairs)) = arguments.get(name)
    {
        if let Some((name, _)) = pairs.iter().find(|(name, _)| reserved.contains(&fold(name))) {
            return Err(RenderFault::Reserved(name.clone()));
        }
        query.extend_from_slice(pairs);
    }
    Ok(Action::Http(HttpAction::new(HttpParts {
        target: template.target.clone(),
        origin: template.origin.clone(),
        method,
        segments: render_path(&template.path, arguments)?,
        query,
        headers: render_headers(&template.headers, arguments)?,
        body,
        save: template.save.as_ref().and_then(|(root, name)| {
            let path = arguments.get(name).and_then(TypedValue::to_text)?;
            Some(LocalFile::new(Arc::clone(root), path))
        }),
        cursor: template.cursor.as_ref().and_then(|name| arguments.get(name)).and_then(TypedValue::to_text),
    })))
}

fn render_path(path: &[SegmentTemplate], arguments: &Arguments) -> Result<Vec<String>, RenderFault> {
    let mut segments = Vec::new();
    for segment in path {
        match segment {
            SegmentTemplate::Literal(text) => segments.push(text.clone()),
            SegmentTemplate::Text(template) => {
                let fault =
                    || RenderFault::Segment(template.parameters().next().cloned().unwrap_or_default());
                let text = render_text(template, arguments)?.filter(|text| is_plain_segment(text));
                segments.push(text.ok_or_else(fault)?);
            }
            SegmentTemplate::Request(name) => {
                let text = arguments.get(name).and_then(TypedValue::to_text).unwrap_or_default();
                let whole = open::segments(&text).ok_or_else(|| RenderFault::Segment(Arc::clone(name)))?;
                segments.extend(whole.into_iter().map(str::to_owned));
                // The root is written as one empty segment.
                if segments.is_empty() {
                    segments.push(String::new());
                }
            }
            SegmentTemplate::Path(name) => match arguments.get(name) {
                Some(TypedValue::Text(path)) if path.split('/').all(is_plain_segment) => {
                    segments.extend(path.split('/').map(str::to_owned));
                }
                Some(_) | None => return Err(RenderFault::Segment(Arc::clone(name))),
            },
        }
    }
    Ok(segments)
}

fn render_pairs(
    pairs: &[(String, TextTemplate)],
    arguments: &Arguments,
) -> Result<Vec<(String, String)>, RenderFault> {
    let mut rendered = Vec::new();
    for (name, template) in pairs {
        // A list as the whole value repeats the name.
        if let Some(TypedValue::List(items)) = template.whole_parameter().and_then(|name| arguments.get(name))
        {
            for item in items {
                rendered.push((name.clone(), item.to_text().ok_or(RenderFault::Value)?));
            }
        } else if let Some(value) = render_text(template, arguments)? {
            rendered.push((name.clone(), value));
        }
    }
    Ok(rendered)
}

fn render_headers(
    headers: &[(String, TextTemplate)],
    arguments: &Arguments,
) -> Result<Vec<(String, String)>, RenderFault> {
    let mut rendered = Vec::new();
    for (name, template) in headers {
        if let Some(value) = render_text(template, arguments)? {
            if !is_field_value(&value) {
                return Err(RenderFault::Header(name.clone()));
            }
            rendered.push((name.clone(), value));
        }
    }
    Ok(rendered)
}

/// The text, or `None` when its only piece is a parameter that was not given.
fn render_text(template: &TextTemplate, arguments: &Arguments) -> Result<Option<String>, RenderFault> {
    let mut text = String::new();
    for piece in &template.0 {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Parameter(name) => match arguments.get(name) {
                Some(value) => text.push_str(&value.to_text().ok_or(RenderFault::Value)?),
                None => return Ok(None),
            },
        }
    }
    Ok(Some(text))
}

/// The body. One that is a single optional parameter is left out with it, as a member of a body is.
fn render_source(source: &BodySource, arguments: &Arguments) -> Result<Option<Body>, RenderFault> {
    Ok(match source {
        BodySource::Json { content_type, tree } => {
            render_body(tree, arguments)?.map(|tree| Body::json(Arc::clone(content_type), tree))
        }
        BodySource::Form(pairs) => Some(Body::form(render_pairs(pairs, arguments)?)),
        BodySource::Text { content_type, text } => {
            render_text(text, arguments)?.map(|text| Body::text(Arc::clone(content_type), text))
        }
        BodySource::File { content_type, root, parameter } => match arguments.get(parameter) {
            None => None,
            Some(value) => {
                let path = value.to_text().ok_or(RenderFault::Value)?;
                Some(Body::file(Arc::clone(content_type), Arc::clone(root), path))
            }
        },
        BodySource::Binary { content_type, parameter } => match arguments.get(parameter) {
            None => None,
            Some(value) => {
                let text = value.to_text().ok_or(RenderFault::Value)?;
                let bytes = STANDARD.decode(text).map_err(|_| RenderFault::Value)?;
                Some(Body::binary(Arc::clone(content_type), bytes))
            }
        },
    })
}

/// The node, or `None` when it is a parameter that was not given.
fn render_body(template: &BodyTemplate, arguments: &Arguments) -> Result<Option<Value>, RenderFault> {
    Ok(Some(match template {
        BodyTemplate::Null => Value::Null,
        BodyTemplate::Boolean(value) => Value::Bool(*value),
        BodyTemplate::Number(value) => Value::Number(value.clone()),
        BodyTemplate::Text(text) => match text.whole_parameter() {
            Some(name) => return Ok(arguments.get(name).map(|value| json!(value))),
            None => return Ok(render_text(text, arguments)?.map(Value::String)),
        },
        BodyTemplate::Array(items) => {
            let mut rendered = Vec::new();
            for item in items {
                rendered.extend(render_body(item, arguments)?);
            }
            Value::Array(rendered)
        }
        BodyTemplate::Object(members) => {
            let mut rendered = Map::new();
            for (name, value) in members {
                if let Some(value) = render_body(value, arguments)? {
                    rendered.insert(name.clone(), value);
                }
            }
            Value::Object(rendered)
        }
    }))
}
