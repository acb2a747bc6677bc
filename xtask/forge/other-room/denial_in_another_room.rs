//! A denial from a room that does not judge.
//! door: Denial
//! room: gate
use crate::authorization::{Denial, PermitTerms, Policy, RuleId, authorize};
use crate::schema::Checked;

pub fn forge(checked: Checked, policy: &dyn Policy, terms: PermitTerms) -> Option<Denial> {
    let _ = (policy, &terms);
    Some(Denial::new(checked, RuleId::NoRule, framegate_wire::Reason::PolicyNoRule)) //~ forged E0624
    authorize(checked, policy, terms).err() //~ twin
}
