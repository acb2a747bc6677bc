//! Descriptors that a parent left open.
//!
//! Belongs here: marking them close-on-exec, the one system call that has no safe wrapper.
//! Does not belong here: anything else; this file is on the allow-list for `unsafe`.

/// The lowest descriptor that is not a standard one.
const FIRST: libc::c_uint = 3;

/// Marks every inherited descriptor from 3 upwards close-on-exec, so that no child could use it.
/// Needs Linux 5.11; older kernels leave the flags as they were, and no child is started here.
pub(super) fn mark_close_on_exec() {
    #[cfg(target_os = "linux")]
    {
        let flags = libc::c_int::try_from(libc::CLOSE_RANGE_CLOEXEC).unwrap_or_default();
        if flags != 0 {
            #[expect(unsafe_code, reason = "close_range(2) has no safe wrapper; see the block")]
            // SAFETY: with CLOSE_RANGE_CLOEXEC the call closes nothing: it only sets a flag on descriptors,
            // so no descriptor that safe code owns becomes invalid. It reads and writes no memory of ours.
            unsafe {
                libc::close_range(FIRST, libc::c_uint::MAX, flags);
            }
        }
    }
}
