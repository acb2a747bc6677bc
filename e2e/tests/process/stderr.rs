//! stderr that is closed, full, never drained, or whose reader has gone.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use rustix::fs::OFlags;
use rustix::pipe::pipe;

use super::{REVISION, Session, marker, recorder};
use framegate_e2e::launch::Stream;

/// Many refused frames, each told of on stderr, then a call.
fn goes_on(name: &str, stderr: Stream) {
    let stage = recorder(name);
    stage.configure("limits", "max_refusals = 5000");
    stage.configure("log", "level = \"debug\"");
    let mut launch = stage.launch();
    launch.stderr = stderr;
    let mut session = Session::launch(&stage, launch);
    session.ready(REVISION);
    for _ in 0..2000 {
        session.write(b"this is no message, and is told of on stderr\n");
    }
    let reply = session.call(REVISION, "probe_write", marker("mk-after"));
    assert!(reply["result"].is_object(), "{reply}");
    session.process().close_stdin();
    let status = session.process().wait_exit().unwrap_or_else(|how| session.process().fail(how));
    assert_eq!(status.code(), Some(0), "{name}");
    // Only now may what filled the pipe be read.
    session.process().read_stderr();
    let ended = session.end();
    assert_eq!(stage.executed("mk-after"), 1, "{name}");
    assert_eq!(ended.replies.len(), 2003, "{name}");
}

#[test]
fn never_drained() {
    goes_on("stderr-never-drained", Stream::Held);
}

#[test]
fn full_from_the_start() {
    let (reader, writer) = full_pipe();
    goes_on("stderr-full-pipe", Stream::Given(writer));
    drop(reader);
}

#[test]
fn reader_gone() {
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    goes_on("stderr-reader-gone", Stream::Given(writer));
}

#[test]
fn the_full_device() {
    let device = File::options().write(true).open("/dev/full").expect("a device");
    goes_on("stderr-dev-full", Stream::Given(device.into()));
}

#[test]
fn a_descriptor_that_cannot_be_written() {
    goes_on("stderr-read-only", Stream::Given(File::open("/dev/null").expect("a device").into()));
}

#[test]
fn closed() {
    let stage = recorder("stderr-closed");
    let mut session = Session::launch(&stage, stage.launch().shell(r#"exec "$@" 2>&-"#));
    super::talk(&mut session);
    let ended = session.end();
    assert_eq!(ended.code(), Some(0));
    assert_eq!(ended.replies.len(), 4, "{:#?}", ended.replies);
}

#[test]
fn all_three_closed_but_used_again_by_nothing() {
    // stdin closed is an end of input: nothing to do, and nothing said.
    let stage = recorder("stdin-closed");
    let mut session = Session::launch(&stage, stage.launch().shell(r#"exec "$@" <&-"#));
    session.process().close_stdin();
    let ended = session.wait_end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, b"");
}

/// A pipe that takes no more bytes.
fn full_pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = pipe().expect("a pipe");
    let flags = rustix::fs::fcntl_getfl(&writer).expect("a pipe");
    rustix::fs::fcntl_setfl(&writer, flags | OFlags::NONBLOCK).expect("a pipe");
    let mut filling = File::from(writer.try_clone().expect("a descriptor"));
    while filling.write(&[b'.'; 4096]).is_ok() {}
    while filling.write(b".").is_ok() {}
    rustix::fs::fcntl_setfl(&writer, flags).expect("a pipe");
    (reader, writer)
}
