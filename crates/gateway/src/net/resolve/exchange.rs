//! One question to one name server (RFC 1035 section 4.2, RFC 7766). Belongs here: the query, UDP,
//! TCP after a truncated answer. Must not: try again or try another server.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hickory_proto::op::{Edns, Message, Query};
use hickory_proto::rr::{Name, RecordType};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};
use tokio::time::{Instant, timeout_at};

use super::ResolveError;
use super::answer::{self, Fit};

/// What we accept in one datagram: no fragments on any usual path (RFC 9715 section 3.1).
const MAX_DATAGRAM: u16 = 1232;

/// Replies that do not fit the question are someone's guesses; after this many the turn ends.
const MAX_STRAYS: usize = 32;

/// Asks `server` once for the records of `name` that hold addresses of one family.
pub(super) async fn ask(
    server: SocketAddr,
    name: &Name,
    kind: RecordType,
    deadline: Instant,
) -> Result<Vec<IpAddr>, ResolveError> {
    let query = query(name, kind);
    let bytes = query.to_vec().map_err(|_| ResolveError::Malformed)?;
    let asked = async {
        let reply = over_udp(server, &query, &bytes).await?;
        if reply.metadata.truncation { over_tcp(server, &query, &bytes).await } else { Ok(reply) }
    };
    let reply = timeout_at(deadline, asked).await.map_err(|_| ResolveError::Deadline)??;
    answer::addresses(&reply, name, kind)
}

/// The id is random, and so is the source port, which the kernel picks for each socket.
fn query(name: &Name, kind: RecordType) -> Message {
    let mut edns = Edns::new();
    edns.set_max_payload(MAX_DATAGRAM);
    let mut message = Message::query();
    message.metadata.recursion_desired = true;
    message.add_query(Query::query(name.clone(), kind));
    message.set_edns(edns);
    message
}

async fn over_udp(server: SocketAddr, query: &Message, bytes: &[u8]) -> Result<Message, ResolveError> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await.map_err(unreachable)?;
    // A connected socket takes datagrams from the server's address and port only.
    socket.connect(server).await.map_err(unreachable)?;
    socket.send(bytes).await.map_err(unreachable)?;
    let mut buffer = vec![0; usize::from(MAX_DATAGRAM)];
    for _ in 0..MAX_STRAYS {
        let length = socket.recv(&mut buffer).await.map_err(unreachable)?;
        let datagram = buffer.get(..length).unwrap_or_default();
        match answer::fit(datagram, query) {
            Fit::Answer(reply) => return Ok(*reply),
            Fit::Broken => return Err(ResolveError::Malformed),
            Fit::Stray => {}
        }
    }
    Err(ResolveError::Malformed)
}

async fn over_tcp(server: SocketAddr, query: &Message, bytes: &[u8]) -> Result<Message, ResolveError> {
    let length = u16::try_from(bytes.len()).map_err(|_| ResolveError::Malformed)?;
    let framed = [&length.to_be_bytes(), bytes].concat();
    let mut stream = TcpStream::connect(server).await.map_err(unreachable)?;
    stream.write_all(&framed).await.map_err(unreachable)?;
    let length = stream.read_u16().await.map_err(unreachable)?;
    let mut reply = vec![0; length.into()];
    stream.read_exact(&mut reply).await.map_err(unreachable)?;
    match answer::fit(&reply, query) {
        Fit::Answer(reply) if !reply.metadata.truncation => Ok(*reply),
        _ => Err(ResolveError::Malformed),
    }
}

fn unreachable(_: io::Error) -> ResolveError {
    ResolveError::NoServer
}
