//! HTTP actions against nginx on loopback, and others against the same nginx: the executor and a plain hyper client
//! that keep their connections, `framegate call` and `curl`. And memory under an answer of a gigabyte.
//!
//! Belongs here: ratios of medians, interleaved. Does not belong here: assertions of the test suite; `--check`
//! compares with the marks of docs/benchmarks.md and exits 1 below them.
//!
//! Run: `e2e/servers/setup.sh && cargo build --release -p framegate && cargo bench -p framegate-e2e --bench http`.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use framegate_e2e::binary;
use framegate_e2e::server::{Nginx, Server};
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

mod table;

use table::{Table, median};

const CALLS: usize = 400;
const ROUNDS: usize = 7;
const AT_ONCE: usize = 64;
const STARTS: usize = 15;
const MIB: usize = 1024 * 1024;
const GIGABYTE: usize = 1_000_000_000;
const SECRET: &str = "zq7K-w9Xv_t4.Rm-pL2sd8";

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut table = Table::begin();
    // Before everything else: the highest mark of this process only grows.
    let large = serve_gigabytes();
    memory(&runtime, large, 65_536, &mut table);
    memory(&runtime, large, 16 * MIB, &mut table);
    let Some(nginx) = nginx() else {
        table.skipped("calls", "nginx; e2e/servers/setup.sh fetches it");
        return table.exit();
    };
    let address = nginx.address();
    let world = World::new(address, "/small", 65_536);
    runtime.block_on(warm(&world, address, &mut table));
    runtime.block_on(concurrent(&world, address, &table));
    one_shot(&world, address, &mut table);
    table.exit()
}

/// Answers with a kibibyte of JSON, and keeps its connections.
fn nginx() -> Option<Server> {
    let small = json!({"items": vec!["item of the list"; 50]}).to_string();
    Server::nginx(&Nginx {
        http: "keepalive_requests 100000000;\nkeepalive_timeout 600s;\ntcp_nodelay on;",
        server: &format!(
            "access_log off;\ndefault_type application/json;\nlocation / {{ return 200 '{small}'; }}"
        ),
        log: "$status",
        tls: None,
    })
}

/// Answers with a gigabyte of text. One thread a connection.
fn serve_gigabytes() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || write_gigabyte(stream));
        }
    });
    address
}

fn write_gigabyte(mut stream: TcpStream) {
    let mut request = [0; 16 * 1024];
    let _ = stream.read(&mut request);
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: {GIGABYTE}\r\n\r\n");
    let block = vec![b't'; 65_536];
    let _ = stream.write_all(head.as_bytes());
    for _ in 0..GIGABYTE / block.len() {
        if stream.write_all(&block).is_err() {
            return;
        }
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
    let (mut our_work, mut their_work) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let all = world.recorded(CALLS);
        let before = processor_time();
        for recorded in all {
            let begin = Instant::now();
            let outcome = world.executor.perform(recorded).await;
            ours.push(begin.elapsed());
            assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
        }
        our_work.push(a_call(before));
        let before = processor_time();
        for _ in 0..CALLS {
            let begin = Instant::now();
            plain(&mut sender, address).await;
            theirs.push(begin.elapsed());
        }
        their_work.push(a_call(before));
    }
    let (figure, other) =
        ("one call through the executor, warm, answer parsed", "hyper, kept connection, answer parsed");
    table.at_most(figure, median(ours), other, median(theirs), 1.2);
    // Without the server and the time until it runs, which is most of a call, and what a busy machine changes most.
    table.compare("the same, processor time of the client", median(our_work), other, median(their_work));
}

/// What this thread has used so far.
fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    let used = text.split(' ').next().and_then(|nanoseconds| nanoseconds.parse().ok());
    Duration::from_nanos(used.expect("nanoseconds"))
}

fn a_call(before: Duration) -> Duration {
    processor_time().saturating_sub(before) / u32::try_from(CALLS).expect("few calls")
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
    table.over_idle(&format!("an answer of 1 GB, `max_response_bytes` {limit}"), cost, limit + 8 * MIB);
}

fn one_shot(world: &World, address: SocketAddr, table: &mut Table) {
    let figure = "`framegate call`, start included";
    let framegate = binary::workspace().join("target/release/framegate");
    let has_curl = Command::new("curl").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !framegate.exists() || !has_curl {
        table.skipped(figure, "target/release/framegate and curl");
        return;
    }
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
