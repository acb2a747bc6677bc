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
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    pub(super) line: String,
    pub(super) credential_length: usize,
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
                received.credential_length = value.trim().strip_prefix("Bearer ").map_or(0, str::len)
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
    *seen.last.lock().unwrap_or_else(PoisonError::into_inner) = received;
    let body = r#"{"created":true,"note":7}"#;
    let mut stream = stream;
    write!(
        stream,
        "HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}
