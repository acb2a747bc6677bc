//! A name server that lies, over raw messages: whatever it says, there is one look-up, it ends, and nobody is
//! connected to. The target declares loopback and a listener waits there, so that a lie that is believed
//! would be seen as a connection.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hickory_proto::op::{Message, MessageType, Query};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{Name, RData, Record, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener as AsyncListener, UdpSocket};
use tokio::time::Instant;

use super::{LOOPBACK, loopback_policy, soon};
use crate::net::address::{AddressPolicy, AddressRefusal};
use crate::net::host::Host;
use crate::net::resolve::{ResolveError, Resolver};
use crate::net::stub_dns::{Answer, StubDns};
use crate::net::{NetError, connect};

/// What to send for one question: raw messages, in order. `nth` counts questions over UDP, from 1.
type Script = fn(query: &Message, nth: usize, over_tcp: bool) -> Vec<Vec<u8>>;

struct Liar {
    address: SocketAddr,
    asked: Arc<AtomicUsize>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
}

impl Drop for Liar {
    fn drop(&mut self) {
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
    }
}

async fn liar(script: Script) -> Liar {
    let (datagrams, listener) = loop {
        let datagrams = UdpSocket::bind((LOOPBACK, 0)).await.unwrap();
        if let Ok(listener) = AsyncListener::bind(datagrams.local_addr().unwrap()).await {
            break (datagrams, listener);
        }
    };
    let address = datagrams.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let over_udp = tokio::spawn(async move {
        let mut buffer = [0; 2048];
        while let Ok((length, client)) = datagrams.recv_from(&mut buffer).await {
            let query = Message::from_vec(&buffer[..length]).unwrap();
            let nth = count.fetch_add(1, Ordering::SeqCst) + 1;
            for reply in script(&query, nth, false) {
                let _ = datagrams.send_to(&reply, client).await;
            }
        }
    });
    let over_tcp = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            let length = stream.read_u16().await.unwrap();
            let mut query = vec![0; length.into()];
            stream.read_exact(&mut query).await.unwrap();
            let replies = script(&Message::from_vec(&query).unwrap(), 0, true);
            for reply in &replies {
                let _ = stream.write_all(reply).await;
            }
            // Nothing to say is silence, not an end.
            if replies.is_empty() {
                held.push(stream);
            }
        }
    });
    Liar { address, asked, tasks: vec![over_udp, over_tcp] }
}

fn name(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

fn kind(query: &Message) -> RecordType {
    query.queries[0].query_type()
}

/// A record of the family that was asked for, at loopback.
fn loopback(owner: &Name, query: &Message) -> Record {
    let data = match kind(query) {
        RecordType::A => RData::A(A(Ipv4Addr::LOCALHOST)),
        _ => RData::AAAA(AAAA("::1".parse().unwrap())),
    };
    Record::from_rdata(owner.clone(), 0, data)
}

fn reply(query: &Message, records: Vec<Record>) -> Message {
    let mut reply = query.clone().into_response();
    reply.insert_answers(records);
    reply
}

/// An answer that would be believed, but for `change`.
fn spoilt(query: &Message, change: impl FnOnce(&mut Message)) -> Vec<Vec<u8>> {
    let mut reply = reply(query, vec![loopback(query.queries[0].name(), query)]);
    change(&mut reply);
    vec![reply.to_vec().unwrap()]
}

/// `length` aliases from the asked name on, with an address at their end.
fn chain(query: &Message, length: usize, data: RData) -> Vec<u8> {
    let step = |number: usize| match number {
        0 => query.queries[0].name().clone(),
        number => name(&format!("a{number}.example.net.")),
    };
    let mut records: Vec<Record> = (0..length)
        .map(|number| Record::from_rdata(step(number), 0, RData::CNAME(CNAME(step(number + 1)))))
        .collect();
    records.push(Record::from_rdata(step(length), 0, data));
    reply(query, records).to_vec().unwrap()
}

fn truncated(query: &Message) -> Vec<Vec<u8>> {
    spoilt(query, |reply| reply.metadata.truncation = true)
}

/// Over TCP a message comes after its length.
fn framed(message: &[u8]) -> Vec<Vec<u8>> {
    vec![u16::try_from(message.len()).unwrap().to_be_bytes().to_vec(), message.to_vec()]
}

fn many(query: &Message, count: u32) -> Vec<u8> {
    let owner = query.queries[0].name();
    let address = |number: u32| match kind(query) {
        RecordType::A => RData::A(A(Ipv4Addr::from_bits(0x7f00_0000 + number))),
        _ => RData::AAAA(AAAA("::1".parse().unwrap())),
    };
    reply(query, (1..=count).map(|number| Record::from_rdata(owner.clone(), 0, address(number))).collect())
        .to_vec()
        .unwrap()
}

/// One connection by name, with the target at loopback: the fault, and how many questions came over UDP.
async fn lied_to(script: Script, deadline: Instant) -> (NetError, usize) {
    let server = liar(script).await;
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let resolver = Resolver::new([server.address]).unwrap();
    let host: Host = "api.example.com".parse().unwrap();
    let fault = connect(&resolver, &loopback_policy(), &host, port, deadline).await.unwrap_err();
    assert!(!fault.connection_opened(), "{fault:?}");
    assert!(listener.accept().is_err(), "{fault:?}: a connection was made");
    (fault, server.asked.load(Ordering::SeqCst))
}

#[tokio::test]
async fn answers_that_do_not_fit_are_not_believed() {
    let malformed: [(&str, Script); 9] = [
        ("another id, for ever", |query, _, _| {
            vec![spoilt(query, |reply| reply.metadata.id ^= 1).concat(); 40]
        }),
        ("another question", |query, _, _| {
            spoilt(query, |reply| reply.queries = vec![Query::query(name("www.example.com."), kind(query))])
        }),
        ("no question", |query, _, _| spoilt(query, |reply| reply.queries.clear())),
        ("a question back", |query, _, _| {
            spoilt(query, |reply| reply.metadata.message_type = MessageType::Query)
        }),
        ("cut in the middle", |query, _, _| {
            spoilt(query, |_| {}).iter().map(|reply| reply[..reply.len() - 3].to_vec()).collect()
        }),
        ("larger than a datagram that is accepted", |query, _, _| vec![many(query, 150)]),
        (
            "truncated over both",
            |query, _, over_tcp| {
                if over_tcp { framed(&truncated(query)[0]) } else { truncated(query) }
            },
        ),
        ("too many aliases", |query, _, _| vec![chain(query, 8, RData::A(A(Ipv4Addr::LOCALHOST)))]),
        ("aliases in a ring", |query, _, _| {
            let (first, second) = (query.queries[0].name().clone(), name("b.example.net."));
            let ring = [(first.clone(), second.clone()), (second, first)];
            let records = ring.map(|(from, to)| Record::from_rdata(from, 0, RData::CNAME(CNAME(to))));
            vec![reply(query, records.to_vec()).to_vec().unwrap()]
        }),
    ];
    for (what, script) in malformed {
        let (fault, questions) = lied_to(script, soon()).await;
        assert_eq!(fault, NetError::Resolve(ResolveError::Malformed), "{what}");
        // Each family is asked for once, and once more after an answer that is worth nothing.
        assert_eq!(questions, 4, "{what}");
    }
}

#[tokio::test]
async fn long_and_broken_streams_are_not_believed() {
    let (fault, questions) = lied_to(
        |query, _, over_tcp| if over_tcp { framed(&many(query, 300)) } else { truncated(query) },
        soon(),
    )
    .await;
    assert_eq!((fault, questions), (NetError::Resolve(ResolveError::TooManyAddresses), 2));
    let (fault, questions) = lied_to(
        |query, _, over_tcp| if over_tcp { vec![vec![0xff, 0xff, 0, 0]] } else { truncated(query) },
        soon(),
    )
    .await;
    assert_eq!((fault, questions), (NetError::Resolve(ResolveError::NoServer), 4));
}

#[tokio::test]
async fn a_stream_that_says_nothing_meets_the_deadline() {
    let deadline = Instant::now() + Duration::from_millis(300);
    let (fault, _) =
        lied_to(|query, _, over_tcp| if over_tcp { Vec::new() } else { truncated(query) }, deadline).await;
    assert_eq!(fault, NetError::Resolve(ResolveError::Deadline));
}

#[tokio::test]
async fn a_chain_is_followed_within_bounds_and_its_end_is_judged() {
    let metadata: Script = |query, _, _| match kind(query) {
        RecordType::A => vec![chain(query, 7, RData::A(A("169.254.169.254".parse().unwrap())))],
        _ => vec![reply(query, Vec::new()).to_vec().unwrap()],
    };
    let refusal = NetError::Address(AddressRefusal { block: "instance metadata" });
    assert_eq!(lied_to(metadata, soon()).await, (refusal, 2));
    // One family is good and at the end of the other's chain is no good: none of it is used.
    let apart: Script = |query, _, _| match kind(query) {
        RecordType::A => spoilt(query, |_| {}),
        _ => vec![chain(query, 2, RData::AAAA(AAAA("64:ff9b::7f00:1".parse().unwrap())))],
    };
    let refusal = NetError::Address(AddressRefusal { block: "NAT64" });
    assert_eq!(lied_to(apart, soon()).await, (refusal, 2));
}

/// Guesses that arrive before the answer are passed over, and the answer is used.
#[tokio::test]
async fn a_guess_before_the_answer_changes_nothing() {
    let server = liar(|query, _, _| match kind(query) {
        RecordType::A => {
            let mut replies = vec![spoilt(query, |reply| reply.metadata.id ^= 0x8000).concat(); 5];
            replies.extend(spoilt(query, |_| {}));
            replies
        }
        _ => vec![reply(query, Vec::new()).to_vec().unwrap()],
    })
    .await;
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let resolver = Resolver::new([server.address]).unwrap();
    let host: Host = "api.example.com".parse().unwrap();
    connect(&resolver, &loopback_policy(), &host, port, soon()).await.unwrap();
    assert_eq!(server.asked.load(Ordering::SeqCst), 2);
}

/// A name that changes with every question: what was checked is what is dialled, and the next look-up is
/// judged anew.
#[tokio::test]
async fn an_answer_that_flips_is_checked_once_and_dialled_as_checked() {
    // Questions 1 and 2 are the first look-up.
    let server = liar(|query, nth, _| match (kind(query), nth) {
        (RecordType::A, 1..=2) => spoilt(query, |_| {}),
        (RecordType::A, _) => {
            let address = RData::A(A("169.254.169.254".parse().unwrap()));
            vec![chain(query, 0, address)]
        }
        _ => vec![reply(query, Vec::new()).to_vec().unwrap()],
    })
    .await;
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let resolver = Resolver::new([server.address]).unwrap();
    let host: Host = "api.example.com".parse().unwrap();
    let (stream, checked) = connect(&resolver, &loopback_policy(), &host, port, soon()).await.unwrap();
    assert_eq!((stream.peer_addr().unwrap().ip(), checked.address()), (LOOPBACK, LOOPBACK));
    assert_eq!(server.asked.load(Ordering::SeqCst), 2, "no second look between check and connection");
    assert!(listener.accept().is_ok());
    let second = connect(&resolver, &loopback_policy(), &host, port, soon()).await;
    assert_eq!(second.unwrap_err(), NetError::Address(AddressRefusal { block: "instance metadata" }));
    assert!(listener.accept().is_err(), "the address of the first look-up was used again");
}

/// IPv6 that embeds IPv4 is refused whatever is inside, public or declared.
#[tokio::test]
async fn embedded_addresses_are_refused_whatever_they_embed() {
    let listener = TcpListener::bind((LOOPBACK, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let names = StubDns::start([]);
    let resolver = Resolver::new([names.address()]).unwrap();
    let host: Host = "api.example.com".parse().unwrap();
    let mut asked = 0;
    for (address, block) in [
        ("::ffff:127.0.0.1", "IPv4-mapped"),
        ("::ffff:8.8.8.8", "IPv4-mapped"),
        ("::127.0.0.1", "IPv4-compatible"),
        ("::8.8.8.8", "IPv4-compatible"),
        ("::ffff:0:127.0.0.1", "IPv4-translated"),
        ("::ffff:0:8.8.8.8", "IPv4-translated"),
        ("64:ff9b::127.0.0.1", "NAT64"),
        ("64:ff9b::8.8.8.8", "NAT64"),
        ("64:ff9b:1::127.0.0.1", "NAT64 local use"),
        ("64:ff9b:1:ffff::8.8.8.8", "NAT64 local use"),
        ("2002:7f00:1::1", "6to4"),
        ("2002:808:808::1", "6to4"),
        // A Teredo address holds its client's address with every bit turned.
        ("2001:0:808:808::80ff:fffe", "Teredo"),
        ("2001::f7f7:f7f7", "Teredo"),
    ] {
        let bad: IpAddr = address.parse().unwrap();
        for answers in [vec![bad], vec![LOOPBACK, bad]] {
            for policy in [AddressPolicy::default(), loopback_policy()] {
                names.set("api.example.com", Answer::Addresses(answers.clone()));
                let fault = connect(&resolver, &policy, &host, port, soon()).await.unwrap_err();
                asked += 1;
                // The first answer that is not allowed names the refusal.
                let first = policy.check(answers[0]).err().map_or(block, |refusal| refusal.block);
                assert_eq!(fault, NetError::Address(AddressRefusal { block: first }), "{address}");
                assert_eq!(names.lookups("api.example.com"), asked, "{address}");
            }
        }
    }
    assert!(listener.accept().is_err(), "a connection was made");
}
