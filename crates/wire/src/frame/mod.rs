//! One line in, one line out: where a line ends, how long it may be, which bytes it may hold.
//!
//! Belongs here: cutting pushed bytes into frames, refusing lines that are no text, showing a refused
//! line safely, writing our own lines.
//! Does not belong here: the JSON grammar, messages, file descriptors.

mod excerpt;
mod reader;
pub(crate) mod scan;
mod writer;

pub use excerpt::excerpt;
pub use reader::{Frame, Reader};
pub use writer::write_line;
