//! A permit read back from bytes.
//! door: Permit
use framegate_gate::authorization::Permit;

fn forge(text: &str) -> Permit { //~ forged
fn forge(text: &str) -> serde_json::Value { //~ twin
    serde_json::from_str(text).unwrap() //~ forged E0277
    serde_json::from_str(text).unwrap() //~ twin
}

fn main() {}
