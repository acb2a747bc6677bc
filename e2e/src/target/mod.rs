//! A counting HTTP/1.1 server on loopback: the outside world of a test.
//!
//! Belongs here: accepting, counting, keeping raw requests, scripted answers.
//! Does not belong here: certificates (`tls`), what a request should look like.
//!
//! Connections and requests count apart: a connection that never sends a request is a trace, too.

pub mod tls;

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::canary::position;
use crate::process::DEADLINE;

/// What the target does with a request.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Status, content type, body.
    Body(u16, &'static str, String),
    /// These bytes as they are.
    Raw(Vec<u8>),
    /// Nothing, until [`Target::release`]; then the inner answer.
    Hold(Box<Answer>),
    /// Closes the connection without a byte.
    Close,
}

impl Answer {
    /// 200 with a small JSON object.
    #[must_use]
    pub fn ok() -> Self {
        Self::Body(200, "application/json", "{\"ok\":true}".to_owned())
    }

    fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Body(status, content_type, body) => Some(
                format!(
                    "HTTP/1.1 {status} Scripted\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                )
                .into_bytes(),
            ),
            Self::Raw(bytes) => Some(bytes.clone()),
            Self::Hold(inner) => inner.bytes(),
            Self::Close => None,
        }
    }
}

/// One request as it came, byte for byte.
#[derive(Clone, Debug)]
pub struct Request {
    /// Head and body.
    pub raw: Vec<u8>,
    /// Where the body begins.
    pub body_at: usize,
}

impl Request {
    /// The request line.
    #[must_use]
    pub fn line(&self) -> String {
        let end = position(&self.raw, b"\r\n").unwrap_or(self.raw.len());
        String::from_utf8_lossy(&self.raw[..end]).into_owned()
    }

    /// The body.
    #[must_use]
    pub fn body(&self) -> &[u8] {
        &self.raw[self.body_at..]
    }

    /// The value of the first header of this name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        let head = String::from_utf8_lossy(&self.raw[..self.body_at]).into_owned();
        head.lines().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }
}

#[derive(Debug, Default)]
struct Seen {
    connections: usize,
    requests: Vec<Request>,
    /// What came on a connection and never became a whole request.
    fragments: Vec<Vec<u8>>,
    released: bool,
    script: Vec<Answer>,
}

/// The server. It stops when it is dropped.
#[derive(Debug)]
pub struct Target {
    address: SocketAddr,
    seen: Arc<(Mutex<Seen>, Condvar)>,
    stopping: Arc<AtomicBool>,
}

impl Target {
    /// A target that answers 200 to everything, over TLS as `probe.test` if `tls`.
    ///
    /// # Panics
    /// If no loopback port can be had.
    #[must_use]
    pub fn start(tls: bool) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
        let address = listener.local_addr().expect("bound");
        let seen = Arc::new((Mutex::new(Seen::default()), Condvar::new()));
        let stopping = Arc::new(AtomicBool::new(false));
        let (shared, stop) = (Arc::clone(&seen), Arc::clone(&stopping));
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(connection) = connection else { continue };
                shared.0.lock().unwrap_or_else(PoisonError::into_inner).connections += 1;
                shared.1.notify_all();
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || {
                    let _ = connection.set_read_timeout(Some(DEADLINE));
                    let _ = if tls {
                        tls::accept(connection).and_then(|stream| serve(stream, &shared))
                    } else {
                        serve(connection, &shared)
                    };
                });
            }
        });
        Self { address, seen, stopping }
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it answers from now on: the first to the next request, and so on; the last for ever.
    pub fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        let mut answers: Vec<_> = answers.into_iter().collect();
        answers.reverse();
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).script = answers;
    }

    /// Lets every held answer go, now and later.
    pub fn release(&self) {
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).released = true;
        self.seen.1.notify_all();
    }

    /// Forgets everything: counts, requests, script. Only between sessions: nothing may be under way.
    pub fn reset(&self) {
        *self.seen.0.lock().unwrap_or_else(PoisonError::into_inner) = Seen::default();
    }

    /// How many connections were made.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).connections
    }

    /// Every whole request so far.
    #[must_use]
    pub fn requests(&self) -> Vec<Request> {
        self.seen.0.lock().unwrap_or_else(PoisonError::into_inner).requests.clone()
    }

    /// How many whole requests hold `marker` anywhere.
    #[must_use]
    pub fn count_with_marker(&self, marker: &str) -> usize {
        let seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.requests.iter().filter(|request| position(&request.raw, marker.as_bytes()).is_some()).count()
    }

    /// Every byte that came in, whole requests or not.
    #[must_use]
    pub fn received(&self) -> Vec<u8> {
        let seen = self.seen.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut bytes: Vec<u8> = seen.requests.iter().flat_map(|request| request.raw.clone()).collect();
        bytes.extend(seen.fragments.iter().flatten());
        bytes
    }

    /// Waits for this many whole requests.
    ///
    /// # Panics
    /// If they do not come.
    pub fn wait_requests(&self, count: usize) {
        let deadline = Instant::now() + DEADLINE;
        let (seen, changed) = &*self.seen;
        let mut seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
        while seen.requests.len() < count {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the target got {} of {count} requests", seen.requests.len());
            seen = changed.wait_timeout(seen, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.release();
        self.stopping.store(true, Ordering::SeqCst);
        // Wakes the accepting thread, so that it sees the flag.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_secs(1));
    }
}

/// Reads requests until the peer stops, and answers each.
fn serve(mut stream: impl Read + Write, shared: &(Mutex<Seen>, Condvar)) -> io::Result<()> {
    let mut pending = Vec::new();
    let mut chunk = [0; 16 * 1024];
    loop {
        while let Some(request) = whole(&mut pending) {
            let answer = {
                let mut seen = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
                seen.requests.push(request);
                match seen.script.len() {
                    0 => Answer::ok(),
                    1 => seen.script[0].clone(),
                    _ => seen.script.pop().expect("not empty"),
                }
            };
            shared.1.notify_all();
            if matches!(answer, Answer::Hold(_)) {
                let mut seen = shared.0.lock().unwrap_or_else(PoisonError::into_inner);
                while !seen.released {
                    seen = shared.1.wait(seen).unwrap_or_else(PoisonError::into_inner);
                }
            }
            let Some(bytes) = answer.bytes() else {
                return Ok(());
            };
            stream.write_all(&bytes)?;
            stream.flush()?;
            if position(&bytes, b"connection: close").is_some() {
                return Ok(());
            }
        }
        let read = stream.read(&mut chunk).unwrap_or(0);
        if read == 0 {
            if !pending.is_empty() {
                shared.0.lock().unwrap_or_else(PoisonError::into_inner).fragments.push(pending);
            }
            return Ok(());
        }
        pending.extend_from_slice(&chunk[..read]);
    }
}

/// Takes the first whole request out of `pending`: head, then `content-length` bytes.
fn whole(pending: &mut Vec<u8>) -> Option<Request> {
    let body_at = position(pending, b"\r\n\r\n")? + 4;
    let request = Request { raw: pending[..body_at].to_vec(), body_at };
    let length: usize = request.header("content-length").map_or(0, |value| value.parse().unwrap_or(0));
    let end = body_at.checked_add(length).filter(|end| *end <= pending.len())?;
    Some(Request { raw: pending.drain(..end).collect(), body_at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(address: SocketAddr, parts: &[&[u8]]) -> Vec<u8> {
        let mut stream = TcpStream::connect(address).unwrap();
        for part in parts {
            stream.write_all(part).unwrap();
        }
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    #[test]
    fn connections_and_requests_count_apart() {
        let target = Target::start(false);
        drop(TcpStream::connect(target.address()).unwrap());
        let answer =
            ask(target.address(), &[b"POST /a HTTP/1.1\r\nX-A: b\r\nContent-Length: 4\r\n\r\nmk", b"01"]);
        assert!(answer.starts_with(b"HTTP/1.1 200 "), "{answer:?}");
        assert_eq!((target.connections(), target.requests().len()), (2, 1));
        let request = &target.requests()[0];
        assert_eq!((request.line().as_str(), request.body()), ("POST /a HTTP/1.1", &b"mk01"[..]));
        assert_eq!(request.header("x-a").as_deref(), Some("b"));
        assert_eq!((target.count_with_marker("mk01"), target.count_with_marker("mk02")), (1, 0));
    }

    #[test]
    fn answers_follow_the_script() {
        let target = Target::start(false);
        target.script([Answer::Close, Answer::Hold(Box::new(Answer::Body(503, "text/plain", "no".into())))]);
        let request: &[u8] = b"GET / HTTP/1.1\r\n\r\n";
        assert_eq!(ask(target.address(), &[request]), b"");
        std::thread::scope(|scope| {
            let held = scope.spawn(|| ask(target.address(), &[request]));
            target.wait_requests(2);
            target.release();
            assert!(held.join().unwrap().starts_with(b"HTTP/1.1 503 "));
        });
    }
}
