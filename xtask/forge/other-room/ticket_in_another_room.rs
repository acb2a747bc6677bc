//! A ticket from a room that admits nothing.
//! door: Ticket
//! room: gate
use crate::authorization::Permit;
use crate::protocol::Ticket;

pub fn forge(permit: Permit) -> Ticket {
    let _ = &permit;
    Ticket::new(7) //~ forged E0624
    permit.surrender() //~ twin
}
