//! The gateway as a process, measured against others in the same run: start, sequential calls, memory.
//!
//! Belongs here: ratios of medians, interleaved. Does not belong here: assertions of the test suite;
//! `--check` compares with the marks of docs/benchmarks.md and exits 1 below them.
//!
//! Run: `cargo build --release -p framegate && cargo build --release -p framegate-e2e --examples &&
//! e2e/clients/setup.sh && cargo bench -p framegate-e2e --bench process`.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

mod table;

use table::{Table, median};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"0"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const TOOLS: usize = 50;
const STARTS: usize = 15;
const CALLS: usize = 3_000;
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let framegate = root.join("target/release/framegate");
    let folder = tempfile::tempdir().expect("a folder");
    let mut table = Table::begin();
    start(&framegate, &root, folder.path(), &mut table);
    calls(&framegate, &root, folder.path(), "both cores", &mut table);
    // Across cores, what it takes to wake the other one decides; on one, the work that is done.
    let free = rustix::thread::sched_getaffinity(None).expect("an affinity");
    let mut one = rustix::thread::CpuSet::new();
    one.set((0..rustix::thread::CpuSet::MAX_CPU).find(|cpu| free.is_set(*cpu)).expect("a core"));
    rustix::thread::sched_setaffinity(None, &one).expect("an affinity");
    calls(&framegate, &root, folder.path(), "one core", &mut table);
    rustix::thread::sched_setaffinity(None, &free).expect("an affinity");
    memory(&framegate, folder.path(), &mut table);
    table.exit()
}

/// A configuration of `tools` tools, each with its own rule, recorder allowed.
fn configuration(folder: &Path, name: &str, tools: usize, sync: bool, frame: usize) -> PathBuf {
    let mut text = format!(
        "version = 1\n[session]\nallow_record = true\non_invalid_frame = \"continue\"\n[limits]\nmax_frame_bytes = {frame}\n[journal]\ndir = \"journal-{name}\"\nsync = {sync}\n[log]\nlevel = \"error\"\n[target.t]\norigin = \"http://127.0.0.1:9\"\nallow_plain_loopback = true\n"
    );
    for tool in 0..tools {
        write!(
            text,
            "[tool.tool_{tool}]\ndescription = \"tool {tool}\"\nallow = true\ntarget = \"t\"\nmethod = \"POST\"\npath = \"/things/{{marker}}\"\nbody = {{ note = \"{{note}}\" }}\n[tool.tool_{tool}.params.marker]\ntype = \"word\"\n[tool.tool_{tool}.params.note]\ntype = \"string\"\nrequired = false\n"
        )
        .expect("a string takes everything");
    }
    let path = folder.join(format!("{name}.toml"));
    fs::write(&path, text).expect("a file");
    path
}

struct Server {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a process");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, input, output, line: String::new() }
    }

    /// Writes a whole line at once, as clients do.
    fn tell(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).expect("a server that reads");
    }

    fn ask(&mut self, line: &str) -> &str {
        self.tell(line);
        self.line.clear();
        self.output.read_line(&mut self.line).expect("a server that answers");
        assert!(self.line.ends_with('\n'), "no answer to {line}");
        &self.line
    }

    fn handshake(&mut self) {
        self.ask(INITIALIZE);
        self.tell(INITIALIZED);
    }

    fn end(mut self) {
        drop(self.input);
        let _ = self.child.wait();
    }
}

fn first_answer(command: &mut Command) -> Duration {
    let begin = Instant::now();
    let mut server = Server::start(command);
    server.ask(INITIALIZE);
    let elapsed = begin.elapsed();
    server.end();
    elapsed
}

fn start(framegate: &Path, root: &Path, folder: &Path, table: &mut Table) {
    let config = configuration(folder, "start", TOOLS, true, 4 * 1024 * 1024);
    let node_modules = root.join(".test-env/typescript-sdk-1");
    let (mut ours, mut loading, mut typescript) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        ours.push(first_answer(Command::new(framegate).arg("mcp").arg("--config").arg(&config)));
        let begin = Instant::now();
        let status = Command::new(framegate)
            .args(["config", "check", "--config"])
            .arg(&config)
            .stdout(Stdio::null())
            .status();
        loading.push(begin.elapsed());
        assert!(status.expect("a process").success());
        if node_modules.exists() {
            typescript.push(first_answer(
                Command::new("node").arg(root.join("e2e/clients/echo_server.mjs")).arg(&node_modules),
            ));
        }
    }
    let ours = median(ours);
    table.at_most(
        "start to `initialize` answered, 50 tools",
        ours,
        "load and validate the same",
        median(loading),
        1.3,
    );
    if typescript.is_empty() {
        table.skipped("the same, against the TypeScript SDK", "e2e/clients/setup.sh");
    } else {
        table.at_most("the same", ours, "TypeScript SDK", median(typescript), 0.1);
    }
}

fn call(id: usize, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"marker":"m{id}"}}}}}}"#
    )
}

fn one_round(server: &mut Server, tool: &str, first: usize) -> Duration {
    let begin = Instant::now();
    for id in first..first + CALLS {
        server.ask(&call(id, tool));
    }
    begin.elapsed() / u32::try_from(CALLS).expect("a small number")
}

fn calls(framegate: &Path, root: &Path, folder: &Path, cores: &str, table: &mut Table) {
    let recorder = |name: &str, sync| {
        let name = &format!("{name} {cores}").replace(' ', "-");
        let config = configuration(folder, name, TOOLS, sync, 4 * 1024 * 1024);
        let mut server = Server::start(
            Command::new(framegate)
                .args(["mcp", "--config"])
                .arg(config)
                .arg("--record")
                .arg(folder.join(format!("{name}.record"))),
        );
        server.handshake();
        assert!(server.ask(&call(1, "tool_7")).contains("performed"), "{}", server.line);
        server
    };
    let mut unsynced = recorder("unsynced", false);
    let mut synced = recorder("synced", true);
    let mut echo = Server::start(&mut Command::new(root.join("target/release/examples/rmcp_echo")));
    echo.handshake();
    let (mut ours, mut with_sync, mut theirs) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let first = 10 + round * CALLS;
        ours.push(one_round(&mut unsynced, "tool_7", first));
        theirs.push(one_round(&mut echo, "echo", first));
        with_sync.push(one_round(&mut synced, "tool_7", first));
    }
    let theirs = median(theirs);
    let figure = format!("one call through the recorder, intents unsynced, {cores}");
    if cores == "one core" {
        table.at_most(&figure, median(ours), "rmcp echo", theirs, 1.0);
    } else {
        table.compare(&figure, median(ours), "rmcp echo", theirs);
    }
    table.compare("the same, intents synced", median(with_sync), "rmcp echo", theirs);
    unsynced.end();
    synced.end();
    echo.end();
}

fn resident(pid: u32, field: &str) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find(|line| line.starts_with(field)).expect("a field");
    line.split_whitespace().nth(1).and_then(|value| value.parse::<usize>().ok()).expect("a number") * 1024
}

/// A line of 64 MiB against the default frame limit and against the highest one.
fn memory(framegate: &Path, folder: &Path, table: &mut Table) {
    const MIB: usize = 1024 * 1024;
    for (name, limit) in [("default", 4 * MIB), ("highest", 64 * MIB)] {
        let config = configuration(folder, &format!("memory-{name}"), 1, true, limit);
        let mut server = Server::start(Command::new(framegate).args(["mcp", "--config"]).arg(config));
        server.handshake();
        server.ask(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        let idle = resident(server.child.id(), "VmRSS");
        let mut line = vec![b'x'; 64 * MIB];
        line.push(b'\n');
        server.input.write_all(&line).expect("a server that reads");
        server.line.clear();
        server.output.read_line(&mut server.line).expect("a server that answers");
        let peak = resident(server.child.id(), "VmHWM");
        let cost = peak.saturating_sub(idle);
        table.over_idle(&format!("a line of 64 MiB, {name} frame limit"), cost, limit + 8 * MIB);
        server.end();
    }
}
