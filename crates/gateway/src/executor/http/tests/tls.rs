//! Over TLS: the request goes out only inside a session with the target that the configuration means.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;

use framegate_gate::outcome::{Outcome, Status};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use rustls_pki_types::CertificateDer;
use serde_json::json;

use super::{
    BEARER, GET, assert_nothing_sent, assert_unknown, assert_untouched, perform, read_request, shown,
};
use crate::executor::fixture::{SECRET, World};
use crate::net::stub_dns::{Answer, StubDns};

const NAME: &str = "api.example.com";

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

fn config(chain: Vec<CertificateDer<'static>>, key: KeyPair) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key.into())
        .unwrap()
}

fn signed(authority: &CertifiedIssuer<'static, KeyPair>, name: &str) -> ServerConfig {
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, authority).unwrap();
    config(vec![certificate.der().clone()], key)
}

/// The outcome of one call, and every byte that the server could decrypt.
async fn call(
    trusted: &CertifiedIssuer<'static, KeyPair>,
    server: ServerConfig,
    answer: &'static [u8],
    farewell: bool,
) -> (Outcome, Vec<u8>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let dns = StubDns::start([(NAME, Answer::Addresses(vec!["127.0.0.1".parse().unwrap()]))]);
    let target = format!(
        "[network]\nresolver = [\"{}\"]\n[target.api]\norigin = \"https://{NAME}:{port}\"\nca = \"ca.pem\"\n\
         address_ranges = [\"127.0.0.0/8\"]\n{BEARER}\n",
        dns.address()
    );
    let pem = trusted.pem();
    let world = World::with_files(&target, GET, &[("key", SECRET.as_bytes()), ("ca.pem", pem.as_bytes())]);
    let server = tokio::task::spawn_blocking(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut session = StreamOwned::new(ServerConnection::new(Arc::new(server)).unwrap(), stream);
        let mut request = Vec::new();
        // The first read is the handshake.
        if session.read(&mut []).is_ok() && !session.conn.is_handshaking() {
            request = read_request(&mut session);
            session.write_all(answer).unwrap();
            if farewell {
                session.conn.send_close_notify();
            }
            session.flush().unwrap();
        } else {
            let _ = session.read_to_end(&mut request);
        }
        (listener, request)
    });
    let outcome = perform(&world, &json!({})).await;
    let (listener, request) = server.await.unwrap();
    assert_untouched(&listener);
    assert_eq!(dns.lookups(NAME), 1);
    (outcome, request)
}

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntext";

#[tokio::test]
async fn a_request_goes_to_the_target_that_proves_itself() {
    let authority = authority("ours");
    let (outcome, request) = call(&authority, signed(&authority, NAME), ANSWER, true).await;
    assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
    assert_eq!(shown(&outcome)["body"], "text");
    let text = String::from_utf8(request).unwrap();
    assert!(text.starts_with("GET /item HTTP/1.1\r\n"), "{text}");
    assert!(text.contains(&format!("\r\nhost: {NAME}:")), "{text}");
    assert_eq!(text.matches(SECRET).count(), 1);
}

#[tokio::test]
async fn no_byte_of_a_request_goes_to_anybody_else() {
    let (ours, theirs) = (authority("ours"), authority("theirs"));
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec![NAME.to_owned()]).unwrap().self_signed(&key).unwrap();
    for (server, words) in [
        (signed(&ours, "other.example.com"), "the target's certificate is for another host"),
        (signed(&theirs, NAME), "the target's certificate was signed by an unknown issuer"),
        (config(vec![own.der().clone()], key), "the target's certificate was signed by an unknown issuer"),
    ] {
        let (outcome, request) = call(&ours, server, ANSWER, true).await;
        assert_nothing_sent(&outcome);
        assert!(outcome.text().contains(words), "{outcome:?}");
        assert_eq!(request, b"", "{words}");
    }
}

/// Without a length, only the farewell of the session tells a whole body from a cut one.
#[tokio::test]
async fn a_body_that_a_third_party_may_have_cut_is_unknown() {
    let authority = authority("ours");
    let answer = b"HTTP/1.1 200 OK\r\n\r\ntext";
    let (outcome, _) = call(&authority, signed(&authority, NAME), answer, true).await;
    assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
    let (outcome, _) = call(&authority, signed(&authority, NAME), answer, false).await;
    assert_unknown(&outcome);
}

/// Two targets at one server: each has a session of its own, kept for its next request, and no session is resumed.
#[tokio::test(start_paused = true)]
async fn a_session_is_kept_for_its_target_and_resumed_by_none() {
    let authority = authority("ours");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let key = KeyPair::generate().unwrap();
    let address = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = address.signed_by(&key, &authority).unwrap();
    let server = Arc::new(config(vec![certificate.der().clone()], key));
    let settings = format!(
        "origin = \"https://127.0.0.1:{port}\"\nca = \"ca.pem\"\naddress_ranges = [\"127.0.0.0/8\"]\n{BEARER}\n"
    );
    let targets = format!("[target.api]\n{settings}[target.other]\n{settings}");
    let tools =
        format!("{GET}\n[tool.second]\ndescription = \"Call\"\ntarget = \"other\"\nallow = true\n{GET}\n");
    let pem = authority.pem();
    let world =
        World::with_files(&targets, &tools, &[("key", SECRET.as_bytes()), ("ca.pem", pem.as_bytes())]);
    let server = tokio::task::spawn_blocking(move || {
        // Four sessions: two that are kept, and one more for each target when its first has ended.
        let mut kinds = Vec::new();
        for requests in [2, 1, 1, 1] {
            let stream = super::accept(&listener);
            let mut session = StreamOwned::new(ServerConnection::new(Arc::clone(&server)).unwrap(), stream);
            for _ in 0..requests {
                read_request(&mut session);
                session.write_all(ANSWER).unwrap();
            }
            session.conn.send_close_notify();
            session.flush().unwrap();
            kinds.push((session.conn.handshake_kind(), session.conn.received_resumption_data().is_some()));
        }
        (listener, kinds)
    });
    let executor = world.executor();
    for tool in ["call", "call", "second", "call", "second"] {
        let outcome = super::perform_by(&executor, &world, tool, &json!({})).await;
        assert_eq!(shown(&outcome)["body"], "text", "{outcome:?}");
    }
    let (listener, kinds) = server.await.unwrap();
    assert_untouched(&listener);
    assert_eq!(kinds, vec![(Some(rustls::HandshakeKind::Full), false); 4]);
}
