//! A frame that no reader cut.
//! door: Frame
use framegate_wire::frame::Frame;
use framegate_wire::frame::Reader; //~ twin

fn forge<'a>(text: &'a str) -> Frame<'a> { //~ forged
fn forge<'a>(reader: &'a mut Reader) -> Frame<'a> { //~ twin
    Frame { text, number: 1 } //~ forged E0451
    reader.next().unwrap().unwrap() //~ twin
}

fn main() {}
