//! The key file and what is made with it.
//!
//! Belongs here: known answers, the race to make the key, keys that are not used.
//! Does not belong here: which digests records hold.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::sync::Barrier;

use super::{fingerprinter, set_mode};
use crate::error::{Fault, JournalError};
use crate::fingerprint::{Domain, Fingerprinter};
use crate::folder::Folder;

#[test]
fn fingerprints_are_hmac_sha_256() {
    // python3: hmac.new(b'k'*32, b'framegate/1/frame\0' + (3).to_bytes(8,'big') + b'abc', 'sha256').hexdigest()[:32]
    assert_eq!(fingerprinter().fingerprint(b"abc"), "41a6f2c71758a11274e25b3dc3ed742f");
}

#[test]
fn digests_depend_on_domain_key_and_the_borders_between_parts() {
    let keyed = fingerprinter();
    let digest = keyed.digest(Domain::Arguments, &[b"ab", b"c"]);
    assert_ne!(digest, keyed.digest(Domain::Arguments, &[b"a", b"bc"]));
    assert_ne!(digest, keyed.digest(Domain::Action, &[b"ab", b"c"]));
    let other = tempfile::tempdir().unwrap();
    let other = Fingerprinter::open(&Folder::open(other.path()).unwrap()).unwrap();
    assert_ne!(digest, other.digest(Domain::Arguments, &[b"ab", b"c"]));
}

#[test]
fn debug_shows_no_key() {
    assert_eq!(format!("{:?}", fingerprinter()), "Fingerprinter { .. }");
}

#[test]
fn many_starts_at_once_agree_on_one_whole_key() {
    for _ in 0..20 {
        let dir = tempfile::tempdir().unwrap();
        let barrier = Barrier::new(8);
        let prints: Vec<String> = std::thread::scope(|scope| {
            let open = || {
                let folder = Folder::open(dir.path()).unwrap();
                barrier.wait();
                Fingerprinter::open(&folder).unwrap().fingerprint(b"x")
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(prints.iter().all(|print| *print == prints[0]), "{prints:?}");
        let names: Vec<_> =
            fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["key"]);
        let metadata = fs::metadata(dir.path().join("key")).unwrap();
        assert_eq!((metadata.len(), metadata.mode() & 0o7777, metadata.nlink()), (32, 0o600, 1));
    }
}

#[test]
fn a_key_that_is_not_a_private_file_of_32_bytes_is_not_used() {
    type Make = fn(&std::path::Path);
    type Expected = fn(&Fault) -> bool;
    let cases: [(&str, Make, Expected); 8] = [
        ("empty", |key| fs::write(key, b"").unwrap(), |fault| matches!(fault, Fault::KeyLength)),
        ("short", |key| fs::write(key, [0; 31]).unwrap(), |fault| matches!(fault, Fault::KeyLength)),
        ("long", |key| fs::write(key, [0; 33]).unwrap(), |fault| matches!(fault, Fault::KeyLength)),
        (
            "mode",
            |key| {
                fs::write(key, [0; 32]).unwrap();
                set_mode(key, 0o640);
            },
            |fault| matches!(fault, Fault::OpenToOthers(0o640)),
        ),
        (
            "link",
            |key| {
                let real = key.with_file_name("real");
                fs::write(&real, [0; 32]).unwrap();
                set_mode(&real, 0o600);
                symlink(real, key).unwrap();
            },
            |fault| matches!(fault, Fault::SymbolicLink),
        ),
        ("dangling", |key| symlink("nowhere", key).unwrap(), |fault| matches!(fault, Fault::SymbolicLink)),
        ("folder", |key| fs::create_dir(key).unwrap(), |fault| matches!(fault, Fault::NotRegular)),
        ("pipe", super::files::make_pipe, |fault| matches!(fault, Fault::NotRegular)),
    ];
    for (name, make, expected) in cases {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("key");
        make(&key);
        if key.is_file() && name != "mode" {
            set_mode(&key, 0o600);
        }
        let error = Fingerprinter::open(&Folder::open(dir.path()).unwrap()).unwrap_err();
        match error {
            JournalError::File { file, fault } if file == "key" && expected(&fault) => {}
            other => panic!("{name}: {other}"),
        }
    }
}
