//! TLS. Belongs here: what a target's certificate must prove, and the handshake. Must not: share a
//! configuration between credentials, read a file or the environment, or pass on a library's error text.

use std::fmt;
use std::io;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::{CertificateError, ClientConfig, RootCertStore};
use rustls_pki_types::pem::{PemObject, SectionKind};
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::host::Host;

/// The TLS settings of one target with one credential: TLS 1.2 and 1.3, HTTP/1.1 only, no
/// resumption, no early data, no key log, no client certificate.
///
/// Not `Clone`: make one for each pair of target and credential, so that no session state can pass
/// from one identity to another.
pub struct TlsSettings {
    config: Arc<ClientConfig>,
}

/// The authorities of the system's trust store. They may be shared: a root holds no state of a session.
#[derive(Clone, Debug)]
pub struct SystemRoots {
    roots: Arc<RootCertStore>,
    skipped: usize,
}

/// Why a CA file is not usable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CaFault {
    /// A certificate in it cannot be used as an authority.
    #[error("certificate {number} in it is not usable as a certificate authority")]
    Certificate {
        /// Counted from 1.
        number: usize,
    },
    /// It holds no certificate.
    #[error("it holds no certificate in PEM form")]
    Empty,
    /// Of a file whose unusable parts are skipped, nothing is left.
    #[error("it holds no usable certificate of an authority")]
    NoneUsable,
    /// It is not well-formed PEM.
    #[error("it is not well-formed PEM")]
    Pem,
    /// It holds something other than certificates, perhaps a private key.
    #[error("it holds something other than certificates")]
    NotOnlyCertificates,
}

/// Why there is no trusted session. No text in it comes from the peer or a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// The certificate is invalid in another way than those below.
    #[error("the target's certificate is not valid")]
    BadCertificate,
    /// The peer closed the connection during the handshake.
    #[error("the target closed the connection during the TLS handshake")]
    Closed,
    /// The deadline came first.
    #[error("the TLS handshake did not end in time")]
    Deadline,
    /// The certificate has expired.
    #[error("the target's certificate has expired")]
    Expired,
    /// The handshake failed in another way.
    #[error("the TLS handshake failed")]
    Handshake,
    /// No TLS version, suite or protocol that both accept.
    #[error("the target offers no TLS version, cipher suite or protocol that is accepted")]
    Incompatible,
    /// The certificate is not valid yet.
    #[error("the target's certificate is not valid yet")]
    NotYetValid,
    /// The peer ended the handshake with an alert.
    #[error("the target refused the TLS handshake")]
    RefusedByPeer,
    /// The certificate was revoked.
    #[error("the target's certificate was revoked")]
    Revoked,
    /// No certificate authority that is trusted for this target signed it.
    #[error("the target's certificate was signed by an unknown issuer")]
    UnknownIssuer,
    /// The certificate is for another host.
    #[error("the target's certificate is for another host")]
    WrongHost,
}

impl TlsSettings {
    /// Trusts exactly the authorities in `pem`, one or more certificates and nothing else.
    ///
    /// # Errors
    /// [`CaFault`], for the configuration.
    pub fn from_ca_pem(pem: &[u8]) -> Result<Self, CaFault> {
        let mut roots = RootCertStore::empty();
        let sections = <(SectionKind, Vec<u8>)>::pem_slice_iter(pem);
        for (section, number) in sections.zip(1_usize..) {
            let (kind, der) = section.map_err(|_| CaFault::Pem)?;
            if kind != SectionKind::Certificate {
                return Err(CaFault::NotOnlyCertificates);
            }
            roots.add(CertificateDer::from(der)).map_err(|_| CaFault::Certificate { number })?;
        }
        if roots.is_empty() {
            return Err(CaFault::Empty);
        }
        Ok(Self { config: Arc::new(client_config(Arc::new(roots))?) })
    }

    /// Trusts the system's authorities.
    ///
    /// # Errors
    /// [`CaFault`], for the configuration.
    pub fn from_system(system: &SystemRoots) -> Result<Self, CaFault> {
        Ok(Self { config: Arc::new(client_config(Arc::clone(&system.roots))?) })
    }
}

impl SystemRoots {
    /// The authorities in `pem`. Nobody wrote this file for us: what cannot be used as an authority is
    /// skipped and counted.
    ///
    /// # Errors
    /// [`CaFault::NoneUsable`].
    pub fn from_pem(pem: &[u8]) -> Result<Self, CaFault> {
        let mut roots = RootCertStore::empty();
        let mut skipped: usize = 0;
        for section in <(SectionKind, Vec<u8>)>::pem_slice_iter(pem) {
            let added = match section {
                Ok((SectionKind::Certificate, der)) => roots.add(CertificateDer::from(der)).is_ok(),
                Ok(_) | Err(_) => false,
            };
            if !added {
                skipped = skipped.saturating_add(1);
            }
        }
        if roots.is_empty() {
            return Err(CaFault::NoneUsable);
        }
        Ok(Self { roots: Arc::new(roots), skipped })
    }

    /// How many authorities there are.
    pub fn count(&self) -> usize {
        self.roots.len()
    }

    /// How many sections of the file were skipped.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("TlsSettings").finish_non_exhaustive()
    }
}

fn client_config(roots: Arc<RootCertStore>) -> Result<ClientConfig, CaFault> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = [&rustls::version::TLS13, &rustls::version::TLS12];
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&versions)
        .map_err(|_| CaFault::Empty)?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    // The default, said aloud: SSLKEYLOGFILE has no effect.
    config.key_log = Arc::new(rustls::NoKeyLog {});
    Ok(config)
}

/// A session with `host` over `stream`. The certificate must be valid for `host` as configured, not
/// for the address that was dialled.
///
/// # Errors
/// [`TlsError`], within `deadline`.
pub async fn connect(
    settings: &TlsSettings,
    host: &Host,
    stream: TcpStream,
    deadline: Instant,
) -> Result<TlsStream<TcpStream>, TlsError> {
    let connector = TlsConnector::from(Arc::clone(&settings.config));
    timeout_at(deadline, connector.connect(server_name(host)?, stream))
        .await
        .map_err(|_| TlsError::Deadline)?
        .map_err(|fault| reason(&fault))
}

fn server_name(host: &Host) -> Result<ServerName<'static>, TlsError> {
    match host {
        Host::Address(address) => Ok(ServerName::IpAddress((*address).into())),
        Host::Name(name) => ServerName::try_from(name.as_str().to_owned()).map_err(|_| TlsError::WrongHost),
    }
}

fn reason(fault: &io::Error) -> TlsError {
    let inner = fault.get_ref().and_then(|inner| inner.downcast_ref());
    match inner {
        Some(rustls::Error::InvalidCertificate(fault)) => certificate_reason(fault),
        Some(rustls::Error::AlertReceived(_)) => TlsError::RefusedByPeer,
        Some(rustls::Error::PeerIncompatible(_) | rustls::Error::NoApplicationProtocol) => {
            TlsError::Incompatible
        }
        Some(_) => TlsError::Handshake,
        None => match fault.kind() {
            io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe => TlsError::Closed,
            _ => TlsError::Handshake,
        },
    }
}

fn certificate_reason(fault: &CertificateError) -> TlsError {
    match fault {
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            TlsError::WrongHost
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => TlsError::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => TlsError::NotYetValid,
        CertificateError::Revoked => TlsError::Revoked,
        CertificateError::UnknownIssuer => TlsError::UnknownIssuer,
        _ => TlsError::BadCertificate,
    }
}
