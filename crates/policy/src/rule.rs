//! One rule as it was written: its place, its syntax tree, the tools that its scope reaches.
//!
//! Belongs here: reading a policy text into rules, and which tools a rule's head could match.
//! Does not belong here: types, lints, conditions.

use core::ops::Range;
use std::str::FromStr as _;
use std::sync::Arc;

use cedar_policy::{
    ActionConstraint, EntityUid, Policy, PolicySet, PrincipalConstraint, ResourceConstraint, pst,
};
use framegate_gate::schema::{Catalog, Tool};
use miette::Diagnostic;

use crate::fault::{PolicyFault, Source};
use crate::{names, tokens};

/// A parsed rule of a text.
#[derive(Debug)]
pub(crate) struct Rule {
    /// The index of its source.
    pub(crate) source: usize,
    /// Its bytes in that source.
    pub(crate) span: Range<usize>,
    pub(crate) policy: Policy,
    pub(crate) tree: pst::Template,
    /// The tools that its action and resource constraints could match.
    pub(crate) tools: Vec<Arc<Tool>>,
}

impl Rule {
    /// The value of `@id`.
    pub(crate) fn id(&self) -> Option<&str> {
        self.annotation("id")
    }

    /// The value of an annotation. Read from the tree: Cedar's own look-up parses the name each time.
    pub(crate) fn annotation(&self, name: &str) -> Option<&str> {
        self.tree.annotations.get(name).map(|value| value.as_str())
    }

    pub(crate) fn reaches(&self, tool: &Arc<Tool>) -> bool {
        self.tools.iter().any(|reached| Arc::ptr_eq(reached, tool))
    }

    /// Whether its head names the tools that it is for.
    pub(crate) fn names_action(&self) -> bool {
        self.policy.action_constraint() != ActionConstraint::Any
    }

    /// Its principal constraint, when it has one.
    pub(crate) fn principal(&self) -> Option<String> {
        match self.policy.principal_constraint() {
            PrincipalConstraint::Eq(client)
            | PrincipalConstraint::In(client)
            | PrincipalConstraint::IsIn(_, client) => Some(client.id().unescaped().to_owned()),
            PrincipalConstraint::Any | PrincipalConstraint::Is(_) => None,
        }
    }
}

/// Parses a text into its rules, in their order.
pub(crate) fn parse(source: usize, text: &Source, catalog: &Catalog) -> Result<Vec<Rule>, Vec<PolicyFault>> {
    let set = PolicySet::from_str(&text.text).map_err(|errors| {
        errors.iter().map(|error| diagnostic_fault(text, 0..0, error, &error.to_string())).collect::<Vec<_>>()
    })?;
    if let Some(template) = set.templates().next() {
        let words = ["?principal", "?resource"];
        let start = words.into_iter().filter_map(|word| text.text.find(word)).min().unwrap_or_default();
        let span = start..start.saturating_add(1);
        let problem = format!("`{}` is a template: a slot is never filled here", template.effect());
        return Err(vec![text.fault(
            span,
            &problem,
            Some("write the client or target in place of the slot"),
        )]);
    }
    let mut policies: Vec<&Policy> = set.policies().collect();
    policies.sort_by_key(|policy| ordinal(policy));
    let mut rules = Vec::with_capacity(policies.len());
    let mut faults = Vec::new();
    let mut position = 0;
    for policy in policies {
        // Between rules stand only white space and comments, so the next rule starts at the next token.
        let start = tokens::skip_trivia(&text.text, position);
        position = start.saturating_add(policy.to_cedar().unwrap_or_default().len());
        let span = start..position;
        match tree(policy) {
            Ok(tree) => rules.push(Rule {
                source,
                span,
                tree,
                tools: reached(policy, catalog),
                policy: policy.clone(),
            }),
            Err(error) => faults.push(text.fault(span, &error.to_string(), None)),
        }
    }
    if faults.is_empty() { Ok(rules) } else { Err(faults) }
}

/// The syntax tree that the lints read. It is made of the parsed rule without its text, because Cedar would
/// parse the text again otherwise, at many times the cost of the first time.
fn tree(policy: &Policy) -> Result<pst::Template, pst::PstConstructionError> {
    let without_text = Policy::from(AsRef::as_ref(policy).clone());
    Ok(without_text.to_pst()?.body().clone())
}

/// The place of a policy in its text: Cedar names them `policy0`, `policy1`, … in order.
fn ordinal(policy: &Policy) -> usize {
    policy
        .id()
        .to_string()
        .strip_prefix("policy")
        .and_then(|digits| digits.parse().ok())
        .unwrap_or(usize::MAX)
}

/// The tools whose calls the action and resource constraints could match. No action or target is above
/// another, so `in` is equality.
fn reached(policy: &Policy, catalog: &Catalog) -> Vec<Arc<Tool>> {
    let (action, resource) = (policy.action_constraint(), policy.resource_constraint());
    let action_matches = |tool: &EntityUid| match &action {
        ActionConstraint::Any => true,
        ActionConstraint::Eq(named) => named == tool,
        ActionConstraint::In(named) => named.contains(tool),
    };
    let resource_matches = |target: &EntityUid| match &resource {
        ResourceConstraint::Any => true,
        ResourceConstraint::In(named) | ResourceConstraint::Eq(named) => named == target,
        ResourceConstraint::Is(kind) => kind == target.type_name(),
        ResourceConstraint::IsIn(kind, named) => kind == target.type_name() && named == target,
    };
    let reaches = |tool: &&Arc<Tool>| {
        let mut targets = core::iter::once(tool.target()).chain(tool.redirect_targets());
        action_matches(&names::action(tool.name()))
            && targets.any(|target| resource_matches(&names::target(target)))
    };
    catalog.iter().filter(reaches).cloned().collect()
}

/// A fault made of Cedar's own: at its label, or at `otherwise` when it has none.
pub(crate) fn diagnostic_fault(
    source: &Source,
    otherwise: Range<usize>,
    diagnostic: &dyn Diagnostic,
    problem: &str,
) -> PolicyFault {
    let label = diagnostic.labels().and_then(|mut labels| labels.next());
    let span = label.map_or(otherwise, |label| label.offset()..label.offset().saturating_add(label.len()));
    let hint = diagnostic.help().map(|help| help.to_string());
    source.fault(span, problem, hint.as_deref())
}
