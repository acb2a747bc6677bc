//! Counts how often a file is read, from outside the reader.
//!
//! Belongs here: one inotify watch on one file. Does not belong here: what a read means.

use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Mutex;

use rustix::fs::inotify;

/// A watch on one file. Reads count, not openings: to see that a file exists is not to read it.
#[derive(Debug)]
pub struct ReadWatch {
    descriptor: OwnedFd,
    reads: Mutex<usize>,
}

impl ReadWatch {
    /// Watches `file` from now on.
    ///
    /// # Panics
    /// If the system gives no watch.
    #[must_use]
    pub fn new(file: &Path) -> Self {
        let descriptor = inotify::init(inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC)
            .expect("an inotify instance");
        inotify::add_watch(&descriptor, file, inotify::WatchFlags::ACCESS).expect("a watch");
        Self { descriptor, reads: Mutex::new(0) }
    }

    /// How many reads there were since the watch began (the kernel may merge two at once into one;
    /// it never loses the last).
    ///
    /// # Panics
    /// If the watch cannot be read.
    #[must_use]
    pub fn reads(&self) -> usize {
        let mut reads = self.reads.lock().expect("not poisoned");
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.descriptor, &mut buffer);
        loop {
            match events.next() {
                Ok(event) if event.events().contains(inotify::ReadFlags::ACCESS) => *reads += 1,
                Ok(_) => {}
                Err(rustix::io::Errno::AGAIN) => return *reads,
                Err(error) => panic!("reading a watch: {error}"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_count_and_openings_do_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "x").unwrap();
        let watch = ReadWatch::new(file.path());
        drop(std::fs::File::open(file.path()).unwrap());
        assert_eq!(watch.reads(), 0);
        assert_eq!(std::fs::read(file.path()).unwrap(), b"x");
        assert!(watch.reads() > 0);
    }
}
