//! Name look-up. Belongs here: which name servers are asked, one look-up for one action, and its
//! bounds. Must not: judge the answers, keep them, or read anything but the configured servers'
//! addresses.
//!
//! The hosts file, search domains, the options of `resolv.conf` and the variables that change a
//! system resolver (`RES_OPTIONS`, `LOCALDOMAIN`, `HOSTALIASES`) have no effect. Names are absolute.
//! Each look-up uses a resolver of its own, so that no answer crosses from one target to another.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolveHosts, ResolverConfig,
    ServerOrderingStrategy,
};
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::net::{DnsError, NetError};
use hickory_resolver::proto::op::ResponseCode;
use hickory_resolver::proto::rr::Name;
use tokio::time::{Instant, timeout_at};

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
    /// No server answered.
    #[error("no name server answered")]
    NoAnswer,
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

    fn from_file(path: &Path) -> Result<Self, NameServerFault> {
        const LIMIT: u64 = 64 * 1024;
        let unreadable = |_| NameServerFault::Unreadable;
        let file = std::fs::File::open(path).map_err(unreadable)?;
        let mut text = String::new();
        file.take(LIMIT)
            .read_to_string(&mut text)
            .map_err(unreadable)?;
        Self::new(name_servers(&text)?)
    }

    /// The addresses of `name`: one query for A and one for AAAA records, at the same time. IPv4
    /// comes first. Nothing is cached.
    ///
    /// # Errors
    /// [`ResolveError`], within `deadline`.
    pub async fn resolve(
        &self,
        name: &DnsName,
        deadline: Instant,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        let mut absolute = Name::from_ascii(name.as_str()).map_err(|_| ResolveError::Malformed)?;
        absolute.set_fqdn(true);
        let resolver = self.fresh().map_err(|fault| reason(&fault))?;
        let lookup = timeout_at(deadline, resolver.lookup_ip(absolute))
            .await
            .map_err(|_| ResolveError::Deadline)?
            .map_err(|fault| reason(&fault))?;
        let mut addresses = Vec::new();
        for address in lookup.iter() {
            if addresses.len() >= Self::MAX_ADDRESSES {
                return Err(ResolveError::TooManyAddresses);
            }
            addresses.push(address);
        }
        if addresses.is_empty() {
            return Err(ResolveError::NoAddress);
        }
        Ok(addresses)
    }

    /// One resolver for one look-up. Every setting that could reach outside is named here.
    fn fresh(&self) -> Result<TokioResolver, NetError> {
        let servers = self.servers.iter().map(|server| {
            let connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
            let at_port = |mut connection: ConnectionConfig| {
                connection.port = server.port();
                connection
            };
            NameServerConfig::new(server.ip(), true, connections.map(at_port).into())
        });
        let config = ResolverConfig::from_parts(None, Vec::new(), servers.collect());
        let mut builder =
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
        let options = builder.options_mut();
        options.use_hosts_file = ResolveHosts::Never;
        options.cache_size = 0;
        options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
        options.server_ordering_strategy = ServerOrderingStrategy::UserProvidedOrder;
        options.num_concurrent_reqs = 1;
        options.attempts = 1;
        options.timeout = Duration::from_secs(2);
        builder.build()
    }
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
        let address: IpAddr = words
            .next()
            .and_then(|word| word.parse().ok())
            .ok_or(NameServerFault::Line { line: number })?;
        servers.push(SocketAddr::new(address, DNS_PORT));
    }
    Ok(servers)
}

/// The library's errors hold names and records from the answer; none of that goes on.
fn reason(fault: &NetError) -> ResolveError {
    match fault {
        NetError::Timeout | NetError::Io(_) | NetError::NoConnections | NetError::Busy => {
            ResolveError::NoAnswer
        }
        NetError::Dns(DnsError::NoRecordsFound(absent)) => match absent.response_code {
            ResponseCode::NXDomain => ResolveError::NoSuchName,
            ResponseCode::NoError => ResolveError::NoAddress,
            _ => ResolveError::ServerFailure,
        },
        NetError::Dns(DnsError::ResponseCode(_)) => ResolveError::ServerFailure,
        _ => ResolveError::Malformed,
    }
}
