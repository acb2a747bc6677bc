//! Name look-up. Belongs here: which name servers are asked, one look-up for one action, and its
//! bounds. Must not: judge the addresses, keep them, or read anything but the servers' own.
//!
//! The hosts file, search domains, the options of `resolv.conf` and the variables that change a
//! system resolver (`RES_OPTIONS`, `LOCALDOMAIN`, `HOSTALIASES`) have no effect. Names are absolute
//! and asked for as they are. Nothing is cached, so that no answer crosses from one target to
//! another.
//!
//! The messages are `hickory-proto`'s. Its resolver is not used: it sends a question again on a
//! timer of its own, which no count of look-ups survives, a first server that does not answer uses
//! up the time of the others, and its cache cannot be left out.

mod answer;
mod exchange;
#[cfg(test)]
mod tests;

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hickory_proto::rr::{Name, RecordType};
use tokio::time::Instant;

use super::host::DnsName;

/// Asks the configured name servers, and nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolver {
    servers: Vec<SocketAddr>,
}

/// Why a name gave no addresses. No text in it comes from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// The deadline came first.
    #[error("the name look-up did not end in time")]
    Deadline,
    /// The answer could not be understood, or does not fit the question.
    #[error("the name server's answer is malformed")]
    Malformed,
    /// The name exists and has no address.
    #[error("the target's name has no address")]
    NoAddress,
    /// No server could be reached.
    #[error("no name server can be reached")]
    NoServer,
    /// The name does not exist.
    #[error("the target's name does not exist")]
    NoSuchName,
    /// The servers answered that they cannot or will not look the name up.
    #[error("the name server could not look the name up")]
    ServerFailure,
    /// More addresses than [`Resolver::MAX_ADDRESSES`].
    #[error("the target's name has more than 32 addresses")]
    TooManyAddresses,
}

/// Why there is no list of name servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameServerFault {
    /// A `nameserver` line does not hold a plain IP address.
    #[error("line {line} names no usable name server: write a plain IP address")]
    Line {
        /// Counted from 1.
        line: usize,
    },
    /// There is none.
    #[error("no name server is configured")]
    None,
    /// The file is missing, too large or not text.
    #[error("the system's name server list cannot be read")]
    Unreadable,
}

impl Resolver {
    /// More addresses than this in one look-up are refused.
    pub const MAX_ADDRESSES: usize = 32;

    /// At most this many servers are asked; the rest of a list is ignored, as `resolv.conf(5)` says.
    pub const MAX_SERVERS: usize = 3;

    /// A resolver that asks `servers`, in this order.
    ///
    /// # Errors
    /// [`NameServerFault::None`] if the list is empty.
    pub fn new(servers: impl IntoIterator<Item = SocketAddr>) -> Result<Self, NameServerFault> {
        let servers: Vec<SocketAddr> = servers.into_iter().take(Self::MAX_SERVERS).collect();
        if servers.is_empty() {
            return Err(NameServerFault::None);
        }
        Ok(Self { servers })
    }

    /// A resolver that asks the system's name servers: the `nameserver` lines of
    /// `/etc/resolv.conf`, read once, now.
    ///
    /// # Errors
    /// [`NameServerFault`].
    pub fn system() -> Result<Self, NameServerFault> {
        Self::from_file(Path::new("/etc/resolv.conf"))
    }

    pub(super) fn from_file(path: &Path) -> Result<Self, NameServerFault> {
        const LIMIT: u64 = 64 * 1024;
        let unreadable = |_| NameServerFault::Unreadable;
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut text = String::new();
        let length = file.take(LIMIT).read_to_string(&mut text).map_err(unreadable)?;
        // A cut list would be another list.
        if u64::try_from(length).is_ok_and(|length| length == LIMIT) {
            return Err(NameServerFault::Unreadable);
        }
        Self::new(name_servers(&text)?)
    }

    /// The addresses of `name`, IPv4 first: one question for A and one for AAAA records, at the
    /// same time. A family without an answer does not spoil the other.
    ///
    /// # Errors
    /// [`ResolveError`], within `deadline`.
    pub async fn resolve(&self, name: &DnsName, deadline: Instant) -> Result<Vec<IpAddr>, ResolveError> {
        let mut absolute = Name::from_ascii(name.as_str()).map_err(|_| ResolveError::Malformed)?;
        absolute.set_fqdn(true);
        let (four, six) = tokio::join!(
            self.ask(&absolute, RecordType::A, deadline),
            self.ask(&absolute, RecordType::AAAA, deadline),
        );
        let addresses = match (four, six) {
            (Ok(four), Ok(six)) => [four, six].concat(),
            (Err(ResolveError::TooManyAddresses), _) | (_, Err(ResolveError::TooManyAddresses)) => {
                return Err(ResolveError::TooManyAddresses);
            }
            (Ok(found), Err(_)) | (Err(_), Ok(found)) => found,
            // "No address" is the weaker statement of the two.
            (Err(ResolveError::NoAddress), Err(fault)) | (Err(fault), Err(_)) => {
                return Err(fault);
            }
        };
        if addresses.len() > Self::MAX_ADDRESSES {
            return Err(ResolveError::TooManyAddresses);
        }
        Ok(addresses)
    }

    /// One question, to each server in turn and then once more, until one of them knows.
    async fn ask(
        &self,
        name: &Name,
        kind: RecordType,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        let rounds = self.servers.iter().chain(&self.servers);
        let total = self.servers.len().saturating_mul(2);
        let mut last = ResolveError::Deadline;
        for (server, left) in rounds.zip((1..=total).rev()) {
            match exchange::ask(*server, name, kind, turn(deadline, left)).await {
                Err(
                    fault @ (ResolveError::Deadline
                    | ResolveError::Malformed
                    | ResolveError::NoServer
                    | ResolveError::ServerFailure),
                ) => last = fault,
                settled => return settled,
            }
            if Instant::now() >= deadline {
                return Err(ResolveError::Deadline);
            }
        }
        Err(last)
    }
}

/// The end of this turn, with `left` turns still to go: an equal share of the time, but a server
/// that has said nothing for three seconds is not waited for while there is another.
fn turn(deadline: Instant, left: usize) -> Instant {
    const PATIENCE: Duration = Duration::from_secs(3);
    let now = Instant::now();
    let remaining = deadline.saturating_duration_since(now);
    let share = u32::try_from(left).ok().and_then(|left| remaining.checked_div(left)).unwrap_or(remaining);
    let wait = if left > 1 { share.min(PATIENCE) } else { share };
    now.checked_add(wait).unwrap_or(deadline)
}

/// The servers in the text of a `resolv.conf(5)`. Every other line is ignored.
fn name_servers(text: &str) -> Result<Vec<SocketAddr>, NameServerFault> {
    const DNS_PORT: u16 = 53;
    let mut servers = Vec::new();
    for (line, number) in text.lines().zip(1_usize..) {
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some("nameserver") {
            continue;
        }
        let address: IpAddr =
            words.next().and_then(|word| word.parse().ok()).ok_or(NameServerFault::Line { line: number })?;
        servers.push(SocketAddr::new(address, DNS_PORT));
    }
    Ok(servers)
}
