//! A response that nobody sent.
//! door: Incoming
use framegate_wire::Limits; //~ twin
use framegate_wire::json::Document; //~ twin
use framegate_wire::message::{Incoming, Response, read};

fn forge() -> Incoming<'static> { //~ forged
fn forge<'a>(document: &Document<'a>) -> Incoming<'a> { //~ twin
    Incoming::Response(Response(())) //~ forged E0423
    read(document, false, &Limits::default()).unwrap() //~ twin
}

fn main() {}
