//! Messages in a table: what each text is read as, and what would be answered.
//!
//! Belongs here: envelopes, shapes, replies. Does not belong here: frames, JSON.

use super::{CallParams, ErrorId, Incoming, Reply, Revision, read};
use crate::json::Parser;
use crate::limits::Limits;
use crate::reason::Reason;
use serde_json::json;

/// What a text is read as: its kind, or the reason, the id that a reply would carry, and whether one is sent.
fn judge(text: &str) -> String {
    let limits = Limits::default();
    let mut parser = Parser::new(&limits);
    let document = parser.parse_text(text).unwrap();
    match read(&document, false, &limits) {
        Ok(Incoming::Request(request)) => format!("request {} {}", request.id(), request.method()),
        Ok(Incoming::Notification(notification)) => {
            format!("notification {}", notification.method())
        }
        Ok(Incoming::Response(_)) => "response".to_owned(),
        Ok(Incoming::Batch(batch)) => format!("batch of {}", batch.len()),
        Err(refused) => {
            let id = refused.id().map_or("unreadable".to_owned(), ToString::to_string);
            let answer =
                if refused.is_answered() { format!("answered to {id}") } else { "silent".to_owned() };
            format!("{} at {} {answer}", refused.refusal().reason(), refused.refusal().offset())
        }
    }
}

#[test]
fn the_envelope_is_closed() {
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
        (r#"{"jsonrpc":"2.0","id":-0,"method":"ping"}"#, "request -0 ping"),
        (r#"{"jsonrpc":"2.0","id":9223372036854775807,"method":"ping"}"#, "request 9223372036854775807 ping"),
        (
            r#"{"jsonrpc":"2.0","id":"é\"","method":"tools\u002fcall","params":{}}"#,
            r#"request "\u00e9\"" tools/call"#,
        ),
        (r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, "notification notifications/x"),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "response"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}"#, "response"),
        ("5", "message-not-object at 0 answered to unreadable"),
        ("[]", "message-batch at 0 answered to unreadable"),
        ("{}", "message-version at 0 answered to unreadable"),
        (r#"{"jsonrpc":"2.0"}"#, "message-kind at 0 answered to unreadable"),
        (r#"{"jsonrpc":"2.0","id":3}"#, "message-kind at 0 answered to 3"),
        (r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, "message-version at 11 answered to 3"),
        (r#"{"jsonrpc":2,"method":"ping"}"#, "message-version at 11 silent"),
        (r#"{"id":3,"method":"ping"}"#, "message-version at 0 answered to 3"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "message-id at 22 answered to unreadable"),
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, "message-id at 22 answered to unreadable"),
        (r#"{"jsonrpc":"2.0","id":1e0,"method":"ping"}"#, "message-id at 22 answered to unreadable"),
        (
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#,
            "message-id at 22 answered to unreadable",
        ),
        (r#"{"jsonrpc":"2.0","id":3,"method":7}"#, "message-method at 33 answered to 3"),
        (r#"{"jsonrpc":"2.0","method":7}"#, "message-method at 26 answered to unreadable"),
        (r#"{"jsonrpc":"2.0","id":3,"Method":"ping"}"#, "message-unknown-member at 24 answered to 3"),
        (r#"{"jsonrpc":"2.0","method":"n","x":1}"#, "message-unknown-member at 30 silent"),
        (r#"{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}"#, "message-mixed at 49 answered to 3"),
        (
            r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":""}}"#,
            "message-mixed at 44 silent",
        ),
        (r#"{"jsonrpc":"2.0","id":3,"result":{},"params":{}}"#, "message-mixed at 45 silent"),
        (r#"{"jsonrpc":"2.0","id":3,"result":1}"#, "message-response at 33 silent"),
        (r#"{"jsonrpc":"2.0","id":3,"error":{"code":1.5,"message":""}}"#, "message-response at 32 silent"),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "message-response at 0 silent"),
        (r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}"#, "call-without-id at 0 silent"),
    ];
    for (text, expected) in table {
        assert_eq!(judge(text), expected, "{text}");
    }
}

#[test]
fn long_ids_are_refused() {
    let text =
        |length: usize| format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(length));
    assert!(judge(&text(1024)).starts_with("request"));
    assert_eq!(judge(&text(1025)), "message-id-too-long at 22 answered to unreadable");
}

#[test]
fn batch_members_are_read_as_strictly_as_frames() {
    let limits = Limits::default();
    let mut parser = Parser::new(&limits);
    let document = parser.parse_text(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},[],5]"#).unwrap();
    let Ok(Incoming::Batch(batch)) = read(&document, true, &limits) else { panic!("not a batch") };
    let read: Vec<_> = batch
        .read(&limits)
        .map(|member| member.map_err(|refused| refused.refusal().reason()).map(|_| ()))
        .collect();
    assert_eq!(read, [Ok(()), Err(Reason::MessageBatch), Err(Reason::MessageNotObject)]);
}

#[test]
fn a_call_has_a_closed_shape_per_revision() {
    let shape = |params: &str, revision| {
        let limits = Limits::default();
        let mut parser = Parser::new(&limits);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call"{params}}}"#);
        let document = parser.parse_text(&text).unwrap();
        let Ok(Incoming::Request(request)) = read(&document, false, &limits) else { panic!("not a request") };
        CallParams::read(&request, revision)
            .and_then(|call| call.progress_token().map(|_| call.name().to_owned()))
            .map_err(|refused| refused.reason().code())
    };
    let newest = Revision::V2026_07_28;
    for (params, revision, expected) in [
        (r#","params":{"name":"t"}"#, newest, Ok("t")),
        (r#","params":{"name":"t","arguments":{}}"#, newest, Ok("t")),
        ("", newest, Err("call-params")),
        (r#","params":null"#, newest, Err("call-params")),
        (r#","params":[]"#, newest, Err("call-params")),
        (r#","params":{}"#, newest, Err("call-name")),
        (r#","params":{"name":7}"#, newest, Err("call-name")),
        (r#","params":{"name":"t","arguments":[]}"#, newest, Err("call-arguments")),
        (r#","params":{"name":"t","arguments":null}"#, newest, Err("call-arguments")),
        (r#","params":{"name":"t","_meta":1}"#, newest, Err("params-malformed")),
        (r#","params":{"name":"t","_meta":{"progressToken":1.5}}"#, newest, Err("params-malformed")),
        (r#","params":{"name":"t","_meta":{"progressToken":"p"}}"#, newest, Ok("t")),
        (r#","params":{"name":"t","Name":"u"}"#, newest, Err("call-unknown-member")),
        (r#","params":{"name":"t","task":{}}"#, newest, Err("call-unknown-member")),
        (r#","params":{"name":"t","task":{}}"#, Revision::V2025_11_25, Ok("t")),
        (r#","params":{"name":"t","requestState":""}"#, newest, Err("call-not-asked")),
        (r#","params":{"name":"t","requestState":""}"#, Revision::V2025_11_25, Err("call-unknown-member")),
    ] {
        assert_eq!(shape(params, revision), expected.map(str::to_owned), "{params} {revision}");
    }
}

#[test]
fn replies_are_single_lines_with_the_id_as_written() {
    let limits = Limits::default();
    let mut parser = Parser::new(&limits);
    let document = parser.parse_text(r#"{"jsonrpc":"2.0","id":-0,"method":"ping"}"#).unwrap();
    let Ok(Incoming::Request(request)) = read(&document, false, &limits) else { panic!("not a request") };
    let one = Reply::result(request.id(), json!({"a": "\u{2028}"}));
    let two = Reply::error(&ErrorId::Null, -32700, "m", Some(json!({"d": 1})));
    let three = Reply::error(&ErrorId::Absent, -32600, "m", None);
    let mut out = Vec::new();
    for reply in [
        &one,
        &two,
        &three,
        &Reply::notification("n", json!({})),
        &Reply::batch(vec![one.clone(), two.clone()]),
    ] {
        reply.write(&mut out);
    }
    let expected = concat!(
        r#"{"id":-0,"jsonrpc":"2.0","result":{"a":"\u2028"}}"#,
        "\n",
        r#"{"id":null,"jsonrpc":"2.0","error":{"code":-32700,"message":"m","data":{"d":1}}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"m"}}"#,
        "\n",
        r#"{"jsonrpc":"2.0","method":"n","params":{}}"#,
        "\n",
        r#"[{"id":-0,"jsonrpc":"2.0","result":{"a":"\u2028"}},{"id":null,"jsonrpc":"2.0","error":{"code":-32700,"message":"m","data":{"d":1}}}]"#,
        "\n",
    );
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
