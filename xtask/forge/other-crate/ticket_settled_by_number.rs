//! A call settled by a number that a peer could guess.
//! door: Ticket
use framegate_gate::outcome::Outcome;
use framegate_gate::protocol::Ticket;
use framegate_gate::session::Session;

fn forge(session: &mut Session, ticket: Ticket, outcome: &Outcome) {
    let _ = session.settle(ticket.number(), outcome); //~ forged E0308
    let _ = session.settle(ticket, outcome); //~ twin
}

fn main() {}
