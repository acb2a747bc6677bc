//! What is no effect.
//!
//! Belongs here: what is no effect.
//! Does not belong here: what is one.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use super::*;

/// Kinds that a quiet program has none of after its exec and start.
fn loud(seen: &Seen) -> Vec<&Effect> {
    seen.effects.iter().filter(|effect| effect.kind != Kind::Execute).collect()
}

#[test]
fn a_silent_program_has_no_effect_but_its_exec() {
    let Some(command) = script("pass", &[]) else { return };
    let seen = run(command);
    assert!(loud(&seen).is_empty(), "{:#?}", loud(&seen));
    assert!(seen.blind.is_empty(), "{:?}", seen.blind);
    assert_eq!(seen.count(Kind::Execute), 1);
    assert!(seen.effects[0].data.ends_with(b"\0-I\0-S\0-c\0pass"));
}

#[test]
fn the_protocol_is_no_effect_by_whatever_descriptor() {
    let source = "import os, sys\nprint('one', flush=True)\nprint('two', file=sys.stderr, flush=True)\n\
        os.write(os.dup(1), b'three')\nos.dup2(2, 17)\nos.writev(17, [b'four'])\n\
        open('/dev/stdout', 'w').write('five')\nopen('/proc/self/fd/2', 'w').write('six')\n\
        open('/dev/null', 'w').write('seven')";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert!(loud(&seen).is_empty(), "{:#?}", loud(&seen));
    assert_eq!(seen.output.stdout, b"one\nthreefive");
}

#[test]
fn a_protocol_over_sockets_is_no_effect() {
    let source = "import os, socket\ns = socket.socket(fileno=os.dup(1))\ns.send(b'one')\ns.sendmsg([b'two'])\n\
        os.write(1, b'three')\nos.write(2, b'four')";
    let Some(mut command) = script(source, &[]) else { return };
    let (ours, theirs) = UnixStream::pair().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    command.stdout(OwnedFd::from(theirs)).stderr(file.reopen().unwrap());
    let (mut child, watch) = spawn(command, MARKER).unwrap();
    let mut output = String::new();
    let (mut reader, mut writer) = (&ours, &ours);
    let _ = writer.write(b"");
    reader.read_to_string(&mut output).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(output, "onetwothree");
    assert_eq!(std::fs::read(file.path()).unwrap(), b"four");
    let effects = watch.effects(0);
    assert!(effects.iter().all(|effect| effect.kind == Kind::Execute), "{effects:#?}");
    end(watch);
}

#[test]
fn what_stays_in_the_process_is_no_effect() {
    let source = r"
        import os, signal, socket, threading, mmap
        r, w = os.pipe()
        os.write(w, b'x')
        a, b = socket.socketpair()
        a.send(b'x'); os.write(b.fileno(), b'x'); a.sendmsg([b'x'])
        os.write(os.eventfd(0), b'12345678')
        m = os.memfd_create('m')
        os.write(m, b'x')
        os.truncate(m, 4096)
        mmap.mmap(m, 4096)
        mmap.mmap(-1, 4096)
        signal.signal(10, lambda *_: None)
        os.kill(os.getpid(), 10)
        signal.raise_signal(10)
        signal.pthread_kill(threading.get_ident(), 10)
        os.kill(os.getppid(), 0)
        signal.pidfd_send_signal(os.pidfd_open(os.getpid()), 10)";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert!(loud(&seen).is_empty(), "{:#?}", loud(&seen));
    assert!(seen.blind.is_empty(), "{:?}", seen.blind);
}

#[test]
fn threads_are_no_effect() {
    let source = r"
        import threading
        ts = [threading.Thread(target=lambda: None) for _ in range(20)]
        [t.start() for t in ts]
        [t.join() for t in ts]
        print('done')";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert_eq!(seen.output.stdout, b"done\n");
    assert!(loud(&seen).is_empty(), "{:#?}", loud(&seen));
}
