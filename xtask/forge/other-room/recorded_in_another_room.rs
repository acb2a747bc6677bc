//! A recorded action from a room that writes nothing.
//! door: Recorded
//! room: journal
use framegate_gate::authorization::{Granted, Permit};

use crate::{Journal, Recorded};

pub fn forge(journal: &mut Journal, permit: Permit, granted: Granted) -> Recorded {
    let _ = (&journal, &permit, &granted);
    Recorded { granted, intent: "1".into() } //~ forged E0451
    journal.commit(vec![permit]).unwrap().remove(0).0 //~ twin
}
