//! One call settled twice.
//! door: Ticket
use framegate_gate::outcome::Outcome;
use framegate_gate::protocol::Ticket;
use framegate_gate::session::Session;

fn forge(session: &mut Session, ticket: Ticket, outcome: &Outcome) {
    let _ = session.settle(ticket, outcome);
    let _ = session.settle(ticket, outcome); //~ forged E0382
    let _ = session.in_flight(); //~ twin
}

fn main() {}
