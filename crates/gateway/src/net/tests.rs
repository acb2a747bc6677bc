//! The way to a socket, over loopback: a stub name server that counts, real sockets, real
//! certificates. Refusals first.

mod dialling;
mod hostile_dns;
mod hosts;
mod look_up;
mod shared_urls;
mod transport;

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::time::Duration;

use serde::de::DeserializeOwned;
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

/// The shared cases of this name.
pub(super) fn shared<T: DeserializeOwned>(name: &str) -> Option<T> {
    let Some(root) = std::env::var_os("FRAMEGATE_SHARED") else {
        eprintln!("SKIPPED: {name}: FRAMEGATE_SHARED is not set");
        return None;
    };
    let path = PathBuf::from(root).join("cases").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    Some(serde_json::from_str(&text).expect("shared cases are JSON"))
}
