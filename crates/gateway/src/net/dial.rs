//! Dialling. Belongs here: a TCP connection to an address that was checked, and the proof that it
//! is the one. Must not: take a name or an unchecked address.

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use super::address::CheckedAddress;

/// Why there is no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// The deadline came first.
    #[error("the target did not accept a connection in time")]
    Deadline,
    /// There was no address to dial.
    #[error("the target has no address")]
    NoAddress,
    /// The connected peer is not the address that was dialled.
    #[error("the connection ends at another address than the one that was checked")]
    OtherPeer,
    /// Every address refused.
    #[error("the target refuses connections")]
    Refused,
    /// A connection was opened and its socket then failed.
    #[error("the connection failed as soon as it was opened")]
    Socket,
    /// No way to the target.
    #[error("the target cannot be reached")]
    Unreachable,
}

impl DialError {
    /// Whether a connection was opened before this fault. Nothing was sent over it.
    pub fn connection_opened(self) -> bool {
        match self {
            Self::OtherPeer | Self::Socket => true,
            Self::Deadline | Self::NoAddress | Self::Refused | Self::Unreachable => false,
        }
    }
}

/// Connects to the first of `addresses` that accepts, in order. Each gets an equal share of the
/// time that is left, so that one dead address does not use up the deadline.
///
/// # Errors
/// [`DialError`] of the last address tried. A connection that opens and then fails is the end: no
/// other address is tried after it.
pub async fn dial(
    addresses: &[CheckedAddress],
    port: u16,
    deadline: Instant,
) -> Result<(TcpStream, CheckedAddress), DialError> {
    let mut last = DialError::NoAddress;
    let left = (1..=addresses.len()).rev();
    for (checked, left) in addresses.iter().zip(left) {
        match attempt(*checked, port, share(deadline, left)).await {
            Ok(stream) => return Ok((stream, *checked)),
            Err(fault) if fault.connection_opened() => return Err(fault),
            Err(fault) => last = fault,
        }
    }
    Err(last)
}

async fn attempt(checked: CheckedAddress, port: u16, deadline: Instant) -> Result<TcpStream, DialError> {
    let peer = SocketAddr::new(checked.address(), port);
    let stream = timeout_at(deadline, TcpStream::connect(peer))
        .await
        .map_err(|_| DialError::Deadline)?
        .map_err(|fault| reason(&fault))?;
    let reached = stream.peer_addr().map_err(|_| DialError::Socket)?;
    let local = stream.local_addr().map_err(|_| DialError::Socket)?;
    if !is_dialled(peer, reached, local) {
        return Err(DialError::OtherPeer);
    }
    stream.set_nodelay(true).map_err(|_| DialError::Socket)?;
    Ok(stream)
}

/// Whether the socket ends where it was dialled to. A dial to an unused local port can connect to
/// itself (RFC 9293 section 3.5).
fn is_dialled(dialled: SocketAddr, reached: SocketAddr, local: SocketAddr) -> bool {
    reached == dialled && local != dialled
}

/// The end of this attempt's share of the time, when `left` addresses have still to be tried.
fn share(deadline: Instant, left: usize) -> Instant {
    let now = Instant::now();
    let remaining = deadline.saturating_duration_since(now);
    let parts = u32::try_from(left).unwrap_or(u32::MAX).max(1);
    remaining.checked_div(parts).and_then(|part| now.checked_add(part)).unwrap_or(deadline)
}

fn reason(fault: &io::Error) -> DialError {
    match fault.kind() {
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset => DialError::Refused,
        io::ErrorKind::TimedOut => DialError::Deadline,
        _ => DialError::Unreachable,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_dialled_peer_will_do() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        let dialled = address("127.0.0.1:443");
        let local = address("127.0.0.1:50000");
        assert!(is_dialled(dialled, dialled, local));
        for other in ["127.0.0.2:443", "127.0.0.1:444", "[::ffff:127.0.0.1]:443"] {
            assert!(!is_dialled(dialled, address(other), local), "{other}");
        }
        assert!(!is_dialled(dialled, dialled, dialled), "a connection to itself");
    }
}
