//! The context of one call, built from typed values only.
//!
//! Belongs here: what a rule sees of a call, attribute by attribute as the schema declares it.
//! Does not belong here: JSON in any form. Cedar's JSON reader takes `{"__entity": …}` inside data for an
//! entity, so no value of an agent ever passes through it.

use cedar_policy::{Context, RestrictedExpression};
use framegate_gate::action::{Action, Decimal, HttpAction, TypedValue};
use framegate_gate::schema::{Call, Parameter, Shape};
use sha2::{Digest as _, Sha256};

/// What rules see of this call; `None` when Cedar cannot build it, which denies.
pub(crate) fn context(call: &Call) -> Option<Context> {
    let mut arguments = Vec::with_capacity(call.arguments().len());
    // What is open is seen as the request that it makes, never as an argument.
    for parameter in call.tool().parameters().iter().filter(|parameter| parameter.shape() != Shape::Open) {
        if let Some(value) = call.arguments().get(parameter.name()) {
            arguments.push((parameter.name().to_owned(), argument(parameter, value)?));
        }
    }
    let request = match call.action() {
        Action::Http(action) => request(action)?,
    };
    let mut context = vec![
        ("arguments".to_owned(), RestrictedExpression::new_record(arguments).ok()?),
        ("request".to_owned(), request),
        ("user".to_owned(), RestrictedExpression::new_long(i64::from(call.principal().user()))),
    ];
    if let Some(claimed) = call.claimed_client() {
        context.push(("claimed_client".to_owned(), string(claimed)));
    }
    Context::from_pairs(context).ok()
}

fn argument(parameter: &Parameter, typed: &TypedValue) -> Option<RestrictedExpression> {
    value(typed, parameter.item_shape().unwrap_or_else(|| parameter.shape()))
}

/// A value, of which texts have this shape.
fn value(typed: &TypedValue, shape: Shape) -> Option<RestrictedExpression> {
    Some(match typed {
        TypedValue::Boolean(value) => RestrictedExpression::new_bool(*value),
        TypedValue::Integer(value) => RestrictedExpression::new_long(*value),
        TypedValue::Decimal(value) => RestrictedExpression::new_decimal(decimal_text(*value)),
        TypedValue::Text(text) if shape == Shape::Path => path(text)?,
        TypedValue::Text(text) => string(text),
        TypedValue::Pairs(_) | TypedValue::Json(_) => return None,
        TypedValue::List(items) => RestrictedExpression::new_set(
            items.iter().map(|item| value(item, shape)).collect::<Option<Vec<_>>>()?,
        ),
    })
}

fn path(text: &str) -> Option<RestrictedExpression> {
    let segments: Vec<&str> = text.split('/').filter(|segment| !segment.is_empty()).collect();
    let first = segments.first().copied().unwrap_or_default();
    record([
        ("segments", strings(segments.iter().copied())),
        ("first", string(first)),
        ("depth", count(segments.len())),
    ])
}

fn request(action: &HttpAction) -> Option<RestrictedExpression> {
    let origin = action.origin();
    let mut fields = vec![
        ("method", string(action.method().name())),
        ("scheme", string(origin.scheme().name())),
        ("host", string(origin.host())),
        ("port", RestrictedExpression::new_long(i64::from(origin.port()))),
        ("path_segments", strings(action.segments().iter().map(String::as_str))),
        ("query_names", strings(action.query().iter().map(|(name, _)| name.as_str()))),
        ("has_body", RestrictedExpression::new_bool(action.has_body())),
    ];
    if let Some(content_type) = action.content_type() {
        fields.push(("content_type", string(content_type)));
    }
    if let Some(bytes) = action.body_bytes() {
        fields.push(("body_sha256", RestrictedExpression::new_string(hexadecimal(&Sha256::digest(bytes)))));
    }
    record(fields)
}

fn record<'a>(
    fields: impl IntoIterator<Item = (&'a str, RestrictedExpression)>,
) -> Option<RestrictedExpression> {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    RestrictedExpression::new_record(fields).ok()
}

fn strings<'a>(texts: impl Iterator<Item = &'a str>) -> RestrictedExpression {
    RestrictedExpression::new_set(texts.map(string))
}

fn string(text: &str) -> RestrictedExpression {
    RestrictedExpression::new_string(text.to_owned())
}

fn count(number: usize) -> RestrictedExpression {
    RestrictedExpression::new_long(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The spelling that Cedar's `decimal` reads: always with four fraction digits.
fn decimal_text(value: Decimal) -> String {
    let scaled = value.ten_thousandths();
    let digits = format!("{:05}", scaled.unsigned_abs());
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(4));
    let sign = if scaled < 0 { "-" } else { "" };
    format!("{sign}{whole}.{fraction}")
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
