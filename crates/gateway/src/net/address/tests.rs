//! The address policy: every block inside and just outside, metadata inside declared ranges, what
//! a range may declare, and the shared tables.

use serde_json::Value;

use super::*;
use crate::net::tests::shared;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn range(text: &str) -> IpRange {
    text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"))
}

fn declared(ranges: &[&str]) -> AddressPolicy {
    AddressPolicy::new(ranges.iter().map(|text| range(text)).collect()).unwrap()
}

fn allows(policy: &AddressPolicy, text: &str) -> bool {
    policy.check(address(text)).is_ok_and(|checked| checked.address() == address(text))
}

#[test]
fn public_addresses() {
    for text in [
        "1.1.1.1",
        "8.8.8.8",
        "93.184.215.14",
        "126.255.255.255",
        "128.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "100.63.255.255",
        "100.128.0.0",
        "2000::",
        "2001:200::",
        "2003::",
        "2606:4700::1",
        "2a00:1450::1",
        "3ffd:ffff::",
        "3fff:1000::",
    ] {
        assert_eq!(classify(address(text)), Class::Public, "{text}");
        assert!(allows(&AddressPolicy::default(), text));
    }
}

#[test]
fn special_addresses_by_name() {
    for (text, class) in [
        ("0.0.0.0", Class::Never("this host on this network")),
        ("0.1.2.3", Class::Never("this network")),
        ("10.0.0.1", Class::Declarable("private use")),
        ("100.64.0.1", Class::Declarable("shared address space")),
        ("100.100.100.200", Class::Never("instance metadata")),
        ("127.255.255.255", Class::Declarable("loopback")),
        ("168.63.129.16", Class::Never("cloud platform endpoint")),
        ("169.254.1.1", Class::Never("link-local")),
        ("169.254.169.254", Class::Never("instance metadata")),
        ("172.31.255.255", Class::Declarable("private use")),
        ("192.168.1.1", Class::Declarable("private use")),
        ("192.88.99.1", Class::Never("6to4 relay anycast")),
        ("224.0.0.1", Class::Never("multicast")),
        ("250.0.0.1", Class::Never("reserved")),
        ("255.255.255.255", Class::Never("limited broadcast")),
        ("::", Class::Never("unspecified")),
        ("::1", Class::Declarable("loopback")),
        ("::7f00:1", Class::Never("IPv4-compatible")),
        ("::ffff:127.0.0.1", Class::Never("IPv4-mapped")),
        ("::ffff:8.8.8.8", Class::Never("IPv4-mapped")),
        ("::ffff:0:8.8.8.8", Class::Never("IPv4-translated")),
        ("64:ff9b::8.8.8.8", Class::Never("NAT64")),
        ("64:ff9b:1::a9fe:a9fe", Class::Never("NAT64 local use")),
        ("2001:0:1::1", Class::Never("Teredo")),
        ("2002:808:808::1", Class::Never("6to4")),
        ("2001:db8::1", Class::Never("documentation")),
        ("fd00:ec2::254", Class::Never("instance metadata")),
        ("fd00:ec2::253", Class::Declarable("unique local")),
        ("fe80::1", Class::Never("link-local")),
        ("4000::1", Class::Never("IPv6 that is not allocated as global unicast")),
        ("1::1", Class::Never("IPv6 that is not allocated as global unicast")),
    ] {
        assert_eq!(classify(address(text)), class, "{text}");
        assert!(!allows(&AddressPolicy::default(), text), "{text}");
    }
}

#[test]
fn a_declared_target_lives_in_its_ranges_only() {
    let policy = declared(&["10.1.0.0/16", "fd12:3456::/32"]);
    for inside in ["10.1.0.0", "10.1.255.255", "fd12:3456::1"] {
        assert!(allows(&policy, inside), "{inside}");
    }
    for outside in ["10.0.255.255", "10.2.0.0", "192.168.0.1", "fd12:3457::", "127.0.0.1", "8.8.8.8"] {
        assert!(!allows(&policy, outside), "{outside}");
    }
    assert!(!allows(&policy, "::ffff:10.1.0.1"));
    let narrowed = declared(&["93.184.215.0/24"]);
    assert!(allows(&narrowed, "93.184.215.14"));
    assert!(!allows(&narrowed, "93.184.216.14"));
}

#[test]
fn metadata_is_refused_inside_declared_ranges() {
    let policy = declared(&["100.64.0.0/10", "fc00::/7", "fd00:ec2::/32"]);
    for text in ["100.100.100.200", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254"] {
        assert!(!allows(&policy, text), "{text}");
    }
    assert!(allows(&policy, "100.100.100.201") && allows(&policy, "fd00:ec2::24"));
}

#[test]
fn plain_loopback_is_loopback_only() {
    let policy = AddressPolicy::default().with_plain_loopback();
    assert!(allows(&policy, "127.0.0.1") && allows(&policy, "127.9.9.9") && allows(&policy, "::1"));
    for text in ["8.8.8.8", "10.0.0.1", "::ffff:127.0.0.1", "0.0.0.0", "::"] {
        assert!(!allows(&policy, text), "{text}");
    }
}

#[test]
fn the_refusal_names_the_block_and_not_the_address() {
    let refusal = AddressPolicy::default().check(address("169.254.169.254")).unwrap_err();
    assert_eq!(refusal.to_string(), "the target's address is not allowed: instance metadata");
}

#[test]
fn ranges_that_cannot_be_meant_are_refused() {
    for text in [
        "0.0.0.0/0",
        "::/0",
        "2000::/3",
        "10.0.0.0/7",
        "0.0.0.0/8",
        "169.254.0.0/16",
        "169.254.169.254/32",
        "169.254.7.0/24",
        "224.0.0.0/4",
        "240.0.0.0/8",
        "fe80::/10",
        "::/96",
        "::ffff:0.0.0.0/96",
        "::ffff:10.0.0.0/104",
        "64:ff9b::/96",
        "2002::/16",
        "4000::/3",
        "1::/64",
        "192.0.2.0/24",
        "100.100.100.200/32",
        "fd00:ec2::254/128",
        "168.63.0.0/16",
        "8000::/1",
    ] {
        assert!(AddressPolicy::new(vec![range(text)]).is_err(), "{text}");
    }
    for text in [
        "10.0.0.0/8",
        "127.0.0.0/8",
        "127.0.0.1/32",
        "::1/128",
        "192.168.7.0/24",
        "fc00::/7",
        "100.64.0.0/10",
        "198.18.0.0/15",
        "8.8.8.0/24",
        "2606:4700::/32",
    ] {
        assert!(AddressPolicy::new(vec![range(text)]).is_ok(), "{text}");
    }
}

#[test]
fn range_texts() {
    for (text, fault) in [
        ("10.0.0.0", RangeSyntax::Prefix),
        ("10.0.0.0/", RangeSyntax::Prefix),
        ("10.0.0.0/33", RangeSyntax::Prefix),
        ("10.0.0.0/08", RangeSyntax::Prefix),
        ("10.0.0.0/+8", RangeSyntax::Prefix),
        ("10.0.0.0/8/8", RangeSyntax::Prefix),
        ("fc00::/129", RangeSyntax::Prefix),
        ("10.0/8", RangeSyntax::Address),
        ("010.0.0.0/8", RangeSyntax::Address),
        ("FC00::/7", RangeSyntax::Address),
        ("fc00:0::/7", RangeSyntax::Address),
        ("[fc00::]/7", RangeSyntax::Address),
        ("fe80::%1/10", RangeSyntax::Address),
        ("10.0.0.1/8", RangeSyntax::HostBits),
        ("0.0.0.1/0", RangeSyntax::HostBits),
        ("fc00::1/127", RangeSyntax::HostBits),
    ] {
        assert_eq!(text.parse::<IpRange>(), Err(fault), "{text}");
    }
    for text in ["0.0.0.0/0", "10.0.0.0/8", "10.0.0.1/32", "::/0", "fc00::/7", "::1/128"] {
        assert_eq!(range(text).to_string(), text);
    }
}

/// The table is read from the top: a narrower block below a wider one would never be seen.
#[test]
fn narrower_blocks_come_first() {
    for (index, wide) in blocks::BLOCKS.iter().enumerate() {
        for narrow in &blocks::BLOCKS[index + 1..] {
            assert!(!wide.range.contains_range(narrow.range), "{narrow:?} is hidden by {wide:?}");
        }
    }
}

/// The first and the last address of a range.
fn ends(range: IpRange) -> (IpAddr, IpAddr) {
    let free = |width: u8| u32::from(width - range.prefix());
    let last = match range.first() {
        IpAddr::V4(first) => {
            let host_bits = u32::MAX.checked_shr(32 - free(32)).unwrap_or(0);
            IpAddr::from((first.to_bits() | host_bits).to_be_bytes())
        }
        IpAddr::V6(first) => {
            let host_bits = u128::MAX.checked_shr(128 - free(128)).unwrap_or(0);
            IpAddr::from((first.to_bits() | host_bits).to_be_bytes())
        }
    };
    (range.first(), last)
}

/// The addresses right before and after a range, where there are any.
fn neighbours(range: IpRange) -> Vec<IpAddr> {
    let step = |address: IpAddr, up: bool| match address {
        IpAddr::V4(address) => {
            let bits = address.to_bits();
            let next = if up { bits.checked_add(1) } else { bits.checked_sub(1) };
            next.map(|bits| IpAddr::from(bits.to_be_bytes()))
        }
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            let next = if up { bits.checked_add(1) } else { bits.checked_sub(1) };
            next.map(|bits| IpAddr::from(bits.to_be_bytes()))
        }
    };
    let (first, last) = ends(range);
    [step(first, false), step(last, true)].into_iter().flatten().collect()
}

/// The ranges that one shared row speaks of. One row names a block and "every other one outside of
/// 2000::/3", which is the eighths of the space that no other row splits.
fn ranges_of(row: &Value) -> Vec<IpRange> {
    let block = row["block"].as_str().unwrap();
    if block.starts_with("4000::/3 and every other block") {
        return ["4000::/3", "6000::/3", "8000::/3", "a000::/3", "c000::/3"].map(range).to_vec();
    }
    let (first, prefix) = block.split_once('/').unwrap();
    vec![range(&format!("{}/{prefix}", address(first)))]
}

#[test]
fn every_shared_block_inside_and_just_outside() {
    let Some(rows) = shared::<Value>("special_use_ranges.json") else {
        return;
    };
    let rows = rows.as_array().unwrap();
    let blocks: Vec<IpRange> = rows.iter().flat_map(ranges_of).collect();
    let undeclared = AddressPolicy::default();
    let (mut inside, mut outside) = (0, 0);
    let mut failures = Vec::new();
    for row in rows {
        let listed = |field: &str| -> Vec<IpAddr> {
            let list = row[field].as_array().unwrap().iter();
            list.map(|text| address(text.as_str().unwrap())).collect()
        };
        let may_declare = row["verdict_when_target_declares_it"] == "allow";
        assert_eq!(row["verdict_public_target"], "deny");
        for range in ranges_of(row) {
            let (first, last) = ends(range);
            let policy = AddressPolicy::new(vec![range]);
            if policy.is_ok() != may_declare {
                failures.push(format!("{range}: declared gives {policy:?}"));
            }
            for address in [vec![first, last], listed("inside")].concat() {
                inside += 1;
                assert!(range.contains(address), "{range}: {address}");
                if undeclared.check(address).is_ok() {
                    failures.push(format!("{range}: {address} is allowed undeclared"));
                }
                // The ends of a block that may be declared are in no narrower block.
                if policy.as_ref().is_ok_and(|policy| policy.check(address).is_err()) {
                    failures.push(format!("{range}: {address} is refused to a target that declares it"));
                }
            }
            for address in [neighbours(range), listed("just_outside")].concat() {
                outside += 1;
                assert!(!range.contains(address), "{range}: {address}");
                let in_another = blocks.iter().any(|other| other.contains(address));
                let allocated = address.is_ipv4() || self::range("2000::/3").contains(address);
                if undeclared.check(address).is_ok() != (allocated && !in_another) {
                    failures.push(format!("{range}: outside, {address}: {:?}", classify(address)));
                }
                if policy.as_ref().is_ok_and(|policy| policy.check(address).is_ok()) {
                    failures.push(format!("{range}: {address} is allowed to a target that declares it"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(rows.len(), 70, "every row was run");
    assert!(inside >= 240 && outside >= 240, "{inside} inside, {outside} outside");
}
