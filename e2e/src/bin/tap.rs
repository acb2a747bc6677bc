//! Stands between a real client and the program, and keeps what goes over both pipes.
//!
//! Belongs here: copying bytes unchanged. Does not belong here: looking at them.
//!
//! `tap FOLDER PROGRAM [ARGUMENT]…` writes `stdin.bin`, `stdout.bin`, `command.txt` and, once the
//! program has ended, `exit.txt` into a new folder below FOLDER, named after its own process.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [folder, program, rest @ ..] = arguments.as_slice() else {
        return ExitCode::from(2);
    };
    let folder = PathBuf::from(folder).join(std::process::id().to_string());
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let file = |name: &str| File::create(folder.join(name)).expect("the folder can be written");
    let words: Vec<_> = arguments[1..].iter().map(|word| word.to_string_lossy()).collect();
    write!(file("command.txt"), "{}", words.join(" ")).expect("the folder can be written");
    let mut child = Command::new(program)
        .args(rest)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let (to, mut from) = (child.stdin.take(), child.stdout.take().expect("piped"));
    let mut kept = file("stdin.bin");
    std::thread::spawn(move || {
        let mut to = to.expect("piped");
        copy(&mut std::io::stdin().lock(), &mut kept, &mut to);
    });
    copy(&mut from, &mut file("stdout.bin"), &mut std::io::stdout().lock());
    let code = child.wait().expect("own child").code().unwrap_or(255);
    write!(file("exit.txt"), "{code}").expect("the folder can be written");
    ExitCode::from(u8::try_from(code).unwrap_or(255))
}

/// Copies until `from` ends. What was read is kept first; a reader that has gone stops nothing.
fn copy(from: &mut impl Read, kept: &mut File, to: &mut impl Write) {
    let mut chunk = [0; 16 * 1024];
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        kept.write_all(&chunk[..read]).expect("the folder can be written");
        if to.write_all(&chunk[..read]).and_then(|()| to.flush()).is_err() {
            // The other side has gone; what still comes is kept all the same.
        }
    }
}
