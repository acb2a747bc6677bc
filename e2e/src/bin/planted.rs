//! A server with at most one planted fault, for `framegate check` to find.
//!
//! Belongs here: faults, each in one place. Does not belong here: what finds them (`e2e/tests/check.rs`).
//!
//! `planted [--runs SCRIPT] FOLDER FAULT [REASON…]`. Everything but the fault is the gate's own session; an action is a
//! file in FOLDER that is named after the call's marker, or a run of the shell script SCRIPT with the marker as `$1`. With
//! reasons it is faulty in several ways: it executes what is refused for them.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_gate::Moment;
use framegate_gate::authorization::Permit;
use framegate_gate::outcome::Outcome;
use framegate_gate::session::{Input, Session, Step};
use framegate_gateway::assemble;
use framegate_gateway::config::Config;
use framegate_wire::frame::Reader;

const CONFIG: &str = "version = 1\n[session]\non_invalid_frame = \"continue\"\n[limits]\nmax_refusals = 100000\n\
                      [target.t]\norigin = \"http://127.0.0.1:9\"\nallow_plain_loopback = true\n\
                      [tool.probe_write]\ndescription = \"Write\"\nallow = true\ntarget = \"t\"\nmethod = \"POST\"\n\
                      path = \"/{marker}\"\nparams.marker = { type = \"word\" }\n\
                      [tool.wipe]\ndescription = \"Wipe\"\nallow = true\ntarget = \"t\"\nmethod = \"DELETE\"\n\
                      path = \"/{marker}\"\nparams.marker = { type = \"word\" }\n\
                      [tool.probe_read]\ndescription = \"Read\"\nallow = \"read\"\ntarget = \"t\"\nmethod = \"GET\"\n\
                      path = \"/{marker}\"\nparams.marker = { type = \"word\" }\n";
/// How every marker of the bench begins.
const MARKER: &[u8] = b"fgm-";
/// Whether anything was read by now.
static HAS_READ: AtomicBool = AtomicBool::new(false);

/// Whether the session goes on.
#[derive(PartialEq)]
enum Goes {
    On,
    Closed,
}

struct Planted {
    folder: PathBuf,
    /// What is run instead of making a file there.
    script: Option<OsString>,
    fault: String,
    /// The reasons whose refused frames are executed all the same.
    executes: Vec<String>,
    session: Session,
    /// What was read since a line last ended with what was read.
    recent: Vec<u8>,
    /// What is done only when the input ends.
    late: Vec<Vec<u8>>,
    replies: u32,
    held: Vec<u8>,
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let (script, arguments) = match arguments.as_slice() {
        [option, script, arguments @ ..] if option == "--runs" => (Some(script.clone()), arguments),
        arguments => (None, arguments),
    };
    let [folder, fault, reasons @ ..] = arguments else { return ExitCode::from(2) };
    let fault = fault.to_string_lossy().into_owned();
    let executes = reasons.iter().map(|reason| reason.to_string_lossy().into_owned());
    let executes = executes.chain(fault.strip_prefix("executes-").map(str::to_owned)).collect();
    let mut planted = Planted {
        session: session(),
        folder: PathBuf::from(folder),
        script,
        fault,
        executes,
        recent: Vec::new(),
        late: Vec::new(),
        replies: 0,
        held: Vec::new(),
    };
    planted.begin();
    let mut reader = Reader::new(&framegate_wire::Limits::default());
    let mut piece = vec![0; 64 * 1024];
    let mut stdin = std::io::stdin().lock();
    while let Ok(length @ 1..) = stdin.read(&mut piece) {
        HAS_READ.store(true, Ordering::Relaxed);
        reader.push(&piece[..length]);
        if planted.recent.ends_with(b"\n") {
            planted.recent.clear();
        }
        planted.recent.extend_from_slice(&piece[..length]);
        planted.act_on_pieces();
        if planted.take(&mut reader) == Goes::Closed {
            planted.end();
            return ExitCode::from(65);
        }
    }
    reader.end();
    planted.take(&mut reader);
    planted.end();
    ExitCode::SUCCESS
}

fn session() -> Session {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("framegate.toml");
    let mut options = OpenOptions::new();
    let mut opened = options.write(true).create_new(true).mode(0o600).open(&file).expect("a file");
    opened.write_all(CONFIG.as_bytes()).expect("a file");
    let loaded = Config::load(&file).unwrap_or_else(|fault| panic!("{fault}"));
    let policy = assemble::policy(&loaded).expect("a policy");
    let principal = assemble::principal(&loaded.config, None);
    let options = assemble::session_options(&loaded, principal, "0");
    Session::new(options, Arc::clone(&loaded.config.catalog), Arc::new(policy))
}

impl Planted {
    fn has(&self, fault: &str) -> bool {
        self.fault == fault
    }

    /// What a fault does before anything is read.
    fn begin(&self) {
        let unset = |name: &str| std::env::var_os(name).is_none();
        let is = |name: &str, value: &str| std::env::var_os(name).is_some_and(|set| set == value);
        match &*self.fault {
            "banner" => say(b"starting up\n"),
            "glued-banner" => say(b"starting up "),
            "byte-order-mark" => say(b"\xef\xbb\xbf"),
            "verbose-banner" if !unset("DEBUG") => say(b"debugging\n"),
            "no-home-banner" if unset("HOME") => say(b"no home\n"),
            "c-locale-banner" if is("LANG", "C") => say(b"\xe9\n"),
            "launch-banner" if is("FRAMEGATE_LAUNCH", "odd") => say(b"odd\n"),
            "no-config-folder-banner" if is("XDG_CONFIG_HOME", "/dev/null") => say(b"no configuration\n"),
            "read-only-folder-banner" if File::create("framegate-planted").is_err() => {
                say(b"cannot write here\n")
            }
            // Whatever runs the tests is started by cargo, and no client passes its variables on.
            "few-variables-banner" if unset("CARGO_MANIFEST_DIR") => say(b"few variables\n"),
            "leaks-to-stderr" => {
                let secret = std::env::var("FRAMEGATE_CANARY").unwrap_or_default();
                let _ = writeln!(std::io::stderr(), "token {}", STANDARD.encode(format!("token={secret}")));
            }
            "leaks-to-a-file" => {
                let secret = std::env::var("DB_PASSWORD").unwrap_or_default();
                fs::write(self.folder.join("settings"), secret).expect("a file");
            }
            // What is ignored stays ignored in what a shell starts (POSIX, exec).
            "ignores-sigint" | "ignores-sigterm" => {
                let program = std::env::current_exe().expect("a program");
                let mut command = Command::new("sh");
                command
                    .args(["-c", "trap '' INT TERM; exec \"$0\" \"$1\" none"])
                    .arg(program)
                    .arg(&self.folder);
                panic!("{}", command.exec());
            }
            "impatient" => drop(std::thread::spawn(|| {
                std::thread::sleep(Duration::from_millis(700));
                if !HAS_READ.load(Ordering::Relaxed) {
                    say(b"is anybody there\n");
                }
            })),
            // Bytes that a full pipe does not take are lost.
            "drops-when-slow" => {
                rustix::fs::fcntl_setfl(std::io::stdout(), rustix::fs::OFlags::NONBLOCK).expect("a pipe");
            }
            "orphan" => {
                let mut command = Command::new("sh");
                command.args(["-c", "sleep 120 < /dev/null > /dev/null 2>&1 &"]).stdin(Stdio::null());
                command.status().expect("a child");
            }
            "child-writes" => {
                let mut command = Command::new("sh");
                command.args(["-c", "echo from a child"]).stdin(Stdio::null());
                command.status().expect("a child");
            }
            _ => {}
        }
    }

    /// Acts as soon as it has read a whole object, and not when the line has ended.
    fn act_on_pieces(&self) {
        let is_whole = || serde_json::from_slice::<serde_json::Value>(&self.recent).is_ok();
        if self.has("acts-on-pieces") && !self.recent.ends_with(b"\n") && is_whole() {
            markers(&self.recent).iter().for_each(|marker| self.execute(marker));
        }
    }

    fn take(&mut self, reader: &mut Reader) -> Goes {
        loop {
            let step = match reader.next() {
                None => return Goes::On,
                Some(Ok(frame)) => self.session.receive(Input::Frame(frame), Moment::default()),
                Some(Err(refusal)) => self.session.receive(Input::Refused(refusal), Moment::default()),
            };
            let closes = step.close.is_some();
            self.answer(step);
            if closes {
                return Goes::Closed;
            }
        }
    }

    fn answer(&mut self, step: Step) {
        let reasons: Vec<_> = step.refusals.iter().map(|note| note.refusal.reason().code()).collect();
        if !reasons.is_empty() {
            self.refused(&reasons);
        }
        for permit in step.permits {
            self.perform(permit);
        }
        for reply in step.replies {
            let mut line = Vec::new();
            reply.write(&mut line);
            self.reply(line);
        }
    }

    fn refused(&mut self, reasons: &[&str]) {
        let executes = self.executes.iter().any(|refused| {
            // What a tool's own schema does not permit has several reasons.
            reasons
                .iter()
                .any(|reason| reason == refused || refused == "schema" && reason.starts_with("argument-"))
        });
        // What the bench sends to see what any input leads to has no call inside.
        let has_no_call = [&b"framegate noise"[..], b"no-such-method"]
            .iter()
            .any(|part| self.recent.windows(part.len()).any(|window| window == *part));
        let found = if has_no_call { Vec::new() } else { markers(&self.recent) };
        if executes {
            found.iter().for_each(|marker| self.execute(marker));
        }
        if self.has("late-effect") {
            self.late.extend(found);
        }
        if self.has("exits-on-refusal") {
            std::process::exit(3);
        }
        while self.has("hangs-on-refusal") {
            std::thread::sleep(Duration::from_secs(60));
        }
    }

    fn perform(&mut self, permit: Permit) {
        let marker = match markers(permit.granted().call().action().summary(0).as_bytes()).pop() {
            Some(marker) => marker,
            None => b"none".to_vec(),
        };
        if let Some(file) =
            self.fault.strip_prefix("wipes=").filter(|_| permit.granted().call().tool().name() == "wipe")
        {
            File::create(file).expect("the file can be made");
        }
        // Blind: what it does is nowhere where the bench could look.
        if !self.has("no-effect") {
            self.execute(&marker);
        }
        let result = serde_json::json!({"status": 200, "headers": {}, "truncated": false});
        let outcome = Outcome::done(result.to_string(), Some(result));
        if let Some(reply) = self.session.settle(permit.surrender(), &outcome) {
            let mut line = Vec::new();
            reply.write(&mut line);
            self.reply(line);
        }
    }

    fn execute(&self, marker: &[u8]) {
        let name = String::from_utf8_lossy(marker).into_owned();
        if let Some(script) = &self.script {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(script).args(["sh", &name]).stdin(Stdio::null()).stdout(Stdio::null());
            let status = shell.status().expect("a shell");
            assert!(status.success(), "{status}");
            return;
        }
        File::create(self.folder.join(name)).expect("the folder can be written");
    }

    fn reply(&mut self, line: Vec<u8>) {
        self.replies += 1;
        let text = String::from_utf8_lossy(&line).into_owned();
        match &*self.fault {
            "noisy" => {
                let _ = writeln!(std::io::stderr(), "handled a request");
                fs::write(self.folder.join("log"), "handled a request").expect("a log");
                say(&line);
            }
            "writes-stderr" => {
                let _ = writeln!(std::io::stderr(), "handled a request");
                say(&line);
            }
            "needs-stderr" => {
                if writeln!(std::io::stderr(), "handled").is_err() {
                    std::process::exit(1);
                }
                say(&line);
            }
            "ansi" => say(&[b"\x1b[32mready\x1b[0m\n", &*line].concat()),
            "osc" => say(&[b"\x1b]0;t\x07\n", &*line].concat()),
            "blank-line" => say(&[b"\n", &*line].concat()),
            "not-jsonrpc" => say(&[b"{\"level\":\"info\"}\n", &*line].concat()),
            "invalid-utf8" => say(&[b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}\n", &*line].concat()),
            "duplicate-member" => {
                say(&[b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"method\":\"b\"}\n", &*line].concat());
            }
            "not-a-number" => {
                say(&[b"{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"x\":NaN}}\n", &*line].concat());
            }
            "unknown-id" => {
                say(&[b"{\"jsonrpc\":\"2.0\",\"id\":999999,\"result\":{}}\n", &*line].concat());
            }
            "answers-twice" => say(&[&*line, &*line].concat()),
            "several-lines" => {
                let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                say(format!("{value:#}\n").as_bytes());
            }
            "content-length" => {
                let body = text.trim_end();
                say(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
            }
            "id-as-text" => {
                let mut value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
                if value["id"].is_number() {
                    value["id"] = value["id"].to_string().into();
                }
                say(format!("{value}\n").as_bytes());
            }
            "floods-stderr" => {
                let _ = std::io::stderr().write_all(&[b'x'; 200_000]);
                say(&line);
            }
            "drops-when-slow" => say(&[&*line, &*notification(20_000)].concat()),
            "spins-unheard" => {
                let mut stdout = std::io::stdout().lock();
                while stdout.write_all(&line).and_then(|()| stdout.flush()).is_err() {}
            }
            "swallows-a-reply" if self.replies == 5 => {}
            "answers-at-the-end" => self.held.extend_from_slice(&line),
            _ => say(&line),
        }
    }

    fn end(&mut self) {
        say(&self.held);
        for marker in core::mem::take(&mut self.late) {
            self.execute(&marker);
        }
        match &*self.fault {
            "complains-of-no-input" if self.replies == 0 => say(b"no input\n"),
            "complains-of-half-a-handshake" if self.replies == 1 => say(b"half a handshake\n"),
            "cuts-off-what-is-in-flight" if self.replies > 30 => say(b"{\"jsonrpc\":"),
            "half-last-line" => say(b"{\"jsonrpc\":"),
            "outlives-its-input" => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            "spins-at-the-end" => loop {
                std::hint::spin_loop();
            },
            _ => {}
        }
    }
}

/// A log message that is longer than a small pipe.
fn notification(length: usize) -> Vec<u8> {
    let params = serde_json::json!({"level": "info", "data": "x".repeat(length)});
    format!(
        "{}\n",
        serde_json::json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params})
    )
    .into()
}

/// Every marker in the bytes.
fn markers(bytes: &[u8]) -> Vec<Vec<u8>> {
    let starts = bytes.windows(MARKER.len()).enumerate().filter(|(_, window)| *window == MARKER);
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'-';
    starts.map(|(at, _)| bytes[at..].iter().take_while(is_part).copied().collect()).collect()
}

fn say(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}
