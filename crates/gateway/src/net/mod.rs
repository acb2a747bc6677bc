//! The way to a target's socket. Belongs here: names, addresses, dialling, a proxy's tunnel, TLS, in that
//! order, each step taking only what the step before has checked. Must not: know HTTP (but for the tunnel),
//! SSH, credentials or why an action was allowed.
//!
//! One look-up per action; every answer must pass the address policy; only a checked address is
//! dialled; the peer of the connected socket is compared with it. Behind a proxy all this holds for the
//! proxy, and the target's name is the proxy's to look up. Nothing here reads the environment.

pub mod address;
pub mod dial;
pub mod host;
pub mod proxy;
pub mod resolve;
pub mod tls;

#[cfg(test)]
#[expect(unreachable_pub, reason = "the end-to-end harness exports the same file")]
#[path = "../../../../e2e/src/stub_dns.rs"]
pub(crate) mod stub_dns;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use tokio::net::TcpStream;
use tokio::time::Instant;

use address::{AddressPolicy, AddressRefusal, CheckedAddress};
use dial::DialError;
use host::Host;
use proxy::{Proxy, ProxyError};
use resolve::{ResolveError, Resolver};
use tls::TlsError;

/// Why a target could not be reached. No text in it comes from a peer or a library.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NetError {
    /// An address is not allowed for this target.
    #[error(transparent)]
    Address(#[from] AddressRefusal),
    /// No connection to any checked address.
    #[error(transparent)]
    Dial(#[from] DialError),
    /// No tunnel through the proxy.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
    /// The name gave no usable answer.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// No trusted TLS session.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

impl NetError {
    /// Whether a connection was opened before this fault. If not, the target cannot have seen
    /// anything of the action.
    pub fn connection_opened(&self) -> bool {
        match self {
            Self::Address(_) | Self::Resolve(_) => false,
            Self::Dial(fault) => fault.connection_opened(),
            Self::Proxy(fault) => fault.connection_opened(),
            Self::Tls(_) => true,
        }
    }
}

/// A connection to `host`: one look-up if it is a name, none if it is an address; every address
/// checked; the first that answers is used.
///
/// # Errors
/// [`NetError`], within `deadline`.
pub async fn connect(
    resolver: &Resolver,
    policy: &AddressPolicy,
    host: &Host,
    port: u16,
    deadline: Instant,
) -> Result<(TcpStream, CheckedAddress), NetError> {
    let answers = match host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => resolver.resolve(name, deadline).await?,
    };
    let checked = check_all(policy, &answers)?;
    Ok(dial::dial(&checked, port, deadline).await?)
}

/// A connection to `host` through `proxy`, with which no look-up of `host` is ours: an address is checked,
/// a name goes to the proxy as it is. The address in the result is the proxy's.
///
/// # Errors
/// [`NetError`], within `deadline`.
pub async fn connect_through(
    proxy: &Proxy,
    resolver: &Resolver,
    policy: &AddressPolicy,
    host: &Host,
    port: u16,
    deadline: Instant,
) -> Result<(TcpStream, CheckedAddress), NetError> {
    if let Host::Address(address) = host {
        policy.check(*address)?;
    }
    Ok(proxy.tunnel(resolver, host, port, deadline).await?)
}

/// All or nothing: a name with one bad answer is not trusted for its good ones.
fn check_all(policy: &AddressPolicy, answers: &[IpAddr]) -> Result<Vec<CheckedAddress>, AddressRefusal> {
    answers.iter().map(|answer| policy.check(*answer)).collect()
}
