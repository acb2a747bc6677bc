//! Replies that do not answer the question, or say more than was asked.

use std::net::{Ipv4Addr, Ipv6Addr};

use hickory_proto::op::{Message, MessageType, OpCode, Query, ResponseCode};
use hickory_proto::rr::rdata::{A, AAAA, CNAME};
use hickory_proto::rr::{DNSClass, Name, RData, Record, RecordType};

use super::ResolveError;
use super::answer::{Fit, addresses, fit};

fn name(text: &str) -> Name {
    Name::from_ascii(text).unwrap()
}

fn question() -> Message {
    let mut message = Message::query();
    message.add_query(Query::query(name("api.example.com."), RecordType::A));
    message
}

fn reply(records: Vec<Record>) -> Message {
    let mut message = question().into_response();
    message.insert_answers(records);
    message
}

fn four(owner: &str, last: u8) -> Record {
    let address = A(Ipv4Addr::new(93, 184, 215, last));
    Record::from_rdata(name(owner), 60, RData::A(address))
}

fn alias(owner: &str, target: &str) -> Record {
    Record::from_rdata(name(owner), 60, RData::CNAME(CNAME(name(target))))
}

fn found(records: Vec<Record>) -> Result<Vec<String>, ResolveError> {
    let list = addresses(&reply(records), &name("api.example.com."), RecordType::A)?;
    Ok(list.iter().map(ToString::to_string).collect())
}

#[test]
fn only_a_response_to_our_question_fits() {
    let query = question();
    let verdict = |change: &dyn Fn(&mut Message)| {
        let mut reply = query.clone().into_response();
        change(&mut reply);
        match fit(&reply.to_vec().unwrap(), &query) {
            Fit::Answer(_) => "answer",
            Fit::Broken => "broken",
            Fit::Stray => "stray",
        }
    };
    assert_eq!(verdict(&|_| {}), "answer");
    assert_eq!(verdict(&|reply| reply.metadata.id ^= 1), "stray");
    assert_eq!(verdict(&|reply| reply.metadata.message_type = MessageType::Query), "broken");
    assert_eq!(verdict(&|reply| reply.metadata.op_code = OpCode::Notify), "broken");
    assert_eq!(verdict(&|reply| reply.queries.clear()), "broken");
    let twice = |reply: &mut Message| reply.queries.push(reply.queries[0].clone());
    assert_eq!(verdict(&twice), "broken");
    for (other, kind, class) in [
        ("www.example.com.", RecordType::A, DNSClass::IN),
        ("api.example.com.", RecordType::AAAA, DNSClass::IN),
        ("api.example.com.", RecordType::A, DNSClass::CH),
    ] {
        let mut question = Query::query(name(other), kind);
        question.set_query_class(class);
        assert_eq!(verdict(&|reply| reply.queries = vec![question.clone()]), "broken");
    }
    for length in 0..query.to_vec().unwrap().len() {
        let cut = &query.to_vec().unwrap()[..length];
        assert!(!matches!(fit(cut, &query), Fit::Answer(_)), "{length} bytes");
    }
}

#[test]
fn records_about_other_names_families_and_classes_are_not_used() {
    let mut chaos = four("api.example.com.", 9);
    chaos.dns_class = DNSClass::CH;
    let six = RData::AAAA(AAAA(Ipv6Addr::LOCALHOST));
    let six = Record::from_rdata(name("api.example.com."), 60, six);
    let strangers = vec![four("www.example.com.", 8), six, chaos];
    assert_eq!(found(strangers.clone()), Err(ResolveError::NoAddress));
    let with_ours = [strangers, vec![four("API.example.com.", 1)]].concat();
    assert_eq!(found(with_ours), Ok(vec!["93.184.215.1".to_owned()]));
}

#[test]
fn aliases_in_any_order_and_of_bounded_length() {
    let chain = vec![
        four("c.example.net.", 3),
        alias("b.example.net.", "c.example.net."),
        // An address beside an alias of the same name is not the canonical name's.
        four("api.example.com.", 7),
        alias("api.example.com.", "b.example.net."),
    ];
    assert_eq!(found(chain), Ok(vec!["93.184.215.3".to_owned()]));
    let open_end = vec![alias("api.example.com.", "b.example.net.")];
    assert_eq!(found(open_end), Err(ResolveError::NoAddress));
    let ring = vec![alias("api.example.com.", "b.example.net."), alias("b.example.net.", "api.example.com.")];
    assert_eq!(found(ring), Err(ResolveError::Malformed));
}

#[test]
fn codes_and_counts() {
    for (code, expected) in [
        (ResponseCode::NXDomain, ResolveError::NoSuchName),
        (ResponseCode::ServFail, ResolveError::ServerFailure),
        (ResponseCode::Refused, ResolveError::ServerFailure),
        (ResponseCode::FormErr, ResolveError::ServerFailure),
    ] {
        // A code other than "no error" makes the records worthless.
        let mut message = reply(vec![four("api.example.com.", 1)]);
        message.metadata.response_code = code;
        let verdict = addresses(&message, &name("api.example.com."), RecordType::A);
        assert_eq!(verdict, Err(expected));
    }
    let many = |count| (0..count).map(|last| four("api.example.com.", last)).collect();
    assert_eq!(found(many(32)).map(|list| list.len()), Ok(32));
    assert_eq!(found(many(33)), Err(ResolveError::TooManyAddresses));
}
