//! An admitted call that no protocol state admitted.
//! door: Admitted
use framegate_gate::protocol::{Admission, Admitted, State, Ticket};
use framegate_wire::message::Incoming;

fn forge<'a>(state: &mut State, incoming: Incoming<'a>, ticket: Ticket) -> Option<Admitted<'a>> {
    Some(Admitted::new(unimplemented!(), ticket)) //~ forged E0624
    match state.admit(incoming) { //~ twin
        Ok(Admission::Call(admitted)) => Some(admitted), //~ twin
        _ => None, //~ twin
    } //~ twin
}

fn main() {}
