//! The HTTP executor against a scripted server of raw bytes on loopback.
//!
//! Belongs here: the server, one way to ask it, and what holds for every outcome.
//! Does not belong here: tests, which are in the modules by subject.
//!
//! The clock is paused. It does not advance while the server's script runs, and jumps to the next deadline as
//! soon as nothing is left to do: a test that waits for a deadline takes no time, and none depends on speed.

mod answers;
mod downloads;
mod hostile;
mod masking;
mod nothing_sent;
mod paging;
mod pool;
mod requests;
mod results;
mod tls;
mod uploads;

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use framegate_gate::outcome::{Outcome, Status};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use serde_json::{Value, json};
use tokio::task::{JoinHandle, spawn_blocking};

use super::HttpExecutor;
use crate::executor::Executor;
use crate::executor::fixture::{SECRET, World};

/// A listener, and the TOML of a target there that sends `SECRET` as a bearer token.
fn target(more: &str) -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let text =
        format!("[target.api]\norigin = \"http://127.0.0.1:{port}\"\nallow_plain_loopback = true\n{more}\n");
    (listener, text)
}

const BEARER: &str = "auth = { scheme = \"bearer\", secret = \"key\" }";
const GET: &str = "method = \"GET\"\npath = \"/item\"";

/// What a server saw.
struct Served {
    /// The request, head and body.
    request: Vec<u8>,
    listener: TcpListener,
    /// The connection, if the script left it open.
    _open: Option<TcpStream>,
}

impl Served {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.request).unwrap()
    }

    /// Fails if there was a second connection: a retry, a followed redirect, an answered challenge.
    fn once(self) {
        assert_untouched(&self.listener);
    }
}

/// Fails if anybody connected.
fn assert_untouched(listener: &TcpListener) {
    listener.set_nonblocking(true).unwrap();
    let accepted = listener.accept().map_err(|fault| fault.kind());
    assert!(matches!(accepted, Err(ErrorKind::WouldBlock)), "{accepted:?}");
}

/// Accepts one connection, reads one request, runs the script.
fn serve(
    listener: TcpListener,
    script: impl FnOnce(TcpStream) -> Option<TcpStream> + Send + 'static,
) -> JoinHandle<Served> {
    spawn_blocking(move || {
        let mut stream = accept(&listener);
        let request = read_request(&mut stream);
        let open = script(stream);
        Served { request, listener, _open: open }
    })
}

/// The next connection. Only a hang reaches the time-outs; without them, a failed test would wait for its server
/// for ever.
fn accept(listener: &TcpListener) -> TcpStream {
    let hang = Some(Duration::from_secs(20));
    set_socket_timeout(listener, Timeout::Recv, hang).unwrap();
    let (stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(hang).unwrap();
    stream.set_write_timeout(hang).unwrap();
    stream
}

fn read_request(stream: &mut impl Read) -> Vec<u8> {
    let mut request = Vec::new();
    let mut expected = None;
    while expected.is_none_or(|length| request.len() < length) {
        let mut piece = [0; 4096];
        let length = stream.read(&mut piece).unwrap();
        assert_ne!(length, 0, "the request ends early");
        request.extend_from_slice(&piece[..length]);
        if let Some(end) = find(&request, b"\r\n\r\n") {
            let head = String::from_utf8(request[..end].to_vec()).unwrap();
            let body = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            expected = Some(end + 4 + body.map_or(0, |length| length.parse::<usize>().unwrap()));
        }
    }
    request
}

fn find(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|window| window == part)
}

/// Performs one call. Whatever becomes of it, the secret is nowhere in it.
async fn perform(world: &World, arguments: &Value) -> Outcome {
    perform_by(&world.executor(), world, "call", arguments).await
}

/// As `perform`, of any tool, with an executor that may have performed others.
async fn perform_by(executor: &HttpExecutor, world: &World, tool: &str, arguments: &Value) -> Outcome {
    let (recorded, _receipt) = world.recorded_of(tool, arguments);
    let outcome = executor.perform(recorded).await;
    let shown = format!("{outcome:?}\n{}", outcome.text());
    assert!(!shown.contains(SECRET), "{shown}");
    outcome
}

/// One call of a tool that gets `/item`, answered with these bytes; the connection is then closed.
async fn answered(answer: impl Into<Vec<u8>>) -> Outcome {
    answered_within("", answer).await
}

/// As `answered`, with more settings of the target.
async fn answered_within(settings: &str, answer: impl Into<Vec<u8>>) -> Outcome {
    let answer = answer.into();
    asked(settings, move |mut stream| {
        // The client may have seen enough before everything was written.
        let _ = stream.write_all(&answer);
        None
    })
    .await
}

/// One call of a tool that gets `/item`; exactly one connection.
async fn asked(
    settings: &str,
    script: impl FnOnce(TcpStream) -> Option<TcpStream> + Send + 'static,
) -> Outcome {
    asked_of(settings, GET, script).await
}

/// As `asked`, of this tool.
async fn asked_of(
    settings: &str,
    tool: &str,
    script: impl FnOnce(TcpStream) -> Option<TcpStream> + Send + 'static,
) -> Outcome {
    let (listener, text) = target(&format!("{BEARER}\n{settings}"));
    let world = World::new(&text, tool);
    let server = serve(listener, script);
    let outcome = perform(&world, &json!({})).await;
    server.await.unwrap().once();
    check(&world, &outcome);
    outcome
}

/// The text is one object that fits the published schema, and structured content is the same object.
fn check(world: &World, outcome: &Outcome) {
    let shown: Option<Value> = serde_json::from_str(outcome.text()).ok();
    match outcome.status() {
        Status::Done => assert_eq!(outcome.structured(), shown.as_ref()),
        Status::Failed | Status::Unknown => assert_eq!(outcome.structured(), None),
        other => panic!("{other:?}"),
    }
    check_shown(world, outcome);
}

/// What is one object fits the published schema.
fn check_shown(world: &World, outcome: &Outcome) {
    if let Ok(shown) = serde_json::from_str::<Value>(outcome.text()) {
        let validator = jsonschema::validator_for(world.output_schema()).unwrap();
        let faults: Vec<_> = validator.iter_errors(&shown).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{faults:?} in {shown}");
    }
}

/// The object that an outcome shows.
fn shown(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.text()).unwrap_or_else(|_| panic!("{outcome:?}"))
}

/// 200 with a length, the given fields, and a body.
fn ok(fields: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\n{fields}content-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// `ok` with a body declared as JSON.
fn json_answer(body: &str) -> Vec<u8> {
    ok("content-type: application/json\r\n", body.as_bytes())
}

#[track_caller]
fn assert_unknown(outcome: &Outcome) {
    assert_eq!(outcome.status(), Status::Unknown, "{outcome:?}");
    assert!(outcome.text().ends_with("; the request was sent and may have been carried out"), "{outcome:?}");
}

#[track_caller]
fn assert_nothing_sent(outcome: &Outcome) {
    assert_eq!(outcome.status(), Status::Failed, "{outcome:?}");
    assert!(outcome.text().ends_with("; nothing was sent"), "{outcome:?}");
}
