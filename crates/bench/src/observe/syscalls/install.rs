//! Installing the filter in the child, and handing its listener to the parent.
//!
//! Belongs here: what runs between fork and exec, and its counterpart in the parent.
//! Does not belong here: the filter's rules; this file is on the allow-list for `unsafe`.
//!
//! The listener is made in the child and needed in the parent. It goes as `SCM_RIGHTS` over a socket pair made
//! before the fork. By then the filter holds, and the `sendmsg(2)` that carries it would wait for an answer
//! that nobody can give yet. So this one call is marked with 128 bits that no other has, in the two registers
//! that `sendmsg(2)` does not use, and the filter lets it through. To exempt a descriptor's number would also
//! exempt whatever the program opens with that number later; to fetch the descriptor with `pidfd_getfd(2)`
//! would need its number and the child's, which the child could not tell either.

use std::ffi::{c_int, c_void};
use std::io::{self, IoSliceMut};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use libc::sock_filter;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketFlags, SocketType,
};

use super::filter::{self, HANDOVER};

/// What the parent hears from the child.
#[derive(Debug)]
pub(super) enum Handover {
    /// The filter holds; this is its listener.
    Listener(OwnedFd),
    /// The kernel refused the filter, with this error number.
    Refused(i32),
    /// Nothing: the child did not come so far, or the descriptor got lost.
    Nothing,
}

/// Has `command` install the filter as the last thing before exec. The socket is the parent's; it is at its
/// end when the child has told or is gone, and `command` is dropped.
pub(super) fn prepare(command: &mut Command) -> io::Result<OwnedFd> {
    let (ours, childs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let program = filter::program();
    let install = move || install(&program, childs.as_fd());
    #[expect(unsafe_code, reason = "pre_exec has no safe form; see the block")]
    // SAFETY: the closure runs in the child of a process with threads. It makes system calls and touches its
    // own stack and the captured program and socket; it allocates nothing, takes no lock, does not panic and
    // runs no one else's code, so that it cannot meet what another thread of the parent had in hand.
    unsafe {
        command.pre_exec(install);
    }
    Ok(ours)
}

/// What the child says, or that it says nothing any more.
pub(super) fn receive(socket: &OwnedFd) -> Handover {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut errno = [0; size_of::<i32>()];
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut errno)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )
    });
    let listener = control.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    match (listener, received) {
        (Some(listener), _) => Handover::Listener(listener),
        (None, Ok(message)) if message.bytes == errno.len() && i32::from_le_bytes(errno) != 0 => {
            Handover::Refused(i32::from_le_bytes(errno))
        }
        (None, _) => Handover::Nothing,
    }
}

/// In the child, between fork and exec.
fn install(program: &[sock_filter], socket: BorrowedFd<'_>) -> io::Result<()> {
    match filter(program) {
        Ok(listener) => {
            let sent = send(listener.as_raw_fd(), socket.as_raw_fd());
            // Closed in any case and before any other call: if the parent has no copy, this is the last one,
            // and calls then fail instead of waiting for ever for their own process.
            drop(listener);
            sent
        }
        Err(fault) => {
            // No filter holds: an ordinary message. That it failed the parent hears from its silence too.
            let errno = fault.raw_os_error().unwrap_or(libc::EINVAL).to_le_bytes();
            let _ = rustix::net::send(socket, &errno, SendFlags::NOSIGNAL);
            Err(fault)
        }
    }
}

/// Installs the filter; its listener.
fn filter(program: &[sock_filter]) -> io::Result<OwnedFd> {
    rustix::thread::set_no_new_privs(true)?;
    let wanted = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
    // With it (Linux 5.19) only a fatal signal interrupts a call that is being looked at. Without, other
    // signals do too, and the call is restarted and seen twice.
    let killable = libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    match set_filter(program, wanted | killable) {
        Err(fault) if fault.raw_os_error() == Some(libc::EINVAL) => set_filter(program, wanted),
        result => result,
    }
}

fn set_filter(program: &[sock_filter], flags: libc::c_ulong) -> io::Result<OwnedFd> {
    let length =
        libc::c_ushort::try_from(program.len()).map_err(|_| io::Error::from(rustix::io::Errno::INVAL))?;
    let filter = libc::sock_fprog { len: length, filter: program.as_ptr().cast_mut() };
    #[expect(unsafe_code, reason = "seccomp(2) has no safe wrapper; see the block")]
    // SAFETY: the kernel reads `filter` and the `length` instructions behind it, and copies them. It does not
    // write there, whatever the pointer's type says.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const filter) };
    let descriptor = result_of(result)?;
    #[expect(unsafe_code, reason = "a new descriptor has to be taken as owned; see the block")]
    // SAFETY: with SECCOMP_FILTER_FLAG_NEW_LISTENER the result is a new descriptor, which nobody else has.
    let listener = unsafe { OwnedFd::from_raw_fd(descriptor) };
    Ok(listener)
}

/// A control message with one descriptor, as the kernel lays it out on 64-bit machines.
#[repr(C)]
struct Rights {
    length: usize,
    level: c_int,
    kind: c_int,
    descriptor: RawFd,
    padding: c_int,
}

/// `struct user_msghdr` of the kernel, which the C libraries' own differ from in padding.
#[repr(C)]
struct Message {
    name: *mut c_void,
    name_length: c_int,
    parts: *const libc::iovec,
    part_count: usize,
    control: *const Rights,
    control_length: usize,
    flags: c_int,
}

/// Sends the listener with an error number of zero, by the one call that the filter lets through.
fn send(listener: RawFd, socket: RawFd) -> io::Result<()> {
    let none = [0_u8; size_of::<i32>()];
    let part = libc::iovec { iov_base: none.as_ptr().cast_mut().cast(), iov_len: none.len() };
    let rights = Rights {
        length: const { size_of::<Rights>().saturating_sub(size_of::<c_int>()) },
        level: libc::SOL_SOCKET,
        kind: libc::SCM_RIGHTS,
        descriptor: listener,
        padding: 0,
    };
    let message = Message {
        name: std::ptr::null_mut(),
        name_length: 0,
        parts: &raw const part,
        part_count: 1,
        control: &raw const rights,
        control_length: size_of::<Rights>(),
        flags: 0,
    };
    let [first, second] = HANDOVER;
    #[expect(unsafe_code, reason = "sendmsg(2) with two more registers has no wrapper; see the block")]
    // SAFETY: the kernel reads `message` and, through it, `part`, `none` and `rights`, which all live to the
    // end of this function. The two numbers behind the flags it does not look at.
    let result = unsafe {
        libc::syscall(libc::SYS_sendmsg, socket, &raw const message, libc::MSG_NOSIGNAL, first, second)
    };
    result_of(result).map(|_| ())
}

fn result_of(result: libc::c_long) -> io::Result<c_int> {
    match c_int::try_from(result) {
        Ok(result) if result >= 0 => Ok(result),
        _ => Err(io::Error::last_os_error()),
    }
}
