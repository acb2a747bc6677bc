//! Connections that carry several requests: of one target with one credential, in step, and only while nothing
//! else came over them. Whatever a target does to them, no request is sent twice.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;

use framegate_gate::action::{Origin, Scheme};
use framegate_gate::outcome::{Outcome, Status};
use rustix::net::sockopt::{set_socket_linger, set_socket_recv_buffer_size};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, advance};

use super::{
    BEARER, GET, accept, assert_unknown, assert_untouched, json_answer, ok, perform_by, read_request, shown,
    target,
};
use crate::executor::Executor;
use crate::executor::fixture::{SECRET, World};
use crate::executor::http::HttpExecutor;
use crate::executor::http::connection::{Connection, Stream};
use crate::executor::http::masking::Generation;
use crate::executor::http::pool::{Key, Pool};

const OTHER_SECRET: &str = "Bv3-another-71/nQ+kd0pT_x";

async fn call(executor: &HttpExecutor, world: &World) -> Outcome {
    perform_by(executor, world, "call", &json!({})).await
}

fn answer(stream: &mut TcpStream, bytes: &[u8]) -> String {
    let request = String::from_utf8(read_request(stream)).unwrap();
    stream.write_all(bytes).unwrap();
    request
}

/// Fails if anything but the end comes over a connection.
#[track_caller]
fn assert_ended(mut stream: TcpStream) {
    match stream.read(&mut [0; 64]) {
        Ok(0) => {}
        Err(fault) if fault.kind() == ErrorKind::ConnectionReset => {}
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_body(outcome: &Outcome, body: &str) {
    assert_eq!(shown(outcome)["body"], body, "{outcome:?}");
}

#[tokio::test(start_paused = true)]
async fn a_whole_answer_leaves_its_connection_for_the_next_request() {
    let chunked = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4;a=b\r\ntext\r\n0\r\n";
    for first in [
        ok("", b"text"),
        ok("connection: keep-alive\r\n", b"text"),
        ok("connection: Keep-Alive, keep-alive\r\n", b""),
        format!("{chunked}\r\n").into_bytes(),
        format!("{chunked}x-trailer: 1\r\n\r\n").into_bytes(),
        b"HTTP/1.1 204 No Content\r\n\r\n".to_vec(),
        b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\n\r\ntext".to_vec(),
        [b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n", ok("", b"text").as_slice()].concat(),
    ] {
        let (listener, text) = target(BEARER);
        let world = World::new(&text, GET);
        let server = spawn_blocking(move || {
            let mut stream = accept(&listener);
            let requests = [answer(&mut stream, &first), answer(&mut stream, &ok("", b"second"))];
            (listener, requests)
        });
        let executor = world.executor();
        call(&executor, &world).await;
        assert_body(&call(&executor, &world).await, "second");
        let (listener, requests) = server.await.unwrap();
        assert_untouched(&listener);
        for request in requests {
            assert_eq!(request.matches(SECRET).count(), 1);
            assert!(!request.contains("connection:"), "{request}");
        }
    }
}

/// Two connections, one request on each: what the first answer says or does not finish ends its connection.
#[tokio::test(start_paused = true)]
async fn any_other_answer_ends_its_connection() {
    let second = ok("", b"unasked");
    let followed = |more: &[u8]| [ok("", b"text").as_slice(), more].concat();
    for (settings, first, status) in [
        ("keep_alive = false", ok("", b"text"), Status::Done),
        ("", ok("connection: close\r\n", b"text"), Status::Done),
        ("", ok("connection: keep-alive, Close\r\n", b"text"), Status::Done),
        ("", ok("connection: close\r\nconnection: keep-alive\r\n", b"text"), Status::Done),
        ("", ok("connection: x-peer\r\n", b"text"), Status::Done),
        ("", b"HTTP/1.0 200 OK\r\ncontent-length: 4\r\n\r\ntext".to_vec(), Status::Done),
        (
            "",
            b"HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 4\r\n\r\ntext".to_vec(),
            Status::Done,
        ),
        ("max_response_bytes = 1024", ok("", &[b'b'; 1025]), Status::Done),
        ("", followed(b"\r\n"), Status::Done),
        ("", followed(b"x"), Status::Done),
        ("", followed(&second), Status::Done),
        ("", ok("content-length: 4\r\n", b"text"), Status::Unknown),
        ("", ok("x-peer : 1\r\n", b"text"), Status::Unknown),
        (
            "",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\ntext\r\n0\r\nt\r\n\r\n".to_vec(),
            Status::Unknown,
        ),
    ] {
        let (listener, text) = target(&format!("{BEARER}\n{settings}"));
        let world = World::new(&text, GET);
        let case = String::from_utf8_lossy(&first).into_owned();
        let server = spawn_blocking(move || {
            let mut stream = accept(&listener);
            answer(&mut stream, &first);
            answer(&mut accept(&listener), &ok("", b"second"));
            assert_ended(stream);
            listener
        });
        let executor = world.executor();
        assert_eq!(call(&executor, &world).await.status(), status, "{case}");
        assert_body(&call(&executor, &world).await, "second");
        assert_untouched(&server.await.unwrap());
    }
}

/// Between two requests, over the connection that waits.
type Meanwhile = fn(TcpStream) -> Option<TcpStream>;

#[tokio::test(start_paused = true)]
async fn what_comes_over_a_waiting_connection_is_never_an_answer() {
    let cases: [Meanwhile; 6] = [
        |mut stream| {
            stream.write_all(&ok("", b"unasked")).unwrap();
            Some(stream)
        },
        |mut stream| {
            stream.write_all(b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n").unwrap();
            None
        },
        |mut stream| {
            stream.write_all(b"\n").unwrap();
            Some(stream)
        },
        |stream| {
            stream.shutdown(Shutdown::Write).unwrap();
            Some(stream)
        },
        |_| None,
        |stream| {
            // The end as a reset.
            set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
            None
        },
    ];
    for meanwhile in cases {
        let (listener, text) = target(BEARER);
        let world = World::new(&text, GET);
        let (finished, first_is_finished) = mpsc::channel();
        let (done, meanwhile_is_done) = oneshot::channel();
        let server = spawn_blocking(move || {
            let mut stream = accept(&listener);
            answer(&mut stream, &ok("", b"first"));
            first_is_finished.recv().unwrap();
            let open = meanwhile(stream);
            done.send(()).unwrap();
            answer(&mut accept(&listener), &ok("", b"second"));
            if let Some(stream) = open {
                assert_ended(stream);
            }
            listener
        });
        let executor = world.executor();
        assert_body(&call(&executor, &world).await, "first");
        finished.send(()).unwrap();
        meanwhile_is_done.await.unwrap();
        assert_body(&call(&executor, &world).await, "second");
        assert_untouched(&server.await.unwrap());
    }
}

/// The connection is alive when the request is handed to it, and ends at any byte of it: whether the target acted
/// is not known, so nothing is sent again.
#[tokio::test(start_paused = true)]
async fn a_kept_connection_that_ends_during_a_request_is_unknown() {
    let (listener, text) = target(BEARER);
    let world = World::new(&text, GET);
    let executor = world.executor();
    let mut length = 0;
    let mut listener = Some(listener);
    let mut request_length = usize::MAX;
    while length <= request_length {
        let listening = listener.take().unwrap();
        let server = spawn_blocking(move || {
            let mut stream = accept(&listening);
            let request = answer(&mut stream, &ok("", b"first"));
            // Its first byte is there; of them all, this many are read.
            stream.peek(&mut [0]).unwrap();
            stream.read_exact(&mut vec![0; length]).unwrap();
            drop(stream);
            (listening, request.len())
        });
        assert_body(&call(&executor, &world).await, "first");
        assert_unknown(&call(&executor, &world).await);
        let (listening, of_request) = server.await.unwrap();
        assert_untouched(&listening);
        listening.set_nonblocking(false).unwrap();
        request_length = of_request;
        listener = Some(listening);
        length += 11;
    }
    assert!(length > 100);
}

/// A target that hangs up at moments nobody can foresee, each request with a number of its own: none is seen
/// twice, `done` means once, and "nothing was sent" means never.
#[tokio::test]
async fn a_target_that_hangs_up_at_any_time_sees_each_request_once() {
    const STOP: &[u8] = b"GET /stop HTTP/1.1\r\n\r\n";
    let (listener, text) = target(BEARER);
    let address = listener.local_addr().unwrap();
    let tool = "method = \"POST\"\npath = \"/{n}\"\n[tool.call.params.n]\ntype = \"int\"";
    let world = World::new(&text, tool);
    let executor = world.executor();
    let server = spawn_blocking(move || {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        let mut connections = 0_u32;
        loop {
            let mut stream = accept(&listener);
            connections += 1;
            for round in 0..=connections % 3 {
                if !matches!(stream.peek(&mut [0]), Ok(1)) {
                    break;
                }
                let request = String::from_utf8(read_request(&mut stream)).unwrap();
                let path = request.split(' ').nth(1).unwrap().to_owned();
                if path == "/stop" {
                    return (seen, connections);
                }
                *seen.entry(path).or_default() += 1;
                if round == 2 {
                    // Seen, and not answered.
                    break;
                }
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
                for _ in 0..(connections + round) % 40 {
                    std::thread::yield_now();
                }
            }
        }
    });
    let mut outcomes = Vec::new();
    for n in 0..100 {
        outcomes.push(perform_by(&executor, &world, "call", &json!({"n": n})).await);
    }
    drop(executor);
    TcpStream::connect(address).unwrap().write_all(STOP).unwrap();
    let (seen, connections) = server.await.unwrap();
    for (n, outcome) in outcomes.iter().enumerate() {
        let times = seen.get(&format!("/{n}")).copied().unwrap_or_default();
        match outcome.status() {
            Status::Done => assert_eq!(times, 1, "{n}"),
            Status::Unknown => assert!(times <= 1, "{n}"),
            Status::Failed => assert_eq!(times, 0, "{n}: {outcome:?}"),
            other => panic!("{other:?}"),
        }
    }
    assert!(connections > 30, "{connections}");
}

/// Two targets with one origin, with two secrets, with one, and with none: each keeps its own connection.
#[tokio::test(start_paused = true)]
async fn a_connection_serves_one_target_with_one_credential() {
    let other_auth = "auth = { scheme = \"bearer\", secret = \"other\" }";
    for (auth, secret) in [(other_auth, OTHER_SECRET), (BEARER, SECRET), ("", "")] {
        let (listener, text) = target(BEARER);
        let port = listener.local_addr().unwrap().port();
        let text = format!(
            "{text}\n[target.other]\norigin = \"http://127.0.0.1:{port}\"\nallow_plain_loopback = true\n{auth}\n\
             [secret.other]\nsource = \"file:other\"\n"
        );
        let tools = format!(
            "{GET}\n[tool.second]\ndescription = \"Call\"\ntarget = \"other\"\nallow = true\n{GET}\n"
        );
        let files = [("key", SECRET.as_bytes()), ("other", OTHER_SECRET.as_bytes())];
        let world = World::with_files(&text, &tools, &files);
        let server = spawn_blocking(move || {
            let mut one = accept(&listener);
            let mut requests = vec![answer(&mut one, &ok("", b"one"))];
            let mut two = accept(&listener);
            requests.push(answer(&mut two, &ok("", b"two")));
            requests.push(answer(&mut one, &ok("", b"one")));
            requests.push(answer(&mut two, &ok("", b"two")));
            (listener, requests)
        });
        let executor = world.executor();
        for (tool, body) in [("call", "one"), ("second", "two"), ("call", "one"), ("second", "two")] {
            assert_body(&perform_by(&executor, &world, tool, &json!({})).await, body);
        }
        let (listener, requests) = server.await.unwrap();
        assert_untouched(&listener);
        for (request, secret) in requests.iter().zip([SECRET, secret, SECRET, secret]) {
            let fields: Vec<_> =
                request.lines().filter_map(|line| line.strip_prefix("authorization: Bearer ")).collect();
            assert_eq!(fields, if secret.is_empty() { vec![] } else { vec![secret] });
        }
    }
}

/// A secret's new value is another credential: it gets a connection of its own, and it is masked.
#[tokio::test(start_paused = true)]
async fn a_changed_secret_is_another_credential() {
    let (listener, text) = target(BEARER);
    let world = World::new(&text, GET);
    let server = spawn_blocking(move || {
        let mut first = accept(&listener);
        let old = answer(&mut first, &json_answer(&json!({ "old": SECRET }).to_string()));
        let echo = json_answer(&json!({ "new": OTHER_SECRET }).to_string());
        let mut second = accept(&listener);
        let plain = json_answer("{\"new\":\"nothing\"}");
        let requests = [old, answer(&mut second, &echo), answer(&mut second, &plain)];
        (listener, requests)
    });
    let executor = world.executor();
    assert_eq!(shown(&call(&executor, &world).await)["body"], json!({"old": "[redacted:key]"}));
    std::fs::write(world.path("key"), OTHER_SECRET).unwrap();
    for shown_as in ["[redacted:key]", "nothing"] {
        assert_eq!(shown(&call(&executor, &world).await)["body"], json!({ "new": shown_as }));
    }
    let (listener, requests) = server.await.unwrap();
    assert_untouched(&listener);
    for (request, secret) in requests.iter().zip([SECRET, OTHER_SECRET, OTHER_SECRET]) {
        assert!(request.contains(&format!("\r\nauthorization: Bearer {secret}\r\n")), "{request}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_action_closes_a_kept_connection() {
    let (listener, text) = target(BEARER);
    let world = World::new(&text, GET);
    let (arrived, request_arrived) = oneshot::channel();
    let server = spawn_blocking(move || {
        let mut stream = accept(&listener);
        answer(&mut stream, &ok("", b"first"));
        read_request(&mut stream);
        arrived.send(()).unwrap();
        assert_ended(stream);
        answer(&mut accept(&listener), &ok("", b"third"));
        listener
    });
    let executor = world.executor();
    assert_body(&call(&executor, &world).await, "first");
    let (recorded, _receipt) = world.recorded(&json!({}));
    let mut performing = executor.perform(recorded);
    tokio::select! {
        outcome = &mut performing => panic!("{outcome:?}"),
        arrived = request_arrived => arrived.unwrap(),
    }
    drop(performing);
    assert_body(&call(&executor, &world).await, "third");
    assert_untouched(&server.await.unwrap());
}

/// The target answers before it has read the request. The rest of that request must not come before the next one.
#[tokio::test(start_paused = true)]
async fn half_a_request_is_followed_by_none() {
    let (listener, text) = target(BEARER);
    set_socket_recv_buffer_size(&listener, 4096).unwrap();
    let names = ["a", "b", "c"];
    let params: String = names
        .iter()
        .map(|name| format!("[tool.call.params.{name}]\ntype = \"text\"\nmax_length = 1048576\n"))
        .collect();
    let tool = format!(
        "method = \"POST\"\npath = \"/\"\nbody = {{ a = \"{{a}}\", b = \"{{b}}\", c = \"{{c}}\" }}\n{params}"
    );
    let world = World::new(&text, &tool);
    let server = spawn_blocking(move || {
        let mut first = accept(&listener);
        let mut start = [0; 512];
        first.read_exact(&mut start).unwrap();
        first.write_all(&ok("", b"early")).unwrap();
        let mut second = accept(&listener);
        let mut head = [0; 512];
        second.read_exact(&mut head).unwrap();
        second.write_all(&ok("connection: close\r\n", b"second")).unwrap();
        let mut rest = Vec::new();
        let _ = first.read_to_end(&mut rest);
        (start, rest, head)
    });
    let executor = world.executor();
    let text = "x".repeat(1_000_000);
    let arguments = json!({"a": text, "b": text, "c": text});
    assert_body(&perform_by(&executor, &world, "call", &arguments).await, "early");
    assert_body(&perform_by(&executor, &world, "call", &arguments).await, "second");
    let (start, rest, head) = server.await.unwrap();
    for begun in [start, head] {
        assert!(begun.starts_with(b"POST / HTTP/1.1\r\n"));
    }
    assert!(!rest.windows(6).any(|window| window == b"POST /"));
}

/// Closed without another call.
#[tokio::test(start_paused = true)]
async fn a_connection_waits_for_four_seconds() {
    let (listener, text) = target(BEARER);
    let world = World::new(&text, GET);
    let (ended, connection_ended) = oneshot::channel();
    let server = spawn_blocking(move || {
        let mut stream = accept(&listener);
        answer(&mut stream, &ok("", b"first"));
        answer(&mut stream, &ok("", b"second"));
        assert_ended(stream);
        ended.send(()).unwrap();
    });
    let executor = world.executor();
    assert_body(&call(&executor, &world).await, "first");
    advance(Duration::from_millis(3_900)).await;
    assert_body(&call(&executor, &world).await, "second");
    advance(Duration::from_millis(4_100)).await;
    connection_ended.await.unwrap();
    server.await.unwrap();
}

/// However busy it is, so that a name which leads elsewhere is seen.
#[tokio::test(start_paused = true)]
async fn a_connection_grows_a_minute_old() {
    let (listener, text) = target(BEARER);
    let world = World::new(&text, GET);
    let server = spawn_blocking(move || {
        let mut counts = Vec::new();
        while counts.iter().sum::<usize>() < 23 {
            let mut stream = accept(&listener);
            let mut count = 0;
            while count < 23 && matches!(stream.peek(&mut [0]), Ok(1)) {
                answer(&mut stream, &ok("", b"text"));
                count += 1;
                if counts.iter().sum::<usize>() + count == 23 {
                    break;
                }
            }
            counts.push(count);
        }
        counts
    });
    let executor = world.executor();
    for _ in 0..23 {
        assert_body(&call(&executor, &world).await, "text");
        advance(Duration::from_secs(3)).await;
    }
    assert_eq!(server.await.unwrap(), [20, 3]);
}

#[tokio::test]
async fn few_connections_wait() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut peers = Vec::new();
    let mut connection = || {
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stream.set_nonblocking(true).unwrap();
        peers.push(listener.accept().unwrap().0);
        let stream = Stream::Plain(tokio::net::TcpStream::from_std(stream).unwrap());
        Connection { stream, opened: Instant::now() }
    };
    let key = |target: usize| Key {
        target: target.to_string(),
        credential: Some(("key".to_owned(), Generation::default())),
        origin: Origin::new(Scheme::Http, "127.0.0.1".into(), 80),
    };
    let pool = Pool::default();
    for _ in 0..9 {
        pool.put(key(0), connection());
    }
    for expected in [true, true, true, true, true, true, true, true, false] {
        assert_eq!(pool.take(&key(0)).await.is_some(), expected);
    }
    for target in 0..65 {
        pool.put(key(target), connection());
    }
    for target in 0..65 {
        assert_eq!(pool.take(&key(target)).await.is_some(), target > 0, "{target}");
    }
    pool.put(key(1), connection());
    for other in [
        Key { target: "2".to_owned(), ..key(1) },
        Key { credential: None, ..key(1) },
        Key { credential: Some(("other".to_owned(), Generation::default())), ..key(1) },
        Key { origin: Origin::new(Scheme::Https, "127.0.0.1".into(), 80), ..key(1) },
        Key { origin: Origin::new(Scheme::Http, "127.0.0.2".into(), 80), ..key(1) },
        Key { origin: Origin::new(Scheme::Http, "127.0.0.1".into(), 81), ..key(1) },
    ] {
        assert!(pool.take(&other).await.is_none(), "{other:?}");
    }
    assert!(pool.take(&key(1)).await.is_some());
}
