//! What stops a call before its request: the outcome is `failed`, and nothing was sent. A credential that
//! cannot be used costs no connection and no look-up.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};

use framegate_gate::outcome::Outcome;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::{BEARER, GET, assert_nothing_sent, assert_untouched, perform, target};
use crate::executor::Executor;
use crate::executor::fixture::{SECRET, World};
use crate::net::stub_dns::{Answer, StubDns};

const NAME: &str = "api.example.com";

/// A target by name, looked up at the stub; its certificate would have to be signed by nobody.
fn named(dns: &StubDns, port: u16, more: &str) -> String {
    format!(
        "[network]\nresolver = [\"{}\"]\n[target.api]\norigin = \"https://{NAME}:{port}\"\nca = \"ca.pem\"\n{BEARER}\n{more}\n",
        dns.address()
    )
}

fn authority() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap().pem()
}

/// One call of a target by name, and how often the name was looked up.
async fn call_by_name(answer: Answer, more: &str, spoil: impl FnOnce(&World)) -> (Outcome, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let dns = StubDns::start([(NAME, answer)]);
    let target = named(&dns, listener.local_addr().unwrap().port(), more);
    let files = [("key", SECRET.as_bytes()), ("ca.pem", authority().as_bytes())]
        .map(|(name, content)| (name, content.to_vec()));
    let files: Vec<_> = files.iter().map(|(name, content)| (*name, content.as_slice())).collect();
    let world = World::with_files(&target, GET, &files);
    let executor = world.executor();
    spoil(&world);
    let (recorded, _receipt) = world.recorded(&json!({}));
    let outcome = executor.perform(recorded).await;
    assert!(!outcome.text().contains(SECRET));
    assert_nothing_sent(&outcome);
    assert_untouched(&listener);
    (outcome, dns.lookups(NAME))
}

fn untouched(_: &World) {}

/// What happens to a secret after the start.
type Spoil = Box<dyn FnOnce(&World)>;

#[tokio::test]
async fn a_name_without_a_usable_address_is_failed() {
    let addresses =
        |texts: &[&str]| Answer::Addresses(texts.iter().map(|text| text.parse().unwrap()).collect());
    for (answer, more, words) in [
        (Answer::Code(3), "", "the target could not be reached: the target's name does not exist"),
        (addresses(&[]), "", "the target could not be reached: the target's name has no address"),
        (
            addresses(&["127.0.0.1"]),
            "",
            "the target could not be reached: the target's address is not allowed: ",
        ),
        (
            addresses(&["10.1.2.3"]),
            "",
            "the target could not be reached: the target's address is not allowed: ",
        ),
        (
            addresses(&["169.254.169.254"]),
            "",
            "the target could not be reached: the target's address is not allowed: ",
        ),
        // One bad answer spoils the good one, wherever it stands.
        (
            addresses(&["127.0.0.1", "10.1.2.3"]),
            "address_ranges = [\"127.0.0.0/8\"]",
            "the target could not be reached: the target's address is not allowed: ",
        ),
    ] {
        let (outcome, lookups) = call_by_name(answer, more, untouched).await;
        assert!(outcome.text().starts_with(words), "{outcome:?}");
        assert_eq!(lookups, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_connection_is_failed() {
    let (listener, text) = target(BEARER);
    drop(listener);
    let outcome = perform(&World::new(&text, GET), &json!({})).await;
    assert_nothing_sent(&outcome);
    assert!(outcome.text().contains("the target refuses connections"), "{outcome:?}");
}

/// The secret was there at start and is not usable now: no look-up, no connection.
#[tokio::test]
async fn an_unusable_credential_costs_no_look_up() {
    let write = |content: &'static [u8]| move |world: &World| fs::write(world.path("key"), content).unwrap();
    let mode = |mode: u32| {
        move |world: &World| fs::set_permissions(world.path("key"), fs::Permissions::from_mode(mode)).unwrap()
    };
    let spoils: [(Spoil, &str); 8] = [
        (
            Box::new(|world| fs::remove_file(world.path("key")).unwrap()),
            "secret `key`: its file does not exist",
        ),
        (Box::new(write(b"")), "secret `key`: its file is empty"),
        (Box::new(write(b"two\nlines-9dk2;xQm")), "secret `key` holds a byte that a header cannot carry"),
        (Box::new(write(b"bell\x07-9dk2;xQm3zv")), "secret `key` holds a byte that a header cannot carry"),
        (Box::new(write(b"9dk2;xQm3zv-end \n")), "secret `key` holds a byte that a header cannot carry"),
        (Box::new(write(b"short")), "secret `key` cannot be masked in what comes back"),
        (Box::new(mode(0o644)), "secret `key`: its file is open to others"),
        (Box::new(mode(0o640)), "secret `key`: its file is readable by its group"),
    ];
    for (spoil, words) in spoils {
        let answer = Answer::Addresses(vec!["127.0.0.1".parse().unwrap()]);
        let mut folder = String::new();
        let (outcome, lookups) = call_by_name(answer, "address_ranges = [\"127.0.0.0/8\"]", |world| {
            folder = world.path("").display().to_string();
            spoil(world);
        })
        .await;
        assert_eq!(lookups, 0, "{words}");
        assert!(outcome.text().contains(words), "{outcome:?}");
        assert!(!outcome.text().contains(&folder), "where a secret is kept: {outcome:?}");
    }
}

/// Why a `ca` file is not taken; `spoil` gets its path, where a good one stands.
fn fault_of_authorities(spoil: impl FnOnce(&std::path::Path)) -> Option<String> {
    let text = format!("[target.api]\norigin = \"https://{NAME}\"\nca = \"ca.pem\"\n");
    let world =
        World::with_files(&text, GET, &[("key", SECRET.as_bytes()), ("ca.pem", authority().as_bytes())]);
    let path = world.path("ca.pem");
    spoil(&path);
    let fault = world.try_executor().err()?.to_string();
    let start = format!("target `api`: the `ca` file `{}` ", path.display());
    assert!(fault.starts_with(&start), "{fault}");
    Some(fault[start.len()..].to_owned())
}

#[test]
fn a_file_of_authorities_is_judged_and_bounded() {
    let write = |content: Vec<u8>| move |path: &std::path::Path| fs::write(path, content).unwrap();
    assert_eq!(fault_of_authorities(|_| {}), None);
    // Text around the certificates is usual, up to the bound.
    let padded = |length: usize| {
        let pem = authority();
        format!("{}\n{pem}", "#".repeat(length - pem.len() - 1)).into_bytes()
    };
    assert_eq!(fault_of_authorities(write(padded(1024 * 1024))), None);
    let expected = [
        (fault_of_authorities(write(padded(1024 * 1024 + 1))), "is larger than 1048576 bytes"),
        (fault_of_authorities(write(Vec::new())), "is not usable: it holds no certificate in PEM form"),
        (fault_of_authorities(|path| fs::remove_file(path).unwrap()), "does not exist"),
        (
            fault_of_authorities(|path| {
                fs::remove_file(path).unwrap();
                fs::create_dir(path).unwrap();
            }),
            "is not a regular file",
        ),
        (
            // Opening a pipe must not wait for its writer.
            fault_of_authorities(|path| {
                fs::remove_file(path).unwrap();
                mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
            }),
            "is not a regular file",
        ),
        (
            fault_of_authorities(|path| {
                fs::remove_file(path).unwrap();
                symlink("/dev/zero", path).unwrap();
            }),
            "is not a regular file",
        ),
        (
            fault_of_authorities(|path| {
                fs::set_permissions(path, fs::Permissions::from_mode(0o666)).unwrap()
            }),
            "can be written by everyone; run `chmod o-w` on it",
        ),
    ];
    for (fault, words) in expected {
        assert_eq!(fault.as_deref(), Some(words));
    }
}
