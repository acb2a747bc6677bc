//! The thread that reads the protocol's input.
//!
//! Belongs here: blocking reads, each on demand, so that no more than two chunks are read that the pump did
//! not take yet, and nothing that was read is lost.
//! Does not belong here: where a line ends.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// How much is read at once, in bytes: the default capacity of a pipe on Linux.
const CHUNK: usize = 64 * 1024;

/// How many buffers go around: while the pump works on one, the thread already waits for the next bytes, and
/// needs not be woken for them.
const BUFFERS: usize = 2;

/// What the reader says.
#[derive(Debug)]
pub enum ReadEvent {
    /// Bytes; the buffer goes back with the next demand.
    Bytes {
        /// The buffer.
        buffer: Vec<u8>,
        /// How many of its bytes were read.
        length: usize,
    },
    /// The input ended, or can no longer be read.
    End,
}

/// The pump's side of the reader.
#[derive(Debug)]
pub struct Reader {
    demand: Sender<Vec<u8>>,
    spare: Vec<Vec<u8>>,
}

impl Reader {
    /// Starts the thread. It reads once for every demand and reports through `report`, which says whether
    /// anybody still listens.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(input: File, report: impl FnMut(ReadEvent) -> bool + Send + 'static) -> io::Result<Self> {
        let (demand, demands) = channel();
        thread::Builder::new().name("stdin".to_owned()).spawn(move || run(input, &demands, report))?;
        Ok(Self { demand, spare: vec![vec![0; CHUNK]; BUFFERS] })
    }

    /// Asks for as many reads as buffers are free.
    pub fn demand(&mut self) {
        for buffer in self.spare.drain(..) {
            // A thread that is gone has reported the end of input.
            let _ = self.demand.send(buffer);
        }
    }

    /// Takes the buffer of an event back.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.spare.push(buffer);
    }
}

fn run(mut input: File, demands: &Receiver<Vec<u8>>, mut report: impl FnMut(ReadEvent) -> bool) {
    while let Ok(mut buffer) = demands.recv() {
        let read = loop {
            match input.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A descriptor shared with others may be non-blocking; waiting for it is our own affair.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !wait_readable(&input) {
                        break Ok(0);
                    }
                }
                result => break result,
            }
        };
        let event = match read {
            Ok(0) | Err(_) => ReadEvent::End,
            Ok(length) => ReadEvent::Bytes { buffer, length },
        };
        let ended = matches!(event, ReadEvent::End);
        if !report(event) || ended {
            return;
        }
    }
}

/// Whether waiting ended because there is something to read, or an end; a signal is neither.
fn wait_readable(input: &File) -> bool {
    loop {
        match poll(&mut [PollFd::new(input, PollFlags::IN)], None) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}
