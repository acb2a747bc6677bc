//! An admitted call made of an old call's parts.
//! door: Admitted
//! room: gate
use crate::protocol::Admitted;

pub fn forge(first: Admitted<'_>) -> Admitted<'_> {
    let (call, ticket) = first.into_parts(); //~ forged
    Admitted::new(call, ticket) //~ forged E0624
    first //~ twin
}
