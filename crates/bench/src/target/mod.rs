//! The target as a process: started as production starts it, every byte kept, ended with all its descendants.
//!
//! Belongs here: launching, pipes, the ledger, waiting for lines, ending.
//! Does not belong here: what is said to a target, what it should have answered.

mod interrupt;
mod launch;
mod ledger;
mod lineage;

pub use interrupt::Interrupt;
pub(crate) use launch::{Launch, Running, Stderr, Stdin, Stdout};
pub use ledger::Passage;
pub(crate) use ledger::Snapshot;
