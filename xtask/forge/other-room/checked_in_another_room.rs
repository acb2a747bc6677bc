//! A checked call from a room that checks nothing.
//! door: Checked
//! room: gate
use crate::protocol::Admitted;
use crate::schema::{Catalog, Checked, check};

pub fn forge(checked: Checked, admitted: Admitted<'_>, catalog: &Catalog) -> Option<Checked> {
    let (call, ticket) = checked.into_parts(); //~ forged
    Some(Checked::new(*call, ticket)) //~ forged E0624
    drop(checked); //~ twin
    check(admitted, catalog).ok() //~ twin
}
