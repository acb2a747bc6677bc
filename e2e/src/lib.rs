//! The end-to-end harness: launches the release binary, keeps every byte, judges every session.
//!
//! Belongs here: what the tests below `e2e/tests` share. Does not belong here: any test of its own
//! beyond those that prove that the harness can fail, and any code of the product but the strict
//! parser (`framegate-wire`), by which the product's output is read.
//!
//! A test builds a [`stage::Stage`] (folder, configuration, secret, name server, target), starts a
//! [`session::Session`] on it and talks. When the session ends, however it ends, the [`oracle`]
//! judges what was on stdout and the [`canary`] is searched for.

pub mod binary;
pub mod browser;
pub mod canary;
pub mod capture;
pub mod client;
pub mod faults;
pub mod fixture;
pub mod installed;
pub mod journal;
pub mod launch;
pub mod oracle;
pub mod parallel;
pub mod process;
pub mod server;
pub mod session;
pub mod shared;
pub mod stage;
pub mod stub_dns;
pub mod tapped;
pub mod target;
pub mod watch;
