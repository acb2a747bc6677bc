//! The one implementation of the gate's `Policy` trait.
//!
//! Belongs here: from a question to the verdict and the rule that it rests on.
//! Does not belong here: what a rule may say, what follows from a verdict.

use core::ptr;
use std::sync::Arc;

use cedar_policy::{Context, Decision, Request, Response};
use framegate_gate::authorization::{Policy, Question, RuleId, Verdict};
use framegate_gate::schema::Call;

use crate::compile::CedarPolicy;
use crate::context::context;
use crate::names;

impl Policy for CedarPolicy {
    fn judge(&self, question: Question) -> Verdict {
        match self.decide(question.call()) {
            (true, rule) => question.allow(rule),
            (false, rule) => question.deny(rule),
        }
    }
}

impl CedarPolicy {
    /// Whether the call is allowed, and the rule that says so.
    fn decide(&self, call: &Call) -> (bool, RuleId) {
        let tool = call.tool();
        let chosen = self.tools.get(tool.name()).filter(|chosen| ptr::eq(&*chosen.tool, tool));
        let Some(chosen) = chosen else {
            return (false, RuleId::NoRule);
        };
        let context = if chosen.conditional { context(call) } else { Some(Context::empty()) };
        let Some(context) = context else {
            return (false, RuleId::EvaluationError);
        };
        let request = Request::new(
            names::client(call.principal().client()),
            chosen.action.clone(),
            // Where a redirect leads is another target than the tool's.
            names::target(call.action().target()),
            context,
            // The context is built from the same declaration as the schema. Where speed does not matter,
            // Cedar checks that it is what the rules were validated for.
            (cfg!(debug_assertions) && chosen.conditional).then_some(&self.schema),
        );
        let Ok(request) = request else {
            return (false, RuleId::EvaluationError);
        };
        let response = self.authorizer.is_authorized(&request, &chosen.rules, &self.entities);
        // Cedar skips a rule that fails to evaluate. A `forbid` that overflows would be one that does not
        // forbid, so an error denies whatever the decision is.
        if response.diagnostics().errors().next().is_some() {
            return (false, RuleId::EvaluationError);
        }
        let rule = deciding_rule(&response);
        match response.decision() {
            Decision::Allow => (true, rule),
            Decision::Deny => (false, rule),
        }
    }
}

/// The first by name of the rules that the decision rests on: the forbids that hold, else the permits.
fn deciding_rule(response: &Response) -> RuleId {
    let first = response.diagnostics().reason().map(AsRef::<str>::as_ref).min();
    first.map_or(RuleId::NoRule, |name| RuleId::Named(Arc::from(name)))
}
