//! Answers as files: whole or not at all, beneath the root, never over what is there.
//!
//! Belongs here: files that are made, and everything that must not make one.
//! Does not belong here: paths that the schema door refuses.

use std::fs;
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use framegate_gate::outcome::Status;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{
    BEARER, assert_nothing_sent, assert_unknown, assert_untouched, ok, perform, serve, shown, target,
};
use crate::executor::fixture::{SECRET, World};

/// A world whose tool saves below a folder, and that folder.
fn world(settings: &str) -> (World, TcpListener, tempfile::TempDir, PathBuf) {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("root");
    fs::create_dir_all(root.join("a")).unwrap();
    let (listener, text) = target(BEARER);
    let tool = format!(
        "method = \"GET\"\npath = \"/blob\"\nparams = {{ file = {{ type = \"path\" }} }}\n\
         result = {{ save = {{ root = \"{}\", file = \"{{file}}\"{settings} }} }}",
        root.display()
    );
    (World::new(&text, &tool), listener, outside, root)
}

/// Everything below a folder but folders.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

#[tokio::test(start_paused = true)]
async fn a_body_becomes_a_file_byte_for_byte() {
    for content in [Vec::new(), (0..100_000_u32).flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>()]
    {
        let (world, listener, _outside, root) = world("");
        let answer = ok("content-type: application/zip\r\n", &content);
        let server = serve(listener, move |mut stream| {
            stream.write_all(&answer).unwrap();
            None
        });
        let outcome = perform(&world, &json!({"file": "a/b c.zip"})).await;
        server.await.unwrap().once();
        super::check_shown(&world, &outcome);
        let path = root.join("a/b c.zip");
        assert!(fs::read(&path).unwrap() == content);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(files(&root), [path]);
        let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
        let result = shown(&outcome);
        assert_eq!(result["saved_file"], json!({"bytes": content.len(), "sha256": digest}));
        assert_eq!((outcome.status(), result.get("body")), (Status::Done, None));
    }
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_a_whole_new_file_is_none() {
    let long = ok("", &[b'x'; 1025]);
    let secret = ok("", format!("{}{SECRET}", "x".repeat(500)).as_bytes());
    let torn: String = SECRET.chars().map(|character| format!("{character} ")).collect();
    let torn = ok("", torn.as_bytes());
    let no = "HTTP/1.1 404 No\r\ncontent-length: 4\r\n\r\ngone".to_owned().into_bytes();
    let encoded = ok("content-encoding: gzip\r\n", b"\x1f\x8b");
    for (answer, status, member, words) in [
        (long, Status::Done, "body_refused", "it is longer than what may be saved; nothing was saved"),
        (secret, Status::Done, "body_refused", "it repeats a credential; nothing was saved"),
        (torn, Status::Done, "body_refused", "it repeats a credential; nothing was saved"),
        (encoded, Status::Done, "body_refused", "it has a content-encoding that was not asked for"),
        (no, Status::Failed, "body", "gone"),
    ] {
        let (world, listener, _outside, root) = world(", max_bytes = 1024");
        let server = serve(listener, move |mut stream| {
            let _ = stream.write_all(&answer);
            None
        });
        let outcome = perform(&world, &json!({"file": "new"})).await;
        server.await.unwrap().once();
        super::check_shown(&world, &outcome);
        let result = shown(&outcome);
        assert_eq!((outcome.status(), result[member].as_str()), (status, Some(words)), "{result}");
        assert_eq!(files(&root), <[PathBuf; 0]>::default(), "{words}");
    }
}

#[tokio::test(start_paused = true)]
async fn half_an_answer_leaves_no_file() {
    let (world, listener, _outside, root) = world("");
    let server = serve(listener, |mut stream| {
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").unwrap();
        None
    });
    assert_unknown(&perform(&world, &json!({"file": "new"})).await);
    server.await.unwrap().once();
    assert_eq!(files(&root), <[PathBuf; 0]>::default());
}

#[tokio::test(start_paused = true)]
async fn no_place_nothing_sent() {
    let (world, listener, outside, root) = world("");
    fs::write(root.join("there"), "old").unwrap();
    symlink("nowhere", root.join("dangling")).unwrap();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink("a", root.join("inner")).unwrap();
    for (file, why) in [
        ("there", "there is a file of this name already"),
        ("a", "there is a file of this name already"),
        ("dangling", "there is a file of this name already"),
        ("out/new", "its folder is not there, or lies behind a symbolic link"),
        ("inner/new", "its folder is not there, or lies behind a symbolic link"),
        ("none/new", "its folder is not there, or lies behind a symbolic link"),
        ("there/new", "its folder is not there, or lies behind a symbolic link"),
    ] {
        let outcome = perform(&world, &json!({ "file": file })).await;
        assert_nothing_sent(&outcome);
        assert!(
            outcome.text().starts_with(&format!("the answer could not be saved: {why}")),
            "{file}: {outcome:?}"
        );
    }
    fs::rename(&root, outside.path().join("gone")).unwrap();
    let outcome = perform(&world, &json!({"file": "new"})).await;
    assert!(outcome.text().contains("the root of its files cannot be opened"), "{outcome:?}");
    assert_untouched(&listener);
}

/// The name is taken at the end, and never from somebody else.
#[tokio::test(start_paused = true)]
async fn a_file_that_comes_to_be_meanwhile_stays() {
    let (world, listener, _outside, root) = world("");
    let path = root.join("new");
    let server = serve(listener, {
        let path = path.clone();
        move |mut stream| {
            fs::write(&path, "other").unwrap();
            stream.write_all(&ok("", b"ours")).unwrap();
            None
        }
    });
    let outcome = perform(&world, &json!({"file": "new"})).await;
    server.await.unwrap().once();
    assert_eq!(
        shown(&outcome)["body_refused"],
        "a file of this name came to be meanwhile; nothing was saved"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "other");
}
