//! Strict JSON: RFC 8259 with unique names, exact numbers, whole characters, bounded shape, byte spans.
//!
//! Belongs here: the grammar and what this project adds to it (RFC 7493's demands and the limits).
//! Does not belong here: methods, ids, what a member means.
//!
//! A text is refused at its first wrong byte, reading from the left. Reasons that need a decision:
//!
//! - Outside any container, a bare word that is no JSON value (`INFO: starting`, `NaN`) is `json-noise`,
//!   and so is an empty text; after a value, as in `12:00:01`, it is `json-trailing-data`.
//! - Inside a container, `NaN`, `Infinity`, `+1`, `.5`, `01`, `0x1F` and `1_000` are
//!   `json-number-syntax`; any other bare word is `json-syntax`.
//! - A text that ends inside a string is `framing-newline-in-string`, whatever was wrong with an
//!   escape that its end cut; one that ends elsewhere inside a container is `json-truncated`.
//! - A raw control byte, TAB and line feed included, inside a string is `json-syntax`.
//! - Integer tokens from -2^63 to 2^64 - 1 are kept exactly. Reals must round to a finite double,
//!   and to zero only if all their digits are zero; subnormal doubles and `-0` are fine.

mod names;
mod number;
mod parser;
mod string;
mod tape;
mod value;
mod word;

pub use number::Number;
pub use parser::Parser;
pub use value::{Array, Document, Kind, Member, Object, Value};
