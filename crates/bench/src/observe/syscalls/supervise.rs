//! The supervisor: the thread that looks at every announced call and lets it go on.
//!
//! Belongs here: the loop, and what becomes of a finding.
//! Does not belong here: looking (`look`), or the ioctls (`listener`).
//!
//! What the program can notice. A signal that comes while a call is announced and not yet taken interrupts it:
//! it is restarted after the handler if that has `SA_RESTART`, else it fails with `EINTR`, even one that never
//! does so by itself. So calls are taken at once, before others are looked at, by a thread that is woken early,
//! and forks are not announced. Measured with two processors: of calls under 2000 signals in a second, three in
//! a thousand.
//!
//! Why it cannot deadlock. It waits for two things only: the kernel's next announcement, and the record's
//! lock, which nobody holds while waiting for anything. It never waits for a process of the tree: it reads
//! the memory and the `/proc` entries of a thread that stands still in a call, which takes no lock that such
//! a thread holds. Every call that it takes it answers, whatever it found. If this thread or the whole bench
//! dies, the kernel closes the listener, and the tree's watched calls fail with `ENOSYS`: wrong, but not stuck.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use rustix::io::Errno;

use super::effect::{Blind, Effect, Kind, escaped};
use super::family::Family;
use super::filter::ARCHITECTURE;
use super::listener::{Listener, Reply, Request, Wake};
use super::look::{Finding, Scene, Sighting};
use super::memory::Memory;
use super::priority;
use super::process::{self, Identity};
use super::record::Record;
use super::table::{self, Call, Look};

/// From here on, a number is one of x32, on x86_64. No other has such a number.
const OTHER_ABI: i32 = 0x4000_0000;

/// Failures in a row after which observation ends.
const PATIENCE: u32 = 100;

/// What the supervisor of one tree has.
#[derive(Debug)]
pub(super) struct Supervisor {
    listener: Listener,
    record: Arc<Record>,
    marker: Vec<u8>,
    /// The links of the command's descriptors 0 to 2, known from its first call on.
    protocol: Option<Vec<Vec<u8>>>,
    family: Family,
}

impl Supervisor {
    pub(super) fn new(listener: Listener, record: Arc<Record>, marker: Vec<u8>) -> Self {
        Self { listener, record, marker, protocol: None, family: Family::default() }
    }

    /// Answers calls until the tree has ended.
    pub(super) fn run(mut self) {
        priority::raise();
        let mut waiting = VecDeque::new();
        let mut failures: u32 = 0;
        while failures < PATIENCE {
            match self.take(&mut waiting) {
                Ok(Wake::End) => return,
                Ok(Wake::Call | Wake::Nothing) => failures = 0,
                Err(errno) => {
                    failures = failures.saturating_add(1);
                    self.record.add_blind(Blind::Lost { errno });
                }
            }
            if let Some(request) = waiting.pop_front() {
                let reply = self.decide(&request);
                self.listener.reply(&request, reply);
            }
        }
    }

    /// Takes every call that is announced, before the next look; waits for one only if none is in hand.
    fn take(&self, waiting: &mut VecDeque<Request>) -> Result<Wake, i32> {
        loop {
            let wake = self.listener.wait(waiting.is_empty()).map_err(Errno::raw_os_error)?;
            if wake != Wake::Call {
                // What is in hand comes first.
                return Ok(if waiting.is_empty() { wake } else { Wake::Nothing });
            }
            match self.listener.receive() {
                Ok(request) => waiting.extend(request),
                Err(fault) => return Err(fault.raw_os_error().unwrap_or(0)),
            }
        }
    }

    /// Looks, records, and says how to answer.
    fn decide(&mut self, request: &Request) -> Reply {
        let call = call_of(request);
        if self.record.is_closed() {
            return reply_to(call);
        }
        let protocol = self.protocol.get_or_insert_with(|| protocol_of(request.thread));
        let (memory, marker) = (Memory::of(request.thread), self.marker.as_slice());
        let scene = Scene { request, memory, protocol, marker };
        let finding = call.map_or_else(|| scene.other(), |call| scene.look(call));
        let is_refused = scene.memory.is_refused();
        if let Some(child) = self.family.meet(request.thread)
            && self.listener.is_waiting(request)
        {
            self.record_fork(&child);
        }
        if finding != Finding::Nothing || is_refused {
            let identity = process::identity(request.thread);
            // Only a thread that still waits has a process that all this was read from. One that was killed
            // does not carry out its call.
            if self.listener.is_waiting(request) {
                self.record(request, call, identity, finding, is_refused);
            }
        }
        reply_to(call)
    }

    fn record_fork(&self, child: &Identity) {
        let parent = process::identity(child.parent);
        self.record.add(Effect {
            at: Instant::now(),
            process: parent.process,
            program: parent.program,
            call: "fork",
            kind: Kind::Fork,
            detail: format!("process {}", child.process),
            data: Vec::new(),
        });
    }

    fn record(
        &self,
        request: &Request,
        call: Option<&Call>,
        identity: Identity,
        finding: Finding,
        is_refused: bool,
    ) {
        let Identity { process, program, .. } = identity;
        let name = call.map_or("unknown", |call| call.name);
        let of = || program.clone();
        if is_refused {
            self.record.add_blind(Blind::Memory { process, program: of(), call: name });
        }
        if call.is_none() && (request.architecture != ARCHITECTURE || request.number >= OTHER_ABI) {
            let architecture = request.architecture;
            self.record.add_blind(Blind::Abi { process, program: of(), architecture });
        }
        match finding {
            Finding::Nothing => {}
            Finding::Mapping(path) => {
                let path = escaped(&path);
                self.record.add_blind(Blind::SharedMapping { process, program, path });
            }
            Finding::Ring => self.record.add_blind(Blind::IoUring { process, program }),
            Finding::OwnListener => self.record.add_blind(Blind::OwnListener { process, program }),
            Finding::Effect(Sighting { kind, detail, data }) => {
                self.record.add(Effect {
                    at: Instant::now(),
                    process,
                    program,
                    call: name,
                    kind,
                    detail,
                    data,
                });
            }
        }
    }
}

/// The row of a call of this architecture's own ABI.
fn call_of(request: &Request) -> Option<&'static Call> {
    let number = request.number.into();
    if request.architecture == ARCHITECTURE { table::find(number) } else { None }
}

fn reply_to(call: Option<&Call>) -> Reply {
    match call.map(|call| call.look) {
        Some(Look::Ring) => Reply::NoSuchCall,
        _ => Reply::Continue,
    }
}

/// What the descriptors 0 to 2 of the command lead to. Asked at its first call, the exec itself.
fn protocol_of(thread: u32) -> Vec<Vec<u8>> {
    (0..=2).filter_map(|descriptor| process::link(thread, descriptor).ok()).collect()
}
