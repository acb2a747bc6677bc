//! `framegate check`: judges any stdio MCP server by the bytes it writes and the effects it has.
//!
//! Belongs here: starting a target, keeping every byte, hostile cases, independent observers, verdicts, reports.
//! Does not belong here: how our own gateway is right. This crate shares nothing with it but frames and JSON, so
//! that it cannot share its mistakes.
//!
//! The target is assumed to be buggy, not hostile: observation is not a sandbox.

#![deny(missing_docs)]

mod attribution;
mod bench;
mod case;
mod client;
pub mod client_config;
mod environment;
mod expect;
mod isolation;
mod judge;
mod mutate;
mod observe;
mod options;
mod pattern;
mod plan;
mod report;
mod run;
mod target;
mod verdict;

pub use attribution::Sdk;
pub use case::{Level, Step};
pub use client::Client;
pub use environment::Environment;
pub use expect::{ExpectError, Expectations, expectations};
pub use isolation::{Isolation, IsolationError};
pub use judge::{Code, Finding, Sent, judge};
pub use options::{
    Call, CallError, MutationOptions, Observer, Options, Origin, Profile, Provided, RequiredProof, Unasked,
};
pub use report::{
    CaseReport, Evidence, FORMAT, Launched, Line, Report, Variable, github, html, json, junit, markdown,
    sarif, table, tap, terminal,
};
pub use run::{Progress, RunError, list, run};
pub use target::{Interrupt, Passage};
pub use verdict::{Kind, Verdict};
