//! A checked call that no schema checked.
//! door: Checked
use framegate_gate::protocol::Admitted; //~ twin
use framegate_gate::protocol::Ticket; //~ forged
use framegate_gate::schema::{Call, Catalog, Checked, check};

fn forge(call: Call, ticket: Ticket) -> Checked { //~ forged
fn forge(admitted: Admitted<'_>, catalog: &Catalog) -> Option<Checked> { //~ twin
    Checked::new(call, ticket) //~ forged E0624
    check(admitted, catalog).ok() //~ twin
}

fn main() {}
