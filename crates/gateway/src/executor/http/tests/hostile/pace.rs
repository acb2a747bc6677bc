//! Targets that answer too early, too slowly, or go away by force.
//!
//! Belongs here: when bytes come, and how a connection ends. Does not belong here: what the bytes are.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use framegate_gate::outcome::{Outcome, Status};
use rustix::net::sockopt::set_socket_linger;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, sleep};

use super::super::{
    BEARER, GET, asked, assert_nothing_sent, assert_unknown, assert_untouched, find, ok, perform, shown,
    target,
};
use super::assert_own_words;
use crate::executor::fixture::World;

/// A target that writes `head` at once and then `piece` every ten seconds, for as long as anybody listens; on
/// the test's clock.
async fn dripped(head: &'static [u8], piece: &'static [u8]) -> (Outcome, Duration) {
    let (listener, text) = target(BEARER);
    listener.set_nonblocking(true).unwrap();
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    let world = World::new(&text, GET);
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while find(&request, b"\r\n\r\n").is_none() {
            assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0);
        }
        let mut written = stream.write_all(head).await;
        // Whoever never hangs up gets this much and fails the test.
        for _ in 0..100 {
            if written.is_err() {
                return listener;
            }
            sleep(Duration::from_secs(10)).await;
            written = stream.write_all(piece).await;
        }
        panic!("the client waits for ever");
    });
    let start = Instant::now();
    let outcome = perform(&world, &json!({})).await;
    let took = start.elapsed();
    assert_untouched(&server.await.unwrap().into_std().unwrap());
    (outcome, took)
}

/// The deadline is for the whole answer: a byte now and then does not put it off.
#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_in_drops_meets_the_deadline() {
    for (name, head, piece) in [
        ("a status line", &b"HTTP/1.1 200 "[..], &b"p"[..]),
        ("fields", b"HTTP/1.1 200 OK\r\n", b"x-peer: 1\r\n"),
        ("one field", b"HTTP/1.1 200 OK\r\nx-peer: ", b"p"),
        ("interim answers", b"", b"HTTP/1.1 103 peer\r\n\r\n"),
        ("a body up to the end", b"HTTP/1.1 200 OK\r\n\r\n", b"p"),
        ("a body of a length", b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n", b"p"),
        ("chunks", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\np\r\n"),
        ("the size of a chunk", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"0"),
        ("an extension", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;", b"p"),
        ("trailers", b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", b"x-peer: 1\r\n"),
    ] {
        let (outcome, took) = dripped(head, piece).await;
        assert_unknown(&outcome);
        assert!(
            outcome.text().starts_with("there was no complete answer within 50 s;"),
            "{name}: {outcome:?}"
        );
        assert!((50..51).contains(&took.as_secs()), "{name}: {took:?}");
    }
}

/// A body without end costs no more than what is kept of it, however small its pieces.
#[tokio::test(start_paused = true)]
async fn single_bytes_without_end_are_cut_off() {
    for (head, piece) in [
        ("HTTP/1.1 200 OK\r\n\r\n", &b"p"[..]),
        ("HTTP/1.1 200 OK\r\ncontent-length: 9223372036854775807\r\n\r\n", b"p"),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", b"1\r\np\r\n"),
    ] {
        let outcome = asked("max_response_bytes = 1024", move |mut stream| {
            stream.set_nodelay(true).unwrap();
            stream.write_all(head.as_bytes()).unwrap();
            let written = (0..10_000_000).take_while(|_| stream.write_all(piece).is_ok()).count();
            assert!(written < 10_000_000, "the client read everything");
            None
        })
        .await;
        assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
        assert_eq!(shown(&outcome)["truncated"], true, "{head}");
    }
}

/// Closes with a reset, not with an end (TCP's `RST`).
fn reset(stream: TcpStream) -> Option<TcpStream> {
    set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    drop(stream);
    None
}

#[tokio::test(start_paused = true)]
async fn a_reset_is_no_answer() {
    let answer = ok("content-type: text/plain\r\n", b"body");
    for length in [0, 1, 12, 30, answer.len() - 4, answer.len() - 1] {
        let part = answer[..length].to_vec();
        let outcome = asked("", move |mut stream| {
            stream.write_all(&part).unwrap();
            reset(stream)
        })
        .await;
        assert_own_words(&outcome);
    }
    // Where only the end of the connection ends the body, a reset is no end.
    let outcome = asked("", |mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nbody").unwrap();
        reset(stream)
    })
    .await;
    assert_own_words(&outcome);
}

/// Accepts, does `first` before anything was read, and gives back what the client wrote until it left.
async fn early(
    tool: &str,
    arguments: serde_json::Value,
    first: impl FnOnce(&mut TcpStream) + Send + 'static,
) -> (Outcome, Vec<u8>, TcpListener) {
    let (listener, text) = target(BEARER);
    let world = World::new(&text, tool);
    let server = tokio::task::spawn_blocking(move || {
        let (mut stream, _) = listener.accept().unwrap();
        first(&mut stream);
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut request = Vec::new();
        let _ = stream.read_to_end(&mut request);
        (request, listener)
    });
    let outcome = perform(&world, &arguments).await;
    let (request, listener) = server.await.unwrap();
    (outcome, request, listener)
}

/// An answer to nothing yet: whatever is made of it, `nothing was sent` is said only when it is true.
#[tokio::test]
async fn an_answer_before_the_request_is_told_honestly() {
    for answer in
        [&b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntext"[..], b"HTTP/1.1 400 No\r\n\r\n", b"peer", b""]
    {
        let (outcome, request, listener) =
            early(GET, json!({}), |stream| stream.write_all(answer).unwrap()).await;
        match outcome.status() {
            Status::Done | Status::Failed if outcome.text().starts_with('{') => {
                assert!(answer.starts_with(b"HTTP/1.1 "), "{outcome:?}");
            }
            Status::Failed => {
                assert_nothing_sent(&outcome);
                assert_eq!(request, b"");
            }
            _ => assert_own_words(&outcome),
        }
        assert!(request.windows(5).filter(|window| window == b"GET /").count() <= 1, "sent twice");
        assert_untouched(&listener);
    }
}

const UPLOAD: &str = "method = \"POST\"\npath = \"/item\"\nbody = [\"{a}\", \"{b}\", \"{c}\"]\n\
                      params.a = { type = \"text\", max_length = 1048576 }\n\
                      params.b = { type = \"text\", max_length = 1048576 }\n\
                      params.c = { type = \"text\", max_length = 1048576 }";

/// A target that has seen enough of a large body: its answer counts, and the rest is not sent again.
#[tokio::test]
async fn an_answer_before_the_end_of_the_request_is_told_honestly() {
    let part = "a".repeat(1_048_576);
    let arguments = json!({"a": part, "b": part, "c": part});
    let (outcome, request, listener) = early(UPLOAD, arguments, |stream| {
        let mut head = Vec::new();
        while find(&head, b"\r\n\r\n").is_none() {
            let mut byte = [0];
            assert_eq!(stream.read(&mut byte).unwrap(), 1);
            head.extend(byte);
        }
        stream.write_all(b"HTTP/1.1 413 No\r\ncontent-length: 4\r\nconnection: close\r\n\r\npeer").unwrap();
    })
    .await;
    match outcome.status() {
        Status::Failed => assert_eq!(shown(&outcome)["status"], 413),
        _ => assert_own_words(&outcome),
    }
    assert_eq!(find(&request, b"POST "), None, "sent twice");
    assert_untouched(&listener);
}
