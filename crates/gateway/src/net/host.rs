//! The host of an origin in the configuration. Belongs here: one spelling for each host, all others
//! refused. Must not: resolve, or know schemes and ports.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;

/// A host as an origin names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Host {
    /// An IP address, written as in a URL: IPv6 in brackets.
    Address(IpAddr),
    /// A name to look up.
    Name(DnsName),
}

/// A lower-case name of letters, digits and hyphens (RFC 1123 section 2.1), without a final dot, of
/// at least two labels, at most 253 characters. Never an address, and never a `localhost` name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DnsName {
    text: String,
}

/// Why a host is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HostFault {
    /// It reads like an address in another spelling than the usual one.
    #[error("write an IP address in its usual spelling, IPv6 in brackets")]
    AddressSpelling,
    /// `localhost`: what it means depends on the machine.
    #[error("write 127.0.0.1 or [::1] instead of a `localhost` name")]
    Localhost,
    /// A character, a length or a hyphen that a host name cannot have.
    #[error("a host name has lower-case letters, digits and hyphens, in labels of at most 63 characters")]
    NameSpelling,
    /// One label only: it would depend on a search list, which is never used.
    #[error("write the full host name: search domains are not used")]
    SingleLabel,
}

impl DnsName {
    /// The name, without a final dot.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl FromStr for Host {
    type Err = HostFault;

    fn from_str(text: &str) -> Result<Self, HostFault> {
        if let Some(inner) = text.strip_prefix('[') {
            let inner = inner.strip_suffix(']').ok_or(HostFault::AddressSpelling)?;
            let address: Ipv6Addr = inner.parse().map_err(|_| HostFault::AddressSpelling)?;
            return canonical(address.into(), inner);
        }
        if let Ok(IpAddr::V4(address)) = text.parse() {
            return canonical(address.into(), text);
        }
        if text.contains(':') || ends_in_number(text) {
            return Err(HostFault::AddressSpelling);
        }
        name(text).map(Self::Name)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(IpAddr::V6(address)) => write!(formatter, "[{address}]"),
            Self::Address(address) => write!(formatter, "{address}"),
            Self::Name(name) => formatter.write_str(name.as_str()),
        }
    }
}

fn canonical(address: IpAddr, text: &str) -> Result<Host, HostFault> {
    if address.to_string() == text { Ok(Host::Address(address)) } else { Err(HostFault::AddressSpelling) }
}

/// Whether a URL parser would take `text` for an IPv4 address (WHATWG URL, "ends in a number"):
/// `127.1`, `0x7f000001`, `2130706433`.
fn ends_in_number(text: &str) -> bool {
    let text = text.strip_suffix('.').unwrap_or(text);
    let last = text.rsplit('.').next().unwrap_or_default();
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let hexadecimal = |part: &str| {
        let rest = part.strip_prefix("0x").or_else(|| part.strip_prefix("0X"));
        rest.is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    digits(last) || hexadecimal(last)
}

fn name(text: &str) -> Result<DnsName, HostFault> {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_label = |label: &str| {
        matches!(label.len(), 1..=63)
            && label.bytes().all(allowed)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if text.len() > 253 || !text.split('.').all(is_label) {
        return Err(HostFault::NameSpelling);
    }
    if text == "localhost" || text.ends_with(".localhost") {
        return Err(HostFault::Localhost);
    }
    if !text.contains('.') {
        return Err(HostFault::SingleLabel);
    }
    Ok(DnsName { text: text.to_owned() })
}
