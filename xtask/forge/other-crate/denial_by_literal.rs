//! A denial of a call that nobody judged.
//! door: Denial
use framegate_gate::authorization::{Denial, PermitTerms, Policy, RuleId, authorize};
use framegate_gate::protocol::Ticket;
use framegate_gate::schema::{Call, Checked};
use framegate_wire::Reason;

fn forge(call: std::sync::Arc<Call>, ticket: Ticket, rule: RuleId) -> Denial { //~ forged
fn forge(checked: Checked, policy: &dyn Policy, terms: PermitTerms) -> Denial { //~ twin
    Denial { call, ticket, rule, reason: Reason::PolicyForbid } //~ forged E0451
    authorize(checked, policy, terms).unwrap_err() //~ twin
}

fn main() {}
