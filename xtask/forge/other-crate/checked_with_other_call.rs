//! A checked call whose call is exchanged after checking.
//! door: Checked
use framegate_gate::schema::Checked;

fn forge(mut first: Checked, second: Checked) -> Checked {
    first.call = second.call; //~ forged E0616 E0616
    first = second; //~ twin
    first
}

fn main() {}
