//! A request from a room that reads no envelope.
//! door: Incoming
//! room: wire
use crate::Limits;
use crate::json::Document;
use crate::message::{Incoming, Params, Request, RequestId, read};

pub fn forge<'a>(document: &Document<'a>, id: RequestId) -> Incoming<'a> {
    let _ = (document, &id, Limits::default());
    Incoming::Request(Request { id, method: "tools/call", params: Params::Absent }) //~ forged E0451
    read(document, false, &Limits::default()).unwrap() //~ twin
}
