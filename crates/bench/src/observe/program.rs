//! A program on the target's PATH: keeps what it is called with, and does nothing else.
//!
//! Belongs here: its script, what it kept. Does not belong here: a target's PATH.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use memchr::memmem;
use tempfile::TempDir;

use super::{Sight, excerpt, holds};

/// What a command calls it by.
pub(crate) const MARKER_PROGRAM: &str = "framegate-marker";

/// `$0` is the path that the PATH led to, and so names the folder. `printf` is the shell's own and writes at once, so that calls do not mix.
const SCRIPT: &str = "#!/bin/sh\nprintf '%s\\0' \"$@\" '\n' >>\"${0%/*}/calls\"\n";
/// Where calls are kept, beside the script: every argument and a NUL, and then what ends a call.
const CALLS: &str = "calls";
const CALL_END: &[u8] = b"\n\0";
/// How much is looked at, from the end, in bytes. What stands before is of processes that have ended.
const MAX_READ: u64 = 4 * 1024 * 1024;
/// How much of a call is shown, in bytes.
const SHOWN: usize = 200;

/// The program, in a folder of its own that is removed with the value.
#[derive(Debug)]
pub(crate) struct MarkerProgram {
    folder: TempDir,
}

impl MarkerProgram {
    /// Writes the script. No target runs yet: one that is being started would hold the file open, and for so long nobody
    /// can execute it (`ETXTBSY`).
    pub(crate) fn make() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("framegate-marker-").tempdir()?;
        let path = folder.path().join(MARKER_PROGRAM);
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o700).open(path)?;
        file.write_all(SCRIPT.as_bytes())?;
        Ok(Self { folder })
    }

    /// What a PATH must name for it to be found.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Every call with the marker in an argument.
    pub(crate) fn sights(&self, marker: &str) -> Vec<Sight> {
        // Nothing is there before the first call.
        let bytes = self.read().unwrap_or_default();
        let mut begin = 0;
        let ends = memmem::find_iter(&bytes, CALL_END);
        let calls = ends.filter_map(|end| {
            let call = bytes.get(begin..end);
            begin = end.saturating_add(CALL_END.len());
            call
        });
        calls.filter(|call| holds(call, marker.as_bytes())).map(sight).collect()
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        let mut file = File::open(self.folder().join(CALLS))?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(MAX_READ)))?;
        let mut bytes = Vec::new();
        file.take(MAX_READ).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

fn sight(call: &[u8]) -> Sight {
    let arguments = call.strip_suffix(b"\0").unwrap_or(call);
    let line: Vec<_> = arguments.iter().map(|byte| if *byte == 0 { b' ' } else { *byte }).collect();
    Sight { observer: "program", what: format!("{MARKER_PROGRAM} {}", excerpt(&line, SHOWN)) }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// What a shell does whose PATH begins with the program's folder.
    fn shell(program: &MarkerProgram, script: &str) {
        let path = format!("{}:{}", program.folder().display(), std::env::var("PATH").unwrap());
        let output = Command::new("sh").args(["-c", script]).env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!((&*output.stdout, &*output.stderr), (&b""[..], &b""[..]));
    }

    fn seen(program: &MarkerProgram, marker: &str) -> Vec<String> {
        program.sights(marker).into_iter().map(|sight| sight.what).collect()
    }

    #[test]
    fn a_call_is_seen_with_all_its_arguments() {
        let program = MarkerProgram::make().unwrap();
        assert_eq!(program.sights("fgm-1"), []);
        shell(&program, "framegate-marker fgm-1 'two  words' \"$(printf 'a\\n\\033')\" -n; framegate-marker");
        shell(&program, "cd / && framegate-marker '%s' 'x fgm-2'");
        assert_eq!(seen(&program, "fgm-1"), ["framegate-marker fgm-1 two  words a\\n\\x1b -n"]);
        assert_eq!(seen(&program, "fgm-2"), ["framegate-marker %s x fgm-2"]);
        assert_eq!(seen(&program, "fgm-3"), [""; 0]);
        assert_eq!(program.sights("fgm-1")[0].observer, "program");
    }

    #[test]
    fn calls_at_once_do_not_mix() {
        let program = MarkerProgram::make().unwrap();
        let long = "x".repeat(4_000);
        shell(&program, &format!("for n in $(seq 50); do framegate-marker fgm-$n. {long} & done; wait"));
        for number in 1..=50 {
            assert_eq!(program.sights(&format!("fgm-{number}.")).len(), 1, "{number}");
        }
        let bytes = program.read().unwrap();
        assert_eq!(memmem::find_iter(&bytes, &[long.as_bytes(), b"\0", CALL_END].concat()).count(), 50);
    }

    #[test]
    fn of_much_the_end_is_looked_at() {
        let program = MarkerProgram::make().unwrap();
        shell(&program, "framegate-marker fgm-1");
        let calls = program.folder().join(CALLS);
        let mut file = OpenOptions::new().append(true).open(calls).unwrap();
        file.write_all(&vec![b'x'; usize::try_from(MAX_READ).unwrap()]).unwrap();
        shell(&program, "framegate-marker fgm-2");
        assert_eq!((program.sights("fgm-1").len(), program.sights("fgm-2").len()), (0, 1));
        assert_eq!(u64::try_from(program.read().unwrap().len()).unwrap(), MAX_READ);
    }
}
