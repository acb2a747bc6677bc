//! What kind of file a configuration may be, and where.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use tempfile::TempDir;

use crate::config::{Config, Digest, FileFault, LoadError, Loaded, STARTER};

/// A folder that only we can write to, whatever the umask is.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), Permissions::from_mode(0o700)).unwrap();
    folder
}

fn write(path: &Path, bytes: impl AsRef<[u8]>, mode: u32) {
    fs::write(path, bytes).unwrap();
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Loads within ten seconds, so that a wait for a pipe's writer is a failure and no hang.
fn load(path: &Path) -> Result<Loaded, LoadError> {
    let (sender, receiver) = mpsc::channel();
    let path = path.to_owned();
    std::thread::spawn(move || {
        let _ = sender.send(Config::load(&path));
    });
    receiver.recv_timeout(Duration::from_secs(10)).expect("the load waits for something")
}

fn fault(path: &Path) -> FileFault {
    match load(path) {
        Err(LoadError::File { path: named, fault }) => {
            assert_eq!(named, path);
            fault
        }
        other => panic!("{path:?}: {other:?}"),
    }
}

fn report(path: &Path) -> String {
    match load(path) {
        Err(LoadError::Faults(faults)) => faults.to_string(),
        other => panic!("{path:?}: {other:?}"),
    }
}

#[test]
fn a_good_file_loads() {
    let folder = folder();
    let path = folder.path().join("framegate.toml");
    for mode in [0o600, 0o400, 0o644, 0o444] {
        let _ = fs::remove_file(&path);
        write(&path, STARTER, mode);
        let loaded = load(&path).unwrap();
        assert_eq!(loaded.path, path);
        assert!(loaded.warnings.is_empty());
        assert_eq!(loaded.config.journal.dir, folder.path().canonicalize().unwrap().join("journal"));
        assert_eq!(loaded.digest, Digest::of(STARTER.as_bytes(), []));
    }
}

#[test]
fn what_is_no_file_is_refused_at_once() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    assert_eq!(fault(&at("missing.toml")), FileFault::Missing);
    assert_eq!(fault(&at("missing/framegate.toml")), FileFault::Missing);
    assert_eq!(fault(folder.path()), FileFault::NotRegular);
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    assert_eq!(fault(&at("pipe")), FileFault::NotRegular);
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    assert_eq!(fault(&at("socket")), FileFault::NotRegular);
    assert_eq!(fault(Path::new("/dev/null")), FileFault::NotRegular);
    assert_eq!(fault(Path::new("/dev/zero")), FileFault::NotRegular);
    assert_eq!(fault(&at("name\0.toml")), FileFault::Unreadable);
    write(&at("file"), STARTER, 0o600);
    assert_eq!(fault(&at("file").join("framegate.toml")), FileFault::Missing);
}

#[test]
fn links_in_a_circle_end() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    symlink(at("b"), at("a")).unwrap();
    symlink(at("a"), at("b")).unwrap();
    symlink("self", at("self")).unwrap();
    assert_eq!(fault(&at("a")), FileFault::TooManyLinks);
    assert_eq!(fault(&at("self")), FileFault::TooManyLinks);
    symlink(at("nowhere"), at("dangling")).unwrap();
    assert_eq!(fault(&at("dangling")), FileFault::Missing);
}

#[test]
fn a_file_that_cannot_be_read_is_said_to_be_so() {
    if cfg!(target_os = "linux") {
        // A regular file of mode 0600 whose read fails with EIO, even for root.
        assert_eq!(fault(Path::new("/proc/self/mem")), FileFault::Unreadable);
    }
    if rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: root can read a file of mode 000");
        return;
    }
    let folder = folder();
    let path = folder.path().join("framegate.toml");
    write(&path, STARTER, 0o000);
    assert_eq!(fault(&path), FileFault::Unreadable);
}

#[test]
fn size_is_bounded() {
    let folder = folder();
    let path = folder.path().join("framegate.toml");
    let padded = |length: usize| {
        let mut text = STARTER.to_owned();
        text.push('#');
        text.push_str(&"x".repeat(length - text.len()));
        text
    };
    write(&path, padded(1 << 20), 0o600);
    assert!(load(&path).is_ok());
    write(&path, padded((1 << 20) + 1), 0o600);
    assert_eq!(fault(&path), FileFault::TooLarge(1 << 20));
    // A sparse file of a terabyte costs no more.
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 40).unwrap();
    assert_eq!(fault(&path), FileFault::TooLarge(1 << 20));
}

#[test]
fn modes_let_nobody_else_write() {
    let folder = folder();
    let path = folder.path().join("framegate.toml");
    write(&path, STARTER, 0o602);
    assert_eq!(fault(&path), FileFault::OtherWritable);
    write(&path, STARTER, 0o666);
    assert_eq!(fault(&path), FileFault::OtherWritable);
    write(&path, STARTER, 0o660);
    let shared = shared_group();
    if chown(&path, None, Some(shared)) {
        assert_eq!(fault(&path), FileFault::GroupWritable);
        write(&path, STARTER, 0o640);
        assert!(load(&path).is_ok(), "a group may read");
    } else {
        eprintln!("SKIPPED: only root can give a file to group {shared}");
    }
    if rustix::process::geteuid().is_root() {
        write(&path, STARTER, 0o660);
        assert!(chown(&path, Some(0), Some(0)));
        assert!(load(&path).is_ok(), "the group of root is its own");
        assert!(chown(&path, Some(12_345), None));
        write(&path, STARTER, 0o600);
        assert_eq!(fault(&path), FileFault::ForeignOwner);
    } else {
        eprintln!("SKIPPED: only root can give a file away");
    }
}

/// A group that is nobody's own: no user has this number.
fn shared_group() -> u32 {
    54_321
}

fn chown(path: &Path, user: Option<u32>, group: Option<u32>) -> bool {
    std::os::unix::fs::chown(path, user, group).is_ok()
}

#[test]
fn folders_on_the_way_let_nobody_else_write() {
    let folder = folder();
    let inner = folder.path().join("a/b");
    fs::create_dir_all(&inner).unwrap();
    let outer = folder.path().join("a");
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    mode(&outer, 0o700);
    mode(&inner, 0o700);
    let path = inner.join("framegate.toml");
    write(&path, STARTER, 0o600);
    assert!(load(&path).is_ok());
    mode(&outer, 0o777);
    assert_eq!(fault(&path), FileFault::FolderOpen(outer.clone()));
    mode(&outer, 0o1777);
    assert!(load(&path).is_ok(), "sticky, and all in it is ours");
    mode(&outer, 0o700);
    mode(&inner, 0o702);
    assert_eq!(fault(&path), FileFault::FolderOpen(inner.clone()));
    mode(&inner, 0o700);
    if chown(&outer, None, Some(shared_group())) {
        mode(&outer, 0o770);
        assert_eq!(fault(&path), FileFault::FolderOpen(outer.clone()));
        mode(&outer, 0o750);
        assert!(load(&path).is_ok());
    }
    if rustix::process::geteuid().is_root() {
        mode(&outer, 0o1777);
        assert!(chown(&inner, Some(12_345), None));
        assert_eq!(fault(&path), FileFault::ForeignEntry(inner.clone()));
    }
}

#[test]
fn every_hop_of_a_link_is_judged() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    for name in ["real", "etc", "open"] {
        fs::create_dir(at(name)).unwrap();
        fs::set_permissions(at(name), Permissions::from_mode(0o700)).unwrap();
    }
    write(&at("real/framegate.toml"), STARTER, 0o600);
    // As Kubernetes mounts: a link to a link to a folder, all relative.
    symlink("../real", at("etc/..data")).unwrap();
    symlink("..data/framegate.toml", at("etc/framegate.toml")).unwrap();
    let loaded = load(&at("etc/framegate.toml")).unwrap();
    let etc = at("etc").canonicalize().unwrap();
    assert_eq!(loaded.config.journal.dir, etc.join("journal"), "beside the link, not beside the file");

    symlink(at("real/framegate.toml"), at("open/framegate.toml")).unwrap();
    symlink(at("open/framegate.toml"), at("etc/through.toml")).unwrap();
    assert!(load(&at("etc/through.toml")).is_ok());
    fs::set_permissions(at("open"), Permissions::from_mode(0o777)).unwrap();
    assert_eq!(fault(&at("etc/through.toml")), FileFault::FolderOpen(at("open").canonicalize().unwrap()));
    fs::set_permissions(at("open"), Permissions::from_mode(0o1777)).unwrap();
    assert!(load(&at("etc/through.toml")).is_ok());
    if rustix::process::geteuid().is_root() {
        std::os::unix::fs::lchown(at("open/framegate.toml"), Some(12_345), None).unwrap();
        let link = at("open").canonicalize().unwrap().join("framegate.toml");
        assert_eq!(fault(&at("etc/through.toml")), FileFault::ForeignEntry(link));
    }
}

#[test]
fn other_encodings_are_named() {
    let folder = folder();
    let path = folder.path().join("framegate.toml");
    let utf16 = |bytes: fn(u16) -> [u8; 2], mark: bool| {
        let mark = mark.then_some(0xFEFF);
        mark.into_iter().chain(STARTER.encode_utf16()).flat_map(bytes).collect::<Vec<u8>>()
    };
    for bytes in [
        utf16(u16::to_le_bytes, true),
        utf16(u16::to_be_bytes, true),
        utf16(u16::to_le_bytes, false),
        utf16(u16::to_be_bytes, false),
    ] {
        write(&path, bytes, 0o600);
        assert!(report(&path).starts_with("error: the file is UTF-16, not UTF-8\n"), "{}", report(&path));
    }
    write(&path, b"\xEF\xBB\xBFversion = 1\n", 0o600);
    assert!(report(&path).starts_with("error: the file starts with a byte order mark\n"));
    write(&path, b"version = 1\n[session]\nclient = \"caf\xE9\"\ntoken = \"hunter2\xFF\"\n", 0o600);
    let text = report(&path);
    assert!(text.starts_with("error: a byte here is not UTF-8\n"), "{text}");
    assert!(text.contains("framegate.toml:3:14\n") && text.contains("client = \"caf?\""), "{text}");
    write(&path, b"version = 1\n[secret.a]\nsource = \"hunter2hunter2\xFF\"\n", 0o600);
    assert!(!report(&path).contains("hunter2"), "{}", report(&path));
    write(&path, "version = 1\n# a NUL: \0\n", 0o600);
    assert!(report(&path).contains("framegate.toml:2:10"), "{}", report(&path));
}

#[test]
fn policy_files_are_files_too() {
    let folder = folder();
    let path = folder.path().join("framegate.toml");
    let policy = folder.path().join("policy.cedar");
    let text = STARTER.replace("# [policy]", "[policy]").replace("# files = ", "files = ");
    write(&path, &text, 0o600);
    let line = text.lines().position(|line| line.starts_with("files = ")).unwrap() + 1;
    let place = format!("framegate.toml:{line}:10");
    let refused = |problem: &str| {
        let report = report(&path);
        assert!(
            report.contains(&format!("error: the policy file {problem}\n")) && report.contains(&place),
            "{report}"
        );
    };
    refused("does not exist");
    write(&policy, "permit (principal, action, resource);\n", 0o602);
    refused("can be written by everyone; run `chmod o-w` on it");
    write(&policy, vec![b' '; (1 << 20) + 1], 0o600);
    refused("is larger than 1048576 bytes");
    write(&policy, b"\xFF", 0o600);
    refused("is not UTF-8");
    fs::remove_file(&policy).unwrap();
    fs::create_dir(&policy).unwrap();
    refused("is not a regular file");
    fs::remove_dir(&policy).unwrap();

    write(&policy, "permit (principal, action, resource);\n", 0o600);
    let loaded = load(&path).unwrap();
    assert_eq!(loaded.policies.len(), 1);
    assert_eq!(loaded.policies[0].text, "permit (principal, action, resource);\n");
    assert_eq!(loaded.policies[0].path, policy.canonicalize().unwrap());
    let before = loaded.digest;
    assert_eq!(loaded.expect(before), Ok(()));
    write(&policy, "forbid (principal, action, resource);\n", 0o600);
    let other = load(&path).unwrap();
    assert_ne!(other.digest, before, "a policy is part of the digest");
    let error = other.expect(before).unwrap_err();
    assert_eq!(error, LoadError::Digest { expected: before, found: other.digest });
    assert!(error.to_string().contains(&before.to_string()));
}

#[test]
fn relative_paths_are_relative_to_the_file() {
    // A relative path on the command line is found from the working folder; what is in the file is not.
    let here = std::env::current_dir().unwrap();
    let folder = folder();
    let path = folder.path().join("framegate.toml");
    write(&path, STARTER, 0o600);
    let depth = here.components().count() - 1;
    let relative: PathBuf =
        std::iter::repeat_n("..", depth).collect::<PathBuf>().join(path.strip_prefix("/").unwrap());
    let loaded = load(&relative).unwrap();
    assert_eq!(loaded.config.journal.dir, folder.path().canonicalize().unwrap().join("journal"));
}

#[test]
fn errors_are_one_line_each() {
    let hostile = Path::new("/nowhere/\u{1b}[31m\n.toml");
    let error = load(hostile).unwrap_err().to_string();
    assert_eq!(error, "configuration `/nowhere/\\u{1b}[31m\\u{a}.toml` does not exist");
}
