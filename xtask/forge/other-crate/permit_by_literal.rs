//! A permit that policy did not give.
//! door: Permit
use framegate_gate::authorization::{Granted, Permit, PermitTerms, Policy, authorize};
use framegate_gate::protocol::Ticket; //~ forged
use framegate_gate::schema::Checked; //~ twin

fn forge(granted: Granted, ticket: Ticket) -> Permit { //~ forged
fn forge(checked: Checked, policy: &dyn Policy, terms: PermitTerms) -> Permit { //~ twin
    Permit { granted, ticket } //~ forged E0451
    authorize(checked, policy, terms).unwrap() //~ twin
}

fn main() {}
