//! Bytes pushed into the reader while one of its frames is judged.
//! door: Frame
use framegate_wire::frame::Reader;

fn forge(reader: &mut Reader) -> usize {
    let frame = reader.next().unwrap().unwrap();
    reader.push(b"{}\n"); //~ forged E0499
    let length = frame.text().len();
    reader.push(b"{}\n"); //~ twin
    length
}

fn main() {}
