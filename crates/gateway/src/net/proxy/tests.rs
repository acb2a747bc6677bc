//! Tunnels through a scripted proxy on loopback: what is asked, which answers open one, and that nothing
//! else does. Refusals first.

use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

use super::head::{Head, MAX_FIELDS, MAX_HEAD};
use super::{Proxy, ProxyError, ask};
use crate::net::address::AddressPolicy;
use crate::net::host::Host;
use crate::net::resolve::Resolver;
use crate::net::stub_dns::{Answer, StubDns};
use crate::net::{NetError, connect_through};

const OPEN: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";
const REQUEST: &str = "CONNECT api.example.com:8443 HTTP/1.1\r\nHost: api.example.com:8443\r\n\r\n";

fn host(text: &str) -> Host {
    text.parse().unwrap()
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// The status of a whole head, and how many bytes it took.
fn read(bytes: &[u8]) -> Result<Option<(u16, usize)>, ProxyError> {
    let mut head = Head::default();
    for (byte, taken) in bytes.iter().zip(1..) {
        if let Some(status) = head.push(*byte)? {
            return Ok(Some((status, taken)));
        }
    }
    Ok(None)
}

#[test]
fn heads_with_one_reading() {
    for (text, status) in [
        ("HTTP/1.1 200 Connection established\r\n\r\n", 200),
        ("HTTP/1.0 200 OK\r\n\r\n", 200),
        ("HTTP/1.1 200\r\n\r\n", 200),
        ("HTTP/1.1 200 \r\n\r\n", 200),
        ("HTTP/1.1 299 Odd\r\nvia: x\r\nX-Empty:\r\nx:\ta b \u{e9}\r\n\r\n", 299),
        ("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"x\"\r\n\r\n", 407),
        ("HTTP/1.1 103 Early Hints\r\n\r\n", 103),
        ("HTTP/1.1 599 Last\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n", 599),
    ] {
        assert_eq!(read(text.as_bytes()), Ok(Some((status, text.len()))), "{text:?}");
        // What follows is not touched.
        let more = format!("{text}\r\n\r\nmore");
        assert_eq!(read(more.as_bytes()), Ok(Some((status, text.len()))), "{text:?}");
        for end in 0..text.len() {
            assert_eq!(read(&text.as_bytes()[..end]), Ok(None), "{:?}", &text.as_bytes()[..end]);
        }
    }
}

#[test]
fn every_other_head_is_refused() {
    for text in [
        "\r\n",
        "\r\nHTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\n\n",
        "HTTP/1.1 200 OK\r\n\n",
        "HTTP/1.1 200 OK\r\nvia: x\n\r\n",
        "HTTP/1.1 200 O\rK\r\n",
        "HTTP/1.1 200 O\0K\r\n",
        "HTTP/1.1 200 O\u{1b}[0mK\r\n",
        "HTTP/1.1 200 OK\u{7f}\r\n",
        "HTTP/1.1 200OK\r\n",
        "HTTP/1.1 200\tOK\r\n",
        "HTTP/1.1  200 OK\r\n",
        "HTTP/1.1 2000 OK\r\n",
        "HTTP/1.1 20\r\n",
        "HTTP/1.1 +20 OK\r\n",
        "HTTP/1.1 099 OK\r\n",
        "HTTP/1.1 600 OK\r\n",
        "HTTP/1.1 \u{662}00 OK\r\n",
        "HTTP/1.2 200 OK\r\n",
        "HTTP/2 200\r\n",
        "http/1.1 200 OK\r\n",
        " HTTP/1.1 200 OK\r\n",
        "ICY 200 OK\r\n",
        "220 mail.example.com ESMTP\r\n",
        "SSH-2.0-x\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n",
        "HTTP/1.1 200 OK\r\n: no name\r\n",
        "HTTP/1.1 200 OK\r\nname : x\r\n",
        "HTTP/1.1 200 OK\r\nna me: x\r\n",
        "HTTP/1.1 200 OK\r\nvia: x\r\n folded\r\n",
        "HTTP/1.1 200 OK\r\nvia: \u{1}\r\n",
        "HTTP/1.1 200 OK\r\nn\u{e9}: x\r\n",
    ] {
        assert_eq!(read(text.as_bytes()), Err(ProxyError::Malformed), "{text:?}");
    }
}

#[test]
fn heads_are_bounded() {
    let fields = |count| format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(count));
    assert!(matches!(read(fields(MAX_FIELDS).as_bytes()), Ok(Some((200, _)))));
    assert_eq!(read(fields(MAX_FIELDS + 1).as_bytes()), Err(ProxyError::Malformed));
    let long = |length: usize| {
        let start = "HTTP/1.1 200 OK\r\na:";
        format!("{start}{}\r\n\r\n", "x".repeat(length - start.len() - 4))
    };
    assert_eq!(read(long(MAX_HEAD).as_bytes()), Ok(Some((200, MAX_HEAD))));
    assert_eq!(read(long(MAX_HEAD + 1).as_bytes()), Err(ProxyError::Malformed));
    // A line that does not end is refused as soon as it is too long.
    assert_eq!(read(&[b'x'; MAX_HEAD]), Ok(None));
    assert_eq!(read(&[b'x'; MAX_HEAD + 1]), Err(ProxyError::Malformed));
}

#[tokio::test]
async fn an_answer_may_be_split_anywhere() {
    for answer in [OPEN, b"HTTP/1.0 407 No\r\nproxy-authenticate: Basic\r\ncontent-length: 3\r\n\r\n"] {
        for at in 0..=answer.len() {
            let (mut ours, mut theirs) = duplex(256);
            let proxy = tokio::spawn(async move {
                let mut request = vec![0; REQUEST.len()];
                theirs.read_exact(&mut request).await.unwrap();
                theirs.write_all(&answer[..at]).await.unwrap();
                tokio::task::yield_now().await;
                theirs.write_all(&answer[at..]).await.unwrap();
                theirs.write_all(b"the target's first words").await.unwrap();
                String::from_utf8(request).unwrap()
            });
            let status = ask(&mut ours, &host("api.example.com"), 8443).await;
            assert_eq!(status, Ok(read(answer).unwrap().unwrap().0), "split at {at}");
            assert_eq!(proxy.await.unwrap(), REQUEST);
            let mut rest = String::new();
            ours.read_to_string(&mut rest).await.unwrap();
            assert_eq!(rest, "the target's first words", "split at {at}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_ends_early_opens_nothing() {
    for end in 0..OPEN.len() {
        let (mut ours, mut theirs) = duplex(256);
        theirs.write_all(&OPEN[..end]).await.unwrap();
        drop(theirs);
        assert_eq!(ask(&mut ours, &host("a.example.com"), 443).await, Err(ProxyError::Closed), "{end}");
    }
}

/// A proxy that reads one request, answers with these bytes and waits for the peer to go; it gives every
/// byte that it got.
async fn proxy(answer: &'static [u8]) -> (u16, tokio::task::JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind((IpAddr::from([127, 0, 0, 1]), 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut got = Vec::new();
        while !got.ends_with(b"\r\n\r\n") {
            got.push(stream.read_u8().await.unwrap());
        }
        let _ = stream.write_all(answer).await;
        let _ = stream.read_to_end(&mut got).await;
        got
    });
    (port, serving)
}

fn at(port: u16) -> Proxy {
    Proxy::new(host("127.0.0.1"), port).unwrap()
}

/// Asks for a tunnel to a public name, which is never looked up: the name server knows only proxies.
async fn through(proxy: &Proxy, names: &StubDns) -> Result<TcpStream, NetError> {
    let resolver = Resolver::new([names.address()]).unwrap();
    let (policy, target) = (AddressPolicy::default(), host("api.example.com"));
    let opened = connect_through(proxy, &resolver, &policy, &target, 8443, soon()).await?;
    assert_eq!(opened.1.address(), opened.0.peer_addr().unwrap().ip());
    assert_eq!(names.lookups("api.example.com"), 0, "the target's name is the proxy's to look up");
    Ok(opened.0)
}

#[tokio::test]
async fn only_a_success_opens_a_tunnel() {
    for (answer, expected) in [
        (&b"HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"secret words\"\r\n\r\n"[..], ProxyError::Refused { status: 407 }),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n<html>secret words", ProxyError::Refused { status: 403 }),
        (b"HTTP/1.1 302 Found\r\nLocation: http://evil.example/\r\n\r\n", ProxyError::Refused { status: 302 }),
        (b"HTTP/1.1 502 secret words\r\n\r\n", ProxyError::Refused { status: 502 }),
        // An interim answer is no success, and there is no second look.
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", ProxyError::Refused { status: 100 }),
        (b"HTTP/1.1 101 Switching Protocols\r\n\r\n", ProxyError::Refused { status: 101 }),
        (b"secret words\r\n", ProxyError::Malformed),
    ] {
        let (port, serving) = proxy(answer).await;
        let fault = through(&at(port), &StubDns::start([])).await.unwrap_err();
        assert_eq!(fault, NetError::Proxy(expected));
        assert!(fault.connection_opened() && !fault.to_string().contains("secret words"), "{fault}");
        assert_eq!(serving.await.unwrap(), REQUEST.as_bytes(), "nothing but the request, and only once");
    }
}

#[tokio::test]
async fn a_tunnel_carries_bytes_as_they_are() {
    let (port, serving) = proxy(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").await;
    let mut stream = through(&at(port), &StubDns::start([])).await.unwrap();
    let mut first = [0; 5];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"hello", "no body: these are the target's words");
    stream.write_all(b"ours").await.unwrap();
    drop(stream);
    assert_eq!(serving.await.unwrap(), [REQUEST.as_bytes(), b"ours"].concat());
}

#[tokio::test]
async fn an_address_goes_to_the_proxy_as_a_url_writes_it() {
    for (target, request) in [
        ("93.184.215.14", "CONNECT 93.184.215.14:443 HTTP/1.1\r\nHost: 93.184.215.14:443\r\n\r\n"),
        ("[2606:4700::1]", "CONNECT [2606:4700::1]:443 HTTP/1.1\r\nHost: [2606:4700::1]:443\r\n\r\n"),
    ] {
        let (port, serving) = proxy(OPEN).await;
        let resolver = Resolver::new([([127, 0, 0, 1], 9).into()]).unwrap();
        let policy = AddressPolicy::default();
        connect_through(&at(port), &resolver, &policy, &host(target), 443, soon()).await.unwrap();
        assert_eq!(serving.await.unwrap(), request.as_bytes());
    }
}

#[tokio::test]
async fn an_address_of_the_target_is_judged_before_the_proxy_is_reached() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let proxy = at(listener.local_addr().unwrap().port());
    let resolver = Resolver::new([([127, 0, 0, 1], 9).into()]).unwrap();
    for target in
        ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:8.8.8.8]", "[64:ff9b::808:808]"]
    {
        let policy = AddressPolicy::default();
        let result = connect_through(&proxy, &resolver, &policy, &host(target), 443, soon()).await;
        assert!(matches!(result, Err(NetError::Address(_))), "{target}: {result:?}");
    }
    assert!(listener.accept().is_err(), "the proxy was reached");
}

#[tokio::test]
async fn a_proxy_by_name_is_looked_up_once_and_may_live_inside() {
    let names =
        StubDns::start([("proxy.example.com", Answer::Addresses(vec!["127.0.0.1".parse().unwrap()]))]);
    let (port, serving) = proxy(OPEN).await;
    let proxy = Proxy::new(host("proxy.example.com"), port).unwrap();
    drop(through(&proxy, &names).await.unwrap());
    serving.await.unwrap();
    assert_eq!((names.lookups("proxy.example.com"), names.questions().len()), (1, 2));
}

#[tokio::test]
async fn a_proxy_whose_name_leads_nowhere_good_is_not_reached() {
    let list = |texts: &[&str]| Answer::Addresses(texts.iter().map(|text| text.parse().unwrap()).collect());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let names = StubDns::start([
        ("meta.example.com", list(&["169.254.169.254"])),
        ("mixed.example.com", list(&["127.0.0.1", "::ffff:127.0.0.1"])),
        ("empty.example.com", list(&[])),
        ("broken.example.com", Answer::Garbage),
    ]);
    for (name, expected) in [
        ("meta.example.com", ProxyError::Address { block: "instance metadata" }),
        ("mixed.example.com", ProxyError::Address { block: "IPv4-mapped" }),
        ("empty.example.com", ProxyError::Name),
        ("broken.example.com", ProxyError::Name),
        ("absent.example.com", ProxyError::Name),
    ] {
        let fault = through(&Proxy::new(host(name), port).unwrap(), &names).await.unwrap_err();
        assert_eq!(fault, NetError::Proxy(expected), "{name}");
        assert!(!fault.connection_opened());
    }
    assert!(listener.accept().is_err(), "a connection was made");
}

#[test]
fn a_literal_address_that_no_proxy_can_have_is_refused_at_once() {
    for text in ["169.254.169.254", "0.0.0.0", "224.0.0.1", "[::ffff:7f00:1]", "[64:ff9b::1]", "[fe80::1]"] {
        // Two of them have another usual spelling, and are refused as hosts.
        let refused = text.parse::<Host>().map_or(true, |host| Proxy::new(host, 3128).is_err());
        assert!(refused, "{text}");
    }
    for text in ["127.0.0.1", "10.1.2.3", "[::1]", "[fd00::1]", "8.8.8.8"] {
        assert!(Proxy::new(host(text), 3128).is_ok(), "{text}");
    }
}

#[tokio::test]
async fn no_proxy_and_a_silent_one() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = at(listener.local_addr().unwrap().port());
    let resolver = Resolver::new([([127, 0, 0, 1], 9).into()]).unwrap();
    let (policy, target) = (AddressPolicy::default(), host("api.example.com"));
    let deadline = Instant::now() + Duration::from_millis(500);
    let silent = connect_through(&proxy, &resolver, &policy, &target, 443, deadline).await;
    assert_eq!(silent.unwrap_err(), NetError::Proxy(ProxyError::Deadline));
    drop(listener);
    let gone = connect_through(&proxy, &resolver, &policy, &target, 443, soon()).await.unwrap_err();
    assert_eq!(gone, NetError::Proxy(ProxyError::Unreachable));
    assert!(!gone.connection_opened());
}
