//! Starting, storms, killing, dropping: nothing hangs, nothing is left behind.
//!
//! Belongs here: starting, storms, killing, dropping: nothing hangs, nothing is left behind.
//! Does not belong here: single effects.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::sync::{Arc, Barrier};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};

use super::super::ObserveError;
use super::*;

/// One test of this file, to run in a process of its own, where no other test has threads.
fn alone(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let (_, module) = module_path!().split_once("::").unwrap();
    command.args([&format!("{module}::{test}"), "--exact", "--ignored", "--nocapture"]);
    command
}

fn assert_passed(output: &Output) {
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

fn supervisors() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name == "syscalls\n").count()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn a_missing_command_is_the_ordinary_error() {
    if !can_observe() {
        return;
    }
    for command in ["/nowhere/fgm", "fgm-no-such-command"] {
        let Err(ObserveError::Start(fault)) = spawn(Command::new(command), MARKER) else { panic!() };
        assert_eq!(fault.raw_os_error(), Command::new(command).spawn().unwrap_err().raw_os_error());
    }
    let mut command = Command::new("/bin/true");
    command.current_dir("/nowhere");
    let Err(ObserveError::Start(fault)) = spawn(command, MARKER) else { panic!() };
    assert_eq!(fault.kind(), std::io::ErrorKind::NotFound);
}

#[test]
fn failures_and_ends_leave_no_thread_and_no_descriptor() {
    assert_passed(&alone("inner_no_thread_and_no_descriptor").output().unwrap());
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn inner_no_thread_and_no_descriptor() {
    if !can_observe() {
        return;
    }
    assert_eq!(supervisors(), 0, "after the probe");
    let before = descriptors();
    for _ in 0..20 {
        assert!(spawn(Command::new("/nowhere/fgm"), MARKER).is_err());
        assert_eq!(supervisors(), 0);
        let (mut child, watch) = spawn(Command::new("/bin/true"), MARKER).unwrap();
        child.wait().unwrap();
        end(watch);
        eventually("thread's end", || supervisors() == 0);
    }
    assert_eq!(descriptors(), before);
}

#[test]
fn observed_ourselves_we_are_refused() {
    if can_observe() {
        assert_passed(&run(alone("inner_refused")).output);
    }
}

#[test]
#[ignore = "run by the test above, observed"]
fn inner_refused() {
    let is_busy = |fault: &ObserveError| matches!(fault, ObserveError::Refused(fault) if fault.raw_os_error() == Some(libc::EBUSY));
    assert!(probe().is_err_and(|fault| is_busy(&fault)));
    assert!(spawn(Command::new("/bin/true"), MARKER).is_err_and(|fault| is_busy(&fault)));
}

#[test]
fn a_storm_of_threads() {
    let directory = tempfile::tempdir().unwrap();
    let source = r"
        import os, sys, threading
        def work(n):
          f = os.open(f'{sys.argv[1]}/{n}', os.O_CREAT | os.O_WRONLY)
          for i in range(10): os.write(f, b'fgm'); os.stat(sys.argv[1])
        ts = [threading.Thread(target=work, args=(n,)) for n in range(200)]
        [t.start() for t in ts]
        [t.join() for t in ts]";
    let Some(command) = script(source, &[text(directory.path())]) else { return };
    let seen = run(command);
    assert_eq!(seen.count(Kind::OpenForWriting), 200);
    assert_eq!(seen.count(Kind::Write), 2000);
    assert_eq!(seen.blind, []);
}

#[test]
fn a_storm_of_processes() {
    let Some(command) = shell("i=0; while [ $i -lt 150 ]; do /bin/true & i=$((i+1)); done; wait", &[]) else {
        return;
    };
    let seen = run(command);
    assert_eq!(seen.count(Kind::Fork), 150);
    assert_eq!(seen.all(Kind::Execute, "/bin/true /bin/true").count(), 150);
}

#[test]
fn a_storm_of_signals_does_not_lose_or_double_calls() {
    let directory = tempfile::tempdir().unwrap();
    let source = r"
        import os, signal, sys
        signal.signal(signal.SIGALRM, lambda *_: None)
        signal.setitimer(signal.ITIMER_REAL, 0.0002, 0.0002)
        f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
        for i in range(2000): os.write(f, b'%05d' % i)
        signal.setitimer(signal.ITIMER_REAL, 0)";
    let path = directory.path().join("file");
    let Some(command) = script(source, &[text(&path)]) else { return };
    let seen = run(command);
    let mut all: Vec<_> = seen.all(Kind::Write, "/file").map(|effect| effect.data.clone()).collect();
    let with_doubles = all.len();
    all.dedup();
    eprintln!("2000 writes under signals: {with_doubles} seen");
    assert_eq!(all.concat(), fs::read(&path).unwrap());
}

const BUSY: &str = r"
        import os, sys, threading
        def work():
          while True: os.write(f, b'x'); os.stat('/'); os.kill(os.getppid(), 18)
        f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
        os.fork()
        os.fork()
        print('up', flush=True)
        [threading.Thread(target=work).start() for _ in range(8)]";

#[test]
fn killing_the_tree_in_the_middle_of_calls() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..10 {
        let Some(mut command) = script(BUSY, &[text(&directory.path().join("file"))]) else { return };
        command.process_group(0).stdout(Stdio::piped());
        let (mut child, watch) = spawn(command, MARKER).unwrap();
        eventually("effects", || watch.count() > 100 * round);
        let group = Pid::from_child(&child);
        kill_process_group(group, Signal::KILL).unwrap();
        child.wait().unwrap();
        eventually("the tree's end", || watch.is_over());
        assert_eq!(watch.blind(), []);
    }
}

#[test]
fn a_tree_outlives_its_watch() {
    let source = r"
        import os, sys
        print('up', flush=True)
        sys.stdin.read()
        os.mkdir(sys.argv[1])
        print('made')";
    let directory = tempfile::tempdir().unwrap();
    let Some(mut command) = script(source, &[text(&directory.path().join("later"))]) else { return };
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let (mut child, watch) = spawn(command, MARKER).unwrap();
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0; 3]).unwrap();
    let record = Arc::clone(&watch.record);
    drop(watch);
    assert!(record.is_closed());
    drop(child.stdin.take());
    let mut rest = String::new();
    output.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(rest, "made\n");
    assert!(directory.path().join("later").is_dir());
    assert_eq!(record.count(), 0, "nobody will ask");
}

#[test]
fn what_is_done_before_an_answer_is_recorded_before_it_is_read() {
    let source = r"
        import os, sys
        for line in sys.stdin:
          os.mkdir(line.strip()); print('done', flush=True); os.rmdir(line.strip())";
    let directory = tempfile::tempdir().unwrap();
    let Some(mut command) = script(source, &[]) else { return };
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let (mut child, watch) = spawn(command, MARKER).unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for round in 0..100 {
        let path = directory.path().join(format!("fgm-{round}"));
        let before = watch.count();
        std::io::Write::write_all(&mut input, format!("{}\n", path.display()).as_bytes()).unwrap();
        output.read_exact(&mut [0; 5]).unwrap();
        let new = watch.effects(before);
        assert!(
            new.iter().any(|effect| effect.call.starts_with("mkdir") && effect.detail == text(&path)),
            "{new:?}"
        );
    }
    drop(input);
    child.wait().unwrap();
    end(watch);
}

#[test]
fn several_trees_at_once_do_not_mix() {
    if python().is_none() || !can_observe() {
        return;
    }
    let barrier = Barrier::new(4);
    thread::scope(|scope| {
        for tree in 0..4 {
            let barrier = &barrier;
            scope.spawn(move || {
                let directory = tempfile::tempdir().unwrap();
                let source = r"
        import os, sys
        for i in range(100): os.mkdir(f'{sys.argv[1]}/{i}')";
                let command = script(source, &[text(directory.path())]).unwrap();
                barrier.wait();
                let seen = run(command);
                let own = text(directory.path());
                assert_eq!(seen.all(Kind::CreateOrRemove, own).count(), 100, "{tree}");
                assert_eq!(seen.count(Kind::CreateOrRemove), 100, "{tree}");
            });
        }
    });
}

#[test]
fn how_much_slower() {
    if !can_observe() {
        return;
    }
    let Some(python) = python().map(text) else { return };
    let writes = "for i in range(50000): __import__('os').write(1, b'x')";
    let cases: [(&str, &[&str]); 4] = [
        ("python", &[python, "-c", "pass"]),
        ("python imports", &[python, "-c", "import asyncio, json, http.client"]),
        ("node", &["node", "-e", "0"]),
        ("50000 writes to stdout", &[python, "-c", writes]),
    ];
    for (name, words) in cases {
        let measure = |is_observed: bool| {
            let start = Instant::now();
            for _ in 0..5 {
                let mut command = Command::new(words[0]);
                command.args(&words[1..]).stdin(Stdio::null()).stdout(Stdio::null());
                if is_observed {
                    let (mut child, watch) = spawn(command, MARKER).ok()?;
                    child.wait().ok()?;
                    end(watch);
                } else {
                    command.status().ok()?;
                }
            }
            Some(start.elapsed().as_secs_f64() / 5.0 * 1000.0)
        };
        if let (Some(without), Some(with)) = (measure(false), measure(true)) {
            eprintln!("{name}: {without:.1} ms, observed {with:.1} ms, {:.2} times", with / without);
        }
    }
}
