//! The target: a loopback HTTP server that counts what reaches it.
//!
//! Belongs here: accepting, counting, remembering the last request, answering.
//! Does not belong here: anything of the gateway.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The longest request that is read, in bytes.
const MAX_REQUEST: u64 = 64 * 1024;

/// What the target saw of one request.
#[derive(Clone, Default)]
pub(super) struct Received {
    pub(super) line: String,
    credential: String,
}

impl Received {
    pub(super) const fn credential_length(&self) -> usize {
        self.credential.len()
    }
}

impl core::fmt::Debug for Received {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Received").field("line", &self.line).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Seen {
    calls: AtomicUsize,
    probes: AtomicUsize,
    last: Mutex<Received>,
}

/// The running target. Its thread ends with the process.
#[derive(Debug)]
pub(super) struct Target {
    address: SocketAddr,
    seen: Arc<Seen>,
}

impl Target {
    /// Listens on a free loopback port.
    pub(super) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let seen = Arc::new(Seen::default());
        let counter = Arc::clone(&seen);
        thread::Builder::new().name("target".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                // Counted before anything is read: a connection is contact, whatever follows.
                counter.calls.fetch_add(1, Ordering::SeqCst);
                let _ = answer(&stream, &counter);
            }
        })?;
        Ok(Self { address, seen })
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Connections of others so far. A connection of our own goes through the same queue first, so that
    /// none that was made before is still on its way.
    pub(super) fn calls(&self) -> usize {
        let probes = self.seen.probes.fetch_add(1, Ordering::SeqCst).saturating_add(1);
        if let Ok(mut probe) = TcpStream::connect(self.address) {
            let _ = probe.write_all(b"PROBE\r\n\r\n");
            let _ = probe.read_to_end(&mut Vec::new());
        }
        self.seen.calls.load(Ordering::SeqCst).saturating_sub(probes)
    }

    pub(super) fn last_request(&self) -> Received {
        self.seen.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn answer(stream: &TcpStream, seen: &Seen) -> io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    let mut reader = BufReader::new(stream.take(MAX_REQUEST));
    let mut received = Received::default();
    let mut length = 0;
    reader.read_line(&mut received.line)?;
    received.line.truncate(received.line.trim_end().len());
    loop {
        let mut field = String::new();
        reader.read_line(&mut field)?;
        let field = field.trim_end();
        if field.is_empty() {
            break;
        }
        let Some((name, value)) = field.split_once(':') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "authorization" => {
                received.credential = value.trim().strip_prefix("Bearer ").unwrap_or_default().to_owned();
            }
            "content-length" => length = value.trim().parse().unwrap_or(0),
            _ => {}
        }
    }
    if received.line == "PROBE" {
        return Ok(());
    }
    let mut body = Vec::new();
    reader.take(length).read_to_end(&mut body)?;
    received.line.push_str("  ");
    received.line.push_str(&String::from_utf8_lossy(&body));
    let (head, body) = reply(&received);
    *seen.last.lock().unwrap_or_else(PoisonError::into_inner) = received;
    let mut stream = stream;
    write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

/// Status line and fields, and a body: what is asked for decides how badly the target behaves.
fn reply(received: &Received) -> (&'static str, String) {
    let path = received.line.split(' ').nth(1).unwrap_or_default();
    match path.rsplit('/').next() {
        Some("search") => (
            "200 OK\r\nContent-Type: application/json",
            r#"{"total":3,"items":[{"title":"milk"},{"title":"tea"},{"title":"rice"}],"internal":{"shard":"db-7"}}"#
                .to_owned(),
        ),
        Some("debug") => {
            ("200 OK\r\nContent-Type: text/plain", format!("authorization: Bearer {}", received.credential))
        }
        Some("moved") => {
            ("302 Found\r\nLocation: http://admin:hunter2@elsewhere.test/everything", String::new())
        }
        _ => ("201 Created\r\nContent-Type: application/json", r#"{"created":true,"note":7}"#.to_owned()),
    }
}
