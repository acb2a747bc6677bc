//! The thread that actions run on while they wait for the outside.
//!
//! Belongs here: one runtime on one thread of our own, whose start can fail without a panic.
//! Does not belong here: what is run.

use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A running thread. It ends, and abandons what runs on it, when this is dropped.
#[derive(Debug)]
pub(super) struct Tasks {
    handle: Handle,
    _end: oneshot::Sender<()>,
}

impl Tasks {
    pub(super) fn start() -> io::Result<Self> {
        // The library starts the threads of its larger runtime itself, and panics when it cannot.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        thread::Builder::new().name("executor".to_owned()).spawn(move || {
            // Woken by the sender that is dropped.
            let _ = runtime.block_on(ended);
        })?;
        Ok(Self { handle, _end: end })
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.handle.spawn(task);
    }
}
