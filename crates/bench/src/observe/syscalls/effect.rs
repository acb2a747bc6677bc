//! What was seen, and what could not be.
//!
//! Belongs here: the words of the report, [`Effect`] and [`Blind`].
//! Does not belong here: how they are found out, or what they mean for a verdict.

use std::time::Instant;

/// The most bytes of [`Effect::data`].
pub(crate) const EXCERPT: usize = 4096;

/// One system call with an effect outside its process. It was *attempted*: it is recorded before the kernel
/// carries it out, whatever its result. So what a process has done by the time that its answer is read was
/// recorded before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Effect {
    /// When it was seen, which is before it happened.
    pub at: Instant,
    /// The process (not the thread) that called.
    pub process: u32,
    /// The process's name as `/proc/PID/comm` has it: of at most 15 bytes, before an `execve` takes effect.
    pub program: String,
    /// The name of the system call; `unknown` for one that this module has no name for.
    pub call: &'static str,
    /// What sort of effect it is.
    pub kind: Kind,
    /// For people: the absolute path, the address, the descriptor's target or the receiver. ASCII, escaped.
    pub detail: String,
    /// What the program gave: the path, the address's path or the payload, several joined by NUL bytes. At
    /// most [`EXCERPT`] bytes; of a longer payload, the part with the first marker, else the beginning.
    pub data: Vec<u8>,
}

/// The sorts of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A socket's peer is set. For UDP nothing is sent yet: resolvers do it to sort addresses.
    Connect,
    /// A socket gets an address of its own, or listens.
    Bind,
    /// Bytes to a socket that leads out of the tree.
    Send,
    /// Bytes to an open file or device.
    Write,
    /// A file is opened so that it can be written, or made, or emptied.
    OpenForWriting,
    /// A name or an attribute in the file system changes: mkdir, unlink, rename, chmod, truncate and so on.
    CreateOrRemove,
    /// A program is started in the place of the caller's.
    Execute,
    /// A process was made; threads are none. It is noticed, and said of the parent, at the child's first call
    /// that is announced, be it a look at a path; of a child without any there is nothing else to tell.
    Fork,
    /// A signal to another process.
    Signal,
    /// A path that is only looked at, and that holds the marker prefix.
    Read,
    /// Anything else that reaches out of the process: ptrace, mount, keyctl, a call of another ABI, a call
    /// that this module does not know.
    Other,
}

/// Something that happened, or may have happened, out of sight. The same one is kept once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Blind {
    /// `io_uring` was asked for and refused with `ENOSYS`, as by a kernel without it: what a ring does is not
    /// a system call. The program may behave otherwise than in production.
    IoUring {
        /// The process that asked.
        process: u32,
        /// Its name.
        program: String,
    },
    /// A file is mapped so that a store to memory changes it.
    SharedMapping {
        /// The process that maps.
        process: u32,
        /// Its name.
        program: String,
        /// The file, escaped.
        path: String,
    },
    /// The arguments in the process's memory could not be read. The call is recorded without data, or, if it
    /// was one of [`Kind::Read`], not at all.
    Memory {
        /// The process.
        process: u32,
        /// Its name.
        program: String,
        /// The system call.
        call: &'static str,
    },
    /// A process uses the system calls of another ABI (32-bit, x32), whose arguments are not understood.
    Abi {
        /// The process.
        process: u32,
        /// Its name.
        program: String,
        /// `AUDIT_ARCH_*` of the call.
        architecture: u32,
    },
    /// A process wanted to observe system calls itself. The kernel allows one observer: it got `EBUSY`.
    OwnListener {
        /// The process.
        process: u32,
        /// Its name.
        program: String,
    },
    /// More effects than are kept.
    Full {
        /// How many were dropped.
        dropped: usize,
    },
    /// The kernel did not hand out a notification. If it keeps failing, observation ends, and each call that
    /// is watched fails with `ENOSYS`.
    Lost {
        /// The kernel's error number.
        errno: i32,
    },
}

/// Printable ASCII as it is, but for the backslash; all else as `\\n`, `\\x1b` and the like.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'"' | b'\'' => text.push(char::from(*byte)),
            _ => text.extend(byte.escape_ascii().map(char::from)),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_for_what_is_not_printable() {
        assert_eq!(escaped(b"a 'b' \"c\" \\ \n\x1b\xff"), r#"a 'b' "c" \\ \n\x1b\xff"#);
    }
}
