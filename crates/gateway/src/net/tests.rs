//! The way to a socket, over loopback: a stub name server that counts, real sockets, real
//! certificates. Refusals first.

mod dialling;
mod hostile_dns;
mod hosts;
mod look_up;
mod shared_urls;
mod transport;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use tokio::time::Instant;

use super::address::{AddressPolicy, IpRange};
use super::host::{DnsName, Host};

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// Far enough that only a hang reaches it.
fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

fn name(text: &str) -> DnsName {
    match text.parse() {
        Ok(Host::Name(name)) => name,
        other => panic!("{text}: {other:?}"),
    }
}

/// For a target that declares 127.0.0.0/8.
fn loopback_policy() -> AddressPolicy {
    let range: IpRange = "127.0.0.0/8".parse().unwrap();
    AddressPolicy::new(vec![range]).unwrap()
}
