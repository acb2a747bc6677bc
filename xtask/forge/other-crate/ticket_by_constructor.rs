//! A ticket of one's own.
//! door: Ticket
use framegate_gate::protocol::Ticket;
use framegate_gate::authorization::Permit; //~ twin

fn forge() -> Ticket { //~ forged
fn forge(permit: Permit) -> Ticket { //~ twin
    Ticket(7) //~ forged E0423
    permit.surrender() //~ twin
}

fn main() {}
