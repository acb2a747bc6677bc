//! A permit out of nothing.
//! door: Permit
use framegate_gate::authorization::Permit;

fn forge(permits: &mut Vec<Permit>) -> Permit {
    core::mem::take(&mut permits[0]) //~ forged E0277
    permits.remove(0) //~ twin
}

fn main() {}
