//! The recorders see what carries a marker, and nothing else.
//!
//! Belongs here: each recorder alone. Does not belong here: targets.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::{Folder, Recorders, excerpt};

#[test]
fn a_folder_shows_names_and_contents_that_hold_the_marker() {
    let folder = Folder::make().unwrap();
    assert_eq!(folder.sights("fgm-1"), []);
    fs::create_dir(folder.path().join("deep")).unwrap();
    fs::write(folder.path().join("deep/fgm-1.txt"), "").unwrap();
    fs::write(folder.path().join("store"), "a line\nwith fgm-2 in it").unwrap();
    assert_eq!(folder.sights("fgm-1").len(), 1);
    assert_eq!(folder.sights("fgm-1")[0].what, "deep/fgm-1.txt exists");
    assert_eq!(folder.sights("fgm-2")[0].what, "store holds the marker");
    assert_eq!(folder.sights("fgm-3"), []);
}

#[test]
fn a_sink_shows_requests_that_hold_the_marker() {
    let recorders = Recorders::start(|_| false).unwrap();
    let folder = Folder::make().unwrap();
    let url = recorders.fill("{effect.url}", folder.path(), "fgm-7");
    let path = url.rsplit('/').next().unwrap();
    let mut stream = TcpStream::connect(recorders.http_address()).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
    let sights = recorders.sights("fgm-7", &folder, None);
    assert_eq!(sights.len(), 1);
    assert_eq!((sights[0].observer, &*sights[0].what), ("http", "GET /fgm-7 HTTP/1.1"));
    assert_eq!(recorders.sights("fgm-8", &folder, None), []);
}

#[test]
fn placeholders_are_filled_in() {
    let recorders = Recorders::start(|_| false).unwrap();
    let port = recorders.http_address().port();
    // A hole that stays open is filled in once, and by somebody else.
    let open = recorders.fill("{effect.file} {marker} {effect.url}", "/x".as_ref(), "${marker}");
    let address = recorders.http_address();
    assert_eq!(open, format!("/x/${{marker}} ${{marker}} http://{address}/${{marker}}"));
    let filled = recorders.fill(
        "{effect.url} {effect.host} {effect.port} {effect.file} {effect.dir} {marker} {other}",
        "/x".as_ref(),
        "m",
    );
    assert_eq!(filled, format!("http://127.0.0.1:{port}/m 127.0.0.1 {port} /x/m /x m {{other}}"));
}

#[test]
fn the_marker_program_is_there_only_where_something_names_it() {
    assert_eq!(Recorders::start(|_| false).unwrap().program_folder(), None);
    let recorders = Recorders::start(|name| "sh -c 'framegate-marker x'".contains(name)).unwrap();
    assert!(recorders.program_folder().unwrap().join("framegate-marker").exists());
    assert_eq!(recorders.fill("{effect.ssh}", "/x".as_ref(), "m"), "{effect.ssh}");
}

#[test]
fn the_ssh_recorder_runs_only_where_something_leads_to_it() {
    let fill = |recorders: &Recorders| recorders.fill("{effect.ssh}", "/x".as_ref(), "m");
    assert_eq!(fill(&Recorders::start(|_| false).unwrap()), "{effect.ssh}");
    let recorders = Recorders::start(|name| "ssh -p {effect.ssh-port}".contains(name)).unwrap();
    assert!(fill(&recorders).starts_with("127.0.0.1:"), "{}", fill(&recorders));
}

#[test]
fn an_excerpt_is_one_printable_line() {
    assert_eq!(excerpt(b"a\\\n\x1b\xffb", 99), "a\\\\\\n\\x1b\\xffb");
    assert_eq!(excerpt(b"abc", 2), "ab…");
}
