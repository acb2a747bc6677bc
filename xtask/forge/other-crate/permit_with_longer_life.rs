//! A permit whose end is moved.
//! door: Permit
use framegate_gate::Moment;
use framegate_gate::authorization::{Permit, PermitTerms};

fn forge(permit: &mut Permit, terms: PermitTerms) -> bool {
    permit.granted.terms = terms; //~ forged E0616 E0616
    drop(terms); //~ twin
    permit.holds(Moment::default(), "")
}

fn main() {}
