//! A name server's reply. Belongs here: whether it answers our question, and which addresses it
//! gives for the name that was asked. Must not: do I/O, or use a record about another name.

use std::net::IpAddr;

use hickory_proto::op::{Message, MessageType, OpCode, ResponseCode};
use hickory_proto::rr::{DNSClass, Name, RData, RecordType};

use super::{ResolveError, Resolver};

/// Longest chain of aliases that is followed, all within one reply.
const MAX_ALIASES: usize = 8;

/// What some bytes from a server are.
pub(super) enum Fit {
    /// A response to our question.
    Answer(Box<Message>),
    /// It has our question's id, and is not a well-formed response to it.
    Broken,
    /// It has another id.
    Stray,
}

/// Compares id, kind and question (RFC 5452 section 9.1).
pub(super) fn fit(bytes: &[u8], query: &Message) -> Fit {
    if bytes.get(..2) != Some(&query.metadata.id.to_be_bytes()) {
        return Fit::Stray;
    }
    match Message::from_vec(bytes) {
        Ok(reply)
            if reply.metadata.message_type == MessageType::Response
                && reply.metadata.op_code == OpCode::Query
                && reply.queries == query.queries =>
        {
            Fit::Answer(Box::new(reply))
        }
        _ => Fit::Broken,
    }
}

/// The addresses of `name`, at the end of its aliases.
pub(super) fn addresses(reply: &Message, name: &Name, kind: RecordType) -> Result<Vec<IpAddr>, ResolveError> {
    match reply.metadata.response_code {
        ResponseCode::NoError => {}
        ResponseCode::NXDomain => return Err(ResolveError::NoSuchName),
        _ => return Err(ResolveError::ServerFailure),
    }
    let owner = canonical(reply, name)?;
    let mut addresses = Vec::new();
    for record in &reply.answers {
        if record.name != *owner || record.dns_class != DNSClass::IN {
            continue;
        }
        let address = match &record.data {
            RData::A(address) if kind == RecordType::A => IpAddr::V4(address.0),
            RData::AAAA(address) if kind == RecordType::AAAA => IpAddr::V6(address.0),
            _ => continue,
        };
        if addresses.len() >= Resolver::MAX_ADDRESSES {
            return Err(ResolveError::TooManyAddresses);
        }
        addresses.push(address);
    }
    if addresses.is_empty() {
        return Err(ResolveError::NoAddress);
    }
    Ok(addresses)
}

/// The name that `name` is an alias of in the end. A chain that does not end within the reply is
/// not looked up further: a recursive server gives all of it.
fn canonical<'a>(reply: &'a Message, name: &'a Name) -> Result<&'a Name, ResolveError> {
    let mut owner = name;
    for _ in 0..MAX_ALIASES {
        let alias = reply.answers.iter().find_map(|record| match &record.data {
            RData::CNAME(target) if record.name == *owner => Some(&target.0),
            _ => None,
        });
        match alias {
            Some(target) => owner = target,
            None => return Ok(owner),
        }
    }
    Err(ResolveError::Malformed)
}
