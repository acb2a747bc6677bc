//! A checked call with another call's ticket.
//! door: Checked
//! room: gate
use crate::schema::Checked;

pub fn forge(first: Checked, second: Checked) -> Checked {
    let (call, _) = first.into_parts();
    let (_, ticket) = second.into_parts(); //~ forged
    Checked { call, ticket } //~ forged E0451
    drop(call); //~ twin
    second //~ twin
}
