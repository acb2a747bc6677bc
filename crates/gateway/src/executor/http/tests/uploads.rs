//! Files as bodies: what lies beneath the root is sent whole, everything else is not opened.
//!
//! Belongs here: files that are there, files that are not what they seem.
//! Does not belong here: paths that the schema door refuses.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{BEARER, assert_nothing_sent, assert_untouched, ok, perform, serve, shown, target};
use crate::executor::fixture::World;

/// A world whose tool sends files of a folder, and that folder; `fill` puts files there.
fn world(fill: impl FnOnce(&Path)) -> (World, std::net::TcpListener, tempfile::TempDir) {
    let outside = tempfile::tempdir().unwrap();
    let root = outside.path().join("root");
    fs::create_dir(&root).unwrap();
    fill(&root);
    let (listener, text) = target(BEARER);
    let tool = format!(
        "method = \"PUT\"\npath = \"/blob\"\nraw = {{ type = \"application/pdf\", file = \"{{file}}\", root = \"{}\" }}\n\
         params = {{ file = {{ type = \"path\" }} }}",
        root.display()
    );
    (World::new(&text, &tool), listener, outside)
}

#[tokio::test(start_paused = true)]
async fn a_file_beneath_the_root_is_sent_as_it_is() {
    let content: Vec<u8> = (0..100_000_u32).flat_map(|number| number.to_le_bytes()).collect();
    let (world, listener, _folder) = world(|root| {
        fs::create_dir(root.join("a b")).unwrap();
        fs::write(root.join("a b/report.pdf"), &content).unwrap();
    });
    let server = serve(listener, |mut stream| {
        stream.write_all(&ok("", b"")).unwrap();
        None
    });
    let outcome = perform(&world, &json!({"file": "a b/report.pdf"})).await;
    super::check_shown(&world, &outcome);
    let served = server.await.unwrap();
    let body = super::find(&served.request, b"\r\n\r\n").unwrap() + 4;
    assert!(served.request[body..] == content);
    let head = std::str::from_utf8(&served.request[..body]).unwrap();
    assert!(head.contains("\r\ncontent-type: application/pdf\r\n"), "{head}");
    let digest: String = Sha256::digest(&content).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(shown(&outcome)["sent_file"], json!({"bytes": 400_000, "sha256": digest}));
}

#[tokio::test(start_paused = true)]
async fn what_is_not_a_file_beneath_the_root_is_not_sent() {
    let (world, listener, outside) = world(|root| {
        let outside = root.parent().unwrap();
        fs::write(outside.join("secret"), "outside").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink(outside.join("secret"), root.join("absolute")).unwrap();
        symlink("..", root.join("up")).unwrap();
        fs::write(root.join("plain"), "x").unwrap();
        symlink("plain", root.join("inner")).unwrap();
        symlink("/proc/self", root.join("self")).unwrap();
        fs::create_dir(root.join("folder")).unwrap();
        assert!(Command::new("mkfifo").arg(root.join("pipe")).status().unwrap().success());
        fs::File::create(root.join("long")).unwrap().set_len(16 * 1024 * 1024 + 1).unwrap();
        fs::write(root.join("empty"), "").unwrap();
    });
    const MISSING: &str = "there is no such file, or it lies behind a symbolic link";
    for (file, why) in [
        ("none", MISSING),
        ("none/x", MISSING),
        ("plain/x", MISSING),
        ("link", MISSING),
        ("absolute", MISSING),
        ("inner", MISSING),
        ("up/secret", MISSING),
        ("self/environ", MISSING),
        ("folder", "it is no regular file"),
        ("pipe", "it is no regular file"),
        ("long", "it is longer than 16777216 bytes"),
    ] {
        let outcome = perform(&world, &json!({"file": file})).await;
        assert_nothing_sent(&outcome);
        assert!(
            outcome.text().starts_with(&format!("the file cannot be sent: {why}")),
            "{file}: {outcome:?}"
        );
    }
    fs::rename(outside.path().join("root"), outside.path().join("gone")).unwrap();
    let outcome = perform(&world, &json!({"file": "empty"})).await;
    assert!(outcome.text().contains("the root of its files cannot be opened"), "{outcome:?}");
    assert_untouched(&listener);
}
