//! stdout that cannot be used, that nobody reads, or that its reader leaves.

use std::fs::File;
use std::time::{Duration, Instant};

use framegate_e2e::client;
use framegate_e2e::launch::Stream;
use framegate_e2e::oracle::Answers;
use framegate_e2e::process::{DEADLINE, Process};
use framegate_e2e::target::Answer;
use serde_json::json;

use super::{REVISION, Session, Stage, live, marker, recorder};

/// The exit code when stdout is not usable, or its reader has gone.
const INPUT_OUTPUT: Option<i32> = Some(74);

/// A whole session, written before the program can have looked at its descriptors.
fn script() -> Vec<u8> {
    let id = |number: i64| number.into();
    let call = client::call_params("probe_write", marker("mk-unheard"));
    [
        client::initialize(&id(1), REVISION.name()),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        client::request(&id(2), "tools/call", Some(call)),
    ]
    .iter()
    .flat_map(|message| format!("{message}\n").into_bytes())
    .collect()
}

fn nothing_happens(stage: &Stage, mut process: Process) {
    process.write(&script());
    process.close_stdin();
    let status = process.wait_exit().unwrap_or_else(|how| process.fail(how));
    assert_eq!(status.code(), INPUT_OUTPUT, "{}", String::from_utf8_lossy(&process.stderr().bytes()));
    assert_eq!(stage.executed("mk-unheard"), 0);
    assert_eq!(stage.journal().count("intent"), 0);
    let traces = stage.traces();
    assert_eq!((traces.connections, traces.questions, traces.secret_reads), (0, 0, 0));
}

#[test]
fn closed_is_74_before_reading() {
    let stage = live("stdout-closed");
    let launch = stage.launch().shell(r#"exec "$@" >&-"#);
    nothing_happens(&stage, Process::start("process-stdout-closed", launch));
}

#[test]
fn the_null_device_is_74_before_reading() {
    let stage = live("stdout-null");
    let mut launch = stage.launch();
    launch.stdout = Stream::Null;
    nothing_happens(&stage, Process::start("process-stdout-null", launch));
}

#[test]
fn a_descriptor_that_cannot_be_written_is_74_before_reading() {
    let stage = live("stdout-read-only");
    let mut launch = stage.launch();
    launch.stdout = Stream::Given(File::open(stage.config()).expect("a file").into());
    nothing_happens(&stage, Process::start("process-stdout-read-only", launch));
}

#[test]
fn both_closed_is_74_before_reading() {
    let stage = live("both-closed");
    let launch = stage.launch().shell(r#"exec "$@" >&- 2>&-"#);
    nothing_happens(&stage, Process::start("process-both-closed", launch));
}

#[test]
fn a_full_device_is_74() {
    let stage = recorder("stdout-full");
    let mut launch = stage.launch();
    launch.stdout = Stream::Given(File::options().write(true).open("/dev/full").expect("a device").into());
    let mut process = Process::start("process-stdout-full", launch);
    process.write(&script());
    let status = process.wait_exit().unwrap_or_else(|how| process.fail(how));
    assert_eq!(status.code(), INPUT_OUTPUT);
}

#[test]
fn a_reader_that_leaves_lets_started_actions_end_and_starts_no_more() {
    let stage = live("reader-leaves");
    stage.target().script([Answer::Hold(Box::new(Answer::ok()))]);
    let mut launch = stage.launch();
    launch.stdout = Stream::Held;
    let mut session = Session::launch(&stage, launch);
    session.allow_unanswered(Answers::Any);
    session.write(&script());
    stage.target().wait_requests(1);
    session.process().close_stdout();
    // What is answered next finds the reader gone.
    session.write(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n");
    session.process().wait_read();
    session.start_call(REVISION, "probe_write", marker("mk-too-late"));
    stage.target().release();
    let ended = session.wait_end();
    assert_eq!(ended.code(), INPUT_OUTPUT, "{}", ended.stderr);
    assert_eq!(stage.executed("mk-too-late"), 0, "nothing starts once the reader has gone");
    assert_eq!(ended.journal.count("intent"), 1);
    assert_eq!(ended.journal.count("outcome"), 1, "the outcome of what was started is recorded");
}

/// P17: `gateway | head -c 1`, with a call that ends after the reader has gone.
#[test]
fn p17_a_client_that_closes_stdout() {
    let stage = live("p17");
    let code = stage.folder().join("code");
    let script_text = format!(r#"{{ "$@"; echo $? >'{}'; }} | head -c 1 >/dev/null"#, code.display());
    let mut process = Process::start("process-p17", stage.launch().shell(&script_text));
    process.write(&script());
    for number in 10..14 {
        process.write(format!("{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"ping\"}}\n").as_bytes());
        process.wait_read();
    }
    process.wait_exit().unwrap_or_else(|how| process.fail(how));
    assert_eq!(std::fs::read_to_string(code).expect("a code").trim(), "74");
    let stderr = String::from_utf8_lossy(&process.stderr().bytes()).into_owned();
    let gone = stderr.lines().filter(|line| line.contains("stdout")).count();
    assert!(gone <= 1, "one line at most tells of it: {stderr}");
}

/// P22: the peers of stdin, stdout and stderr all go; it ends within a second.
#[test]
fn p22_all_peers_gone() {
    let mut spans = Vec::new();
    // A loaded machine may be late once or twice; a loop is late every time.
    for attempt in 0..3 {
        let stage = recorder(&format!("p22-{attempt}"));
        let mut launch = stage.launch();
        (launch.stdout, launch.stderr) = (Stream::Held, Stream::Held);
        let mut process = Process::start("process-p22", launch);
        process.write(&script());
        process.write(b"no message\n");
        process.wait_read();
        process.close_stdout();
        process.close_stderr();
        process.close_stdin();
        let started = Instant::now();
        process.wait_exit().unwrap_or_else(|how| process.fail(how));
        spans.push(started.elapsed());
        if started.elapsed() < Duration::from_secs(1) {
            return;
        }
    }
    panic!("it never ended within a second: {spans:?}");
}

#[test]
fn a_slow_reader_loses_no_reply() {
    let stage = recorder("slow-reader");
    let mut launch = stage.launch();
    launch.stdout = Stream::Held;
    let mut session = Session::launch(&stage, launch);
    let mut input = script();
    for id in 100..500 {
        input.extend(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n").into_bytes());
    }
    session.process().write_behind(input);
    wait_until_full(&mut session);
    session.process().read_stdout();
    let ended = session.wait_end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.replies.len(), 402);
}

#[test]
fn a_full_stdout_stops_reading_instead_of_growing() {
    let stage = recorder("full-stdout");
    let mut launch = stage.launch();
    launch.stdout = Stream::Held;
    let mut session = Session::launch(&stage, launch);
    let mut input = script();
    for id in 100..2100 {
        input.extend(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"}}\n").into_bytes());
    }
    session.process().write_behind(input);
    wait_until_full(&mut session);
    // Several times what all its buffers hold has been offered; it must idle, not read on.
    let ticks = |session: &mut Session<'_>| session.process().processor_ticks().expect("it runs");
    let mut last = ticks(&mut session);
    let deadline = Instant::now() + DEADLINE;
    loop {
        std::thread::sleep(Duration::from_millis(300));
        let now = ticks(&mut session);
        if now == last {
            break;
        }
        assert!(Instant::now() < deadline, "it goes on working though nobody reads");
        last = now;
    }
    let status =
        std::fs::read_to_string(format!("/proc/{}/status", session.process().id())).expect("it runs");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    let kilobytes: u64 = resident.trim().trim_end_matches("kB").trim().parse().expect("a number");
    assert!(kilobytes < 64 * 1024, "{kilobytes} kB resident while stdout is full");
    session.process().read_stdout();
    let ended = session.wait_end();
    assert_eq!((ended.code(), ended.replies.len()), (Some(0), 2002), "{}", ended.stderr);
}

/// Waits until the pipe of a stdout that nobody reads takes no more: it has 16 pages, each at least
/// half used.
fn wait_until_full(session: &mut Session<'_>) {
    let deadline = Instant::now() + DEADLINE;
    while session.process().held_bytes() < 32 * 1024 {
        assert!(Instant::now() < deadline, "{} bytes were written", session.process().held_bytes());
        std::thread::sleep(Duration::from_millis(2));
    }
}
