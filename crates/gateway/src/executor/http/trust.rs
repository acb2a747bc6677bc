//! Whom the targets' certificates must be signed by.
//!
//! Belongs here: reading the files of authorities, once, at start, and where systems keep theirs.
//! Does not belong here: what a certificate must prove (`net::tls`).
//!
//! Whoever can write such a file can pose as a target, so each is judged like the configuration. No variable
//! of the environment moves the system's: `SSL_CERT_FILE` and `SSL_CERT_DIR` have no effect.

use std::path::{Path, PathBuf};

use super::HttpSetupError;
use crate::config::{self, Authorities, FileFault};
use crate::net::tls::{CaFault, SystemRoots, TlsSettings};

/// A file of authorities holds at most 1 MiB.
const MAX_CA_BYTES: usize = 1024 * 1024;

/// Where systems keep the authorities that they trust, as one PEM file. The first of them that exists is used.
pub const SYSTEM_STORES: [&str; 6] = [
    // Debian, Ubuntu, Arch, Gentoo, NixOS.
    "/etc/ssl/certs/ca-certificates.crt",
    // Fedora, RHEL and their kin.
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    // openSUSE.
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    // Alpine, macOS.
    "/etc/ssl/cert.pem",
];

/// The system's trust store as it was read.
#[derive(Clone, Debug)]
pub struct SystemStore {
    path: PathBuf,
    roots: SystemRoots,
}

impl SystemStore {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many authorities it holds.
    #[must_use]
    pub fn count(&self) -> usize {
        self.roots.count()
    }

    /// How many of its sections are no usable authority; they are left out.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.roots.skipped()
    }
}

/// Reads files of authorities. The system's is read when the first target asks for it.
pub(super) struct Trust<'a> {
    places: &'a [&'a str],
    system: Option<SystemStore>,
}

impl<'a> Trust<'a> {
    /// With the system's store at the first of `places` that exists.
    pub(super) fn new(places: &'a [&'a str]) -> Self {
        Self { places, system: None }
    }

    /// The TLS settings of a target that trusts `authorities`.
    pub(super) fn settings(
        &mut self,
        target: &str,
        authorities: &Authorities,
    ) -> Result<TlsSettings, HttpSetupError> {
        match authorities {
            Authorities::File(path) => {
                let pem = read(target, path)?;
                TlsSettings::from_ca_pem(&pem).map_err(|fault| unusable(target, path, fault))
            }
            Authorities::System => {
                let store = match self.system.take() {
                    Some(store) => store,
                    None => self.find(target)?,
                };
                let settings = TlsSettings::from_system(&store.roots)
                    .map_err(|fault| unusable(target, &store.path, fault));
                self.system = Some(store);
                settings
            }
        }
    }

    /// The store that was read, if one was.
    pub(super) fn into_system_store(self) -> Option<SystemStore> {
        self.system
    }

    /// A file that exists and is not usable is a fault: no other is tried in its place.
    fn find(&self, target: &str) -> Result<SystemStore, HttpSetupError> {
        for place in self.places {
            let path = Path::new(place);
            let pem = match read(target, path) {
                Err(HttpSetupError::File { fault: FileFault::Missing, .. }) => continue,
                read => read?,
            };
            let roots = SystemRoots::from_pem(&pem).map_err(|fault| unusable(target, path, fault))?;
            return Ok(SystemStore { path: path.to_owned(), roots });
        }
        Err(HttpSetupError::NoSystemStore { target: target.to_owned() })
    }
}

fn read(target: &str, path: &Path) -> Result<Vec<u8>, HttpSetupError> {
    config::read_trusted(path, MAX_CA_BYTES).map_err(|fault| HttpSetupError::File {
        target: target.to_owned(),
        path: shown(path),
        fault,
    })
}

fn unusable(target: &str, path: &Path, fault: CaFault) -> HttpSetupError {
    HttpSetupError::Authorities { target: target.to_owned(), path: shown(path), fault }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().escape_debug().to_string()
}
