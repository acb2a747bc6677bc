//! A stub name server on loopback. Belongs here: canned answers, and an exact count of what was
//! asked. Must not: need anything but the standard library; other crates' tests include this file.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the server does for one name.
#[derive(Debug, Clone)]
pub enum Answer {
    /// These addresses: IPv4 for A, IPv6 for AAAA, none of a family is an empty answer.
    Addresses(Vec<IpAddr>),
    /// An alias, with the target's addresses in the same answer.
    Alias(&'static str, Vec<IpAddr>),
    /// Addresses under a name that was not asked for.
    Unrelated(Vec<IpAddr>),
    /// A response code and nothing else: 2 SERVFAIL, 3 NXDOMAIN, 5 REFUSED.
    Code(u8),
    /// Bytes that are no DNS message, after a matching id.
    Garbage,
    /// No reply.
    Silence,
    /// No reply to this many questions of each family, then these addresses.
    AfterLosses(usize, Vec<IpAddr>),
    /// One answer for A, another for AAAA.
    PerFamily(Box<(Answer, Answer)>),
    /// Truncated over UDP, so that the client asks again over TCP.
    OnlyTcp(Vec<IpAddr>),
}

/// One question that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The name, lower-case, with its final dot.
    pub name: String,
    /// 1 for A, 28 for AAAA.
    pub kind: u16,
    /// Whether it came over TCP.
    pub over_tcp: bool,
}

/// The server: answers until it is dropped, on one port for UDP and TCP.
#[derive(Debug)]
pub struct StubDns {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Question>>>,
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

const A: u16 = 1;
const AAAA: u16 = 28;
const CNAME: u16 = 5;
const POLL: Duration = Duration::from_millis(20);

impl StubDns {
    /// Starts a server that knows `answers`, by name without final dot. Every other name does not
    /// exist.
    ///
    /// # Panics
    /// If loopback has no free port for both UDP and TCP.
    pub fn start(answers: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        let (datagrams, listener) = both_ports();
        let address = datagrams.local_addr().expect("a bound socket has an address");
        let answers = answers.into_iter().map(|(name, answer)| (format!("{name}."), answer)).collect();
        let answers = Arc::new(Mutex::new(answers));
        let asked = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let serve = |task: fn(&Serving)| {
            let serving = Serving {
                datagrams: datagrams.try_clone().expect("a socket can be cloned"),
                listener: listener.try_clone().expect("a socket can be cloned"),
                asked: Arc::clone(&asked),
                answers: Arc::clone(&answers),
                stop: Arc::clone(&stop),
            };
            std::thread::spawn(move || task(&serving))
        };
        let threads = vec![serve(Serving::udp), serve(Serving::tcp)];
        Self { address, asked, answers, stop, threads }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every question so far, in order of arrival.
    pub fn questions(&self) -> Vec<Question> {
        locked(&self.asked).clone()
    }

    /// How many look-ups of `name` (without final dot) arrived: one look-up asks for A once.
    pub fn lookups(&self, name: &str) -> usize {
        let name = format!("{name}.");
        let questions = locked(&self.asked);
        let is_lookup =
            |question: &&Question| question.name == name && question.kind == A && !question.over_tcp;
        questions.iter().filter(is_lookup).count()
    }

    /// Changes an answer while running.
    pub fn set(&self, name: &str, answer: Answer) {
        locked(&self.answers).insert(format!("{name}."), answer);
    }
}

impl Drop for StubDns {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            // A thread that panicked has already failed the test through its missing answer.
            let _ = thread.join();
        }
    }
}

/// One UDP and one TCP socket with the same number.
fn both_ports() -> (UdpSocket, TcpListener) {
    for _ in 0..64 {
        let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free UDP port");
        let address = datagrams.local_addr().expect("a bound socket has an address");
        if let Ok(listener) = TcpListener::bind(address) {
            datagrams.set_read_timeout(Some(POLL)).expect("a socket takes a timeout");
            listener.set_nonblocking(true).expect("a listener can be non-blocking");
            return (datagrams, listener);
        }
    }
    panic!("no port is free for both UDP and TCP");
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Serving {
    datagrams: UdpSocket,
    listener: TcpListener,
    asked: Arc<Mutex<Vec<Question>>>,
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    stop: Arc<AtomicBool>,
}

impl Serving {
    fn udp(&self) {
        let mut buffer = [0; 4096];
        while !self.stop.load(Ordering::Acquire) {
            // A timeout, or an ICMP error from a client that has gone away.
            let Ok((length, client)) = self.datagrams.recv_from(&mut buffer) else {
                continue;
            };
            if let Some(reply) = self.reply(&buffer[..length], false) {
                let _ = self.datagrams.send_to(&reply, client);
            }
        }
    }

    fn tcp(&self) {
        while !self.stop.load(Ordering::Acquire) {
            match self.listener.accept() {
                Ok((mut stream, _)) => {
                    let _ = stream.set_nonblocking(false);
                    let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
                    let mut length = [0; 2];
                    while stream.read_exact(&mut length).is_ok() {
                        let mut query = vec![0; usize::from(u16::from_be_bytes(length))];
                        if stream.read_exact(&mut query).is_err() {
                            break;
                        }
                        let Some(reply) = self.reply(&query, true) else {
                            break;
                        };
                        let size = u16::try_from(reply.len()).expect("a small reply");
                        let framed = [&size.to_be_bytes()[..], &reply].concat();
                        if stream.write_all(&framed).is_err() {
                            break;
                        }
                    }
                }
                Err(fault) if fault.kind() == ErrorKind::WouldBlock => std::thread::sleep(POLL),
                Err(_) => break,
            }
        }
    }

    /// The reply to one query, or none.
    fn reply(&self, query: &[u8], over_tcp: bool) -> Option<Vec<u8>> {
        let id = query.get(..2)?;
        let (name, after_name) = read_name(query, 12)?;
        let kind = u16::from_be_bytes([*query.get(after_name)?, *query.get(after_name + 1)?]);
        let question = query.get(12..after_name + 4)?;
        let name = name.to_ascii_lowercase();
        locked(&self.asked).push(Question { name: name.clone(), kind, over_tcp });
        let mut answer = locked(&self.answers).get(&name).cloned();
        if let Some(Answer::PerFamily(pair)) = answer {
            let (four, six) = *pair;
            answer = Some(if kind == A { four } else { six });
        }
        if let Some(Answer::AfterLosses(losses, list)) = answer {
            let same = |question: &&Question| question.name == name && question.kind == kind;
            let lost = locked(&self.asked).iter().filter(same).count() <= losses;
            answer = Some(if lost { Answer::Silence } else { Answer::Addresses(list) });
        }
        let header = |flags: u16, records: u16| {
            let mut message = id.to_vec();
            for field in [flags, 1, records, 0, 0] {
                message.extend_from_slice(&field.to_be_bytes());
            }
            message.extend_from_slice(question);
            message
        };
        // A response to a recursive query, recursion available.
        const OK: u16 = 0x8180;
        const TRUNCATED: u16 = 0x0200;
        let listing = |owner: &[u8], addresses: &[IpAddr]| -> Vec<Vec<u8>> {
            addresses.iter().filter_map(|address| address_record(owner, *address, kind)).collect()
        };
        // A pointer to the name in the question.
        let asked_name = [0xc0, 12];
        let (flags, records) = match answer {
            None => (OK | 3, Vec::new()),
            Some(Answer::Silence | Answer::AfterLosses(..) | Answer::PerFamily(_)) => return None,
            Some(Answer::Garbage) => return Some([id, &[0xff; 9]].concat()),
            Some(Answer::Code(code)) => (OK | u16::from(code), Vec::new()),
            Some(Answer::OnlyTcp(_)) if !over_tcp => (OK | TRUNCATED, Vec::new()),
            Some(Answer::Addresses(list) | Answer::OnlyTcp(list)) => (OK, listing(&asked_name, &list)),
            Some(Answer::Unrelated(list)) => (OK, listing(&write_name("other.test"), &list)),
            Some(Answer::Alias(target, list)) => {
                let target = write_name(target);
                let mut records = vec![record(&asked_name, CNAME, &target)];
                records.extend(listing(&target, &list));
                (OK, records)
            }
        };
        let count = u16::try_from(records.len()).expect("few records");
        Some([header(flags, count), records.concat()].concat())
    }
}

/// The name that starts at `at`, without compression, and where it ends.
fn read_name(message: &[u8], mut at: usize) -> Option<(String, usize)> {
    let mut name = String::new();
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            return Some((name, at));
        }
        let label = message.get(at..at + length)?;
        name.push_str(std::str::from_utf8(label).ok()?);
        name.push('.');
        at += length;
    }
}

fn write_name(name: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).expect("a short label"));
        bytes.extend_from_slice(label.as_bytes());
    }
    bytes.push(0);
    bytes
}

fn address_record(owner: &[u8], address: IpAddr, kind: u16) -> Option<Vec<u8>> {
    match (address, kind) {
        (IpAddr::V4(address), A) => Some(record(owner, A, &address.octets())),
        (IpAddr::V6(address), AAAA) => Some(record(owner, AAAA, &address.octets())),
        _ => None,
    }
}

/// A record of class IN that lives for an hour: long enough to be seen if anything caches it.
fn record(owner: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let size = u16::try_from(data.len()).expect("small data");
    let mut bytes = owner.to_vec();
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&1_u16.to_be_bytes());
    bytes.extend_from_slice(&3600_u32.to_be_bytes());
    bytes.extend_from_slice(&size.to_be_bytes());
    bytes.extend_from_slice(data);
    bytes
}
