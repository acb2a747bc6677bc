//! Targets that break the protocol, stall or vanish: each call ends within its deadline, and a request that
//! was begun is `unknown`.
//!
//! Belongs here: what cannot be said as one answer. Does not belong here: single answers, which are rows of the
//! tables in `hostile/`; TLS, redirects and real servers, which are end-to-end tests.

mod fields;
mod framing;
mod pace;
mod row;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use framegate_gate::outcome::{Outcome, Status};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::{BEARER, GET, answered, asked, assert_unknown, ok, serve, shown, target};
use crate::executor::Executor;
use crate::executor::fixture::World;

/// No word of a peer is in an outcome that is not its answer.
#[track_caller]
fn assert_own_words(outcome: &Outcome) {
    assert_unknown(outcome);
    let words = outcome.text().split(';').next().unwrap();
    let known = [
        "the connection ended before the answer was complete",
        "the target's answer is not sound HTTP/1.1, or its head is too large",
        "there was no complete answer within 50 s",
        "no byte came from the target for 30 s",
    ];
    assert!(known.contains(&words), "{words}");
}

#[tokio::test(start_paused = true)]
async fn a_long_head_within_the_bounds_is_read() {
    let long = "f".repeat(32_000);
    let many: String = (0..98).map(|number| format!("x-{number}: peer\r\n")).collect();
    for fields in [format!("x-peer: {long}\r\n"), many] {
        assert_eq!(answered(ok(&fields, b"{}")).await.status(), Status::Done);
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_ends_at_any_byte_is_unknown_until_the_last() {
    let plain = ok("content-type: application/json\r\n", b"{}");
    let chunked =
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;a=b\r\n{\r\n1\r\n}\r\n0\r\nt: 1\r\n\r\n"
            .to_vec();
    for answer in [plain, chunked] {
        for length in 0..=answer.len() {
            let outcome = answered(&answer[..length]).await;
            if length == answer.len() {
                assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
            } else {
                assert_eq!(outcome.status(), Status::Unknown, "{length}: {outcome:?}");
                assert_own_words(&outcome);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn silence_meets_the_deadline() {
    let answer = ok("content-type: text/plain\r\n", b"body");
    let head = answer.len() - 4;
    // Before the answer, in its status line, its head, after its head, in its body.
    for length in [0, 1, 12, 30, head, head + 1] {
        let start = Instant::now();
        let part = answer[..length].to_vec();
        let outcome = asked("deadline_seconds = 7\nconnect_seconds = 3", move |mut stream| {
            stream.write_all(&part).unwrap();
            Some(stream)
        })
        .await;
        assert_unknown(&outcome);
        assert!(outcome.text().starts_with("there was no complete answer within 7 s;"), "{outcome:?}");
        let took = start.elapsed();
        assert!(took >= Duration::from_secs(7) && took < Duration::from_secs(8), "{length}: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_target_is_not_waited_for() {
    let answer = ok("content-type: text/plain\r\n", b"body");
    for length in [0, 12, 30, answer.len() - 1] {
        let start = Instant::now();
        let part = answer[..length].to_vec();
        let outcome = asked("idle_seconds = 3", move |mut stream| {
            stream.write_all(&part).unwrap();
            Some(stream)
        })
        .await;
        assert_unknown(&outcome);
        assert!(outcome.text().starts_with("no byte came from the target for 3 s;"), "{outcome:?}");
        let took = start.elapsed();
        assert!(took >= Duration::from_secs(3) && took < Duration::from_secs(4), "{length}: {took:?}");
    }
}

/// One byte every two seconds: never silent for three, and over after ten all the same. In the head, in the body,
/// in the trailers.
#[tokio::test(start_paused = true)]
async fn a_drip_is_not_silence_and_meets_the_deadline() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    for (head, drop) in [
        ("HTTP/1.1 200 OK\r\nx-peer: ", "p"),
        ("HTTP/1.1 200 OK\r\n\r\n", "b"),
        (&format!("{chunked}0\r\nx-peer: "), "t"),
    ] {
        let (listener, text) = target(&format!("{BEARER}\ndeadline_seconds = 10\nidle_seconds = 3"));
        let world = World::new(&text, GET);
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let head = head.to_owned();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut dripped: u32 = 0;
            while stream.write_all(drop.as_bytes()).await.is_ok() {
                dripped += 1;
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
            (listener.into_std().unwrap(), dripped)
        });
        let start = Instant::now();
        let outcome = super::perform(&world, &json!({})).await;
        assert_unknown(&outcome);
        assert!(outcome.text().starts_with("there was no complete answer within 10 s;"), "{outcome:?}");
        assert_eq!(start.elapsed().as_secs(), 10);
        let (listener, dripped) = server.await.unwrap();
        assert!(dripped >= 5, "{dripped}");
        super::assert_untouched(&listener);
    }
}

/// A tool's own deadline replaces the target's.
#[tokio::test(start_paused = true)]
async fn a_tool_may_have_its_own_deadline() {
    let (listener, text) = target(&format!("{BEARER}\ndeadline_seconds = 600\nidle_seconds = 600"));
    let world = World::new(&text, &format!("{GET}\ndeadline_seconds = 500"));
    let server = serve(listener, Some);
    let start = Instant::now();
    let outcome = super::perform(&world, &json!({})).await;
    server.await.unwrap().once();
    assert!(outcome.text().contains("within 500 s"), "{outcome:?}");
    assert_eq!(start.elapsed().as_secs(), 500);
}

/// Writes the head and then `piece` over and over, until the client is gone.
fn endless(head: &'static str, piece: Vec<u8>) -> impl FnOnce(TcpStream) -> Option<TcpStream> + Send {
    move |mut stream| {
        stream.write_all(head.as_bytes()).unwrap();
        // A client that never hangs up would take this much and fail the assertion.
        let written = (0..200_000).take_while(|_| stream.write_all(&piece).is_ok()).count();
        assert!(written < 200_000, "the client read everything");
        None
    }
}

#[tokio::test(start_paused = true)]
async fn what_never_ends_is_cut_off() {
    let field = format!("x-peer: {}\r\n", "p".repeat(1000)).into_bytes();
    assert_own_words(&asked("", endless("HTTP/1.1 200 OK\r\n", field.clone())).await);
    assert_own_words(&asked("", endless("HTTP/1.1 200 OK\r\nx-peer: ", vec![b'p'; 1000])).await);
    assert_own_words(&asked("", endless("", vec![b'p'; 1000])).await);
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunk = format!("3e8\r\n{}\r\n", "b".repeat(1000)).into_bytes();
    for (head, piece) in [(chunked, chunk), ("HTTP/1.1 200 OK\r\n\r\n", vec![b'b'; 1000])] {
        let outcome = asked("max_response_bytes = 1024", endless(head, piece)).await;
        assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
        let result = shown(&outcome);
        assert_eq!(
            (result["truncated"].as_bool(), result["body"].as_str().map(str::len)),
            (Some(true), Some(1024))
        );
    }
    // Extensions of a chunk, and trailers.
    assert_own_words(&asked("", endless(chunked, b"2;peer=".repeat(150))).await);
    let trailers = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n";
    assert_own_words(&asked("", endless(trailers, field)).await);
}

/// Interim answers without end count as no answer, however fast they come.
#[tokio::test]
async fn a_flood_of_interim_answers_meets_the_deadline() {
    let interim = "HTTP/1.1 102 Processing\r\n\r\n".repeat(40).into_bytes();
    let outcome = asked("deadline_seconds = 1\nconnect_seconds = 1", move |mut stream| {
        while stream.write_all(&interim).is_ok() {}
        None
    })
    .await;
    assert_unknown(&outcome);
    assert!(outcome.text().starts_with("there was no complete answer within 1 s;"), "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_action_closes_its_connection() {
    let (listener, text) = target(BEARER);
    let world = World::new(&text, GET);
    let executor = world.executor();
    let (recorded, _receipt) = world.recorded(&json!({}));
    let (arrived, request_arrived) = oneshot::channel();
    let server = serve(listener, move |mut stream| {
        arrived.send(()).unwrap();
        // The end of the stream, not a time-out.
        assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0);
        None
    });
    let mut performing = executor.perform(recorded);
    tokio::select! {
        outcome = &mut performing => panic!("{outcome:?}"),
        arrived = request_arrived => arrived.unwrap(),
    }
    drop(performing);
    server.await.unwrap().once();
}
