//! One row of a table of hostile answers, and how it is run.
//!
//! Belongs here: what holds for every row. Does not belong here: rows.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use framegate_gate::outcome::Status;
use serde_json::json;
use tokio::time::Instant;

use super::super::{BEARER, GET, check, perform, serve, target};
use crate::executor::fixture::World;

/// What is said of an answer that has no reading, or more than one.
pub(super) const UNSOUND: &str =
    "the target's answer is not sound HTTP/1.1, or its head is too large; the request was sent and may have";
/// What is said of either, and of a body that breaks off or breaks its coding.
pub(super) const BEGUN: &str = "; the request was sent and may have been carried out";
/// What is said of an answer that stops early.
pub(super) const ENDED: &str =
    "the connection ended before the answer was complete; the request was sent and may have";
/// What the target's words are made of: no outcome but an answer's own body shows it.
const WORD: &str = "peer";

/// A target's whole answer, after which it says no more, and what becomes of the call.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) tool: &'static str,
    pub(super) answer: Vec<u8>,
    pub(super) status: Status,
    /// A part of the outcome's text.
    pub(super) words: &'static str,
}

impl Row {
    pub(super) fn of(
        name: &'static str,
        answer: impl Into<Vec<u8>>,
        status: Status,
        words: &'static str,
    ) -> Self {
        Self { name, tool: GET, answer: answer.into(), status, words }
    }

    /// An answer that must not be taken for one.
    pub(super) fn unsound(name: &'static str, answer: impl Into<Vec<u8>>) -> Self {
        Self::of(name, answer, Status::Unknown, UNSOUND)
    }

    /// An answer that lacks its end.
    pub(super) fn ended(name: &'static str, answer: impl Into<Vec<u8>>) -> Self {
        Self::of(name, answer, Status::Unknown, ENDED)
    }

    /// An answer of success.
    pub(super) fn done(name: &'static str, answer: impl Into<Vec<u8>>, words: &'static str) -> Self {
        Self::of(name, answer, Status::Done, words)
    }

    /// An answer that says no.
    pub(super) fn failed(name: &'static str, answer: impl Into<Vec<u8>>, words: &'static str) -> Self {
        Self::of(name, answer, Status::Failed, words)
    }
}

/// Runs every row. Each ends within the deadline, costs one connection and one request, and shows no word of
/// the target's outside its body.
pub(super) async fn run(rows: Vec<Row>) {
    assert!(!rows.is_empty());
    let mut wrong = Vec::new();
    for row in rows {
        let (listener, text) = target(BEARER);
        let world = World::new(&text, row.tool);
        let answer = row.answer;
        let server = serve(listener, move |mut stream| {
            // The client may have seen enough before everything was written.
            let _ = stream.write_all(&answer);
            let _ = stream.shutdown(Shutdown::Write);
            let mut second = Vec::new();
            let _ = stream.read_to_end(&mut second);
            assert_eq!(second, b"", "a second request on the same connection");
            None
        });
        let start = Instant::now();
        let outcome = perform(&world, &json!({})).await;
        assert!(start.elapsed() <= Duration::from_secs(50), "{}: later than the deadline", row.name);
        server.await.unwrap_or_else(|fault| panic!("{}: {fault}", row.name)).once();
        check(&world, &outcome);
        let text = outcome.text();
        let (status, body) = (outcome.status(), text.contains("\"body"));
        if status != row.status || !text.contains(row.words) || (!body && text.contains(WORD)) {
            wrong.push(format!("{}: {status:?}, {text}", row.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
