//! Two deeds on one permit.
//! door: Permit
use framegate_gate::authorization::Permit;
use framegate_journal::Journal;

fn forge(journal: &mut Journal, permit: Permit) {
    let _ = journal.commit(vec![permit.clone(), permit]); //~ forged E0599
    let _ = journal.commit(vec![permit]); //~ twin
}

fn main() {}
