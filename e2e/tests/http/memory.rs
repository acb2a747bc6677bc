//! What a large answer costs: the most memory that the program ever held, over what it holds when idle.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::JoinHandle;

use framegate_e2e::process::DEADLINE;
use framegate_e2e::session::Session;
use serde_json::json;

use super::{BEARER, REVISION, shown, stage, text, tool, word};

/// The length of the body, in bytes.
const BODY: usize = 256 * 1024 * 1024;
/// What may be used beyond the cap of a body, in bytes.
const ROOM: u64 = 8 * 1024 * 1024;

/// Answers each request with a head and then `piece` until [`BODY`] bytes were written or nobody reads.
fn serve(head: String, piece: Vec<u8>) -> (SocketAddr, JoinHandle<usize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
    let address = listener.local_addr().expect("bound");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_write_timeout(Some(DEADLINE)).expect("a timeout");
        let mut request = [0; 16 * 1024];
        let _ = stream.read(&mut request).expect("a request");
        let mut written = 0;
        if stream.write_all(head.as_bytes()).is_ok() {
            while written < BODY && stream.write_all(&piece).is_ok() {
                written += piece.len();
            }
        }
        written
    });
    (address, server)
}

/// A line of the program's status, in bytes (proc(5)).
fn status(id: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).expect("a running process");
    let line = text.lines().find_map(|line| line.strip_prefix(name)).expect("a line");
    let number = line.trim_start_matches(':').trim().trim_end_matches(" kB").trim();
    number.parse::<u64>().expect("a number") * 1024
}

/// One call against such an answer; how much the peak is above idle.
fn peak(
    name: &str,
    cap: usize,
    head: &str,
    piece: impl FnOnce(&str) -> Vec<u8>,
    check: impl FnOnce(&serde_json::Value),
) -> u64 {
    let stage = stage(&format!("memory-{name}"), |_| String::new());
    let (address, server) = serve(format!("HTTP/1.1 200 OK\r\n{head}\r\n"), piece(stage.canary().value()));
    let tables = format!(
        "[target.probe]\norigin = \"http://{address}\"\nallow_plain_loopback = true\nmax_response_bytes = {cap}\n{BEARER}\n{}",
        tool("ask", "method = \"GET\"\npath = \"/\"")
    );
    stage.edit_config(|text| text.to_owned() + &tables);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let id = session.process().id();
    let idle = status(id, "VmRSS");
    // From here on the peak is that of the call, not that of the start (proc(5), clear_refs).
    std::fs::write(format!("/proc/{id}/clear_refs"), "5").expect("own child");
    let reply = session.call(REVISION, "ask", json!({}));
    let peak = status(id, "VmHWM");
    assert_eq!(word(&reply), "done", "{name}: {}", text(&reply));
    check(&shown(&reply));
    session.end();
    let written = server.join().expect("the server");
    assert!(written > cap, "{name}: {written} bytes were taken");
    let over = peak.saturating_sub(idle);
    eprintln!("{name}: {} KiB over {} KiB idle, with a cap of {} KiB", over / 1024, idle / 1024, cap / 1024);
    over
}

fn assert_bounded(
    name: &str,
    cap: usize,
    head: &str,
    piece: impl FnOnce(&str) -> Vec<u8>,
    check: impl FnOnce(&serde_json::Value),
) {
    let over = peak(name, cap, head, piece, check);
    let most = u64::try_from(cap).expect("small") + ROOM;
    assert!(over <= most, "{name}: {over} bytes over idle, and {most} are allowed");
}

/// The default cap, and a MiB.
const CAPS: [usize; 2] = [65_536, 1_048_576];

fn sized() -> String {
    format!("content-length: {BODY}\r\n")
}

#[test]
fn a_body_of_256_mib_costs_its_cap_and_little_more() {
    for cap in CAPS {
        let is_cut = |shown: &serde_json::Value| assert_eq!(shown["truncated"], true);
        assert_bounded(
            "text",
            cap,
            &sized(),
            |_| vec![b'a'; 65_536],
            |shown| {
                is_cut(shown);
                assert_eq!(shown["body"].as_str().map(str::len), Some(cap));
            },
        );
        let chunk = [&b"10000\r\n"[..], &[b'a'; 65_536], b"\r\n"].concat();
        assert_bounded("chunks", cap, "transfer-encoding: chunked\r\n", |_| chunk, is_cut);
        assert_bounded(
            "json",
            cap,
            &format!("content-type: application/json\r\n{}", sized()),
            |_| b"[[1,\"a\"],".repeat(8192),
            is_cut,
        );
        assert_bounded(
            "bytes",
            cap,
            &sized(),
            |_| vec![0xff; 65_536],
            |shown| {
                is_cut(shown);
                assert!(shown["body_base64"].is_string());
            },
        );
    }
}

/// A body in which the credential stands over and over is read further than its cap, to mask it, and no more is
/// kept for that.
#[test]
fn a_body_full_of_the_credential_costs_no_more() {
    for cap in CAPS {
        assert_bounded(
            "secrets",
            cap,
            &sized(),
            |secret| secret.repeat(1500).into_bytes(),
            |shown| {
                assert_eq!(shown["truncated"], true);
                assert!(shown["body"].as_str().is_some_and(|body| body.contains("[redacted:probe]")));
            },
        );
    }
}

/// A compressed body is not opened: it costs what its own bytes cost.
#[test]
fn a_compressed_body_costs_no_more() {
    let head = format!("content-encoding: gzip\r\n{}", sized());
    assert_bounded(
        "gzip",
        CAPS[0],
        &head,
        |_| vec![0x1f; 65_536],
        |shown| assert!(shown["body_refused"].is_string()),
    );
}
