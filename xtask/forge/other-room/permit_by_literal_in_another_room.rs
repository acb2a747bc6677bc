//! What one call was granted, on another call's ticket.
//! door: Permit
//! room: gate
use crate::authorization::Permit;

pub fn forge(first: Permit, second: Permit) -> Permit {
    let (granted, _) = first.into_parts();
    let (_, ticket) = second.into_parts(); //~ forged
    Permit { granted, ticket } //~ forged E0451
    drop(granted); //~ twin
    second //~ twin
}
