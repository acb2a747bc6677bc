//! Effects on processes, and the effects of descendants.
//!
//! Belongs here: effects on processes, and the effects of descendants.
//! Does not belong here: how a tree starts and ends (`lifecycle`).

use std::fs;

use super::*;

#[test]
fn a_child_of_a_child_that_writes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("deep");
    let inner = "(echo deep-payload; :) > \"$1\"; :";
    let Some(command) = shell("sh -c \"$1\" sh \"$2\"; :", &[inner, text(&path)]) else { return };
    let seen = run(command);
    let write = seen.one(Kind::Write, "deep-payload");
    assert_eq!(write.detail, text(&path));
    assert_ne!(write.process, seen.effects[0].process);
    assert!(seen.count(Kind::Fork) >= 2);
    assert_eq!(seen.all(Kind::Execute, "deep-payload").count(), 2);
}

#[test]
fn a_subprocess_of_python_is_seen_with_its_arguments() {
    // This goes by vfork.
    let source = r"
        import subprocess
        subprocess.run(['/bin/echo', 'fgm-argument'], check=True)";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert!(seen.count(Kind::Fork) >= 1);
    let all: Vec<_> = seen.all(Kind::Execute, "/bin/echo").skip(1).collect();
    let [execute] = all[..] else { panic!("{:#?}", seen.effects) };
    assert_eq!(execute.data, b"/bin/echo\0/bin/echo\0fgm-argument");
    assert_eq!(execute.detail, "/bin/echo /bin/echo fgm-argument");
    assert_ne!(execute.process, seen.effects[0].process);
    assert_eq!(seen.output.stdout, b"fgm-argument\n");
}

#[test]
fn a_signal_to_another_process() {
    let mut victim = Command::new("sleep").arg("1000").spawn().unwrap();
    let source = "import os, signal, sys\np = int(sys.argv[1])\nos.kill(p, 0)\nos.kill(p, signal.SIGCONT)\n\
        signal.pidfd_send_signal(os.pidfd_open(p), signal.SIGTERM)";
    let seen = script(source, &[&victim.id().to_string()]).map(run);
    let _ = victim.kill();
    victim.wait().unwrap();
    let Some(seen) = seen else { return };
    assert_eq!(seen.one(Kind::Signal, "signal 18 to").detail, format!("signal 18 to {}", victim.id()));
    assert_eq!(seen.one(Kind::Signal, &format!("signal 15 to {}", victim.id())).call, "pidfd_send_signal");
    assert_eq!(seen.count(Kind::Signal), 2);
}

#[test]
fn a_target_that_closes_everything_above_the_protocol() {
    let directory = tempfile::tempdir().unwrap();
    let source = "import os, sys\nos.closerange(3, 65536)\nos.mkdir(sys.argv[1])\nprint('on')";
    let Some(command) = script(source, &[text(&directory.path().join("after"))]) else { return };
    let seen = run(command);
    assert_eq!(seen.output.stdout, b"on\n");
    seen.one(Kind::CreateOrRemove, "/after");
}

#[test]
fn a_daemon_out_of_the_process_group_is_still_seen() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("daemon");
    let source = r"
        import os, sys
        if os.fork(): os._exit(0)
        os.setsid()
        if os.fork(): os._exit(0)
        f = open(sys.argv[1], 'w')
        f.write('late')
        f.flush()
        for d in range(3): os.close(d)
        os.kill(os.getpid(), 9)";
    let Some(mut command) = script(source, &[text(&path)]) else { return };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let (child, watch) = spawn(command, MARKER).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    eventually("the daemon's end", || watch.is_over());
    let effects = watch.effects(0);
    assert!(
        effects.iter().any(|effect| effect.kind == Kind::Write && effect.data == b"late"),
        "{effects:#?}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"late");
}

#[test]
fn a_listener_of_its_own_is_refused_by_the_kernel_and_told() {
    let source = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nlibc.prctl(38, 1, 0, 0, 0)\n\
        code = (ctypes.c_uint64 * 1)(0x7fff0000_0000_0006)\nclass P(ctypes.Structure):\n\
        \x20 _fields_ = [('n', ctypes.c_ushort), ('p', ctypes.c_void_p)]\np = P(1, ctypes.addressof(code))\n\
        n = 277 if __import__('os').uname().machine == 'aarch64' else 317\n\
        print(libc.syscall(n, 1, 8, ctypes.byref(p)), ctypes.get_errno())\n\
        print(libc.syscall(n, 1, 0, ctypes.byref(p)))";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert_eq!(seen.output.stdout, format!("-1 {}\n0\n", libc::EBUSY).as_bytes());
    assert!(matches!(&seen.blind[..], [Blind::OwnListener { .. }]), "{:?}", seen.blind);
}

#[test]
fn node_is_observed() {
    let Ok(version) = Command::new("node").arg("--version").output() else {
        return eprintln!("SKIPPED: no node");
    };
    if !can_observe() || !version.status.success() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let source = "const fs = require('fs'); fs.appendFileSync(process.argv[1], 'fgm-node');\
        fs.promises.writeFile(process.argv[1] + '2', 'fgm-later')\
        .then(() => require('child_process').execFileSync('/bin/true', ['fgm-exec']))\
        .then(() => console.log('done'))";
    let mut command = Command::new("node");
    command.args(["-e", source, text(&path)]);
    let seen = run(command);
    assert_eq!(seen.output.stdout, b"done\n");
    assert_eq!(seen.one(Kind::Write, "fgm-node").detail, text(&path));
    assert!(seen.one(Kind::Write, "fgm-later").detail.ends_with("file2"));
    let all = seen.all(Kind::Execute, "/bin/true /bin/true fgm-exec");
    assert_eq!(all.filter(|effect| effect.detail.starts_with("/bin/true")).count(), 1);
}
