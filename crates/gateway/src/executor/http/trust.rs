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

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    const BROKEN: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

    fn authority() -> String {
        let key = rcgen::KeyPair::generate().unwrap();
        let mut params = rcgen::CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.self_signed(&key).unwrap().pem()
    }

    /// A private folder, and three places in it.
    fn places() -> (tempfile::TempDir, [String; 3]) {
        let folder = tempfile::tempdir().unwrap();
        let places = ["a", "b", "c"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
        (folder, places)
    }

    fn write(place: &str, text: &str, mode: u32) {
        fs::write(place, text).unwrap();
        fs::set_permissions(place, Permissions::from_mode(mode)).unwrap();
    }

    fn ask(places: &[String]) -> Result<SystemStore, HttpSetupError> {
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let mut trust = Trust::new(&places);
        trust.settings("api", &Authorities::System)?;
        Ok(trust.into_system_store().unwrap())
    }

    #[test]
    fn the_first_place_that_exists_is_the_store_and_its_unusable_parts_are_counted() {
        let (_folder, places) = places();
        write(&places[1], &format!("# a comment\n{}{BROKEN}{}", authority(), authority()), 0o644);
        write(&places[2], &authority(), 0o644);
        let store = ask(&places).unwrap();
        assert_eq!((store.path(), store.count(), store.skipped()), (Path::new(&places[1]), 2, 1));
    }

    #[test]
    fn a_store_that_cannot_be_used_is_a_fault_and_no_other_takes_its_place() {
        let (_folder, places) = places();
        let missing = ask(&places).unwrap_err();
        assert_eq!(missing, HttpSetupError::NoSystemStore { target: "api".to_owned() });
        assert_eq!(
            missing.to_string(),
            "target `api`: `ca = \"system\"` finds no trust store; name a file of authorities instead"
        );
        write(&places[2], &authority(), 0o644);
        for (text, mode, words) in [
            (authority(), 0o666, "can be written by everyone; run `chmod o-w` on it"),
            (String::new(), 0o644, "is not usable: it holds no usable certificate of an authority"),
            (BROKEN.repeat(3), 0o644, "is not usable: it holds no usable certificate of an authority"),
            ("x".repeat(MAX_CA_BYTES + 1), 0o644, "is larger than 1048576 bytes"),
        ] {
            write(&places[0], &text, mode);
            let fault = ask(&places).unwrap_err().to_string();
            assert_eq!(fault, format!("target `api`: the `ca` file `{}` {words}", places[0]));
        }
    }

    #[test]
    fn the_store_is_read_once_and_only_if_a_target_asks() {
        let (_folder, places) = places();
        let place = [places[0].as_str()];
        let mut trust = Trust::new(&place);
        write(&places[1], &authority(), 0o644);
        trust.settings("own", &Authorities::File(PathBuf::from(&places[1]))).unwrap();
        write(&places[0], &authority(), 0o644);
        trust.settings("first", &Authorities::System).unwrap();
        fs::remove_file(&places[0]).unwrap();
        trust.settings("second", &Authorities::System).unwrap();
        assert_eq!(trust.into_system_store().unwrap().count(), 1);
        assert!(Trust::new(&place).into_system_store().is_none());
    }

    /// Whoever names a file of their own means all of it.
    #[test]
    fn a_file_is_strict_where_the_system_is_not() {
        let (_folder, places) = places();
        write(&places[0], &format!("{}{BROKEN}", authority()), 0o644);
        let named = Authorities::File(PathBuf::from(&places[0]));
        assert!(Trust::new(&[]).settings("api", &named).is_err());
        assert!(ask(&places[..1]).is_ok());
    }
}
