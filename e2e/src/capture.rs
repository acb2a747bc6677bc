//! What comes out of a stream, kept with the time of each read.
//!
//! Belongs here: reading on a thread, waiting for something in what came.
//! Does not belong here: whose stream it is, what the bytes mean.

use std::io::{self, Read};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use crate::process::DEADLINE;

/// The bytes of one stream, as they came.
#[derive(Clone, Debug, Default)]
pub struct Capture(Arc<(Mutex<Captured>, Condvar)>);

#[derive(Debug, Default)]
struct Captured {
    bytes: Vec<u8>,
    /// When each read came: its end within `bytes`.
    stamps: Vec<(usize, Instant)>,
    /// How many sources are being read. Of a stream that nobody reads, nothing more will come.
    sources: usize,
}

impl Capture {
    /// Keeps what `source` gives until it ends, on a thread of its own.
    pub fn start(source: impl Read + Send + 'static) -> Self {
        let capture = Self::default();
        capture.drain(source);
        capture
    }

    pub(crate) fn drain(&self, mut source: impl Read + Send + 'static) {
        let shared = Arc::clone(&self.0);
        shared.0.lock().expect("the reader does not panic").sources += 1;
        std::thread::spawn(move || {
            let mut chunk = vec![0; 64 * 1024];
            loop {
                let read = match source.read(&mut chunk) {
                    Ok(read) => read,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(_) => 0,
                };
                let (captured, changed) = &*shared;
                let mut captured = captured.lock().expect("the reader does not panic");
                if read == 0 {
                    captured.sources -= 1;
                } else {
                    captured.bytes.extend_from_slice(&chunk[..read]);
                    let end = captured.bytes.len();
                    captured.stamps.push((end, Instant::now()));
                }
                changed.notify_all();
                if read == 0 {
                    return;
                }
            }
        });
    }

    /// What has come so far.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.0.lock().expect("the reader does not panic").bytes.clone()
    }

    /// When each read came, as the number of bytes that had come by then.
    #[must_use]
    pub fn stamps(&self) -> Vec<(usize, Instant)> {
        self.0.0.lock().expect("the reader does not panic").stamps.clone()
    }

    /// Waits until `found` says something about the bytes, or the stream ends.
    ///
    /// # Errors
    /// `"ended"` if the stream ended first, `"hung"` after [`DEADLINE`].
    pub fn wait<T>(&self, mut found: impl FnMut(&[u8]) -> Option<T>) -> Result<T, &'static str> {
        let (captured, changed) = &*self.0;
        let deadline = Instant::now() + DEADLINE;
        let mut captured = captured.lock().expect("the reader does not panic");
        loop {
            if let Some(value) = found(&captured.bytes) {
                return Ok(value);
            }
            if captured.sources == 0 {
                return Err("ended");
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err("hung");
            }
            captured = changed.wait_timeout(captured, left).expect("the reader does not panic").0;
        }
    }

    /// Waits for the end of the stream.
    ///
    /// # Errors
    /// `"hung"` after [`DEADLINE`].
    pub fn wait_end(&self) -> Result<(), &'static str> {
        match self.wait(|_| None::<()>) {
            Err("ended") => Ok(()),
            Err(other) => Err(other),
            Ok(()) => unreachable!("nothing was looked for"),
        }
    }
}
