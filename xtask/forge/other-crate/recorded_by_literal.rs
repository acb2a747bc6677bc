//! An action whose intent is not on disk.
//! door: Recorded
use framegate_gate::authorization::{Granted, Permit};
use framegate_journal::{Journal, Recorded};

fn forge(granted: Granted) -> Recorded { //~ forged
fn forge(journal: &mut Journal, permit: Permit) -> Recorded { //~ twin
    Recorded { granted, intent: "1".into() } //~ forged E0451
    journal.commit(vec![permit]).unwrap().remove(0).0 //~ twin
}

fn main() {}
