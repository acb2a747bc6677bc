//! Reading the memory of a thread that waits in a call.
//!
//! Belongs here: `process_vm_readv(2)`, and strings, words and vectors by it.
//! Does not belong here: what they mean; this file is on the allow-list for `unsafe`.

use std::cell::Cell;
use std::ffi::c_void;
use std::io;

/// Never larger than a real page: what starts in one readable page is read to its end.
const PAGE: u64 = 4096;
/// The most bytes of a payload in which the marker is looked for.
pub(super) const SEARCHED: usize = 64 * 1024;
/// `PATH_MAX`.
const PATH: usize = 4096;
/// `UIO_MAXIOV`, the most parts of a vector.
const PARTS: u64 = 1024;

/// One thread's memory. Every answer may be shorter than asked for: memory that the thread itself could not
/// read makes its call fail too. Only when the kernel does not let *us* read, [`Memory::is_refused`].
#[derive(Debug)]
pub(super) struct Memory {
    thread: i32,
    refused: Cell<bool>,
}

impl Memory {
    pub(super) fn of(thread: u32) -> Self {
        Self { thread: i32::try_from(thread).unwrap_or(0), refused: Cell::new(false) }
    }

    /// Whether the kernel refused a read: a process that is not dumpable, or Yama.
    pub(super) fn is_refused(&self) -> bool {
        self.refused.get()
    }

    /// Up to `length` bytes at `address`.
    pub(super) fn bytes(&self, address: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0; length];
        let mut filled = 0;
        // At most IOV_MAX (1024) pages in one call; no caller asks for more.
        match read(self.thread, address, &mut buffer) {
            Ok(length) => filled = length,
            Err(fault) if fault.raw_os_error() == Some(libc::EFAULT) => {}
            Err(_) => self.refused.set(true),
        }
        buffer.truncate(filled);
        buffer
    }

    /// The bytes before the first NUL, at most `PATH_MAX`.
    pub(super) fn text(&self, address: u64) -> Vec<u8> {
        self.text_within(address, PATH)
    }

    /// The bytes before the first NUL, at most `limit`.
    pub(super) fn text_within(&self, address: u64, limit: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let mut next = address;
        while next != 0 && text.len() < limit {
            let wanted = usize::try_from(rest_of_page(next)).unwrap_or(0);
            let part = self.bytes(next, wanted.min(limit.saturating_sub(text.len())));
            if let Some(end) = part.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(part.get(..end).unwrap_or_default());
                break;
            }
            if part.is_empty() {
                break;
            }
            text.extend_from_slice(&part);
            next = next.saturating_add(u64::try_from(part.len()).unwrap_or(u64::MAX));
        }
        text
    }

    /// The little-endian word at `address`, if it can be read.
    pub(super) fn word(&self, address: u64) -> Option<u64> {
        self.bytes(address, 8).first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// What the `count` parts of the `iovec` array at `address` hold, to [`SEARCHED`] bytes.
    pub(super) fn gathered(&self, address: u64, count: u64) -> Vec<u8> {
        let mut all = Vec::new();
        let size = usize::try_from(count.min(PARTS).saturating_mul(16)).unwrap_or(0);
        let vector = self.bytes(address, size);
        for part in vector.as_chunks::<16>().0 {
            let base = part.first_chunk().copied().map_or(0, u64::from_le_bytes);
            let length = part.last_chunk().copied().map_or(0, u64::from_le_bytes);
            let room = SEARCHED.saturating_sub(all.len());
            if room == 0 {
                break;
            }
            all.extend_from_slice(&self.bytes(base, usize::try_from(length).unwrap_or(room).min(room)));
        }
        all
    }
}

/// How far it is from `address` to the next page.
fn rest_of_page(address: u64) -> u64 {
    PAGE.saturating_sub(address & PAGE.saturating_sub(1))
}

/// Reads to `buffer` what is at `address` of the thread's process, page by page: the kernel does not split
/// what it transfers, and a string at the end of the readable memory must not get lost. How many bytes.
fn read(thread: i32, address: u64, buffer: &mut [u8]) -> io::Result<usize> {
    let mut remote = Vec::new();
    let mut next = address;
    let mut left = u64::try_from(buffer.len()).unwrap_or(0);
    while left > 0 {
        let length = rest_of_page(next).min(left);
        remote.push(libc::iovec {
            iov_base: std::ptr::without_provenance_mut::<c_void>(usize::try_from(next).unwrap_or(0)),
            iov_len: usize::try_from(length).unwrap_or(0),
        });
        left = left.saturating_sub(length);
        // Wraps for an address that no process has; the kernel refuses it.
        next = next.wrapping_add(length);
    }
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let parts = u64::try_from(remote.len()).unwrap_or(0);
    #[expect(unsafe_code, reason = "process_vm_readv(2) has no safe wrapper; see the block")]
    // SAFETY: the kernel writes at most `buffer.len()` bytes to `buffer`, which is ours alone for the call, and
    // reads the `remote` array, which lives to the end of it. The addresses in it are of the other process:
    // the kernel checks them, and nothing here follows them.
    let read = unsafe { libc::process_vm_readv(thread, &raw const local, 1, remote.as_ptr(), parts, 0) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Memory {
        Memory::of(std::process::id())
    }

    fn address_of(bytes: &[u8]) -> u64 {
        u64::try_from(bytes.as_ptr().addr()).unwrap()
    }

    #[test]
    fn bytes_and_text_cross_pages() {
        let bytes: Vec<u8> = (0..20_000_u32).map(|i| u8::try_from(i % 250 + 1).unwrap()).chain([0]).collect();
        assert_eq!(own().bytes(address_of(&bytes), 20_000), bytes[..20_000]);
        assert_eq!(own().text_within(address_of(&bytes), 30_000), bytes[..20_000]);
        assert_eq!(own().text(address_of(&bytes)), bytes[..PATH]);
    }

    #[test]
    fn what_the_thread_could_not_read_is_short_and_not_refused() {
        let memory = own();
        assert!(memory.bytes(8, 100).is_empty());
        assert!(memory.text(0).is_empty());
        assert!(memory.text(u64::MAX - 3).is_empty());
        assert!(memory.gathered(8, u64::MAX).is_empty());
        assert!(!memory.is_refused());
    }

    #[test]
    fn a_process_that_does_not_exist_is_refused() {
        let memory = Memory::of(u32::MAX);
        assert!(memory.text(0x1000).is_empty());
        assert!(memory.is_refused());
    }

    #[test]
    fn a_vector_is_gathered_in_order() {
        let (one, two) = (b"abc".to_vec(), vec![b'x'; SEARCHED]);
        let words = [address_of(&one), 3, 0, 0, address_of(&two), u64::MAX];
        let vector: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let all = own().gathered(address_of(&vector), 3);
        assert_eq!(all.len(), SEARCHED);
        assert!(all.starts_with(b"abcxxx"));
    }
}
