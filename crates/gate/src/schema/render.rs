//! Rendering: from checked arguments to the action, without looking at anything else.
//!
//! Belongs here: putting values into templates, and the check that the result keeps their shape.
//! Does not belong here: checking arguments, judging, building a client's request.

use serde_json::{Map, Value};

use super::template::{BodyTemplate, HttpTemplate, MethodTemplate, Piece, SegmentTemplate, TextTemplate};
use super::text::{is_field_value, is_plain_segment};
use crate::action::{Action, Arguments, Body, HttpAction, HttpParts, Method, TypedValue};

/// Where a rendered request left the shape of its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RenderFault {
    Method,
    Segment,
    Header,
    Value,
}

impl RenderFault {
    pub(super) fn explanation(self) -> String {
        let what = match self {
            Self::Method => "the method is not one that the tool declares",
            Self::Segment => {
                "a path segment would be empty, a dot segment, or hold one of `% ; \\ / ? #`; use plain names"
            }
            Self::Header => "a header value must be visible ASCII without spaces at its ends",
            Self::Value => "a list cannot stand inside text",
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
    let body = match &template.body {
        None => None,
        Some(body) => {
            let tree = render_body(body, arguments)?.unwrap_or(Value::Null);
            let bytes = tree.to_string().into_bytes();
            Some(Body { tree, bytes })
        }
    };
    Ok(Action::Http(HttpAction::new(HttpParts {
        target: template.target.clone(),
        origin: template.origin.clone(),
        method,
        segments: render_path(&template.path, arguments)?,
        query: render_pairs(&template.query, arguments)?,
        headers: render_headers(&template.headers, arguments)?,
        body,
    })))
}

fn render_path(path: &[SegmentTemplate], arguments: &Arguments) -> Result<Vec<String>, RenderFault> {
    let mut segments = Vec::new();
    for segment in path {
        match segment {
            SegmentTemplate::Literal(text) => segments.push(text.clone()),
            SegmentTemplate::Text(text) => {
                let text = render_text(text, arguments)?.ok_or(RenderFault::Segment)?;
                segments.push(plain_segment(text)?);
            }
            SegmentTemplate::Path(name) => {
                let Some(TypedValue::Text(path)) = arguments.get(name) else {
                    return Err(RenderFault::Segment);
                };
                for segment in path.split('/') {
                    segments.push(plain_segment(segment.to_owned())?);
                }
            }
        }
    }
    Ok(segments)
}

fn plain_segment(text: String) -> Result<String, RenderFault> {
    if is_plain_segment(&text) { Ok(text) } else { Err(RenderFault::Segment) }
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
                return Err(RenderFault::Header);
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

/// The node, or `None` when it is a parameter that was not given.
fn render_body(template: &BodyTemplate, arguments: &Arguments) -> Result<Option<Value>, RenderFault> {
    Ok(Some(match template {
        BodyTemplate::Null => Value::Null,
        BodyTemplate::Boolean(value) => Value::Bool(*value),
        BodyTemplate::Number(value) => Value::Number(value.clone()),
        BodyTemplate::Text(text) => match text.whole_parameter() {
            Some(name) => return Ok(arguments.get(name).map(TypedValue::to_json)),
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
