//! stderr merged into stdout (`2>&1`) in every form: diagnostics never reach the protocol.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::pty;

use super::{Session, Stage, recorder, talk};
use framegate_e2e::launch::Stream;

fn through_shell(name: &str, script: &str) {
    let stage = recorder(name);
    let mut session = Session::launch(&stage, stage.launch().shell(script));
    talk(&mut session);
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{script}: {}", ended.stderr);
    assert_eq!(ended.stderr, "", "{script}: nothing is left for stderr");
    assert_eq!(ended.replies.len(), 4, "{script}: {:#?}", ended.replies);
    assert_eq!(stage.executed("mk-talk"), 1, "{script}");
}

#[test]
fn by_the_shell_that_becomes_the_program() {
    through_shell("merged-exec", r#"exec "$@" 2>&1"#);
}

#[test]
fn by_a_shell_around_the_program() {
    through_shell("merged-child", r#""$@" 2>&1"#);
}

#[test]
fn in_front_of_a_pipeline() {
    through_shell("merged-pipeline", r#""$@" 2>&1 | cat"#);
}

#[test]
fn by_a_shell_in_a_shell() {
    through_shell("merged-nested", r#"exec sh -c 'exec "$@" 2>&1' sh "$@""#);
}

#[test]
fn with_the_journal_as_the_only_witness() {
    let stage = recorder("merged-journal");
    let mut session = Session::launch(&stage, stage.launch().shell(r#"exec "$@" 2>&1"#));
    talk(&mut session);
    let ended = session.end();
    assert_eq!(ended.journal.refused(), [("json".to_owned(), "json-noise".to_owned())]);
}

#[test]
fn with_a_log_file_that_has_the_diagnostics() {
    let stage = recorder("merged-log");
    stage.configure("log", "file = \"framegate.log\"");
    let mut session = Session::launch(&stage, stage.launch().shell(r#"exec "$@" 2>&1"#));
    talk(&mut session);
    assert_eq!(session.end().code(), Some(0));
    let log = std::fs::read_to_string(stage.folder().join("framegate.log")).expect("a log file");
    assert!(log.contains("json-noise"), "{log}");
}

/// One descriptor for both, read from its other end.
fn shared(stage: &Stage, given: OwnedFd, source: impl Read + Send + 'static) {
    let mut launch = stage.launch();
    launch.stderr = Stream::Given(given.try_clone().expect("a descriptor"));
    launch.stdout = Stream::Given(given);
    let mut session = Session::launch(stage, launch);
    session.process().capture_stdout(source);
    talk(&mut session);
    let ended = session.end();
    assert_eq!(ended.code(), Some(0));
    assert_eq!(ended.replies.len(), 4, "{:#?}", ended.replies);
}

#[test]
fn as_one_socket() {
    let stage = recorder("merged-socket");
    let (ours, theirs) = UnixStream::pair().expect("a socket pair");
    shared(&stage, theirs.into(), ours);
}

#[test]
fn as_one_file() {
    for append in [false, true] {
        let stage = recorder("merged-file");
        let path = stage.folder().join("both");
        let file = File::options().create(true).write(true).append(append).open(&path).expect("a file");
        shared(&stage, file.into(), Tail::new(path, &stage));
    }
}

#[test]
fn as_two_descriptions_of_one_file() {
    let stage = recorder("merged-file-twice");
    let path = stage.folder().join("both");
    let open = || File::options().create(true).append(true).open(&path).expect("a file");
    let mut launch = stage.launch();
    launch.stdout = Stream::Given(open().into());
    launch.stderr = Stream::Given(open().into());
    let mut session = Session::launch(&stage, launch);
    session.process().capture_stdout(Tail::new(path.clone(), &stage));
    talk(&mut session);
    assert_eq!(session.end().replies.len(), 4);
}

#[test]
fn as_one_terminal() {
    let stage = recorder("merged-terminal");
    let controller = pty::openpt(pty::OpenptFlags::RDWR | pty::OpenptFlags::NOCTTY).expect("a terminal");
    pty::grantpt(&controller).expect("a terminal");
    pty::unlockpt(&controller).expect("a terminal");
    let name = pty::ptsname(&controller, Vec::new()).expect("a name");
    let terminal =
        File::options().read(true).write(true).open(name.to_str().expect("a path")).expect("a terminal");
    // The terminal must not turn LF into CR LF on its own.
    let mut attributes = rustix::termios::tcgetattr(&terminal).expect("a terminal");
    attributes.make_raw();
    rustix::termios::tcsetattr(&terminal, rustix::termios::OptionalActions::Now, &attributes)
        .expect("a terminal");
    shared(&stage, terminal.into(), File::from(controller));
}

/// Reads a file as it grows, until the stage's record of the session says that it is over.
struct Tail {
    file: File,
    journal: PathBuf,
}

impl Tail {
    fn new(path: PathBuf, stage: &Stage) -> Self {
        let file = File::open(path).expect("the file exists");
        Self { file, journal: stage.journal_folder() }
    }

    fn is_over(&self) -> bool {
        framegate_e2e::journal::Journal::read(&self.journal).exit_code().is_some()
    }
}

impl Read for Tail {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let over = self.is_over();
            let read = self.file.read(buffer)?;
            if read > 0 || over {
                return Ok(read);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}
