//! Opening files.
//!
//! Belongs here: whether an open changes something, or prepares to.
//! Does not belong here: other calls with paths (`paths`).

use super::super::effect::{Kind, escaped};
use super::super::process::{self, Target};
use super::super::table::{At, OpenFlags};
use super::{Finding, Scene, found};

impl Scene<'_> {
    pub(super) fn open(&self, path: At, flags: OpenFlags) -> Finding {
        let writes = match flags {
            OpenFlags::Argument(index) => writes(self.request.int(index)),
            OpenFlags::Structure(index) => {
                self.memory.word(self.request.argument(index)).is_none_or(|flags| {
                    let [a, b, c, d, ..] = flags.to_le_bytes();
                    writes(i32::from_le_bytes([a, b, c, d]))
                })
            }
        };
        let given = self.given(path);
        let kind = if writes { Kind::OpenForWriting } else { Kind::Read };
        if (kind == Kind::Read && !self.is_marked(&given)) || self.is_inside(&given) {
            return Finding::Nothing;
        }
        let detail = escaped(&self.absolute(path, &given));
        found(kind, detail, self.excerpt(given))
    }

    /// The null device, or another name of a descriptor that leads nowhere outside.
    fn is_inside(&self, path: &[u8]) -> bool {
        let descriptor = match path {
            b"/dev/null" => return true,
            b"/dev/stdout" => Some(1),
            b"/dev/stderr" => Some(2),
            _ => [&b"/dev/fd/"[..], b"/proc/self/fd/"]
                .iter()
                .find_map(|prefix| path.strip_prefix(*prefix))
                .and_then(|number| std::str::from_utf8(number).ok()?.parse().ok()),
        };
        descriptor.is_some_and(|descriptor| {
            process::link(self.request.thread, descriptor).is_ok()
                && process::target(self.request.thread, descriptor, self.protocol) == Target::Inside
        })
    }
}

/// Whether these flags let the file be written, make it or empty it. With `O_PATH`, none of them counts.
fn writes(flags: i32) -> bool {
    flags & libc::O_PATH == 0
        && (flags & libc::O_ACCMODE != libc::O_RDONLY || flags & (libc::O_CREAT | libc::O_TRUNC) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags() {
        for flags in
            [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC, libc::O_TMPFILE | libc::O_RDWR]
        {
            assert!(writes(flags | libc::O_CLOEXEC), "{flags:#o}");
            assert!(!writes(flags | libc::O_PATH), "{flags:#o}");
        }
        assert!(!writes(libc::O_RDONLY | libc::O_DIRECTORY | libc::O_CLOEXEC | libc::O_NONBLOCK));
    }
}
