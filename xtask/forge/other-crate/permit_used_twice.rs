//! A permit recorded twice.
//! door: Permit
use framegate_gate::authorization::Permit;
use framegate_journal::Journal;

fn forge(journal: &mut Journal, permit: Permit) {
    let _ = journal.commit(vec![permit]);
    let _ = journal.commit(vec![permit]); //~ forged E0382
    let _ = journal.commit(vec![]); //~ twin
}

fn main() {}
