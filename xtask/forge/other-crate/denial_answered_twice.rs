//! One denial, two tickets.
//! door: Denial
use framegate_gate::authorization::Denial;
use framegate_gate::protocol::Ticket;

fn forge(denial: Denial) -> Vec<Ticket> {
    vec![denial.into_ticket(), denial.into_ticket()] //~ forged E0382
    vec![denial.into_ticket()] //~ twin
}

fn main() {}
