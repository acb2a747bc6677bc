//! Two outcomes of one intent.
//! door: Receipt
use framegate_gate::outcome::Outcome;
use framegate_journal::{Journal, Receipt};

fn forge(journal: &mut Journal, receipt: Receipt, outcome: &Outcome) {
    let _ = journal.close(receipt, outcome);
    let _ = journal.close(receipt, outcome); //~ forged E0382
    let _ = journal.run(); //~ twin
}

fn main() {}
