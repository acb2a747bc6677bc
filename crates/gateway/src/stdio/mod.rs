//! Ownership of the standard descriptors.
//!
//! Belongs here: taking over descriptors 0, 1 and 2, the thread that reads, the thread that writes, the
//! panic hook.
//! Does not belong here: JSON and everything above it.

mod inherit;
mod panic;
mod reader;
mod takeover;
mod writer;

pub use panic::install_panic_hook;
pub use reader::{ReadEvent, Reader};
pub use takeover::{Diagnostics, Protocol, TakeoverError, take_over};
pub use writer::{WriteEvent, Writer};
