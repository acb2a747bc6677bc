//! The schema door: an admitted call goes in, a checked call comes out.
//!
//! Belongs here: arguments against their declarations, in a closed object; defaults; the refusal's text.
//! Does not belong here: the rules of single types, rendering, judging.

use std::sync::Arc;

use framegate_wire::json::Object;
use framegate_wire::{Reason, Refusal};

use super::call::{Call, Checked};
use super::catalog::{Catalog, Tool};
use super::kind::Misfit;
use super::parameter::{Kind, Parameter};
use super::render::render;
use super::text::is_word;
use crate::action::Arguments;
use crate::protocol::{Admitted, Ticket};

/// An admitted call that does not fit its tool. Holds the ticket, so that it is answered and freed.
#[derive(Debug)]
#[must_use = "a refusal must be answered"]
pub struct SchemaRefusal {
    ticket: Ticket,
    refusal: Refusal,
    tool: Option<Arc<Tool>>,
    explanation: String,
}

impl SchemaRefusal {
    /// The reason and the place.
    pub const fn refusal(&self) -> Refusal {
        self.refusal
    }

    /// The declared tool, if there is one.
    #[must_use]
    pub fn tool(&self) -> Option<&Tool> {
        self.tool.as_deref()
    }

    /// What the agent is told: which argument, what was expected, what came, an example.
    #[must_use]
    pub fn explanation(&self) -> &str {
        &self.explanation
    }

    /// The ticket, to settle the request.
    pub fn into_ticket(self) -> Ticket {
        self.ticket
    }
}

/// What is wrong with the arguments.
struct Fault {
    refusal: Refusal,
    explanation: String,
}

/// Checks the arguments, fills in defaults, renders the action. Pure.
///
/// # Errors
/// [`SchemaRefusal`] when the tool is unknown, or its arguments are not what it declares.
pub fn check(admitted: Admitted<'_>, catalog: &Catalog) -> Result<Checked, SchemaRefusal> {
    let (call, ticket) = admitted.into_parts();
    let Some(tool) = catalog.get(call.params.name()) else {
        return Err(SchemaRefusal {
            ticket,
            refusal: Refusal::new(Reason::ToolUnknown, 0),
            tool: None,
            explanation: "no tool of this name is declared; `tools/list` gives the names".to_owned(),
        });
    };
    let rendered = check_arguments(call.params.arguments(), tool).and_then(|arguments| {
        let action = render(&tool.template, &arguments).map_err(|fault| Fault {
            refusal: Refusal::new(Reason::RenderShape, 0),
            explanation: fault.explanation(),
        })?;
        Ok((arguments, action))
    });
    match rendered {
        Ok((arguments, action)) => {
            let call = Call {
                request: call.request,
                revision: call.revision,
                principal: call.principal,
                claimed_client: call.claimed_client,
                tool: Arc::clone(tool),
                arguments,
                action,
                trail: Vec::new(),
                progress: call.progress,
            };
            Ok(Checked::new(call, ticket))
        }
        Err(Fault { refusal, explanation }) => {
            Err(SchemaRefusal { ticket, refusal, tool: Some(Arc::clone(tool)), explanation })
        }
    }
}

fn check_arguments(given: Option<Object<'_>>, tool: &Tool) -> Result<Arguments, Fault> {
    let mut arguments = Arguments::new();
    for member in given.iter().flat_map(|object| object.iter()) {
        if tool.ignored.iter().any(|ignored| ignored == member.name) {
            continue;
        }
        let Some(parameter) = tool.parameters.iter().find(|parameter| parameter.name() == member.name) else {
            return Err(unknown_argument(member.name, member.span.start, tool));
        };
        let value = parameter.kind.check(member.value).map_err(|misfit| Fault {
            refusal: Refusal::new(misfit.reason, misfit.value.span().start),
            explanation: explain(parameter, &misfit),
        })?;
        arguments.insert(Arc::clone(&parameter.name), value);
    }
    for parameter in &tool.parameters {
        if arguments.contains_key(parameter.name()) {
            continue;
        }
        match (&parameter.default, parameter.required) {
            (Some(default), _) => {
                arguments.insert(Arc::clone(&parameter.name), default.clone());
            }
            (None, false) => {}
            (None, true) => {
                return Err(Fault {
                    refusal: Refusal::new(Reason::ArgumentMissing, 0),
                    explanation: format!(
                        "argument `{}` is missing: expected {}{}",
                        parameter.name(),
                        parameter.kind.expectation(),
                        example(parameter),
                    ),
                });
            }
        }
    }
    Ok(arguments)
}

fn unknown_argument(name: &str, offset: usize, tool: &Tool) -> Fault {
    // Only a name that could have been declared is repeated; anything else stays unprinted.
    let shown =
        if is_word(name) && name.len() <= 64 { format!("`{name}`") } else { "with this name".to_owned() };
    let declared: Vec<_> =
        tool.parameters.iter().map(|parameter| format!("`{}`", parameter.name())).collect();
    let declared = if declared.is_empty() { "none".to_owned() } else { declared.join(", ") };
    Fault {
        refusal: Refusal::new(Reason::ArgumentUnknown, offset),
        explanation: format!("the tool has no argument {shown}; its arguments are: {declared}"),
    }
}

/// Which argument, what was expected, what came, an example.
fn explain(parameter: &Parameter, misfit: &Misfit<'_>) -> String {
    let name = parameter.name();
    let (place, kind) = match (misfit.item, &parameter.kind) {
        (Some(index), Kind::List { item, .. }) => (format!("{name}[{index}]"), &**item),
        (Some(_) | None, kind) => (name.to_owned(), kind),
    };
    format!("argument `{place}`: expected {}, got {}{}", kind.expectation(), got(misfit), example(parameter))
}

/// A value that would fit, unless only the pattern can tell.
fn example(parameter: &Parameter) -> String {
    let default = || parameter.default.as_ref().map(|default| serde_json::json!(default).to_string());
    let example = parameter.kind.example().or_else(default);
    example.map(|example| format!("; example: {example}")).unwrap_or_default()
}

/// What came, by type; never the value, which may be hostile or secret.
fn got(misfit: &Misfit<'_>) -> String {
    let Misfit { reason, value, .. } = misfit;
    let kind = value.kind().name();
    let article = if matches!(kind, "array" | "object") { "an" } else { "a" };
    match (*reason, value.as_str()) {
        (Reason::ArgumentType, Some(text)) if text.parse::<i64>().is_ok() => {
            "a number written as a string".to_owned()
        }
        (Reason::ArgumentType, _) => format!("{article} {kind}"),
        (reason, Some(text)) => format!("a string of {} bytes that does not fit ({reason})", text.len()),
        (reason, None) => format!("{article} {kind} that does not fit ({reason})"),
    }
}
