//! A denial taken for a permit.
//! door: Permit
use framegate_gate::authorization::{Denial, Permit};

fn forge(denial: Denial) -> Permit { //~ forged
fn forge(permit: Permit) -> Permit { //~ twin
    denial.into() //~ forged E0277
    permit.into() //~ twin
}

fn main() {}
