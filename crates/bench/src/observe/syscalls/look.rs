//! Looking at a call: what it is about to do.
//!
//! Belongs here: from a row of the table and the caller's memory to a finding.
//! Does not belong here: recording it, or answering the kernel (`supervise`).

mod open;
mod paths;
mod send;

use super::effect::{EXCERPT, Kind, escaped};
use super::listener::Request;
use super::memory::{Memory, SEARCHED};
use super::process::{self, Peer, Target};
use super::table::{Call, Look, Receiver};

/// What a call is about to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Finding {
    /// Nothing that counts.
    Nothing,
    /// An effect.
    Effect(Sighting),
    /// To map a file so that stores change it.
    Mapping(Vec<u8>),
    /// To use `io_uring`.
    Ring,
    /// To listen itself.
    OwnListener,
}

/// The part of an effect that the call's arguments tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sighting {
    pub(super) kind: Kind,
    pub(super) detail: String,
    pub(super) data: Vec<u8>,
}

/// One call that is looked at, while its thread waits.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub(super) request: &'a Request,
    pub(super) memory: Memory,
    /// The links of the descriptors 0 to 2 that the command was started with.
    pub(super) protocol: &'a [Vec<u8>],
    pub(super) marker: &'a [u8],
}

impl Scene<'_> {
    /// What `call` is about to do.
    pub(super) fn look(&self, call: &Call) -> Finding {
        match call.look {
            Look::Paths(kind, paths) => self.paths(kind, paths),
            Look::Open(path, flags) => self.open(path, flags),
            Look::Descriptor(kind, index) => self.behind(kind, index, Vec::new),
            Look::Write => self.behind(Kind::Write, 0, || self.payload(1, 2)),
            Look::WriteVector => self.behind(Kind::Write, 0, || {
                self.memory.gathered(self.request.argument(1), self.request.argument(2))
            }),
            Look::SendTo => self.send_to(),
            Look::SendMessage => self.send_messages(1, 0),
            Look::SendMessages => self.send_messages(self.request.argument(2), 64),
            Look::Address(kind) => self.address(kind),
            Look::Execute(path, arguments) => self.execute(path, arguments),
            Look::Signal(receiver, number) => self.signal(receiver, self.request.int(number)),
            Look::Map => self.map(),
            Look::Ring => Finding::Ring,
            Look::OwnListener => Finding::OwnListener,
            Look::Other => self.other(),
        }
    }

    /// A call without a row, or with rules of its own.
    pub(super) fn other(&self) -> Finding {
        let request = self.request;
        let arguments: Vec<String> = (0..6).map(|index| format!("{:#x}", request.argument(index))).collect();
        let detail = format!("number {}: {}", request.number, arguments.join(", "));
        found(Kind::Other, detail, Vec::new())
    }

    /// An effect on what is behind the descriptor at `index`, if that is outside the process.
    fn behind(&self, kind: Kind, index: usize, payload: impl Fn() -> Vec<u8>) -> Finding {
        let descriptor = self.request.int(index);
        match process::target(self.request.thread, descriptor, self.protocol) {
            Target::Inside => Finding::Nothing,
            Target::File(path) => found(kind, escaped(&path), self.excerpt(payload())),
            Target::Hidden => found(kind, format!("descriptor {descriptor}"), self.excerpt(payload())),
            Target::Socket => {
                let kind = if kind == Kind::Write { Kind::Send } else { kind };
                match process::peer(self.request.thread, descriptor) {
                    Peer::Pair => Finding::Nothing,
                    Peer::Address(detail, path) => found(kind, detail, self.excerpt(join(&path, &payload()))),
                    Peer::Unknown => found(kind, "socket".to_owned(), self.excerpt(payload())),
                }
            }
        }
    }

    /// The buffer at one argument, of the length in another, as far as it is searched.
    fn payload(&self, address: usize, length: usize) -> Vec<u8> {
        let length = usize::try_from(self.request.argument(length)).unwrap_or(SEARCHED);
        self.memory.bytes(self.request.argument(address), length.min(SEARCHED))
    }

    /// At most [`EXCERPT`] bytes: around the first marker, if it is farther back, else the beginning.
    fn excerpt(&self, mut data: Vec<u8>) -> Vec<u8> {
        if data.len() > EXCERPT {
            let before = EXCERPT / 4;
            let start = position(&data, self.marker).unwrap_or(0);
            if start > before {
                data.drain(..start.saturating_sub(before));
            }
            data.truncate(EXCERPT);
        }
        data
    }

    fn signal(&self, receiver: Receiver, number: i32) -> Finding {
        let thread = self.request.thread;
        let process = |index: usize| u32::try_from(self.request.int(index)).unwrap_or(0);
        let own = || process::identity(thread).process;
        let (name, is_own) = match receiver {
            Receiver::Process(index) => {
                let to = process(index);
                (self.request.int(index).to_string(), to == thread || to == own())
            }
            Receiver::Thread(index) => {
                let to = process(index);
                let is_own = to == thread || process::identity(to).process == own();
                (format!("thread {to}"), is_own)
            }
            Receiver::Descriptor(index) => match process::process_behind(thread, self.request.int(index)) {
                Some(to) => (to.to_string(), u32::try_from(to) == Ok(own())),
                None => ("a process".to_owned(), false),
            },
        };
        // Signal 0 only asks whether there is a receiver.
        if is_own || number == 0 {
            return Finding::Nothing;
        }
        found(Kind::Signal, format!("signal {number} to {name}"), Vec::new())
    }

    fn map(&self) -> Finding {
        let protection = self.request.int(2);
        let descriptor = self.request.int(4);
        // A mapping that can only be read now can be made writable later, if the file is open for it.
        let is_writable =
            protection & libc::PROT_WRITE != 0 || process::is_read_write(self.request.thread, descriptor);
        match process::target(self.request.thread, descriptor, &[]) {
            Target::File(path) if is_writable => Finding::Mapping(path),
            Target::Hidden => Finding::Mapping(b"a hidden file".to_vec()),
            _ => Finding::Nothing,
        }
    }
}

fn found(kind: Kind, detail: String, data: Vec<u8>) -> Finding {
    Finding::Effect(Sighting { kind, detail, data })
}

/// Where `part` begins in `whole`. Nothing is everywhere.
fn position(whole: &[u8], part: &[u8]) -> Option<usize> {
    let Some(first) = part.first() else { return Some(0) };
    let mut candidates = whole.iter().enumerate().filter(|(_, byte)| *byte == first);
    candidates.find_map(|(at, _)| whole.get(at..)?.starts_with(part).then_some(at))
}

/// Both with a NUL between them, or only the one that is not empty.
fn join(one: &[u8], other: &[u8]) -> Vec<u8> {
    if one.is_empty() { other.to_vec() } else { [one, b"\0", other].concat() }
}

#[cfg(test)]
mod tests {
    use super::super::filter::ARCHITECTURE;
    use super::*;

    #[test]
    fn an_excerpt_is_the_part_with_the_marker() {
        let request = Request::for_test(std::process::id(), ARCHITECTURE, 0, [0; 6]);
        let memory = Memory::of(request.thread);
        let scene = Scene { request: &request, memory, protocol: &[], marker: b"fgm-" };
        let mut data = vec![b'f'; 60_000];
        assert_eq!(scene.excerpt(data.clone()), data[..EXCERPT]);
        data.splice(50_000..50_004, *b"fgm-");
        let excerpt = scene.excerpt(data.clone());
        assert_eq!(excerpt.len(), EXCERPT);
        assert_eq!(position(&excerpt, b"fgm-"), Some(EXCERPT / 4));
        data.splice(10..14, *b"fgm-");
        assert_eq!(scene.excerpt(data.clone()), data[..EXCERPT]);
        data.truncate(100);
        assert_eq!(scene.excerpt(data.clone()), data);
    }

    #[test]
    fn positions() {
        assert_eq!(position(b"abcabd", b"abd"), Some(3));
        assert_eq!(position(b"abcab", b"abd"), None);
        assert_eq!(position(b"abc", b""), Some(0));
        assert_eq!(position(b"", b"a"), None);
    }
}
