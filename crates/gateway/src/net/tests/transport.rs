//! TLS against certificates made for each test.

use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_rustls::TlsAcceptor;

use super::{LOOPBACK, soon};
use crate::net::host::Host;
use crate::net::tls::{CaFault, TlsError, TlsSettings, connect};

const HOST: &str = "api.example.com";

/// An authority of its own.
fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

struct Identity {
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
}

fn identity(
    authority: &CertifiedIssuer<'static, KeyPair>,
    names: &[&str],
    change: impl FnOnce(&mut CertificateParams),
) -> Identity {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    change(&mut params);
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, authority).unwrap();
    Identity { chain: vec![certificate.der().clone()], key: key.into() }
}

fn unchanged(_: &mut CertificateParams) {}

fn server(identity: Identity, versions: &[&'static rustls::SupportedProtocolVersion]) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(identity.chain, identity.key)
        .unwrap()
}

/// A socket to a server that shakes hands once and echoes one line.
async fn served(config: ServerConfig) -> TcpStream {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        if let Ok(mut stream) = TlsAcceptor::from(Arc::new(config)).accept(stream).await {
            let mut line = [0; 5];
            if stream.read_exact(&mut line).await.is_ok() {
                let _ = stream.write_all(&line).await;
                let _ = stream.shutdown().await;
            }
        }
    });
    TcpStream::connect(address).await.unwrap()
}

fn trusting(authority: &CertifiedIssuer<'static, KeyPair>) -> TlsSettings {
    TlsSettings::from_ca_pem(authority.pem().as_bytes()).unwrap()
}

fn host(text: &str) -> Host {
    text.parse().unwrap()
}

async fn outcome(settings: &TlsSettings, name: &str, config: ServerConfig) -> Result<(), TlsError> {
    let stream = served(config).await;
    let mut stream = connect(settings, &host(name), stream, soon()).await?;
    stream.write_all(b"hello").await.unwrap();
    let mut line = [0; 5];
    stream.read_exact(&mut line).await.unwrap();
    assert_eq!(&line, b"hello");
    Ok(())
}

#[tokio::test]
async fn a_valid_certificate_is_accepted() {
    let authority = authority("ours");
    for version in [&rustls::version::TLS12, &rustls::version::TLS13] {
        let config = server(identity(&authority, &[HOST], unchanged), &[version]);
        assert_eq!(outcome(&trusting(&authority), HOST, config).await, Ok(()));
    }
    let literal = server(identity(&authority, &["127.0.0.1"], unchanged), rustls::ALL_VERSIONS);
    assert_eq!(outcome(&trusting(&authority), "127.0.0.1", literal).await, Ok(()));
}

#[tokio::test]
async fn a_certificate_for_another_host_is_refused() {
    let authority = authority("ours");
    for names in [
        &["other.example.com"][..],
        &["example.com"],
        &["*.sub.example.com"],
        &["*.example.net"],
        &["a.api.example.com"],
        &["127.0.0.1"],
        &[],
    ] {
        let config = server(identity(&authority, names, unchanged), rustls::ALL_VERSIONS);
        let result = outcome(&trusting(&authority), HOST, config).await;
        assert_eq!(result, Err(TlsError::WrongHost), "{names:?}");
    }
    // A wildcard covers one label, not two.
    let wildcard = || server(identity(&authority, &["*.example.com"], unchanged), rustls::ALL_VERSIONS);
    assert_eq!(outcome(&trusting(&authority), HOST, wildcard()).await, Ok(()));
    let two = outcome(&trusting(&authority), "a.api.example.com", wildcard()).await;
    assert_eq!(two, Err(TlsError::WrongHost));
    // The address that was dialled is no excuse.
    let config = server(identity(&authority, &[HOST], unchanged), rustls::ALL_VERSIONS);
    let result = outcome(&trusting(&authority), "127.0.0.1", config).await;
    assert_eq!(result, Err(TlsError::WrongHost));
}

#[tokio::test]
async fn a_certificate_out_of_its_time_is_refused() {
    let authority = authority("ours");
    let expired = identity(&authority, &[HOST], |params| {
        params.not_before = date_time_ymd(2001, 1, 1);
        params.not_after = date_time_ymd(2002, 1, 1);
    });
    let result = outcome(&trusting(&authority), HOST, server(expired, rustls::ALL_VERSIONS)).await;
    assert_eq!(result, Err(TlsError::Expired));
    let early = identity(&authority, &[HOST], |params| {
        params.not_before = date_time_ymd(2999, 1, 1);
        params.not_after = date_time_ymd(3000, 1, 1);
    });
    let result = outcome(&trusting(&authority), HOST, server(early, rustls::ALL_VERSIONS)).await;
    assert_eq!(result, Err(TlsError::NotYetValid));
}

#[tokio::test]
async fn an_unknown_issuer_is_refused() {
    let (trusted, stranger) = (authority("ours"), authority("theirs"));
    let config = server(identity(&stranger, &[HOST], unchanged), rustls::ALL_VERSIONS);
    let result = outcome(&trusting(&trusted), HOST, config).await;
    assert_eq!(result, Err(TlsError::UnknownIssuer));
    // Signed by itself.
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec![HOST.to_owned()]).unwrap().self_signed(&key).unwrap();
    let own = Identity { chain: vec![own.der().clone()], key: key.into() };
    let result = outcome(&trusting(&trusted), HOST, server(own, rustls::ALL_VERSIONS)).await;
    assert_eq!(result, Err(TlsError::UnknownIssuer));
}

/// A leaf that plays authority: signed by the trusted authority, but not one itself.
#[tokio::test]
async fn a_leaf_cannot_sign() {
    let authority = authority("ours");
    let leaf_key = KeyPair::generate().unwrap();
    let leaf_params = CertificateParams::new(vec!["leaf.example.com".to_owned()]).unwrap();
    let leaf = leaf_params.signed_by(&leaf_key, &authority).unwrap();
    let issuer = rcgen::Issuer::new(leaf_params, leaf_key);
    let key = KeyPair::generate().unwrap();
    let forged = CertificateParams::new(vec![HOST.to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let identity = Identity { chain: vec![forged.der().clone(), leaf.der().clone()], key: key.into() };
    let result = outcome(&trusting(&authority), HOST, server(identity, rustls::ALL_VERSIONS)).await;
    assert!(matches!(result, Err(TlsError::BadCertificate | TlsError::UnknownIssuer)), "{result:?}");
}

#[tokio::test]
async fn a_protocol_that_was_not_offered_is_refused() {
    let authority = authority("ours");
    let mut config = server(identity(&authority, &[HOST], unchanged), rustls::ALL_VERSIONS);
    config.alpn_protocols = vec![b"h2".to_vec()];
    let result = outcome(&trusting(&authority), HOST, config).await;
    assert_eq!(result, Err(TlsError::RefusedByPeer));
}

#[tokio::test]
async fn a_peer_that_is_not_tls_is_refused() {
    for (bytes, expected) in
        [(&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], TlsError::Handshake), (b"", TlsError::Closed)]
    {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut hello = [0; 16];
            stream.read_exact(&mut hello).await.unwrap();
            stream.write_all(bytes).await.unwrap();
            stream.shutdown().await.unwrap();
            // Read to the end, so that the close is orderly.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        let stream = TcpStream::connect(address).await.unwrap();
        let settings = trusting(&authority("ours"));
        let result = connect(&settings, &host(HOST), stream, soon()).await;
        assert_eq!(result.err(), Some(expected));
    }
}

#[tokio::test]
async fn a_silent_peer_meets_the_deadline() {
    let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let deadline = Instant::now() + Duration::from_millis(100);
    let result = connect(&trusting(&authority("ours")), &host(HOST), stream, deadline).await;
    assert_eq!(result.err(), Some(TlsError::Deadline));
}

/// Two handshakes with one configuration: the second is a full one.
#[tokio::test]
async fn no_session_is_resumed() {
    let authority = authority("ours");
    let settings = trusting(&authority);
    let config = server(identity(&authority, &[HOST], unchanged), rustls::ALL_VERSIONS);
    for _ in 0..2 {
        let stream = served(config.clone()).await;
        let mut stream = connect(&settings, &host(HOST), stream, soon()).await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        // Session tickets arrive with the first bytes read.
        stream.read_to_end(&mut Vec::new()).await.unwrap();
        let kind = stream.get_ref().1.handshake_kind();
        assert_eq!(kind, Some(rustls::HandshakeKind::Full));
    }
}

#[test]
fn ca_files() {
    let authority = authority("ours");
    let key = KeyPair::generate().unwrap().serialize_pem();
    let pem = authority.pem();
    let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let fault = |text: &str| TlsSettings::from_ca_pem(text.as_bytes()).err();
    assert_eq!(fault(&pem), None);
    assert_eq!(fault(&format!("{pem}{pem}")), None);
    assert_eq!(fault(""), Some(CaFault::Empty));
    assert_eq!(fault("not a certificate"), Some(CaFault::Empty));
    assert_eq!(fault(&key), Some(CaFault::NotOnlyCertificates));
    assert_eq!(fault(&format!("{pem}{key}")), Some(CaFault::NotOnlyCertificates));
    assert_eq!(fault(&format!("{pem}{broken}")), Some(CaFault::Certificate { number: 2 }));
    assert_eq!(fault(&pem.replace("-----END", "----END")), Some(CaFault::Pem));
}
