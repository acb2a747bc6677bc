//! What a large answer costs: the most memory that the program ever held, over what it holds when idle.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::thread::JoinHandle;

use framegate_e2e::canary::position;
use framegate_e2e::process::DEADLINE;
use framegate_e2e::session::Session;
use serde_json::{Value, json};

use super::{BEARER, REVISION, shown, stage, text, tool, word};

/// The length of the body, in bytes.
const BODY: usize = 256 * 1024 * 1024;
/// What may be used beyond the cap of a body, in bytes.
const ROOM: u64 = 8 * 1024 * 1024;
const JSON: &str = "content-type: application/json\r\n";

/// Answers each request with a head and then `piece` until so many bytes were written or nobody reads.
fn serve(head: String, piece: Vec<u8>, length: usize) -> (SocketAddr, JoinHandle<usize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
    let address = listener.local_addr().expect("bound");
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.set_write_timeout(Some(DEADLINE)).expect("a timeout");
        let mut request = [0; 16 * 1024];
        let _ = stream.read(&mut request).expect("a request");
        let mut written = 0;
        if stream.write_all(head.as_bytes()).is_ok() {
            while written < length && stream.write_all(&piece).is_ok() {
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

/// One large answer, and what must be shown of it.
struct Case {
    name: &'static str,
    /// Fields of its head.
    fields: String,
    /// What its body repeats. `SECRET` stands for the credential.
    piece: Vec<u8>,
    /// The length of its body, in bytes.
    length: usize,
    /// More of `[tool.NAME.result]`.
    result: &'static str,
    /// Whether what is shown is what must be shown of a body with this cap.
    shows: fn(&Value, usize) -> bool,
}

fn cases() -> Vec<Case> {
    let sized = format!("content-length: {BODY}\r\n");
    let is_cut = |shown: &Value, _| shown["truncated"] == true;
    let case = |name, fields, piece, shows| Case { name, fields, piece, length: BODY, result: "", shows };
    vec![
        case("text", sized.clone(), vec![b'a'; 65_536], |shown, cap| {
            shown["truncated"] == true
                && shown["body"].as_str().is_some_and(|body| (65_536..=cap).contains(&body.len()))
        }),
        case(
            "chunks",
            "transfer-encoding: chunked\r\n".to_owned(),
            [&b"10000\r\n"[..], &[b'a'; 65_536], b"\r\n"].concat(),
            is_cut,
        ),
        case("JSON", format!("{JSON}{sized}"), b"[[1,\"a\"],".repeat(8192), is_cut),
        case("bytes", sized.clone(), vec![0xff; 65_536], |shown, _| shown["body_base64"].is_string()),
        // Read further than the cap, to mask it; no more is kept for that.
        case("the credential", sized.clone(), b"SECRET".repeat(1500), |shown, _| {
            shown["body"].as_str().is_some_and(|body| body.contains("[redacted:probe]"))
        }),
        // Not opened: it costs what its own bytes cost.
        case(
            "gzip",
            format!("content-encoding: gzip\r\n{sized}"),
            [&b"\x1f\x8b\x08"[..], &[0; 65_536]].concat(),
            |shown, _| shown["body_refused"].is_string(),
        ),
    ]
}

/// Answers of which more is read than is shown: parts of JSON, and what is kept for paging.
fn read_further(cap: usize) -> Vec<Case> {
    let whole = |name, piece: Vec<u8>, shows| Case {
        name,
        fields: format!("{JSON}content-length: {}\r\n", piece.len()),
        length: piece.len(),
        piece,
        result: "select = { a = \"/a\" }",
        shows,
    };
    let is_selected = |shown: &Value, _| shown["body"]["a"] == 1;
    let filled = |item: &[u8], count: usize| {
        let items = vec![item; count].join(&b","[..]);
        [&b"{\"a\":1,\"b\":["[..], &items, b"]}"].concat()
    };
    let sized = format!("content-length: {BODY}\r\n");
    let endless = |name, fields, result, shows| Case {
        name,
        fields,
        piece: vec![b' '; 65_536],
        length: BODY,
        result,
        shows,
    };
    vec![
        // As many values as a body may have, and one string that is nearly as long as a body may be.
        whole("many values", filled(b"[1]", 124_000), is_selected),
        whole(
            "a long string",
            filled(&[b"\"".as_slice(), &vec![b'x'; cap - 1000], b"\""].concat(), 1),
            is_selected,
        ),
        whole(
            "escapes",
            filled(&[b"\"".as_slice(), &b"\\u0061".repeat(cap / 6 - 100), b"\""].concat(), 1),
            is_selected,
        ),
        endless("select", format!("{JSON}{sized}"), "select = { a = \"/a\" }", |shown, _| {
            shown["body_refused"].is_string()
        }),
        endless("pages", sized, "cursor = \"next\"", |shown, _| shown["next_cursor"].is_string()),
    ]
}

/// One call against such an answer, of which so much is shown at once; how much the peak is above idle, in bytes.
fn cost(case: &Case, cap: usize, shown_at_once: usize) -> u64 {
    let stage = stage("memory", |_| String::new());
    let piece = match position(&case.piece, b"SECRET") {
        Some(_) => {
            String::from_utf8_lossy(&case.piece).replace("SECRET", stage.canary().value()).into_bytes()
        }
        None => case.piece.clone(),
    };
    let (address, server) = serve(format!("HTTP/1.1 200 OK\r\n{}\r\n", case.fields), piece, case.length);
    let tables = format!(
        "[target.probe]\norigin = \"http://{address}\"\nallow_plain_loopback = true\nmax_response_bytes = {cap}\n{BEARER}\n{}",
        tool(
            "ask",
            &format!(
                "method = \"GET\"\npath = \"/\"\n[tool.ask.result]\nmax_bytes = {shown_at_once}\n{}",
                case.result
            )
        )
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
    assert_eq!(word(&reply), "done", "{}: {}", case.name, text(&reply));
    assert!((case.shows)(&shown(&reply), cap), "{}: {:.300}", case.name, text(&reply));
    session.end();
    let written = server.join().expect("the server");
    // What is kept for paging has a bound of its own, below the cap.
    let least = if case.result.contains("cursor") { 3 * 1024 * 1024 } else { cap };
    assert!(written > least.min(case.length - 1), "{}: {written} bytes were taken", case.name);
    peak.saturating_sub(idle)
}

#[test]
fn a_body_of_256_mib_costs_its_cap_and_little_more() {
    // The default cap, and four times as much.
    for cap in [65_536, 262_144] {
        for case in cases() {
            assert_bounded(&case, cap, cap);
        }
    }
    const HIGHEST: usize = 16 * 1024 * 1024;
    for case in read_further(HIGHEST) {
        assert_bounded(&case, HIGHEST, 65_536);
    }
}

fn assert_bounded(case: &Case, cap: usize, shown_at_once: usize) {
    let over = cost(case, cap, shown_at_once);
    let most = u64::try_from(cap).expect("small") + ROOM;
    eprintln!("{}, cap {cap}: {over} bytes over idle", case.name);
    assert!(over <= most, "{}: {over} bytes over idle, and {most} are allowed", case.name);
}
