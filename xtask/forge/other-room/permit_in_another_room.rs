//! A permit from a room that does not authorise.
//! door: Permit
//! room: gate
use crate::authorization::{Permit, PermitTerms, Policy, RuleId, authorize};
use crate::schema::Checked;

pub fn forge(checked: Checked, policy: &dyn Policy, rule: RuleId, terms: PermitTerms) -> Option<Permit> {
    let _ = (policy, &rule);
    Some(Permit::new(checked, rule, terms)) //~ forged E0624
    authorize(checked, policy, terms).ok() //~ twin
}
