//! A tunnel through an HTTP proxy (RFC 9110 section 9.3.6). Belongs here: reaching the proxy that the
//! configuration pins, and asking it for a connection to a target. Must not: send anything else to it,
//! read what comes after its answer's head, or take a proxy from anywhere but the configuration.
//!
//! The proxy looks the target's name up. What it may reach is its own policy; ours judges only the
//! addresses that the configuration spells out.

mod head;
#[cfg(test)]
mod tests;

use std::net::IpAddr;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::address::{AddressPolicy, AddressRefusal, CheckedAddress};
use super::dial::{self, DialError};
use super::host::Host;
use super::resolve::{ResolveError, Resolver};
use head::Head;

/// A proxy, reached over plain TCP: TLS with the target goes through it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    host: Host,
    port: u16,
}

/// Why there is no tunnel. Nothing was sent to the target. No text in it comes from a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProxyError {
    /// The proxy's name leads to an address that no proxy can have.
    #[error("the proxy's address is not allowed: {block}")]
    Address {
        /// The special-use block it lies in.
        block: &'static str,
    },
    /// The connection ended before the head of the proxy's answer did.
    #[error("the proxy closed the connection without a complete answer")]
    Closed,
    /// The deadline came first.
    #[error("the proxy did not open a connection in time")]
    Deadline,
    /// The answer is not HTTP/1, or its head is too large.
    #[error("the proxy's answer is not sound HTTP/1.1, or its head is too large")]
    Malformed,
    /// The proxy's name gives no usable address.
    #[error("the proxy's name could not be looked up")]
    Name,
    /// Any status but a success.
    #[error("the proxy refused the connection to the target with status {status}")]
    Refused {
        /// From 100 to 599, never 2xx.
        status: u16,
    },
    /// No connection to the proxy.
    #[error("the proxy cannot be reached")]
    Unreachable,
}

impl ProxyError {
    /// Whether a connection was opened before this fault: one to the proxy, and perhaps one from it to
    /// the target.
    pub fn connection_opened(self) -> bool {
        match self {
            Self::Address { .. } | Self::Name | Self::Unreachable => false,
            Self::Closed | Self::Deadline | Self::Malformed | Self::Refused { .. } => true,
        }
    }
}

impl Proxy {
    /// The proxy at `host` and `port`. It may live at any address that a target could declare: the
    /// configuration names it, and it is usually inside.
    ///
    /// # Errors
    /// [`AddressRefusal`] of a literal address that no host can have.
    pub fn new(host: Host, port: u16) -> Result<Self, AddressRefusal> {
        if let Host::Address(address) = host {
            AddressPolicy::of_proxy().check(address)?;
        }
        Ok(Self { host, port })
    }

    /// A connection to `host` and `port` that ends at the proxy, and the proxy's address.
    pub(super) async fn tunnel(
        &self,
        resolver: &Resolver,
        host: &Host,
        port: u16,
        deadline: Instant,
    ) -> Result<(TcpStream, CheckedAddress), ProxyError> {
        let addresses = match &self.host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => resolver.resolve(name, deadline).await?,
        };
        let (mut stream, reached) = dial::dial(&allowed(&addresses)?, self.port, deadline).await?;
        let asked = timeout_at(deadline, ask(&mut stream, host, port));
        match asked.await.map_err(|_| ProxyError::Deadline)?? {
            200..=299 => Ok((stream, reached)),
            status => Err(ProxyError::Refused { status }),
        }
    }
}

fn allowed(addresses: &[IpAddr]) -> Result<Vec<CheckedAddress>, ProxyError> {
    super::check_all(&AddressPolicy::of_proxy(), addresses)
        .map_err(|AddressRefusal { block }| ProxyError::Address { block })
}

/// Sends the request, which has no body and carries no credential, and reads the head of the answer.
async fn ask<S>(stream: &mut S, host: &Host, port: u16) -> Result<u16, ProxyError>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|_| ProxyError::Closed)?;
    let mut head = Head::default();
    loop {
        // One byte at a time: whatever follows the head is for the session with the target to judge.
        let byte = stream.read_u8().await.map_err(|_| ProxyError::Closed)?;
        if let Some(status) = head.push(byte)? {
            return Ok(status);
        }
    }
}

impl From<ResolveError> for ProxyError {
    fn from(_: ResolveError) -> Self {
        Self::Name
    }
}

impl From<DialError> for ProxyError {
    fn from(fault: DialError) -> Self {
        match fault {
            DialError::OtherPeer | DialError::Socket => Self::Closed,
            DialError::Deadline | DialError::NoAddress | DialError::Refused | DialError::Unreachable => {
                Self::Unreachable
            }
        }
    }
}
