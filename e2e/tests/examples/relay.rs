//! Stands between the gateway and the mock server: counts connections and keeps every byte of both sides.
//!
//! Belongs here: carrying, counting, taking a request and its answer apart. Does not belong here: judging them.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use framegate_e2e::canary::position;
use framegate_e2e::target::Request;
use serde_json::Value;

/// What went over one connection.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    sent: Vec<u8>,
    answered: Vec<u8>,
}

impl Exchange {
    /// The one request of the connection.
    ///
    /// # Panics
    /// If there is none, or more than one.
    pub fn request(&self) -> Request {
        let body_at = position(&self.sent, b"\r\n\r\n").expect("a whole head") + 4;
        let request = Request { raw: self.sent.clone(), body_at };
        let length = request.header("content-length").map_or(0, |value| value.parse().expect("a length"));
        assert_eq!(request.body().len(), length, "one request a connection: {}", self.sent.escape_ascii());
        request
    }

    /// The answer, taken apart like a request: both are a head and a body.
    ///
    /// # Panics
    /// If it is not whole.
    pub fn answer(&self) -> Request {
        let body_at = position(&self.answered, b"\r\n\r\n").expect("a whole head") + 4;
        let answer = Request { raw: self.answered.clone(), body_at };
        assert_eq!(answer.header("transfer-encoding"), None, "the mock server gives a length");
        answer
    }

    /// The status of the answer.
    pub fn status(&self) -> u16 {
        let line = self.answer().line();
        line.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status line")
    }

    /// What the mock server found wrong with the request: it also judges its own answers, which is nothing to us.
    /// It says so in a header, or in the body where the description has no answer to a wrong request.
    pub fn complaints(&self) -> Vec<String> {
        let answer = self.answer();
        let found: Value = match answer.header("sl-violations") {
            Some(found) => serde_json::from_str(&found).expect("a list of violations"),
            None if answer.header("content-type").as_deref() == Some("application/problem+json") => {
                let body: Value = serde_json::from_slice(answer.body()).expect("JSON");
                body.get("validation").cloned().unwrap_or_else(|| Value::Array(vec![body]))
            }
            None => return Vec::new(),
        };
        let found = found.as_array().expect("a list of violations");
        found.iter().filter(|one| one["location"][0] != "response").map(Value::to_string).collect()
    }
}

type Connections = Arc<Mutex<Vec<Arc<Mutex<Exchange>>>>>;

/// The relay. Its thread ends with the test process.
#[derive(Debug)]
pub struct Relay {
    /// Where it listens.
    pub address: SocketAddr,
    connections: Connections,
}

impl Relay {
    /// A relay in front of `behind`.
    pub fn start(behind: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("bound");
        let connections = Connections::default();
        let shared = Arc::clone(&connections);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let exchange = Arc::new(Mutex::new(Exchange::default()));
                shared.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&exchange));
                let mock = TcpStream::connect(behind).expect("the mock server listens");
                let (from, to) = (stream.try_clone().expect("a handle"), mock.try_clone().expect("a handle"));
                let kept = Arc::clone(&exchange);
                std::thread::spawn(move || carry(from, to, &kept, |exchange| &mut exchange.sent));
                std::thread::spawn(move || carry(mock, stream, &exchange, |exchange| &mut exchange.answered));
            }
        });
        Self { address, connections }
    }

    /// How many connections were made.
    pub fn connections(&self) -> usize {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// What went over the last connection so far.
    ///
    /// # Panics
    /// If there was none.
    pub fn last(&self) -> Exchange {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let last = connections.last().expect("a connection");
        last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Keeps bytes before it passes them on: whoever has seen them finds them here.
fn carry(
    mut from: TcpStream,
    mut to: TcpStream,
    exchange: &Mutex<Exchange>,
    side: fn(&mut Exchange) -> &mut Vec<u8>,
) {
    let mut chunk = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        side(&mut exchange.lock().unwrap_or_else(PoisonError::into_inner)).extend_from_slice(&chunk[..read]);
        if to.write_all(&chunk[..read]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
