//! The listener: the descriptor on which the kernel announces the calls of a filter.
//!
//! Belongs here: its ioctls (`seccomp_unotify(2)`), and waiting on it.
//! Does not belong here: what a call means; this file is on the allow-list for `unsafe`.

use std::ffi::c_void;
use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP` (Linux 6.6): the waker goes to sleep, so the other may have its CPU.
const SYNC_WAKE_UP: u64 = 1;

/// A call that a thread of the tree waits in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Request {
    /// The kernel's number for this notification.
    pub(super) id: u64,
    /// The thread, in our own PID namespace.
    pub(super) thread: u32,
    /// `AUDIT_ARCH_*`.
    pub(super) architecture: u32,
    /// The system call's number.
    pub(super) number: i32,
    arguments: [u64; 6],
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// The kernel carries it out.
    Continue,
    /// It fails with `ENOSYS`.
    NoSuchCall,
}

/// Why waiting ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wake {
    /// A call waits.
    Call,
    /// No call waits now.
    Nothing,
    /// The last process with the filter has ended.
    End,
}

/// The listener of one tree.
#[derive(Debug)]
pub(super) struct Listener {
    descriptor: OwnedFd,
}

impl Request {
    /// The argument at `index`; a system call has at most six.
    pub(super) fn argument(&self, index: usize) -> u64 {
        self.arguments.get(index).copied().unwrap_or(0)
    }

    /// The argument as the kernel reads one of type `int`: its upper half does not count.
    pub(super) fn int(&self, index: usize) -> i32 {
        let [a, b, c, d, ..] = self.argument(index).to_le_bytes();
        i32::from_le_bytes([a, b, c, d])
    }

    #[cfg(test)]
    pub(super) fn for_test(thread: u32, architecture: u32, number: i32, arguments: [u64; 6]) -> Self {
        Self { id: 0, thread, architecture, number, arguments }
    }
}

impl Listener {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        let listener = Self { descriptor };
        // Only a question of speed, and unknown before Linux 6.6.
        let _ = listener.set_flags(SYNC_WAKE_UP);
        listener
    }

    /// Whether a call waits or the tree has ended; if neither, waits for it, or does not.
    pub(super) fn wait(&self, is_patient: bool) -> Result<Wake, Errno> {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        loop {
            let mut descriptors = [PollFd::new(&self.descriptor, PollFlags::IN)];
            match poll(&mut descriptors, if is_patient { None } else { Some(&now) }) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            }
            let [descriptor] = descriptors;
            let events = descriptor.revents();
            if events.contains(PollFlags::IN) {
                return Ok(Wake::Call);
            }
            if events.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return Ok(Wake::End);
            }
            if !is_patient {
                return Ok(Wake::Nothing);
            }
        }
    }

    /// Takes the next call; `None` if its thread was killed meanwhile. Call it after [`Wake::Call`] only: then
    /// it does not block, for each announced call is counted in the kernel, and nobody else takes any.
    pub(super) fn receive(&self) -> io::Result<Option<Request>> {
        // The kernel refuses a buffer that is not zero.
        let mut notification = libc::seccomp_notif {
            id: 0,
            pid: 0,
            flags: 0,
            data: libc::seccomp_data { nr: 0, arch: 0, instruction_pointer: 0, args: [0; 6] },
        };
        #[expect(unsafe_code, reason = "an ioctl has no safe wrapper; see the block")]
        // SAFETY: SECCOMP_IOCTL_NOTIF_RECV writes one `seccomp_notif`; its size is part of the request's
        // number, so that the kernel and libc agree on it.
        let result = unsafe { self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, (&raw mut notification).cast()) };
        match result {
            Ok(()) => Ok(Some(Request {
                id: notification.id,
                thread: notification.pid,
                architecture: notification.data.arch,
                number: notification.data.nr,
                arguments: notification.data.args,
            })),
            Err(fault) if fault.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// Whether the call's thread still waits. If so, what was read from its process was its own.
    pub(super) fn is_waiting(&self, request: &Request) -> bool {
        let mut id = request.id;
        #[expect(unsafe_code, reason = "an ioctl has no safe wrapper; see the block")]
        // SAFETY: SECCOMP_IOCTL_NOTIF_ID_VALID reads one u64.
        let result = unsafe { self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, (&raw mut id).cast()) };
        result.is_ok()
    }

    /// Lets the call's thread go on. A thread that is gone meanwhile is no fault.
    pub(super) fn reply(&self, request: &Request, reply: Reply) {
        let (error, flags) = match reply {
            Reply::Continue => (0, u32::try_from(libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE).unwrap_or(1)),
            Reply::NoSuchCall => (libc::ENOSYS.wrapping_neg(), 0),
        };
        let mut response = libc::seccomp_notif_resp { id: request.id, val: 0, error, flags };
        #[expect(unsafe_code, reason = "an ioctl has no safe wrapper; see the block")]
        // SAFETY: SECCOMP_IOCTL_NOTIF_SEND reads one `seccomp_notif_resp`.
        let _gone = unsafe { self.control(libc::SECCOMP_IOCTL_NOTIF_SEND, (&raw mut response).cast()) };
    }

    fn set_flags(&self, flags: u64) -> io::Result<()> {
        // The flags are the argument itself, in the shape of a pointer that is never followed.
        let address = usize::try_from(flags).map_err(io::Error::other)?;
        let argument = std::ptr::without_provenance_mut(address);
        #[expect(unsafe_code, reason = "an ioctl has no safe wrapper; see the block")]
        // SAFETY: SECCOMP_IOCTL_NOTIF_SET_FLAGS takes a number and touches no memory.
        unsafe {
            self.control(libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, argument)
        }
    }

    /// An ioctl that is repeated when a signal to the bench interrupts it: an unanswered call would hang.
    ///
    /// # Safety
    /// `argument` points to what `request` reads and writes, or is a number if it takes one.
    #[expect(unsafe_code, reason = "declares the contract of the ioctl that it makes")]
    unsafe fn control(&self, request: libc::Ioctl, argument: *mut c_void) -> io::Result<()> {
        loop {
            // SAFETY: the descriptor is open as long as `self`; for `argument` the caller answers.
            let result = unsafe { libc::ioctl(self.descriptor.as_raw_fd(), request, argument) };
            if result >= 0 {
                return Ok(());
            }
            let fault = io::Error::last_os_error();
            if fault.kind() != io::ErrorKind::Interrupted {
                return Err(fault);
            }
        }
    }
}

// The kernel's structures (Linux 5.0 to this day); the ioctls' numbers hold these sizes.
const _: () = assert!(size_of::<libc::seccomp_notif>() == 80 && size_of::<libc::seccomp_notif_resp>() == 24);
