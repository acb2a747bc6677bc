//! A second ticket for one call.
//! door: Ticket
use framegate_gate::protocol::Ticket;

fn forge(ticket: Ticket) -> Ticket {
    ticket.clone() //~ forged E0599
    ticket //~ twin
}

fn main() {}
