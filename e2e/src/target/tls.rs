//! The target's certificate, its authority, and its side of TLS.
//!
//! Belongs here: one authority a process, one server certificate for [`NAME`].
//! Does not belong here: HTTP.

use std::io;
use std::net::TcpStream;
use std::sync::{Arc, OnceLock};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, KeyUsagePurpose};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The name the target is reached by.
pub const NAME: &str = "probe.test";

struct Material {
    authority: String,
    server: Arc<ServerConfig>,
}

/// The authority's certificate as PEM: what a `ca = FILE` must hold.
#[must_use]
pub fn authority() -> &'static str {
    &material().authority
}

/// The server's side of a handshake on `stream`.
///
/// # Errors
/// If the peer does not finish the handshake: nothing was read that could be a request.
pub fn accept(mut stream: TcpStream) -> io::Result<StreamOwned<ServerConnection, TcpStream>> {
    let mut connection = ServerConnection::new(Arc::clone(&material().server)).map_err(io::Error::other)?;
    while connection.is_handshaking() {
        connection.complete_io(&mut stream)?;
    }
    Ok(StreamOwned::new(connection, stream))
}

fn material() -> &'static Material {
    static MATERIAL: OnceLock<Material> = OnceLock::new();
    MATERIAL.get_or_init(|| {
        let mut params = CertificateParams::new(Vec::<String>::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority =
            CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
        let key = KeyPair::generate().expect("a key");
        let certificate = CertificateParams::new(vec![NAME.to_owned()])
            .expect("a name")
            .signed_by(&key, &authority)
            .expect("a certificate");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the provider's versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::Pkcs8(key.serialize_der().into()),
            )
            .expect("key and certificate belong together");
        Material { authority: authority.pem(), server: Arc::new(server) }
    })
}
