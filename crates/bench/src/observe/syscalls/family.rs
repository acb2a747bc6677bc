//! The processes of the tree.
//!
//! Belongs here: noticing one that was not there before.
//! Does not belong here: what it does.

use std::collections::HashSet;

use super::process::{self, Identity};

/// The threads and processes that have been met. A number that the kernel gives out again, after millions of
/// others, goes unnoticed.
#[derive(Debug, Default)]
pub(super) struct Family {
    threads: HashSet<u32>,
    processes: HashSet<u32>,
}

impl Family {
    /// The identity of the process that `thread` is in, if it is new here. The command itself is not.
    pub(super) fn meet(&mut self, thread: u32) -> Option<Identity> {
        if !self.threads.insert(thread) {
            return None;
        }
        let is_first = self.processes.is_empty();
        let identity = process::identity(thread);
        (self.processes.insert(identity.process) && !is_first).then_some(identity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_new_once_and_threads_are_none() {
        let mut family = Family::default();
        let own = std::process::id();
        assert_eq!(family.meet(1), None, "the command");
        let identity = family.meet(own).unwrap();
        assert_eq!((identity.process, identity.parent), (own, std::os::unix::process::parent_id()));
        assert_eq!(family.meet(own), None);
        let thread = std::thread::spawn(|| rustix::thread::gettid().as_raw_pid()).join().unwrap();
        assert_ne!(u32::try_from(thread), Ok(own));
        let thread = rustix::thread::gettid().as_raw_pid();
        assert_eq!(family.meet(u32::try_from(thread).unwrap()), None, "a thread");
    }
}
