//! A frame from a room that cuts no lines.
//! door: Frame
//! room: wire
use crate::frame::{Frame, Reader};

pub fn forge<'a>(reader: &'a mut Reader, text: &'a str) -> Frame<'a> {
    let _ = text;
    Frame { text, number: 1 } //~ forged E0451
    reader.next().unwrap().unwrap() //~ twin
}
