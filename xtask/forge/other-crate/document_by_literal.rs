//! A document that no parser read.
//! door: Document
use framegate_wire::frame::Frame; //~ twin
use framegate_wire::json::{Document, Parser};

fn forge<'a>(document: &Document<'a>, text: &'a str) -> Document<'a> { //~ forged
fn forge<'a>(parser: &'a mut Parser, frame: Frame<'a>) -> Document<'a> { //~ twin
    Document { text, ..*document } //~ forged E0451
    parser.parse(frame).unwrap() //~ twin
}

fn main() {
    let _ = core::mem::size_of::<Parser>();
}
