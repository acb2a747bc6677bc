//! The journal's own maker, called from outside.
//! door: Recorded
use std::time::Duration;

use framegate_gate::authorization::Permit;
use framegate_journal::{Journal, Receipt, Recorded};

fn forge(journal: &mut Journal, permit: Permit) -> (Recorded, Receipt) {
    framegate_journal::recorded::record(permit, "1".into(), Duration::ZERO) //~ forged E0603
    journal.commit(vec![permit]).unwrap().remove(0) //~ twin
}

fn main() {}
