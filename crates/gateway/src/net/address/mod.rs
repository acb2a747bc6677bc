//! Which addresses an action may reach. Belongs here: the policy of one target or proxy, and the only maker
//! of a [`CheckedAddress`]. Must not: resolve or connect; the blocks themselves are in `blocks.rs`,
//! prefixes in `range.rs`.
//!
//! An undeclared target may live at public addresses only. A target that declares its ranges may
//! live there only. Blocks that no target can mean (metadata services, link-local, anything that
//! embeds an IPv4 address) are refused whatever is declared.

mod blocks;
mod range;

#[cfg(test)]
mod tests;

use std::net::IpAddr;

pub use range::{IpRange, RangeSyntax};

use blocks::{Block, Use};

/// What an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Ordinary global unicast.
    Public,
    /// In a special-use block that a target may declare as its own.
    Declarable(&'static str),
    /// In a block that no target may live in.
    Never(&'static str),
}

/// Classifies `address`. For IPv6, only 2000::/3 without its special-use blocks is public.
pub fn classify(address: IpAddr) -> Class {
    match blocks::block_of(address) {
        None => Class::Public,
        Some(Block { name, declarable: Use::Declarable, .. }) => Class::Declarable(name),
        Some(block) => Class::Never(block.name),
    }
}

/// Where one target may live.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AddressPolicy {
    ranges: Vec<IpRange>,
    plain_loopback: bool,
    /// Whether what a target would have to declare is allowed undeclared.
    inside: bool,
}

/// An address that a policy has allowed. Made by [`AddressPolicy::check`] only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedAddress {
    address: IpAddr,
}

/// An address that the target may not have. It does not hold the address: that came from a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the target's address is not allowed: {block}")]
pub struct AddressRefusal {
    /// The special-use block it lies in, or why else it is refused.
    pub block: &'static str,
}

/// A declared range that cannot be what was meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RangeFault {
    /// It lies in a block that no target may live in.
    #[error("`{range}` can never be allowed: {block}")]
    Never {
        /// The declared range.
        range: IpRange,
        /// The block.
        block: &'static str,
    },
    /// It holds a special-use block and more.
    #[error("`{range}` is too wide: it also holds {block}")]
    TooWide {
        /// The declared range.
        range: IpRange,
        /// The first block that it holds.
        block: &'static str,
    },
}

impl AddressPolicy {
    /// A policy for a target that declares `ranges`; with none, public addresses are allowed. A
    /// range lies within one declarable block, or holds no special-use address at all.
    ///
    /// # Errors
    /// [`RangeFault`], for the configuration.
    pub fn new(ranges: Vec<IpRange>) -> Result<Self, RangeFault> {
        for range in &ranges {
            range_is_sound(*range)?;
        }
        Ok(Self { ranges, ..Self::default() })
    }

    /// The policy of a proxy, which the configuration names and which may live inside: public addresses, and
    /// all that a target could declare.
    pub(super) fn of_proxy() -> Self {
        Self { inside: true, ..Self::default() }
    }

    /// Also allows 127.0.0.0/8 and ::1, for a target that opted in to plain HTTP on loopback.
    #[must_use]
    pub fn with_plain_loopback(mut self) -> Self {
        self.plain_loopback = true;
        self
    }

    /// Allows or refuses one address.
    ///
    /// # Errors
    /// [`AddressRefusal`] with the block's name.
    pub fn check(&self, address: IpAddr) -> Result<CheckedAddress, AddressRefusal> {
        let allowed = Ok(CheckedAddress { address });
        let declared = self.ranges.iter().any(|range| range.contains(address));
        match classify(address) {
            Class::Never(block) => Err(AddressRefusal { block }),
            _ if declared => allowed,
            Class::Declarable(_) if self.inside => allowed,
            // An IPv4-mapped loopback address is in another block, which is never allowed.
            Class::Declarable(_) if self.plain_loopback && address.is_loopback() => allowed,
            Class::Declarable(block) => Err(AddressRefusal { block }),
            Class::Public if self.ranges.is_empty() && !self.plain_loopback => allowed,
            Class::Public => Err(AddressRefusal { block: "outside of the target's declared ranges" }),
        }
    }
}

impl CheckedAddress {
    /// The address.
    pub fn address(self) -> IpAddr {
        self.address
    }
}

fn range_is_sound(range: IpRange) -> Result<(), RangeFault> {
    for block in blocks::BLOCKS {
        let name = block.name;
        if block.range.contains_range(range) {
            return match block.declarable {
                Use::Declarable => Ok(()),
                Use::Never => Err(RangeFault::Never { range, block: name }),
            };
        }
        if range.contains_range(block.range) && !blocks::is_inside_declarable(block) {
            return Err(RangeFault::TooWide { range, block: name });
        }
    }
    match classify(range.first()) {
        Class::Public => Ok(()),
        Class::Declarable(block) | Class::Never(block) => Err(RangeFault::Never { range, block }),
    }
}
