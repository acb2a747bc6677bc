//! Calls on sockets.
//!
//! Belongs here: the addresses and payloads in their arguments.
//! Does not belong here: what an address looks like (`address`), or a socket's peer (`process`).

use super::super::address::{LONGEST, describe};
use super::super::effect::Kind;
use super::super::memory::SEARCHED;
use super::super::process::{self, Target};
use super::{Finding, Scene, found, join};

/// The most messages of one `sendmmsg(2)` that are read.
const MESSAGES: u64 = 64;

impl Scene<'_> {
    /// `connect(2)` and `bind(2)`.
    pub(super) fn address(&self, kind: Kind) -> Finding {
        let (detail, path) = describe(&self.sockaddr(self.request.argument(1), self.request.argument(2)));
        found(kind, detail, path)
    }

    /// `sendto(2)`, which also is `send(3)`.
    pub(super) fn send_to(&self) -> Finding {
        let to = self.sockaddr(self.request.argument(4), self.request.argument(5));
        if to.is_empty() {
            return self.behind(Kind::Send, 0, || self.payload(1, 2));
        }
        self.send(&to, &self.payload(1, 2))
    }

    /// `sendmsg(2)`, or `sendmmsg(2)` with `count` messages, `size` bytes from one to the next.
    pub(super) fn send_messages(&self, count: u64, size: u64) -> Finding {
        let mut to = Vec::new();
        let mut payload = Vec::new();
        for index in 0..count.min(MESSAGES) {
            let message = self.request.argument(1).saturating_add(index.saturating_mul(size));
            // `struct user_msghdr`: name, its length, vector, its count.
            let field = |offset: u64| self.memory.word(message.saturating_add(offset)).unwrap_or(0);
            if to.is_empty() {
                to = self.sockaddr(field(0), field(8));
            }
            payload.extend_from_slice(&self.memory.gathered(field(16), field(24)));
            if payload.len() >= SEARCHED {
                break;
            }
        }
        if to.is_empty() {
            return self.behind(Kind::Send, 0, || payload.clone());
        }
        self.send(&to, &payload)
    }

    /// Bytes to an address in the call. (A connected stream ignores it, but programs do not do that.)
    fn send(&self, to: &[u8], payload: &[u8]) -> Finding {
        // On anything but a socket, the call fails.
        if process::target(self.request.thread, self.request.int(0), self.protocol) == Target::Inside {
            return Finding::Nothing;
        }
        let (detail, path) = describe(to);
        found(Kind::Send, detail, self.excerpt(join(&path, payload)))
    }

    /// The address at `address`; its length is an `int`, in the lower half of `length`.
    fn sockaddr(&self, address: u64, length: u64) -> Vec<u8> {
        let length = usize::try_from(length & u64::from(u32::MAX)).unwrap_or(0);
        if address == 0 { Vec::new() } else { self.memory.bytes(address, length.min(LONGEST)) }
    }
}
