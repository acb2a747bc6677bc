//! A loopback HTTP sink: keeps what it is sent, and answers 200.
//!
//! Belongs here: accepting, keeping. Does not belong here: acting on anything.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Sight, excerpt, holds};

/// The most that is kept of one connection, in bytes.
const MAX_KEPT: usize = 64 * 1024;
/// A peer that is silent for so long is let go.
const PATIENCE: Duration = Duration::from_secs(10);
const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";

type Connections = Arc<Mutex<Vec<Arc<Mutex<Vec<u8>>>>>>;

/// The sink. Its threads end with the process.
#[derive(Debug)]
pub(crate) struct HttpSink {
    address: SocketAddr,
    connections: Connections,
}

impl HttpSink {
    /// Listens on a free loopback port.
    pub(crate) fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let connections = Connections::default();
        let kept = Arc::clone(&connections);
        thread::Builder::new().name("http-sink".to_owned()).spawn(move || {
            for stream in listener.incoming().flatten() {
                let bytes = Arc::new(Mutex::new(Vec::new()));
                kept.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&bytes));
                let _ =
                    thread::Builder::new().name("http-peer".to_owned()).spawn(move || keep(stream, &bytes));
            }
        })?;
        Ok(Self { address, connections })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every connection on which the marker came.
    pub(crate) fn sights(&self, marker: &str) -> Vec<Sight> {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner).clone();
        connections
            .iter()
            .filter_map(|bytes| {
                let bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                let line = bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
                holds(&bytes, marker.as_bytes()).then(|| Sight { observer: "http", what: excerpt(line, 200) })
            })
            .collect()
    }
}

/// Keeps what comes. A head that is complete is answered; the body is kept with it.
fn keep(mut stream: TcpStream, bytes: &Mutex<Vec<u8>>) {
    let _ = stream.set_read_timeout(Some(PATIENCE));
    let mut piece = [0; 8192];
    let mut answered: usize = 0;
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        let heads = {
            let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MAX_KEPT.saturating_sub(bytes.len()).min(length);
            bytes.extend_from_slice(piece.get(..room).unwrap_or_default());
            bytes.windows(4).filter(|window| *window == b"\r\n\r\n").count()
        };
        for _ in answered..heads {
            if stream.write_all(ANSWER).is_err() {
                return;
            }
        }
        answered = heads;
    }
}
