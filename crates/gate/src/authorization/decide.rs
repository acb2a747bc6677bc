//! The door: a checked call goes in, a permit or a denial comes out.
//!
//! Belongs here: the only function that makes a `Permit`.
//! Does not belong here: how policy reaches its verdict.

use framegate_wire::Reason;

use super::permit::{Denial, Permit, PermitTerms};
use super::policy::{Policy, Question, RuleId};
use crate::schema::Checked;

/// Puts the question to the policy and turns its verdict into a permit or a denial.
///
/// # Errors
/// A [`Denial`] that names the rule when the policy denies. A verdict to allow that names no rule is a
/// denial too: nothing is allowed without a rule.
pub fn authorize(checked: Checked, policy: &dyn Policy, terms: PermitTerms) -> Result<Permit, Denial> {
    let verdict = policy.judge(Question::new(checked));
    match (verdict.allowed, &verdict.rule) {
        (true, RuleId::Named(_)) => Ok(Permit::new(verdict.checked, verdict.rule, terms)),
        (true | false, RuleId::EvaluationError) => {
            Err(Denial::new(verdict.checked, verdict.rule, Reason::PolicyError))
        }
        (true | false, RuleId::NoRule) => {
            Err(Denial::new(verdict.checked, verdict.rule, Reason::PolicyNoRule))
        }
        (false, RuleId::Named(_)) => Err(Denial::new(verdict.checked, verdict.rule, Reason::PolicyForbid)),
    }
}
