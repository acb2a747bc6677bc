//! From texts to a policy that can judge, or every reason why not.
//!
//! Belongs here: the order of the checks, and the choice of each tool's rules ahead of time.
//! Does not belong here: single checks, judging.

use std::collections::HashMap;
use std::sync::Arc;

use cedar_policy::{
    Authorizer, Entities, EntityUid, PolicyId, PolicySet, Schema, ValidationMode, ValidationWarning,
    Validator,
};
use framegate_gate::schema::{Catalog, Tool};
use miette::Diagnostic;

use crate::fault::{PolicyFault, Source};
use crate::generate::{Allow, generate};
use crate::matrix::{Effect, Matrix, MatrixRow, RuleMatch};
use crate::rule::{self, Rule};
use crate::{lint, names, schema};

/// The name of the generated text in faults.
const GENERATED: &str = "(generated)";

/// Everything that a policy is made of.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Policy files: a name for faults, and the text.
    pub files: Vec<(String, String)>,
    /// Tools with their `allow`.
    pub allows: Vec<(String, Allow)>,
}

/// What is known of a tool ahead of its calls.
#[derive(Debug)]
pub(crate) struct Chosen {
    /// The declaration that the rules were validated over; they judge the calls of no other.
    pub(crate) tool: Arc<Tool>,
    pub(crate) action: EntityUid,
    /// The rules whose scope could match: judging is linear in the rules that it is given.
    pub(crate) rules: PolicySet,
    /// Whether some rule has a condition: only conditions see the context.
    pub(crate) conditional: bool,
}

/// A validated policy over the tools of one catalog. Calls of tools of any other, even of the same names,
/// find no rule.
#[derive(Debug)]
pub struct CedarPolicy {
    pub(crate) authorizer: Authorizer,
    pub(crate) schema: Schema,
    pub(crate) entities: Entities,
    pub(crate) tools: HashMap<Arc<str>, Chosen>,
    matrix: Matrix,
    warnings: Vec<PolicyFault>,
}

impl CedarPolicy {
    /// Parses, validates and lints the rules of these sources over the tools of this catalog. Without
    /// any rule, everything is denied.
    ///
    /// # Errors
    /// Every fault found, in the order of files and places. Some that Cedar only warns of are faults too: a
    /// rule that can never hold, and one whose characters reorder what is shown, is not what it seems.
    pub fn compile(sources: Sources, catalog: &Catalog) -> Result<Self, Vec<PolicyFault>> {
        let generated = generate(&sources.allows, catalog)?;
        let mut texts: Vec<Source> =
            sources.files.into_iter().map(|(name, text)| Source { name, text }).collect();
        let generated_index = texts.len();
        texts.push(Source { name: GENERATED.to_owned(), text: generated });

        let schema = schema::schema(catalog).map_err(|fault| vec![fault])?;
        let mut rules = Vec::new();
        let mut faults = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            match rule::parse(index, text, catalog) {
                Ok(found) => rules.extend(found),
                Err(found) => faults.extend(found),
            }
        }
        let findings = lint::check(&rules, &texts, generated_index);
        let Validation { faults: invalid, warnings } = validate(&rules, &texts, &schema, &findings);
        faults.extend(invalid);
        faults.extend(findings.into_iter().map(|(_, fault)| fault));
        if !faults.is_empty() {
            faults.sort();
            return Err(faults);
        }
        Ok(Self {
            authorizer: Authorizer::new(),
            schema,
            // Neither clients nor targets have attributes or parents: nothing is looked up.
            entities: Entities::empty(),
            tools: choose(&rules, &texts, catalog)?,
            matrix: matrix(&rules, catalog),
            warnings,
        })
    }

    /// What an operator should look at again, in the order of files and places: texts that mix scripts,
    /// so that one character can pass for another.
    #[must_use]
    pub fn warnings(&self) -> &[PolicyFault] {
        &self.warnings
    }

    /// Which rules could speak for or against which tool.
    #[must_use]
    pub const fn matrix(&self) -> &Matrix {
        &self.matrix
    }
}

/// What Cedar's validation found.
#[derive(Default)]
struct Validation {
    faults: Vec<PolicyFault>,
    warnings: Vec<PolicyFault>,
}

/// Cedar's strict validation of every rule that has no finding yet.
fn validate(rules: &[Rule], texts: &[Source], schema: &Schema, findings: &[lint::Finding]) -> Validation {
    let mut set = PolicySet::new();
    let mut found = Validation::default();
    for (index, rule) in rules.iter().enumerate() {
        if findings.iter().all(|(finding, _)| *finding != index) {
            // Cannot clash: indexes are unique.
            if let Err(error) = set.add(rule.policy.new_id(validation_id(index))) {
                found.faults.extend(fault_of(rule, texts, &error, &error.to_string()));
            }
        }
    }
    let result = Validator::new(schema.clone()).validate(&set, ValidationMode::Strict);
    let fault = |id: &PolicyId, diagnostic: &dyn Diagnostic, message: &str| {
        let problem = message.strip_prefix(&format!("for policy `{id}`, ")).unwrap_or(message);
        let rule = id.to_string().parse().ok().and_then(|index: usize| rules.get(index));
        rule.and_then(|rule| fault_of(rule, texts, diagnostic, problem))
    };
    for error in result.validation_errors() {
        found.faults.extend(fault(error.policy_id(), error, &error.to_string()));
    }
    for warning in result.validation_warnings() {
        let list = match warning {
            ValidationWarning::MixedScriptString(_)
            | ValidationWarning::MixedScriptIdentifier(_)
            | ValidationWarning::ConfusableIdentifier(_) => &mut found.warnings,
            _ => &mut found.faults,
        };
        list.extend(fault(warning.policy_id(), warning, &warning.to_string()));
    }
    // A rule over many tools fails for each of them: one fault a place is enough to find it.
    for list in [&mut found.faults, &mut found.warnings] {
        list.sort();
        list.dedup_by(|second, first| second.place == first.place);
    }
    found
}

fn validation_id(index: usize) -> PolicyId {
    PolicyId::new(index.to_string())
}

fn fault_of(
    rule: &Rule,
    texts: &[Source],
    diagnostic: &dyn Diagnostic,
    problem: &str,
) -> Option<PolicyFault> {
    Some(rule::diagnostic_fault(texts.get(rule.source)?, rule.span.clone(), diagnostic, problem))
}

/// Each tool's own set of the rules that could match it, under their names.
fn choose(
    rules: &[Rule],
    texts: &[Source],
    catalog: &Catalog,
) -> Result<HashMap<Arc<str>, Chosen>, Vec<PolicyFault>> {
    let mut chosen = HashMap::new();
    let mut faults = Vec::new();
    for tool in catalog.iter() {
        let mut set = PolicySet::new();
        let mut conditional = false;
        for rule in rules.iter().filter(|rule| rule.reaches(tool)) {
            conditional |= rule.policy.has_non_scope_constraint();
            let named = rule.policy.new_id(PolicyId::new(rule.id().unwrap_or_default()));
            // Cannot clash: the lints have found every name to be the only one.
            if let Err(error) = set.add(named) {
                faults.extend(fault_of(rule, texts, &error, &error.to_string()));
            }
        }
        let action = names::action(tool.name());
        let tool_rules = Chosen { tool: Arc::clone(tool), action, rules: set, conditional };
        chosen.insert(Arc::from(tool.name()), tool_rules);
    }
    if faults.is_empty() { Ok(chosen) } else { Err(faults) }
}

fn matrix(rules: &[Rule], catalog: &Catalog) -> Matrix {
    let rows = catalog.iter().map(|tool| {
        let mut matches: Vec<RuleMatch> = rules
            .iter()
            .filter(|rule| rule.reaches(tool))
            .map(|rule| RuleMatch {
                id: rule.id().unwrap_or_default().to_owned(),
                effect: match rule.policy.effect() {
                    cedar_policy::Effect::Permit => Effect::Permit,
                    cedar_policy::Effect::Forbid => Effect::Forbid,
                },
                client: rule.principal(),
                conditional: rule.policy.has_non_scope_constraint(),
                names_action: rule.names_action(),
            })
            .collect();
        matches.sort_by(|left, right| left.id.cmp(&right.id));
        MatrixRow { tool: tool.name().to_owned(), target: tool.target().to_owned(), rules: matches }
    });
    Matrix { rows: rows.collect() }
}
