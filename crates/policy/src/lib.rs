//! Cedar behind the gate's `Policy` trait: may this client perform this rendered action?
//!
//! Belongs here: the Cedar schema of the declared tools, rules generated from a tool's `allow`, what a
//! policy file must satisfy, and the one implementation of `Policy` of the product.
//! Does not belong here: reading files, declaring tools, what happens after the verdict.
//!
//! Three properties of Cedar shape this crate, each measured before it was designed around:
//! a rule that fails to evaluate is skipped, so an overflow in a `forbid` would allow (here any
//! evaluation error denies); contexts made of JSON turn agent data into entities (here they are made of
//! typed values only); and forbidding some values of an open text forbids nothing (here that is refused
//! when the policy is loaded).

#![deny(missing_docs, clippy::disallowed_methods)]

mod compile;
mod context;
mod fault;
mod generate;
mod judge;
mod lint;
mod matrix;
mod names;
mod rule;
mod schema;
mod tokens;

pub use compile::{CedarPolicy, Sources};
pub use fault::{Place, PolicyFault};
pub use generate::{Allow, generate};
pub use matrix::{Effect, Matrix, MatrixRow, RuleMatch};
pub use schema::schema_text;
