//! A ticket out of nothing.
//! door: Ticket
use framegate_gate::authorization::Denial; //~ twin
use framegate_gate::protocol::Ticket;

fn forge() -> Ticket { //~ forged
fn forge(denial: Denial) -> Ticket { //~ twin
    Default::default() //~ forged E0277
    denial.into_ticket() //~ twin
}

fn main() {}
