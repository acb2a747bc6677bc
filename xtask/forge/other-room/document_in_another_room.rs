//! A document from a room that does not parse.
//! door: Document
//! room: wire
use crate::frame::Frame;
use crate::json::{Document, Parser};

pub fn forge<'a>(parser: &'a mut Parser, frame: Frame<'a>, other: &Document<'a>) -> Document<'a> {
    let _ = (&parser, other);
    Document { text: frame.text(), ..*other } //~ forged E0451
    parser.parse(frame).unwrap() //~ twin
}
