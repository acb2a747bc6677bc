//! Address prefixes. Belongs here: the text form of a prefix, and containment. Must not: know which
//! prefixes are special.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// An IPv4 or IPv6 prefix in CIDR notation. IPv4 and IPv4-mapped IPv6 are different things here.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct IpRange {
    first: IpAddr,
    prefix: u8,
}

/// What is wrong with the text of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RangeSyntax {
    /// The address part is not an address in its canonical spelling.
    #[error("the part before `/` is not an IP address in its usual spelling")]
    Address,
    /// The length is missing, not a plain number, or too large.
    #[error("write a prefix length after `/`: 0 to 32 for IPv4, 0 to 128 for IPv6")]
    Prefix,
    /// Bits after the prefix are set.
    #[error("the address has bits set beyond its prefix length")]
    HostBits,
}

impl IpRange {
    /// An IPv4 prefix for a constant table.
    pub(super) const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Self {
        Self { first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)), prefix }
    }

    /// An IPv6 prefix for a constant table.
    pub(super) const fn v6(segments: [u16; 8], prefix: u8) -> Self {
        let [a, b, c, d, e, f, g, h] = segments;
        Self { first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)), prefix }
    }

    /// The first address.
    pub fn first(self) -> IpAddr {
        self.first
    }

    /// The length of the prefix, in bits.
    #[cfg(test)]
    pub(super) fn prefix(self) -> u8 {
        self.prefix
    }

    /// Whether `address`, of the same family, has this prefix.
    pub fn contains(self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => {
                let distance = first.to_bits() ^ address.to_bits();
                distance.checked_shr(32_u32.saturating_sub(self.prefix.into())).unwrap_or(0) == 0
            }
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                let distance = first.to_bits() ^ address.to_bits();
                distance.checked_shr(128_u32.saturating_sub(self.prefix.into())).unwrap_or(0) == 0
            }
            _ => false,
        }
    }

    /// Whether every address of `other` is in this range.
    pub fn contains_range(self, other: Self) -> bool {
        self.prefix <= other.prefix && self.contains(other.first)
    }
}

impl FromStr for IpRange {
    type Err = RangeSyntax;

    fn from_str(text: &str) -> Result<Self, RangeSyntax> {
        let (address, length) = text.split_once('/').ok_or(RangeSyntax::Prefix)?;
        let first: IpAddr = address.parse().map_err(|_| RangeSyntax::Address)?;
        if first.to_string() != address {
            return Err(RangeSyntax::Address);
        }
        let prefix: u8 = length.parse().map_err(|_| RangeSyntax::Prefix)?;
        let (bits, widest) = match first {
            IpAddr::V4(first) => (u128::from(first.to_bits()), 32_u8),
            IpAddr::V6(first) => (first.to_bits(), 128),
        };
        if prefix > widest || prefix.to_string() != length {
            return Err(RangeSyntax::Prefix);
        }
        let free = u32::from(widest.saturating_sub(prefix));
        if free > 0 && bits.trailing_zeros() < free {
            return Err(RangeSyntax::HostBits);
        }
        Ok(Self { first, prefix })
    }
}

impl fmt::Display for IpRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.first, self.prefix)
    }
}

impl fmt::Debug for IpRange {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
