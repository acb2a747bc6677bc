//! The address policy: every block inside and just outside, metadata inside declared ranges, what
//! a range may declare, and the shared tables.

use std::path::PathBuf;

use serde_json::Value;

use super::*;

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

fn shared(name: &str) -> Option<Value> {
    let Some(root) = std::env::var_os("FRAMEGATE_SHARED") else {
        eprintln!("SKIPPED: {name}: FRAMEGATE_SHARED is not set");
        return None;
    };
    let path = PathBuf::from(root).join("cases").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
    Some(serde_json::from_str(&text).expect("shared cases are JSON"))
}

#[test]
fn every_shared_block_inside_and_just_outside() {
    let Some(rows) = shared("special_use_ranges.json") else {
        return;
    };
    let mut seen = 0;
    let mut failures = Vec::new();
    for row in rows.as_array().unwrap() {
        let block = row["block"].as_str().unwrap();
        let texts = |field: &str| -> Vec<String> {
            let list = row[field].as_array().unwrap().iter();
            list.map(|text| text.as_str().unwrap().to_owned()).collect()
        };
        let may_declare = row["verdict_when_target_declares_it"] == "allow";
        for inside in texts("inside") {
            seen += 1;
            let class = classify(address(&inside));
            let expected = matches!(class, Class::Declarable(_)) == may_declare;
            // The base of a block that may be declared is in no narrower block here.
            if class == Class::Public || !expected {
                failures.push(format!("{block}: {inside} is {class:?}"));
            }
        }
        if let Ok(range) = block.parse::<IpRange>() {
            let policy = AddressPolicy::new(vec![range]);
            if policy.is_ok() != may_declare {
                failures.push(format!("{block}: declared gives {policy:?}"));
            }
        }
        for outside in texts("just_outside") {
            seen += 1;
            let in_another = rows.as_array().unwrap().iter().any(|other| {
                let other = other["block"].as_str().unwrap().parse::<IpRange>();
                other.is_ok_and(|other| other.contains(address(&outside)))
            });
            let six = address(&outside).is_ipv6();
            let public = !in_another && (!six || range("2000::/3").contains(address(&outside)));
            if (classify(address(&outside)) == Class::Public) != public {
                failures.push(format!("{block}: outside, {outside}: {:?}", classify(address(&outside))));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(seen >= 200, "only {seen} addresses");
}

/// The resolver's answers of the shared URL cases, as a whole.
#[test]
fn shared_answers_pass_all_or_none() {
    let Some(cases) = shared("ssrf_urls.json") else {
        return;
    };
    let (mut refused, mut allowed) = (0, 0);
    for case in cases.as_array().unwrap() {
        let Some(answers) = case["resolver_answers"].as_array() else {
            continue;
        };
        let answers: Vec<IpAddr> = answers.iter().map(|text| address(text.as_str().unwrap())).collect();
        if answers.is_empty() {
            continue;
        }
        let bad = case["pinned"]["code"] == "resolved_special_use";
        let verdict = crate::net::check_all(&AddressPolicy::default(), &answers);
        assert_eq!(verdict.is_err(), bad, "{}: {answers:?}", case["id"]);
        if bad { refused += 1 } else { allowed += 1 }
    }
    assert!(refused >= 12 && allowed >= 20, "{refused} refused, {allowed} allowed");
}

/// No literal that the shared cases call a hole reaches an address.
#[test]
fn shared_literals_are_refused_as_host_or_as_address() {
    let Some(cases) = shared("ssrf_urls.json") else {
        return;
    };
    let mut seen = 0;
    for case in cases.as_array().unwrap() {
        let url = case["url"].as_str().unwrap();
        let Some(rest) = url.strip_prefix("https://") else {
            continue;
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap();
        let literal = match authority.parse() {
            Ok(crate::net::host::Host::Address(literal)) => literal,
            _ => continue,
        };
        seen += 1;
        let allowed = AddressPolicy::default().check(literal).is_ok();
        let expected = case["literal_ip"]["verdict"] == "allow";
        assert_eq!(allowed, expected, "{url}: {}", case["literal_ip"]);
    }
    assert!(seen >= 50, "only {seen} literals");
}
