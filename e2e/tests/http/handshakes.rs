//! Targets that cannot prove who they are, or do not speak TLS as it is spoken today: none of them gets a byte
//! of a request, and the agent is told why in the gateway's own words.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use framegate_e2e::canary::position;
use framegate_e2e::parallel;
use framegate_e2e::process::DEADLINE;
use framegate_e2e::server::{Certificate, certificate};
use framegate_e2e::session::Session;
use framegate_e2e::stage::write_private;
use framegate_e2e::stub_dns::Answer;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    SanType, date_time_ymd,
};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::json;

use super::{BEARER, REVISION, stage, text, tool, word};

const NAME: &str = "api.probe.test";

/// How the target behaves, once.
enum Server {
    /// With this certificate, and perhaps protocols of its own.
    Tls(Certificate, &'static [&'static [u8]]),
    /// Reads the client's first message and writes these bytes.
    Raw(Vec<u8>),
    /// As `Raw`, and over and over.
    Flood(Vec<u8>),
    /// Closes at once.
    Closes,
    /// Says nothing, for as long as the client is there.
    Silent,
}

struct Case {
    name: &'static str,
    server: Server,
    words: &'static str,
}

/// What came in: as it was on the wire where there was no TLS, else what could be decrypted.
fn serve(server: &Server, mut stream: TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(DEADLINE)).expect("a timeout");
    stream.set_write_timeout(Some(DEADLINE)).expect("a timeout");
    let mut seen = Vec::new();
    match server {
        Server::Closes => {}
        Server::Silent => drop(stream.read_to_end(&mut seen)),
        Server::Raw(bytes) => {
            let mut hello = [0; 16 * 1024];
            let length = stream.read(&mut hello).unwrap_or(0);
            seen.extend(&hello[..length]);
            let _ = stream.write_all(bytes);
            let _ = stream.read_to_end(&mut seen);
        }
        Server::Flood(bytes) => {
            let written = (0..100_000).take_while(|_| stream.write_all(bytes).is_ok()).count();
            assert!(written < 100_000, "the client reads for ever");
            let _ = stream.read_to_end(&mut seen);
        }
        Server::Tls(signed, protocols) => {
            let mut config =
                ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                    .with_safe_default_protocol_versions()
                    .expect("versions")
                    .with_no_client_auth()
                    .with_single_cert(
                        vec![
                            CertificateDer::from_pem_slice(signed.certificate.as_bytes())
                                .expect("a certificate"),
                        ],
                        PrivateKeyDer::from_pem_slice(signed.key.as_bytes()).expect("a key"),
                    )
                    .expect("key and certificate belong together");
            config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
            let mut connection = ServerConnection::new(Arc::new(config)).expect("a connection");
            let shaken: io::Result<_> = (|| {
                while connection.is_handshaking() {
                    connection.complete_io(&mut stream)?;
                }
                Ok(())
            })();
            let mut session = StreamOwned::new(connection, stream);
            if shaken.is_ok() {
                let _ = session.read_to_end(&mut seen);
            } else {
                let _ = session.flush();
            }
        }
    }
    seen
}

fn record(kind: u8, version: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).expect("a short record");
    [&[kind, 3, version][..], &length.to_be_bytes(), content].concat()
}

/// A ServerHello (RFC 5246, 7.4.1.3) of this minor version with this cipher suite.
fn hello(version: u8, suite: [u8; 2]) -> Vec<u8> {
    let body = [&[3, version][..], &[7; 32], &[0], &suite, &[0, 0, 0]].concat();
    let length = u8::try_from(body.len()).expect("short");
    record(22, version.min(3), &[&[2, 0, 0, length][..], &body].concat())
}

/// Signed by an authority with the trusted one's name and another key.
fn signed_by_a_namesake() -> Certificate {
    let [trusted, other] = [(); 2].map(|()| {
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority")
    });
    let key = KeyPair::generate().expect("a key");
    let certificate = CertificateParams::new(vec![NAME.to_owned()]).expect("a name").signed_by(&key, &other);
    Certificate {
        authority: trusted.pem(),
        certificate: certificate.expect("a certificate").pem(),
        key: key.serialize_pem(),
    }
}

fn cases() -> Vec<Case> {
    let case = |name, server, words| Case { name, server, words };
    let tls = |name, change: fn(&mut CertificateParams), words| {
        case(name, Server::Tls(certificate(NAME, change), &[]), words)
    };
    let other = "the target's certificate is for another host";
    let invalid = "the target's certificate is not valid";
    let unknown = "the target's certificate was signed by an unknown issuer";
    let old = "the target offers no TLS version, cipher suite or protocol that is accepted";
    let failed = "the TLS handshake failed";
    let mut own = certificate(NAME, |_| ());
    let key = KeyPair::generate().expect("a key");
    own.certificate = CertificateParams::new(vec![NAME.to_owned()])
        .expect("a name")
        .self_signed(&key)
        .expect("a certificate")
        .pem();
    own.key = key.serialize_pem();
    let mut strange = certificate(NAME, |_| ());
    strange.authority = certificate(NAME, |_| ()).authority;
    vec![
        case("another host", Server::Tls(certificate("other.test", |_| ()), &[]), other),
        case("its parent", Server::Tls(certificate("probe.test", |_| ()), &[]), other),
        case("a wildcard two levels up", Server::Tls(certificate("*.test", |_| ()), &[]), other),
        case("a wildcard inside a label", Server::Tls(certificate("a*i.probe.test", |_| ()), &[]), other),
        tls(
            "only a common name",
            |params| {
                params.subject_alt_names.clear();
                params.distinguished_name.push(DnType::CommonName, NAME);
            },
            other,
        ),
        tls(
            "only its address",
            |params| {
                params.subject_alt_names = vec![SanType::IpAddress(Ipv4Addr::LOCALHOST.into())];
            },
            other,
        ),
        tls(
            "expired",
            |params| {
                params.not_before = date_time_ymd(2020, 1, 1);
                params.not_after = date_time_ymd(2021, 1, 1);
            },
            "the target's certificate has expired",
        ),
        tls(
            "not valid yet",
            |params| {
                params.not_before = date_time_ymd(2090, 1, 1);
                params.not_after = date_time_ymd(2091, 1, 1);
            },
            "the target's certificate is not valid yet",
        ),
        tls(
            "for clients only",
            |params| {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
            },
            invalid,
        ),
        tls("an authority's", |params| params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained), invalid),
        case("signed by itself", Server::Tls(own, &[]), unknown),
        case("signed by another authority", Server::Tls(strange, &[]), unknown),
        case("signed by a namesake of the authority", Server::Tls(signed_by_a_namesake(), &[]), invalid),
        case(
            "HTTP/2 only",
            Server::Tls(certificate(NAME, |_| ()), &[b"h2"]),
            "the target refused the TLS handshake",
        ),
        case("TLS 1.1 only", Server::Raw(hello(2, [0, 0x2f])), old),
        case("TLS 1.0 only", Server::Raw(hello(1, [0, 0x2f])), old),
        case("SSL 3.0 only", Server::Raw(hello(0, [0, 0x2f])), old),
        case("a suite that was not offered", Server::Raw(hello(3, [0, 0x2f])), failed),
        case("plain HTTP", Server::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntext".to_vec()), failed),
        case(
            "plain HTTP's refusal",
            Server::Raw(b"HTTP/1.1 400 Bad Request\r\n\r\nplain HTTP was expected".to_vec()),
            failed,
        ),
        case("another protocol", Server::Raw(b"SSH-2.0-other\r\n".to_vec()), failed),
        case("an alert", Server::Raw(record(21, 3, &[2, 40])), "the target refused the TLS handshake"),
        case("its own hello sent back", Server::Raw(record(22, 3, &[1, 0, 0, 1, 0])), failed),
        case("application data first", Server::Raw(record(23, 3, b"HTTP/1.1 200 OK\r\n\r\n")), failed),
        case(
            "a record that is too long",
            Server::Raw([&[22, 3, 3, 0xff, 0xff][..], &[0; 70_000]].concat()),
            failed,
        ),
        case(
            "a message without end",
            Server::Flood(record(22, 3, &[&[11, 0xff, 0xff, 0xff][..], &[0; 16_000]].concat())),
            failed,
        ),
        case("warnings without end", Server::Flood(record(21, 3, &[1, 90])), failed),
        case(
            "nothing, and the end",
            Server::Closes,
            "the target closed the connection during the TLS handshake",
        ),
        case("nothing", Server::Silent, "the TLS handshake did not end in time"),
    ]
}

fn start(case: Case) -> (u16, String, JoinHandle<(Vec<u8>, TcpListener)>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port");
    let port = listener.local_addr().expect("bound").port();
    let authority = match &case.server {
        Server::Tls(signed, _) => signed.authority.clone(),
        _ => certificate(NAME, |_| ()).authority,
    };
    let server = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        (serve(&case.server, stream), listener)
    });
    (port, authority, server)
}

#[test]
fn whoever_cannot_prove_who_it_is_gets_no_request() {
    let count = cases().len();
    let numbers: Vec<usize> = (0..count).collect();
    parallel::run(
        &numbers,
        || (),
        |(), number| {
            let case = cases().swap_remove(*number);
            let (name, words) = (case.name, case.words);
            let (port, authority, server) = start(case);
            let stage = stage("handshake", |stage| {
                stage.names().set(NAME, Answer::Addresses(vec![Ipv4Addr::LOCALHOST.into()]));
                write_private(&stage.folder().join("ca.pem"), &authority);
                let target = format!(
                    "[target.probe]\norigin = \"https://{NAME}:{port}\"\nca = \"ca.pem\"\naddress_ranges = [\"127.0.0.0/8\"]\n{BEARER}\nconnect_seconds = 2\n"
                );
                target
                    + &tool("ask", "method = \"POST\"\npath = \"/ask\"\nbody = { marker = \"mk-handshake\" }")
            });
            let mut session = Session::start(&stage);
            session.ready(REVISION);
            let reply = session.call(REVISION, "ask", json!({}));
            assert_eq!(word(&reply), "failed", "{name}: {}", text(&reply));
            let expected = format!("the target could not be reached: {words}; nothing was sent");
            assert_eq!(text(&reply), expected, "{name}");
            session.end();

            let (seen, listener) = server.join().unwrap_or_else(|_| panic!("{name}: the server failed"));
            stage.canary().assert_absent(name, &seen);
            assert_eq!(position(&seen, b"mk-handshake"), None, "{name}");
            assert_eq!(position(&seen, b"/ask"), None, "{name}");
            listener.set_nonblocking(true).expect("a listener");
            assert!(listener.accept().is_err(), "{name}: a second connection");
        },
    );
    assert!(count >= 29 && DEADLINE > Duration::from_secs(2));
}

/// The same server with nothing wrong, so that the cases above fail for what they say.
#[test]
fn the_same_target_with_nothing_wrong_gets_the_request() {
    let good =
        Case { name: "good", server: Server::Tls(certificate(NAME, |_| ()), &[b"http/1.1"]), words: "" };
    let (port, authority, server) = start(good);
    let stage = stage("handshake-good", |stage| {
        stage.names().set(NAME, Answer::Addresses(vec![Ipv4Addr::LOCALHOST.into()]));
        write_private(&stage.folder().join("ca.pem"), &authority);
        let target = format!(
            "[target.probe]\norigin = \"https://{NAME}:{port}\"\nca = \"ca.pem\"\naddress_ranges = [\"127.0.0.0/8\"]\n{BEARER}\ndeadline_seconds = 2\nconnect_seconds = 2\n"
        );
        target + &tool("ask", "method = \"POST\"\npath = \"/ask\"\nbody = { marker = \"mk-handshake\" }")
    });
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    // This server reads and never answers.
    let reply = session.call(REVISION, "ask", json!({}));
    assert_eq!(word(&reply), "unknown");
    session.end();
    let (seen, _) = server.join().expect("the server");
    assert!(position(&seen, b"mk-handshake").is_some() && stage.canary().find(&seen).is_some());
}
