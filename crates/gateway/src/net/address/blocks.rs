//! The special-use blocks. Belongs here: the table, narrower blocks before the wider ones that hold
//! them, and the rule for IPv6 outside of 2000::/3. Must not: know targets.
//!
//! From the IANA IPv4 and IPv6 Special-Purpose Address Registries (RFC 6890, as of 2026-09), all of
//! their rows, also those marked globally reachable: no API lives there. Then multicast, blocks
//! returned or deprecated, and the addresses at which clouds hand out credentials, which are in no
//! registry.

use std::net::IpAddr;

use super::IpRange;

/// Whether a target may declare a block as its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Declarable,
    Never,
}

/// One special-use block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) range: IpRange,
    pub(super) name: &'static str,
    pub(super) declarable: Use,
}

/// The narrowest listed block, or the one unlisted: IPv6 outside of 2000::/3.
pub(super) fn block_of(address: IpAddr) -> Option<&'static Block> {
    let listed = BLOCKS.iter().find(|block| block.range.contains(address));
    let unallocated = || {
        let outside = address.is_ipv6() && !GLOBAL_UNICAST.contains(address);
        outside.then_some(&NOT_GLOBAL_UNICAST)
    };
    listed.or_else(unallocated)
}

/// Whether a block is a hole in a declarable one, as the metadata addresses in private ranges are.
pub(super) fn is_inside_declarable(block: &Block) -> bool {
    BLOCKS.iter().any(|outer| {
        outer.declarable == Use::Declarable
            && outer.range != block.range
            && outer.range.contains_range(block.range)
    })
}

const fn never(range: IpRange, name: &'static str) -> Block {
    Block { range, name, declarable: Use::Never }
}

const fn declarable(range: IpRange, name: &'static str) -> Block {
    Block { range, name, declarable: Use::Declarable }
}

const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> IpRange {
    IpRange::v4(a, b, c, d, prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> IpRange {
    IpRange::v6(segments, prefix)
}

const GLOBAL_UNICAST: IpRange = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

static NOT_GLOBAL_UNICAST: Block = never(v6([0; 8], 0), "IPv6 that is not allocated as global unicast");

pub(super) static BLOCKS: &[Block] = &[
    // Where clouds hand out credentials and settings.
    never(v4(169, 254, 169, 254, 32), "instance metadata"),
    never(v4(169, 254, 170, 2, 32), "container credentials"),
    never(v4(169, 254, 170, 23, 32), "pod identity"),
    never(v4(169, 254, 25, 10, 32), "node-local DNS cache"),
    never(v4(100, 100, 100, 200, 32), "instance metadata"),
    never(v4(168, 63, 129, 16, 32), "cloud platform endpoint"),
    never(v4(192, 0, 0, 192, 32), "instance metadata"),
    never(v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128), "instance metadata"),
    never(v6([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23], 128), "pod identity"),
    never(v6([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128), "instance metadata"),
    never(v6([0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe], 128), "instance metadata"),
    // IPv4.
    never(v4(0, 0, 0, 0, 32), "this host on this network"),
    never(v4(0, 0, 0, 0, 8), "this network"),
    declarable(v4(10, 0, 0, 0, 8), "private use"),
    declarable(v4(100, 64, 0, 0, 10), "shared address space"),
    declarable(v4(127, 0, 0, 0, 8), "loopback"),
    never(v4(169, 254, 0, 0, 16), "link-local"),
    declarable(v4(172, 16, 0, 0, 12), "private use"),
    never(v4(192, 0, 0, 8, 32), "IPv4 dummy address"),
    never(v4(192, 0, 0, 9, 32), "port control protocol anycast"),
    never(v4(192, 0, 0, 10, 32), "TURN anycast"),
    never(v4(192, 0, 0, 170, 31), "NAT64 discovery"),
    never(v4(192, 0, 0, 0, 29), "IPv4 service continuity"),
    never(v4(192, 0, 0, 0, 24), "IETF protocol assignments"),
    never(v4(192, 0, 2, 0, 24), "documentation"),
    never(v4(192, 31, 196, 0, 24), "AS112"),
    never(v4(192, 52, 193, 0, 24), "AMT"),
    never(v4(192, 88, 99, 2, 32), "6a44 relay anycast"),
    never(v4(192, 88, 99, 0, 24), "6to4 relay anycast"),
    declarable(v4(192, 168, 0, 0, 16), "private use"),
    never(v4(192, 175, 48, 0, 24), "AS112 direct delegation"),
    declarable(v4(198, 18, 0, 0, 15), "benchmarking"),
    never(v4(198, 51, 100, 0, 24), "documentation"),
    never(v4(203, 0, 113, 0, 24), "documentation"),
    never(v4(224, 0, 0, 0, 4), "multicast"),
    never(v4(255, 255, 255, 255, 32), "limited broadcast"),
    never(v4(240, 0, 0, 0, 4), "reserved"),
    // IPv6 that embeds an IPv4 address, whatever that address is.
    declarable(v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback"),
    never(v6([0; 8], 128), "unspecified"),
    never(v6([0; 8], 96), "IPv4-compatible"),
    never(v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), "IPv4-mapped"),
    never(v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), "IPv4-translated"),
    never(v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96), "NAT64"),
    never(v6([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "NAT64 local use"),
    never(v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 32), "Teredo"),
    never(v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4"),
    // The other IPv6 blocks.
    never(v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64), "discard only"),
    never(v6([0x100, 0, 0, 1, 0, 0, 0, 0], 64), "dummy prefix"),
    never(v6([0x200, 0, 0, 0, 0, 0, 0, 0], 7), "formerly NSAP-mapped"),
    never(v6([0x2001, 1, 0, 0, 0, 0, 0, 1], 128), "port control protocol anycast"),
    never(v6([0x2001, 1, 0, 0, 0, 0, 0, 2], 128), "TURN anycast"),
    never(v6([0x2001, 1, 0, 0, 0, 0, 0, 3], 128), "service registration anycast"),
    never(v6([0x2001, 2, 0, 0, 0, 0, 0, 0], 48), "benchmarking"),
    never(v6([0x2001, 3, 0, 0, 0, 0, 0, 0], 32), "AMT"),
    never(v6([0x2001, 4, 0x112, 0, 0, 0, 0, 0], 48), "AS112"),
    never(v6([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28), "ORCHID"),
    never(v6([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28), "ORCHIDv2"),
    never(v6([0x2001, 0x30, 0, 0, 0, 0, 0, 0], 28), "drone remote identification"),
    never(v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "IETF protocol assignments"),
    never(v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32), "documentation"),
    never(v6([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48), "AS112 direct delegation"),
    never(v6([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16), "6bone"),
    never(v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "documentation"),
    never(v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), "segment routing"),
    declarable(v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "unique local"),
    never(v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local"),
    never(v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local"),
    never(v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast"),
];
