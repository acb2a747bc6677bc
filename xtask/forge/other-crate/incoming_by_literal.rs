//! A request that no envelope was read for.
//! door: Incoming
use framegate_wire::Limits; //~ twin
use framegate_wire::json::Document; //~ twin
use framegate_wire::message::{Incoming, Params, Request, RequestId, read};

fn forge(id: RequestId) -> Incoming<'static> { //~ forged
fn forge<'a>(document: &Document<'a>) -> Incoming<'a> { //~ twin
    let request = Request { id, method: "tools/call", params: Params::Absent }; //~ forged E0451
    Incoming::Request(request) //~ forged
    read(document, false, &Limits::default()).unwrap() //~ twin
}

fn main() {}
