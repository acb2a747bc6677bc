//! A receipt for nothing, to close someone's intent.
//! door: Receipt
use std::time::Duration;

use framegate_gate::authorization::Permit;
use framegate_gate::protocol::Ticket;
use framegate_journal::{Journal, Receipt};

fn forge(ticket: Ticket) -> Receipt { //~ forged
fn forge(journal: &mut Journal, permit: Permit) -> Receipt { //~ twin
    Receipt { ticket, intent: "1".into(), recorded_at: Duration::ZERO } //~ forged E0451
    journal.commit(vec![permit]).unwrap().remove(0).1 //~ twin
}

fn main() {}
