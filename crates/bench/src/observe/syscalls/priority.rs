//! The supervisor's place in the scheduler's queue.
//!
//! Belongs here: having its thread run soon after it is woken. A call that is announced and not yet taken can
//! be interrupted by a signal (see `supervise`), so this is about what the program sees, not about speed.
//! Does not belong here: any other thread's priority; this file is on the allow-list for `unsafe`.

use rustix::process::setpriority_process;
use rustix::thread::gettid;

/// The shortest slice that the scheduler grants, in nanoseconds.
const SLICE: u64 = 100_000;
const HIGHEST: i32 = -20;

/// `struct sched_attr` in its first version, which every kernel takes.
#[repr(C)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime: u64,
    deadline: u64,
    period: u64,
}

/// Has this thread come early: by a short slice, which needs no privilege (Linux 6.12; before, the kernel
/// ignores it), and, where we may, by the highest nice value. If neither is granted, it works all the same.
pub(super) fn raise() {
    // SCHED_OTHER, as before.
    let attributes = Attributes {
        size: 48,
        policy: 0,
        flags: 0,
        nice: 0,
        priority: 0,
        runtime: SLICE,
        deadline: 0,
        period: 0,
    };
    let this_thread: libc::pid_t = 0;
    let flags: libc::c_uint = 0;
    #[expect(unsafe_code, reason = "sched_setattr(2) has no safe wrapper; see the block")]
    // SAFETY: the kernel reads `size` bytes of `attributes`, which is as many as it has, and writes none of
    // them, as that size is the one that every version accepts. The calling thread is the only one it changes.
    unsafe {
        libc::syscall(libc::SYS_sched_setattr, this_thread, &raw const attributes, flags);
    }
    let _ = setpriority_process(Some(gettid()), HIGHEST);
}

const _: () = assert!(size_of::<Attributes>() == 48);
