//! Calls that name files.
//!
//! Belongs here: paths, made absolute, and a program with its arguments.
//! Does not belong here: opening (`open`), or what is behind a descriptor.

use super::super::effect::{EXCERPT, Kind, escaped};
use super::super::process;
use super::super::table::{At, Base};
use super::{Finding, Scene, found, position};

/// The most words of an argument vector that are read.
const ARGUMENTS: usize = 512;

impl Scene<'_> {
    /// An effect on paths; one of [`Kind::Read`] only if a path holds the marker.
    pub(super) fn paths(&self, kind: Kind, paths: &[At]) -> Finding {
        let given: Vec<Vec<u8>> = paths.iter().map(|path| self.given(*path)).collect();
        if kind == Kind::Read && !given.iter().any(|path| self.is_marked(path)) {
            return Finding::Nothing;
        }
        // No path: the descriptor's own file, as futimens(3) has it.
        if let ([At { base: Base::Directory(index), .. }], Some([])) =
            (paths, given.first().map(Vec::as_slice))
            && !self.memory.is_refused()
        {
            return self.behind(kind, *index, Vec::new);
        }
        let absolute: Vec<Vec<u8>> =
            paths.iter().zip(&given).map(|(at, path)| self.absolute(*at, path)).collect();
        let detail = escaped(&absolute.join(&b" -> "[..]));
        found(kind, detail, self.excerpt(given.join(&0)))
    }

    /// A program that is about to be started, with its arguments.
    pub(super) fn execute(&self, program: At, arguments: usize) -> Finding {
        let given = self.given(program);
        let mut all = given.clone();
        let mut next = self.request.argument(arguments);
        for _ in 0..ARGUMENTS {
            let Some(address) = self.memory.word(next).filter(|address| *address != 0) else { break };
            let Some(room) = EXCERPT.checked_sub(all.len().saturating_add(1)).filter(|room| *room > 0) else {
                break;
            };
            all.push(0);
            all.extend_from_slice(&self.memory.text_within(address, room));
            next = next.saturating_add(8);
        }
        all.truncate(EXCERPT);
        let mut detail = self.absolute(program, &given);
        if let Some(words) = all.get(given.len()..) {
            detail.extend(words.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }));
        }
        found(Kind::Execute, escaped(&detail), all)
    }

    pub(super) fn given(&self, path: At) -> Vec<u8> {
        self.memory.text(self.request.argument(path.path))
    }

    pub(super) fn is_marked(&self, path: &[u8]) -> bool {
        position(path, self.marker).is_some()
    }

    /// The path from the root, if `/proc` tells; `.` and `..` and links stay as they are.
    pub(super) fn absolute(&self, at: At, path: &[u8]) -> Vec<u8> {
        let thread = self.request.thread;
        let base = match at.base {
            _ if path.starts_with(b"/") => return path.to_vec(),
            Base::Text => return path.to_vec(),
            Base::Current => process::directory(thread),
            Base::Directory(index) => match self.request.int(index) {
                libc::AT_FDCWD => process::directory(thread),
                descriptor => process::link(thread, descriptor),
            },
        };
        match base {
            Ok(base) if path.is_empty() => base,
            Ok(base) => [base.strip_suffix(b"/").unwrap_or(&base), b"/", path].concat(),
            Err(_) => path.to_vec(),
        }
    }
}
