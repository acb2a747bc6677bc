//! One spelling for each host.

use crate::net::host::{Host, HostFault};

#[test]
fn the_usual_spellings() {
    for text in [
        "api.example.com",
        "a.b",
        "xn--bcher-kva.example",
        "1a.2b.example",
        "0.example",
        "93.184.215.14",
        "[2606:2800:21f:cb07:6820:80da:af6b:8b2c]",
        "[::1]",
    ] {
        let host: Host = text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!(host.to_string(), text);
    }
}

#[test]
fn every_other_spelling_is_refused() {
    let long_label = format!("{}.example", "a".repeat(64));
    let long_name = format!("{}example", "abcdefgh.".repeat(28));
    for (text, fault) in [
        ("", HostFault::NameSpelling),
        (".", HostFault::NameSpelling),
        ("example.com.", HostFault::NameSpelling),
        (".example.com", HostFault::NameSpelling),
        ("a..b", HostFault::NameSpelling),
        ("Example.com", HostFault::NameSpelling),
        ("-a.example", HostFault::NameSpelling),
        ("a-.example", HostFault::NameSpelling),
        ("a_b.example", HostFault::NameSpelling),
        ("a b.example", HostFault::NameSpelling),
        ("a\0.example", HostFault::NameSpelling),
        ("b\u{fc}cher.example", HostFault::NameSpelling),
        ("a\u{3002}example", HostFault::NameSpelling),
        ("a%2eexample.com", HostFault::NameSpelling),
        ("user@example.com", HostFault::NameSpelling),
        (&long_label, HostFault::NameSpelling),
        (&long_name, HostFault::NameSpelling),
        ("localhost", HostFault::Localhost),
        ("api.localhost", HostFault::Localhost),
        ("intranet", HostFault::SingleLabel),
        ("::1", HostFault::AddressSpelling),
        ("[::1", HostFault::AddressSpelling),
        ("[::0001]", HostFault::AddressSpelling),
        ("[::FFFF]", HostFault::AddressSpelling),
        ("[fe80::1%1]", HostFault::AddressSpelling),
        ("[::ffff:7f00:1]", HostFault::AddressSpelling),
        ("[127.0.0.1]", HostFault::AddressSpelling),
        ("127.1", HostFault::AddressSpelling),
        ("127.0.0.01", HostFault::AddressSpelling),
        ("127.0.0.1.", HostFault::AddressSpelling),
        ("2130706433", HostFault::AddressSpelling),
        ("0x7f000001", HostFault::AddressSpelling),
        ("0x7f.1", HostFault::AddressSpelling),
        ("example.0x", HostFault::AddressSpelling),
        ("1.2.3.4.5", HostFault::AddressSpelling),
        ("example.com:443", HostFault::AddressSpelling),
    ] {
        assert_eq!(text.parse::<Host>(), Err(fault), "{text:?}");
    }
}
