//! Look-ups against the stub: counted, bounded, unaffected by the machine.

use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

use super::{LOOPBACK, loopback_policy, name, soon};
use crate::net::address::{AddressPolicy, AddressRefusal};
use crate::net::host::Host;
use crate::net::resolve::{NameServerFault, ResolveError, Resolver};
use crate::net::stub_dns::{Answer, Question, StubDns};
use crate::net::{NetError, connect};

fn addresses(texts: &[&str]) -> Vec<IpAddr> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn asking(server: &StubDns) -> Resolver {
    Resolver::new([server.address()]).unwrap()
}

fn asked(name: &str, kind: u16) -> Question {
    Question { name: format!("{name}."), kind, over_tcp: false }
}

#[tokio::test]
async fn one_look_up_is_one_question_for_each_family() {
    let list = addresses(&["93.184.215.14", "93.184.215.15", "2606:2800:21f::1"]);
    let server = StubDns::start([("api.example.com", Answer::Addresses(list.clone()))]);
    let found = asking(&server).resolve(&name("api.example.com"), soon()).await;
    assert_eq!(found, Ok(list));
    let mut questions = server.questions();
    questions.sort_by_key(|question| question.kind);
    assert_eq!(questions, [asked("api.example.com", 1), asked("api.example.com", 28)]);
    assert_eq!(server.lookups("api.example.com"), 1);
}

/// Records live for an hour in the stub; the second action asks again all the same and sees the
/// change.
#[tokio::test]
async fn nothing_is_cached() {
    let server = StubDns::start([("api.example.com", Answer::Addresses(addresses(&["1.1.1.1"])))]);
    let resolver = asking(&server);
    resolver.resolve(&name("api.example.com"), soon()).await.unwrap();
    server.set("api.example.com", Answer::Addresses(vec![LOOPBACK]));
    let second = resolver.resolve(&name("api.example.com"), soon()).await;
    assert_eq!(second, Ok(vec![LOOPBACK]));
    assert_eq!(server.lookups("api.example.com"), 2);
}

#[tokio::test]
async fn one_bad_answer_spoils_the_rest() {
    let mixed = addresses(&["93.184.215.14", "127.0.0.1"]);
    let mapped = addresses(&["93.184.215.14", "::ffff:93.184.215.14"]);
    let server = StubDns::start([
        ("mixed.example.com", Answer::Addresses(mixed)),
        ("mapped.example.com", Answer::Addresses(mapped)),
        ("meta.example.com", Answer::Addresses(addresses(&["169.254.169.254"]))),
    ]);
    for (host, block) in [
        ("mixed.example.com", "loopback"),
        ("mapped.example.com", "IPv4-mapped"),
        ("meta.example.com", "instance metadata"),
    ] {
        let policy = AddressPolicy::default();
        let result = connect(&asking(&server), &policy, &host.parse().unwrap(), 443, soon()).await;
        let fault = result.unwrap_err();
        assert_eq!(fault, NetError::Address(AddressRefusal { block }));
        assert!(!fault.connection_opened());
    }
}

#[tokio::test]
async fn aliases_are_followed_and_their_target_is_judged() {
    let server = StubDns::start([
        ("good.example.com", Answer::Alias("cdn.example.net", addresses(&["1.1.1.1"]))),
        ("bad.example.com", Answer::Alias("inside.example.net", vec![LOOPBACK])),
        ("loose.example.com", Answer::Alias("cdn.example.org", Vec::new())),
        ("cdn.example.org", Answer::Addresses(addresses(&["1.0.0.1"]))),
        ("ring.example.com", Answer::Alias("ring.example.com", Vec::new())),
    ]);
    let resolver = asking(&server);
    let good = resolver.resolve(&name("good.example.com"), soon()).await;
    assert_eq!(good, Ok(addresses(&["1.1.1.1"])));
    let loose = resolver.resolve(&name("loose.example.com"), soon()).await;
    assert_eq!(loose, Err(ResolveError::NoAddress));
    assert_eq!(server.lookups("cdn.example.org"), 0, "one look-up is one look-up");
    let host: Host = "bad.example.com".parse().unwrap();
    let bad = connect(&resolver, &AddressPolicy::default(), &host, 443, soon()).await;
    assert!(matches!(bad, Err(NetError::Address(_))));
    assert!(resolver.resolve(&name("ring.example.com"), soon()).await.is_err());
    assert!(server.questions().len() < 40, "an alias of itself is not followed for ever");
}

#[tokio::test]
async fn refusals_of_the_name_server() {
    let last = u8::try_from(Resolver::MAX_ADDRESSES).unwrap();
    let many = (0..=last).map(|last| IpAddr::from([93, 184, 215, last])).collect();
    let server = StubDns::start([
        ("empty.example.com", Answer::Addresses(Vec::new())),
        ("failed.example.com", Answer::Code(2)),
        ("refused.example.com", Answer::Code(5)),
        ("other.example.com", Answer::Unrelated(vec![LOOPBACK])),
        ("many.example.com", Answer::Addresses(many)),
    ]);
    for (host, expected) in [
        ("missing.example.com", ResolveError::NoSuchName),
        ("empty.example.com", ResolveError::NoAddress),
        ("failed.example.com", ResolveError::ServerFailure),
        ("refused.example.com", ResolveError::ServerFailure),
        ("other.example.com", ResolveError::NoAddress),
        ("many.example.com", ResolveError::TooManyAddresses),
    ] {
        let result = asking(&server).resolve(&name(host), soon()).await;
        assert_eq!(result, Err(expected), "{host}");
    }
}

#[tokio::test]
async fn silence_garbage_and_a_dead_server_end_within_the_deadline() {
    let server =
        StubDns::start([("silent.example.com", Answer::Silence), ("garbage.example.com", Answer::Garbage)]);
    for (host, expected) in
        [("silent.example.com", ResolveError::Deadline), ("garbage.example.com", ResolveError::Malformed)]
    {
        let deadline = Instant::now() + Duration::from_millis(300);
        let result = asking(&server).resolve(&name(host), deadline).await;
        assert_eq!(result, Err(expected), "{host}");
    }
    let address = server.address();
    drop(server);
    let dead = Resolver::new([address]).unwrap();
    let result = dead.resolve(&name("a.example.com"), soon()).await;
    assert_eq!(result, Err(ResolveError::NoServer));
}

#[tokio::test]
async fn a_truncated_answer_is_asked_for_again_over_tcp() {
    let list = addresses(&["1.1.1.1"]);
    let server = StubDns::start([("big.example.com", Answer::OnlyTcp(list.clone()))]);
    let found = asking(&server).resolve(&name("big.example.com"), soon()).await;
    assert_eq!(found, Ok(list));
    assert!(server.questions().iter().any(|question| question.over_tcp));
    assert_eq!(server.lookups("big.example.com"), 1);
}

#[tokio::test]
async fn the_second_server_is_asked_when_the_first_is_dead() {
    let dead = StubDns::start([]).address();
    let server = StubDns::start([("api.example.com", Answer::Addresses(vec![LOOPBACK]))]);
    let resolver = Resolver::new([dead, server.address()]).unwrap();
    let found = resolver.resolve(&name("api.example.com"), soon()).await;
    assert_eq!(found, Ok(vec![LOOPBACK]));
}

#[tokio::test]
async fn a_silent_server_leaves_time_for_the_next() {
    let silent = StubDns::start([("api.example.com", Answer::Silence)]);
    let server = StubDns::start([("api.example.com", Answer::Addresses(vec![LOOPBACK]))]);
    let resolver = Resolver::new([silent.address(), server.address()]).unwrap();
    let deadline = Instant::now() + Duration::from_secs(2);
    let found = resolver.resolve(&name("api.example.com"), deadline).await;
    assert_eq!(found, Ok(vec![LOOPBACK]));
    assert_eq!((silent.questions().len(), server.questions().len()), (2, 2));
}

#[tokio::test]
async fn a_lost_question_is_asked_once_more_and_no_more() {
    let server = StubDns::start([
        ("once.example.com", Answer::AfterLosses(1, vec![LOOPBACK])),
        ("twice.example.com", Answer::AfterLosses(2, vec![LOOPBACK])),
    ]);
    let resolver = asking(&server);
    let deadline = |seconds| Instant::now() + Duration::from_secs(seconds);
    // The family without an address is certain only after its own second question.
    let once = resolver.resolve(&name("once.example.com"), deadline(3)).await;
    assert_eq!(once, Ok(vec![LOOPBACK]));
    let twice = resolver.resolve(&name("twice.example.com"), deadline(1)).await;
    assert_eq!(twice, Err(ResolveError::Deadline));
    assert_eq!(server.lookups("once.example.com"), 2);
    assert_eq!(server.lookups("twice.example.com"), 2);
}

#[tokio::test]
async fn one_family_does_not_spoil_the_other() {
    let list = |family: u8| -> Answer {
        Answer::Addresses(match family {
            4 => (0..20).map(|last| IpAddr::from([93, 184, 215, last])).collect(),
            _ => (0..20).map(|last| IpAddr::from([0x2606, 0, 0, 0, 0, 0, 0, last])).collect(),
        })
    };
    let none = || Answer::Addresses(Vec::new());
    let pair = |four, six| Answer::PerFamily(Box::new((four, six)));
    let server = StubDns::start([
        ("four.example.com", pair(list(4), Answer::Code(2))),
        ("six.example.com", pair(Answer::Code(2), list(6))),
        ("failed.example.com", pair(none(), Answer::Code(2))),
        ("broken.example.com", pair(Answer::Code(2), none())),
        ("absent.example.com", pair(none(), none())),
        ("many.example.com", pair(list(4), list(6))),
    ]);
    for (host, expected) in [
        ("four.example.com", Ok(20)),
        ("six.example.com", Ok(20)),
        ("failed.example.com", Err(ResolveError::ServerFailure)),
        ("broken.example.com", Err(ResolveError::ServerFailure)),
        ("absent.example.com", Err(ResolveError::NoAddress)),
        ("many.example.com", Err(ResolveError::TooManyAddresses)),
    ] {
        let result = asking(&server).resolve(&name(host), soon()).await;
        assert_eq!(result.map(|found| found.len()), expected, "{host}");
    }
}

/// Names are asked for as they are: no hosts file, no search domain, no `localhost` magic.
#[tokio::test]
async fn the_machine_has_no_say() {
    let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
    let listed = hosts
        .lines()
        .filter_map(|line| line.split('#').next()?.split_ascii_whitespace().nth(1))
        .filter(|listed| matches!(listed.parse(), Ok(Host::Name(_))));
    let server = StubDns::start([]);
    for host in listed.chain(["ip6-localhost.example", "wpad.example"]) {
        let result = asking(&server).resolve(&name(host), soon()).await;
        assert_eq!(result, Err(ResolveError::NoSuchName), "{host}");
        assert_eq!(server.lookups(host), 1, "{host}");
    }
    let only_full_names = |question: &Question| question.name.matches('.').count() >= 2;
    assert!(server.questions().iter().all(only_full_names));
}

/// Set for a child process that runs one look-up test again: nothing changes.
#[test]
fn the_environment_has_no_say() {
    const HOSTILE: [(&str, &str); 8] = [
        ("RES_OPTIONS", "ndots:15 attempts:1 timeout:1 use-vc"),
        ("LOCALDOMAIN", "evil.example"),
        ("HOSTALIASES", "/dev/stdin"),
        ("RESOLV_HOST_CONF", "/dev/null"),
        ("HTTP_PROXY", "http://127.0.0.1:9"),
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("SSL_CERT_FILE", "/dev/null"),
        ("SSL_CERT_DIR", "/dev/null"),
    ];
    let key_log = std::env::temp_dir().join(format!("framegate-keys-{}", std::process::id()));
    for test in [
        "net::tests::look_up::one_look_up_is_one_question_for_each_family",
        "net::tests::look_up::the_machine_has_no_say",
        "net::tests::transport::a_valid_certificate_is_accepted",
        "net::tests::transport::an_unknown_issuer_is_refused",
    ] {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact"])
            .envs(HOSTILE)
            .env("SSLKEYLOGFILE", &key_log)
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&child.stdout);
        assert!(child.status.success() && report.contains("1 passed"), "{report}");
    }
    assert!(!key_log.exists(), "keys were logged");
}

#[tokio::test]
async fn a_literal_address_needs_no_look_up() {
    let server = StubDns::start([]);
    let listener = tokio::net::TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let host: Host = "127.0.0.1".parse().unwrap();
    connect(&asking(&server), &loopback_policy(), &host, port, soon()).await.unwrap();
    assert_eq!(server.questions(), []);
}

#[test]
fn only_nameserver_lines_count() {
    let text = "# nameserver 9.9.9.9\nsearch evil.example\noptions ndots:15\nnameserver 127.0.0.53\n\
        ; nameserver 8.8.8.8\nnameserver\t::1 trailing\nnameservers 1.2.3.4\ndomain evil.example\n";
    let folder = std::env::temp_dir();
    let path = folder.join(format!("framegate-resolv-{}", std::process::id()));
    let read = |text: &str| {
        std::fs::write(&path, text).unwrap();
        let resolver = Resolver::from_file(&path);
        std::fs::remove_file(&path).unwrap();
        resolver
    };
    let expected = ["127.0.0.53:53", "[::1]:53"].map(|text| text.parse().unwrap());
    assert_eq!(read(text), Resolver::new(expected));
    assert_eq!(read("search evil.example\n"), Err(NameServerFault::None));
    assert_eq!(read(""), Err(NameServerFault::None));
    for bad in ["nameserver\n", "\nnameserver fe80::1%eth0\n", "nameserver ns.evil.example\n"] {
        assert!(matches!(read(bad), Err(NameServerFault::Line { .. })), "{bad:?}");
    }
    assert_eq!(Resolver::from_file(&path), Err(NameServerFault::Unreadable));
    assert_eq!(Resolver::new([]), Err(NameServerFault::None));
}
