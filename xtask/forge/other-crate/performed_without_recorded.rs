//! A permit performed without its intent on disk.
//! door: Recorded
use framegate_gate::authorization::Permit;
use framegate_journal::{Journal, Recorded};

fn perform(_: Recorded) {}

fn forge(journal: &mut Journal, permit: Permit) {
    let _ = journal.run();
    perform(permit); //~ forged E0308
    journal.commit(vec![permit]).unwrap().into_iter().for_each(|(recorded, _)| perform(recorded)); //~ twin
}

fn main() {}
