//! Effects on files, and what is read.
//!
//! Belongs here: effects on files, and what is read.
//! Does not belong here: sockets, processes.

use std::fs;

use super::*;

#[test]
fn an_append_is_an_open_and_a_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let source = r"
        import sys
        with open(sys.argv[1], 'a') as f: f.write('payload fgm-1')";
    let Some(command) = script(source, &[text(&path)]) else { return };
    let seen = run(command);
    assert_eq!(seen.one(Kind::OpenForWriting, "/log").data, text(&path).as_bytes());
    let write = seen.one(Kind::Write, "/log");
    assert_eq!((write.call, write.data.as_slice()), ("write", &b"payload fgm-1"[..]));
    assert_eq!(write.detail, text(&path));
    assert!(write.program.starts_with("python"), "{}", write.program);
    assert_eq!(fs::read(&path).unwrap(), b"payload fgm-1");
}

#[test]
fn names_that_are_made_changed_and_removed() {
    let directory = tempfile::tempdir().unwrap();
    let source = "import os, sys\nos.chdir(sys.argv[1])\nos.mkdir('made')\nos.rename('made', 'renamed')\n\
        os.rmdir('renamed')\nos.symlink('text', 'soft')\nos.link('soft', 'hard', follow_symlinks=False)\n\
        os.unlink('hard')\nos.chmod('.', 0o755)\nos.utime('.', (1, 2))\n\
        f = os.open('file', os.O_CREAT | os.O_WRONLY)\nos.truncate(f, 9)\nos.posix_fallocate(f, 0, 9)\n\
        os.fchmod(f, 0o600)\nos.utime(f, (1, 2))\nos.mkfifo('fifo')\n\
        os.mkdir('below', dir_fd=os.open('.', os.O_RDONLY))";
    let Some(command) = script(source, &[text(directory.path())]) else { return };
    let seen = run(command);
    let absolute = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
    let of = |name: &str| seen.calls(Kind::CreateOrRemove, &absolute(name)).len();
    assert_eq!(of("made"), 2);
    assert_eq!(of("renamed"), 2);
    assert_eq!(of("soft"), 2);
    assert_eq!(of("hard"), 2);
    assert_eq!(of("file"), 4, "{:#?}", seen.effects);
    assert_eq!(of("fifo"), 1);
    assert_eq!(of("below"), 1);
    assert_eq!(of("."), 2);
}

#[test]
fn a_rename_names_both() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (directory.path().join("one"), directory.path().join("other"));
    fs::write(&one, "").unwrap();
    let Some(command) = script(
        r"
        import os, sys
        os.rename(*sys.argv[1:])",
        &[text(&one), text(&other)],
    ) else {
        return;
    };
    let seen = run(command);
    let rename = seen.one(Kind::CreateOrRemove, "other");
    assert_eq!(rename.detail, format!("{} -> {}", one.display(), other.display()));
    assert_eq!(rename.data, format!("{}\0{}", one.display(), other.display()).as_bytes());
}

#[test]
fn other_ways_to_write() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let source = r"
        import os, sys
        f = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
        os.writev(f, [b'vec', b'tor'])
        os.pwrite(f, b'placed', 0)
        os.pwritev(f, [b'both'], 0)
        g = os.open(sys.argv[1], os.O_RDONLY)
        os.sendfile(f, g, 0, 1)
        os.copy_file_range(g, f, 1, 0, 3)
        r, w = os.pipe()
        os.write(w, b'x')
        os.splice(r, f, 1)";
    let Some(command) = script(source, &[text(&path)]) else { return };
    let seen = run(command);
    let calls = seen.calls(Kind::Write, "/file");
    assert_eq!(calls, ["writev", "pwrite64", "pwritev2", "sendfile", "copy_file_range", "splice"]);
    assert_eq!(seen.all(Kind::Write, "/file").next().unwrap().data, b"vector");
}

#[test]
fn a_marker_far_back_in_a_payload_is_in_the_excerpt() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let source = r"
        import os, sys
        f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
        os.write(f, b'.' * 40000 + b'fgm-far' + b'.' * 40000)";
    let Some(command) = script(source, &[text(&path)]) else { return };
    let seen = run(command);
    let data = &seen.one(Kind::Write, "/file").data;
    assert_eq!(data.len(), 4096);
    assert!(String::from_utf8_lossy(data).contains("fgm-far"));
}

#[test]
fn a_payload_that_runs_out_of_readable_memory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let source = r"
        import ctypes, mmap, os, sys
        libc = ctypes.CDLL(None)
        libc.mmap.restype = ctypes.c_void_p
        page = mmap.PAGESIZE
        at = libc.mmap(None, ctypes.c_size_t(2 * page), 3, 0x22, -1, ctypes.c_long(0))
        libc.munmap(ctypes.c_void_p(at + page), ctypes.c_size_t(page))
        ctypes.memmove(at + page - 5, b'fgm-5', 5)
        f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
        libc.write(f, ctypes.c_void_p(at + page - 5), ctypes.c_size_t(page))
        libc.mkdir(ctypes.c_void_p(at + page - 5))";
    let Some(command) = script(source, &[text(&path)]) else { return };
    let seen = run(command);
    assert_eq!(seen.one(Kind::Write, "/file").data, fs::read(&path).unwrap());
    assert_eq!(seen.one(Kind::Write, "/file").data, b"fgm-5");
    assert_eq!(seen.one(Kind::CreateOrRemove, "fgm-5").data, b"fgm-5");
}

#[test]
fn a_shell_redirection_is_seen_with_its_payload() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let Some(command) = shell("echo payload-fgm >> \"$1\"", &[text(&path)]) else { return };
    let seen = run(command);
    seen.one(Kind::OpenForWriting, "/file");
    assert_eq!(seen.one(Kind::Write, "payload-fgm").detail, text(&path));
}

#[test]
fn reads_are_seen_with_the_marker_and_only_then() {
    let directory = tempfile::tempdir().unwrap();
    let source = r"
        import os, sys
        os.chdir(sys.argv[1])
        for n in ['fgm-7', 'plain']:
          for f in [open, os.stat, os.lstat, os.readlink, os.listdir, os.chdir, os.statvfs]:
           try: f(n)
           except OSError: pass
          os.access(n, os.R_OK)";
    let Some(command) = script(source, &[text(directory.path())]) else { return };
    let seen = run(command);
    let calls = seen.calls(Kind::Read, "fgm-7");
    assert_eq!(calls.len(), 8, "{calls:?}");
    assert_eq!(calls.len(), seen.count(Kind::Read));
    assert!(seen.calls(Kind::Read, "plain").is_empty());
    let read = seen.all(Kind::Read, "fgm-7").next().unwrap();
    assert_eq!(read.detail, text(&directory.path().join("fgm-7")));
    assert_eq!(read.data, b"fgm-7");
}

#[test]
fn a_writable_shared_mapping_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mapped");
    fs::write(&path, [0; 4096]).unwrap();
    let of = |flags: &str, access: &str| {
        let source = format!(
            "import mmap, os, sys\nf = os.open(sys.argv[1], os.{flags})\nmmap.mmap(f, 4096, access=mmap.{access})"
        );
        script(&source, &[text(&path)]).map(run).map(|seen| seen.blind)
    };
    let Some(blind) = of("O_RDWR", "ACCESS_WRITE") else { return };
    let [Blind::SharedMapping { path: mapped, .. }] = &blind[..] else { panic!("{blind:?}") };
    assert_eq!(mapped, text(&path));
    // Readable now, but mprotect could change that.
    assert_eq!(of("O_RDWR", "ACCESS_READ").unwrap().len(), 1);
    assert_eq!(of("O_RDONLY", "ACCESS_READ").unwrap(), []);
    assert_eq!(of("O_RDONLY", "ACCESS_COPY").unwrap(), []);
}

#[test]
fn io_uring_is_refused_and_told() {
    let source = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n\
        assert libc.syscall(425, 8, ctypes.create_string_buffer(120)) == -1\nprint(ctypes.get_errno())";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert_eq!(seen.output.stdout, format!("{}\n", libc::ENOSYS).as_bytes());
    assert!(matches!(&seen.blind[..], [Blind::IoUring { .. }]), "{:?}", seen.blind);
}

#[test]
fn an_unknown_call_is_another_effect() {
    let source = "import ctypes; ctypes.CDLL(None).syscall(900, 0x77)";
    let Some(command) = script(source, &[]) else { return };
    assert_eq!(run(command).one(Kind::Other, "number 900: 0x77").call, "unknown");
}

#[test]
fn a_call_of_another_abi_is_told() {
    let source = "import ctypes; ctypes.CDLL(None).syscall(0x40000000 + 39)";
    let Some(command) = script(source, &[]) else { return };
    let seen = run(command);
    assert_eq!(seen.one(Kind::Other, "number 1073741863").call, "unknown");
    assert!(matches!(&seen.blind[..], [Blind::Abi { .. }]), "{:?}", seen.blind);
}

#[test]
fn memory_that_cannot_be_read_is_told() {
    if rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: root reads every memory");
    }
    let directory = tempfile::tempdir().unwrap();
    // PR_SET_DUMPABLE.
    let source = "import ctypes, os, sys; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); os.mkdir(sys.argv[1])";
    let Some(command) = script(source, &[text(&directory.path().join("hidden"))]) else { return };
    let seen = run(command);
    assert_eq!(seen.count(Kind::CreateOrRemove), 1);
    let is_told = |blind: &Blind| matches!(blind, Blind::Memory { call, .. } if call.starts_with("mkdir"));
    assert!(seen.blind.iter().any(is_told), "{:?}", seen.blind);
}

#[test]
fn a_file_without_a_name_gets_one() {
    let directory = tempfile::tempdir().unwrap();
    let source = r"
        import ctypes, os, sys
        f = os.open(sys.argv[1], os.O_TMPFILE | os.O_WRONLY)
        ctypes.CDLL(None).linkat(f, b'', -100, (sys.argv[1] + '/named').encode(), 0x1000)";
    let Some(command) = script(source, &[text(directory.path())]) else { return };
    let seen = run(command);
    assert_eq!(seen.one(Kind::CreateOrRemove, "/named").call, "linkat");
}

#[test]
fn bad_pointers_do_no_harm() {
    let source = "import ctypes, socket, sys\nlibc = ctypes.CDLL(None)\nP = ctypes.c_void_p\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\nf = open(sys.argv[1], 'wb')\n\
        for p in (0, 8, 2**64 - 4, 2**47 - 8):\n\
        \x20 libc.open(P(p), 0); libc.open(P(p), 1); libc.rename(P(p), P(p)); libc.execve(P(p), P(p), P(p))\n\
        \x20 libc.connect(s.fileno(), P(p), 2**31 - 1); libc.sendmsg(s.fileno(), P(p), 0)\n\
        \x20 libc.sendto(s.fileno(), P(p), P(2**63), 0, P(p), -1); libc.sendmmsg(s.fileno(), P(p), -1, 0)\n\
        \x20 libc.write(f.fileno(), P(p), P(2**62)); libc.writev(f.fileno(), P(p), 2**30)\n\
        \x20 libc.syscall(437, -100, P(p), P(p), 24)\nprint('alive')";
    let directory = tempfile::tempdir().unwrap();
    let Some(command) = script(source, &[text(&directory.path().join("bad"))]) else { return };
    let seen = run(command);
    assert_eq!(seen.output.stdout, b"alive\n");
    assert_eq!(seen.calls(Kind::Send, "").len(), 12);
    assert_eq!(seen.blind, []);
}
