//! The agent's end: the real gateway as a child process, and raw bytes to and from it.
//!
//! Belongs here: starting and ending the child, whole lines in both directions.
//! Does not belong here: what the lines say.

use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use super::stage::Stage;

/// How long an answer may take before the demonstration breaks off.
const PATIENCE: Duration = Duration::from_secs(20);

/// The child and its pipes.
#[derive(Debug)]
pub(super) struct Agent {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    received: Vec<u8>,
    pings: u32,
}

/// How the child ended, and everything it wrote to stdout.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) exit_code: Option<i32>,
    pub(super) bytes: Vec<u8>,
}

impl Agent {
    /// A session that goes on after a refused frame.
    pub(super) fn start(stage: &Stage) -> io::Result<Self> {
        Self::launch(stage, "continue")
    }

    /// A session under the default profile.
    pub(super) fn start_closing(stage: &Stage) -> io::Result<Self> {
        Self::launch(stage, "close")
    }

    fn launch(stage: &Stage, profile: &str) -> io::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["mcp", "--config"])
            .arg(stage.config(profile))
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(ErrorKind::BrokenPipe)?;
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, stdin, lines, received: Vec::new(), pings: 0 })
    }

    pub(super) fn handshake(&mut self) -> io::Result<()> {
        self.send(
            br#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"demo","version":"1"}}}"#,
        )?;
        self.send(b"\n")?;
        self.reply()?;
        self.send(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
    }

    pub(super) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stdin.as_mut().ok_or(ErrorKind::BrokenPipe)?.write_all(bytes)
    }

    /// The next line.
    pub(super) fn reply(&mut self) -> io::Result<String> {
        let line =
            self.lines.recv_timeout(PATIENCE).map_err(|_| io::Error::other("the gateway did not answer"))?;
        self.received.extend_from_slice(line.as_bytes());
        self.received.push(b'\n');
        Ok(line)
    }

    /// Sends a ping and waits for its answer, which must be the next line.
    pub(super) fn ping(&mut self) -> io::Result<()> {
        self.pings = self.pings.saturating_add(1);
        let id = format!("ping-{}", self.pings);
        self.send(format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"ping\"}}\n").as_bytes())?;
        let reply = self.reply()?;
        if reply.contains(&id) { Ok(()) } else { Err(io::Error::other("a line that nobody asked for")) }
    }

    /// Closes stdin, reads the rest, waits for the end.
    pub(super) fn finish(mut self) -> io::Result<Ended> {
        drop(self.stdin.take());
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.received.extend_from_slice(line.as_bytes());
            self.received.push(b'\n');
        }
        let status = self.child.wait()?;
        Ok(Ended { exit_code: status.code(), bytes: core::mem::take(&mut self.received) })
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Only reached before `finish` when the demonstration breaks off.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
