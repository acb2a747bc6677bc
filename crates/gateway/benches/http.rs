//! The HTTP executor against a plain hyper client that keeps its connection, on one loopback server; memory under
//! an answer of a gigabyte; `framegate call` against `curl`.
//!
//! Belongs here: ratios of medians, interleaved. Does not belong here: assertions of the test suite; `--check`
//! compares with the marks of docs/benchmarks.md and exits 1 below them.
//!
//! Run: `cargo build --release -p framegate && cargo bench -p framegate-gateway --bench http`.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use framegate_gate::Moment;
use framegate_gate::outcome::Status;
use framegate_gate::session::{Input, Session};
use framegate_gateway::assemble;
use framegate_gateway::config::{Config, Loaded};
use framegate_gateway::executor::Executor;
use framegate_gateway::executor::http::HttpExecutor;
use framegate_gateway::log::Masks;
use framegate_journal::{Journal, Mode, Recorded, Start};
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::json;
use tokio::task::JoinSet;

const CALLS: usize = 400;
const ROUNDS: usize = 7;
const AT_ONCE: usize = 64;
const STARTS: usize = 15;
const MIB: usize = 1024 * 1024;
const GIGABYTE: usize = 1_000_000_000;
const SECRET: &str = "zq7K-w9Xv_t4.Rm-pL2sd8";

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    let address = serve();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut table = Table { missed: 0 };
    println!("| figure | ours | compared with | ratio | mark |");
    println!("|---|--:|--:|--:|--:|");
    // Before everything else: the highest mark of this process only grows.

    let world = World::new(address, "/small", 65_536);
    runtime.block_on(warm(&world, address, &mut table));

    for _ in 0..4 {
        runtime.block_on(warm(&world, address, &mut table));
    }
    if check && table.missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

struct Table {
    missed: usize,
}

impl Table {
    fn at_most(&mut self, figure: &str, ours: Duration, what: &str, theirs: Duration, mark: f64) {
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        self.missed += usize::from(ratio > mark);
        println!("| {figure} | {} | {what}: {} | {ratio:.2} | ≤ {mark} |", show(ours), show(theirs));
    }

    fn compare(&self, figure: &str, ours: Duration, what: &str, theirs: Duration) {
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("| {figure} | {} | {what}: {} | {ratio:.2} | (no mark) |", show(ours), show(theirs));
    }
}

fn show(duration: Duration) -> String {
    format!("{:.3} ms", duration.as_secs_f64() * 1e3)
}

fn median(mut values: Vec<Duration>) -> Duration {
    values.sort();
    values[values.len() / 2]
}

/// `/small` is a kibibyte of JSON, everything else a gigabyte of text. One thread a connection.
fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || converse(stream));
        }
    });
    address
}

fn converse(mut stream: TcpStream) {
    stream.set_nodelay(true).expect("a socket");
    let small = json!({"items": vec!["item of the list"; 50]}).to_string();
    let small = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{small}",
        small.len()
    );
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(length @ 1..) = stream.read(&mut piece) {
        request.extend_from_slice(&piece[..length]);
        if !request.ends_with(b"\r\n\r\n") {
            continue;
        }
        if request.starts_with(b"GET /small ") {
            if stream.write_all(small.as_bytes()).is_err() {
                return;
            }
        } else {
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {GIGABYTE}\r\n\r\n");
            let block = vec![b't'; 65_536];
            let _ = stream.write_all(head.as_bytes());
            for _ in 0..GIGABYTE / block.len() {
                if stream.write_all(&block).is_err() {
                    return;
                }
            }
        }
        request.clear();
    }
}

/// A configuration of one tool and a credential, with everything between it and a recorded action.
struct World {
    folder: tempfile::TempDir,
    loaded: Loaded,
    executor: Arc<HttpExecutor>,
}

impl World {
    fn new(address: SocketAddr, path: &str, limit: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let key = folder.path().join("key");
        fs::write(&key, SECRET).expect("a file");
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).expect("a file");
        let text = format!(
            "version = 1\n[journal]\nsync = false\n[log]\nlevel = \"error\"\n[secret.key]\nsource = \"file:key\"\n\
             [target.t]\norigin = \"http://{address}\"\nallow_plain_loopback = true\n\
             auth = {{ scheme = \"bearer\", secret = \"key\" }}\nmax_response_bytes = {limit}\n\
             [tool.get]\ndescription = \"Get\"\nallow = \"read\"\ntarget = \"t\"\nmethod = \"GET\"\npath = \"{path}\"\n"
        );
        let file = folder.path().join("framegate.toml");
        fs::write(&file, text).expect("a file");
        let loaded = Config::load(&file).unwrap_or_else(|fault| panic!("{fault}"));
        let environment = assemble::environment(&loaded.config).expect("an environment");
        let resolver = assemble::resolver(&loaded.config).expect("a resolver");
        let executor = HttpExecutor::new(&loaded.config, resolver, Arc::new(environment), &Masks::default())
            .expect("an executor");
        Self { folder, loaded, executor: Arc::new(executor) }
    }

    /// So many recorded calls.
    fn recorded(&self, count: usize) -> Vec<Recorded> {
        let config = &self.loaded.config;
        let mut options = assemble::session_options(&self.loaded, assemble::principal(config, None), "0.1.0");
        options.revisions = vec![Revision::V2026_07_28];
        let policy = assemble::policy(&self.loaded).expect("a policy");
        let mut reader = Reader::new(&options.limits);
        let mut session = Session::new(options, Arc::clone(&config.catalog), Arc::new(policy));
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": Revision::V2026_07_28.name(),
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "0"},
        });
        let mut permits = Vec::new();
        for id in 0..count {
            let params = json!({"name": "get", "arguments": {}, "_meta": meta});
            let line = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            reader.push(format!("{line}\n").as_bytes());
            let frame = reader.next().expect("a line").expect("a frame");
            permits.extend(session.receive(Input::Frame(frame), Moment::default()).permits);
        }
        assert_eq!(permits.len(), count);
        let mut journal = Journal::open(&assemble::journal_options(config)).expect("a journal");
        let start = Start {
            version: "0.1.0",
            mode: Mode::Live,
            client: "bench",
            config: &self.loaded.digest.to_string(),
            revisions: &[Revision::V2026_07_28],
        };
        journal.start(&start).expect("a journal");
        journal.commit(permits).expect("intents").into_iter().map(|(recorded, _)| recorded).collect()
    }
}

async fn connect(address: SocketAddr) -> SendRequest<Full<Bytes>> {
    let stream = tokio::net::TcpStream::connect(address).await.expect("a connection");
    stream.set_nodelay(true).expect("a socket");
    let (sender, connection) = handshake(TokioIo::new(stream)).await.expect("a handshake");
    tokio::spawn(connection);
    sender
}

async fn plain(sender: &mut SendRequest<Full<Bytes>>, address: SocketAddr) {
    let request = Request::get("/small")
        .header("host", address.to_string())
        .header("accept-encoding", "identity")
        .header("user-agent", "bench")
        .header("authorization", format!("Bearer {SECRET}"))
        .body(Full::new(Bytes::new()))
        .expect("a request");
    sender.ready().await.expect("a connection");
    let response = sender.send_request(request).await.expect("an answer");
    let body = response.into_body().collect().await.expect("a body").to_bytes();
    assert!(serde_json::from_slice::<serde_json::Value>(&body).is_ok());
}

async fn warm(world: &World, address: SocketAddr, table: &mut Table) {
    let mut sender = connect(address).await;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for recorded in world.recorded(CALLS) {
            let begin = Instant::now();
            let outcome = world.executor.perform(recorded).await;
            ours.push(begin.elapsed());
            assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
        }
        for _ in 0..CALLS {
            let begin = Instant::now();
            plain(&mut sender, address).await;
            theirs.push(begin.elapsed());
        }
    }
    let figure = "one call through the executor, warm, answer parsed";
    table.at_most(figure, median(ours), "hyper, kept connection, answer parsed", median(theirs), 1.2);
}

async fn concurrent(world: &World, address: SocketAddr, table: &Table) {
    let mut senders = Vec::new();
    for _ in 0..AT_ONCE {
        senders.push(connect(address).await);
    }
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let all = world.recorded(AT_ONCE);
        let begin = Instant::now();
        let mut calls = JoinSet::new();
        for recorded in all {
            let executor = Arc::clone(&world.executor);
            calls.spawn(async move { executor.perform(recorded).await });
        }
        for outcome in calls.join_all().await {
            assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
        }
        ours.push(begin.elapsed());
        let begin = Instant::now();
        let mut calls = JoinSet::new();
        for mut sender in senders.drain(..) {
            calls.spawn(async move {
                plain(&mut sender, address).await;
                sender
            });
        }
        senders = calls.join_all().await;
        theirs.push(begin.elapsed());
    }
    let figure = format!("{AT_ONCE} calls at once; of {AT_ONCE} connections, 8 are kept");
    table.compare(&figure, median(ours), "hyper, all of them kept", median(theirs));
}

fn resident(field: &str) -> usize {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with(field)).expect("a field");
    line.split_whitespace().nth(1).and_then(|value| value.parse::<usize>().ok()).expect("a number") * 1024
}

/// Beside the executor this process has a server, which holds a block of 64 KiB.
fn memory(runtime: &tokio::runtime::Runtime, address: SocketAddr, limit: usize, table: &mut Table) {
    let world = World::new(address, "/large", limit);
    let mut recorded = world.recorded(1);
    let idle = resident("VmRSS");
    let outcome = runtime.block_on(world.executor.perform(recorded.pop().expect("a call")));
    assert!(outcome.text().contains("\"truncated\":true"));
    let cost = resident("VmHWM").saturating_sub(idle);
    table.missed += usize::from(cost > limit + 8 * MIB);
    println!(
        "| an answer of 1 GB, `max_response_bytes` {limit} | {:.1} MiB over idle | | | ≤ {:.1} MiB |",
        cost as f64 / MIB as f64,
        (limit + 8 * MIB) as f64 / MIB as f64
    );
}

fn one_shot(world: &World, address: SocketAddr, table: &mut Table) {
    let figure = "`framegate call`, start included";
    let own = std::env::current_exe().ok();
    let built = own.as_deref().and_then(Path::parent).and_then(Path::parent);
    let framegate = built.map(|folder| folder.join("framegate")).filter(|path| path.exists());
    let has_curl = Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_ok();
    let (Some(framegate), true) = (framegate, has_curl) else {
        println!("| {figure} | SKIPPED: needs target/release/framegate and curl | | | ≤ 1.5 |");
        table.missed += 1;
        return;
    };
    let config: PathBuf = world.folder.path().join("framegate.toml");
    let timed = |command: &mut Command| {
        let begin = Instant::now();
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a process");
        assert!(status.success(), "{command:?}");
        begin.elapsed()
    };
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        ours.push(timed(Command::new(&framegate).args(["call", "get", "{}", "--config"]).arg(&config)));
        theirs.push(timed(
            Command::new("curl")
                .args(["-q", "-s", "-H", &format!("authorization: Bearer {SECRET}")])
                .arg(format!("http://{address}/small")),
        ));
    }
    table.at_most(figure, median(ours), "curl", median(theirs), 1.5);
}
