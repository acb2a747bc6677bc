//! A loopback SSH server: keeps what it is asked for, and does none of it.
//!
//! Belongs here: its key, accepting connections, where it is reached. Does not belong here: what a connection is
//! answered (`peer`), what is kept of it (`kept`).

mod kept;
mod peer;

#[cfg(test)]
mod tests;

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use russh::keys::ssh_key::private::Ed25519Keypair;
use russh::keys::{HashAlg, PrivateKey};
use russh::server::{Config, run_stream};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::Sight;
use kept::Kept;
use peer::Peer;

/// How many connections are served at once; further ones wait.
const MAX_CONNECTIONS: usize = 64;
/// A connection that is silent for so long is let go. Servers keep theirs open between calls.
const PATIENCE: Duration = Duration::from_secs(600);
/// Before the next attempt to accept where one failed: there may be no free descriptor.
const PAUSE: Duration = Duration::from_millis(10);

type Connections = Arc<Mutex<Vec<Arc<Mutex<Kept>>>>>;

/// The recorder. Its thread ends with the process.
#[derive(Debug)]
pub(crate) struct SshRecorder {
    address: SocketAddr,
    fingerprint: String,
    /// Outside of every watched folder: that the file is there, or changes, is no effect.
    known_hosts: PathBuf,
    _folder: TempDir,
    connections: Connections,
}

impl SshRecorder {
    /// Listens on a free loopback port, with a host key of its own.
    pub(crate) fn start() -> io::Result<Self> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let key = PrivateKey::from(Ed25519Keypair::from_seed(&seed));
        let fingerprint = key.public_key().fingerprint(HashAlg::Sha256).to_string();
        let public = key.public_key().to_openssh().map_err(io::Error::other)?;

        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
        let address = listener.local_addr()?;
        let folder = tempfile::Builder::new().prefix("framegate-ssh-").tempdir()?;
        let known_hosts = folder.path().join("known_hosts");
        fs::write(&known_hosts, format!("[{}]:{} {public}\n", address.ip(), address.port()))?;

        let connections = Connections::default();
        let kept = Arc::clone(&connections);
        let config = Config {
            keys: vec![key],
            inactivity_timeout: Some(PATIENCE),
            // Nothing is guarded, so that nothing is told by how long a refusal takes.
            auth_rejection_time: Duration::ZERO,
            nodelay: true,
            ..Config::default()
        };
        thread::Builder::new()
            .name("ssh-recorder".to_owned())
            .spawn(move || serve(&runtime, &listener, &Arc::new(config), &kept))?;
        Ok(Self { address, fingerprint, known_hosts, _folder: folder, connections })
    }

    /// Fills its placeholders in.
    pub(crate) fn fill(&self, text: &str) -> String {
        text.replace("{effect.ssh}", &self.address.to_string())
            .replace("{effect.ssh-port}", &self.address.port().to_string())
            .replace("{effect.ssh-known-hosts}", &self.known_hosts.to_string_lossy())
            .replace("{effect.ssh-fingerprint}", &self.fingerprint)
    }

    /// Everything that was asked for and holds the marker.
    pub(crate) fn sights(&self, marker: &str) -> Vec<Sight> {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner).clone();
        connections
            .iter()
            .flat_map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner).holding(marker))
            .map(|what| Sight { observer: "ssh", what })
            .collect()
    }
}

/// Serves until the process ends.
fn serve(runtime: &Runtime, listener: &TcpListener, config: &Arc<Config>, connections: &Connections) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    runtime.block_on(async {
        // The semaphore is never closed.
        while let Ok(place) = Arc::clone(&places).acquire_owned().await {
            let Ok((stream, _)) = listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            let kept = Arc::new(Mutex::new(Kept::default()));
            connections.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&kept));
            let config = Arc::clone(config);
            tokio::spawn(async move {
                // How a connection ends is the peer's affair: what it asked for is kept.
                if let Ok(session) = run_stream(config, stream, Peer::new(kept)).await {
                    let _ = session.await;
                }
                drop(place);
            });
        }
    });
}
