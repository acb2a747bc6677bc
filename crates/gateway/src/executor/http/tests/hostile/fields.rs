//! Answers that do not begin as HTTP/1.1, or whose fields no two readers agree on.
//!
//! Belongs here: status lines, fields, interim answers, challenges (RFC 9112, 2 to 5; RFC 9110, 15).
//! Does not belong here: the body and where it ends (`framing`).

use framegate_gate::outcome::Status;

use super::row::{BEGUN, ENDED, Row, run};

#[tokio::test(start_paused = true)]
async fn only_a_status_line_begins_an_answer() {
    let rest = "\r\ncontent-length: 2\r\n\r\n{}";
    let mut rows = vec![
        Row::ended("nothing", ""),
        Row::ended("one byte", "H"),
        Row::unsound("a body alone, as in HTTP/0.9", "<html>peer</html>\r\n"),
        Row::unsound("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Row::unsound("a frame of HTTP/2", "\0\0\x12\x04\0\0\0\0\0peer\r\n\r\n"),
        Row::unsound("an alert of TLS", "\x15\x03\x01\0\x02\x02\x28"),
        Row::unsound("another protocol's greeting", "SSH-2.0-peer\r\n"),
        Row::unsound("a request", "GET /peer HTTP/1.1\r\nhost: peer\r\n\r\n"),
        Row::unsound("a NUL in the reason", format!("HTTP/1.1 200 pe\0er{rest}")),
        Row::unsound("a carriage return in the reason", format!("HTTP/1.1 200 pe\rer{rest}")),
        Row::done("no reason", format!("HTTP/1.1 200{rest}"), "\"body\":\"{}\""),
        Row::done("a long reason", format!("HTTP/1.1 200 {}{rest}", "peer ".repeat(1000)), "\"body\":\"{}\""),
        Row::failed("an unknown class", format!("HTTP/1.1 999 peer{rest}"), "\"status\":999"),
        Row::of(
            "a change of protocol",
            "HTTP/1.1 101 peer\r\nupgrade: peer\r\nconnection: upgrade\r\n\r\npeer",
            Status::Unknown,
            BEGUN,
        ),
        Row::of(
            "a change to HTTP/2",
            "HTTP/1.1 101 peer\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\nPRI * HTTP/2.0\r\n\r\n",
            Status::Unknown,
            BEGUN,
        ),
    ];
    for (name, line) in [
        ("HTTP/0.9", "HTTP/0.9 200 peer"),
        ("HTTP/1.2", "HTTP/1.2 200 peer"),
        ("HTTP/2", "HTTP/2 200 peer"),
        ("HTTP/2.0", "HTTP/2.0 200 peer"),
        ("HTTP/11.1", "HTTP/11.1 200 peer"),
        ("lower case", "http/1.1 200 peer"),
        ("another name", "ICY 200 peer"),
        ("a space in front", " HTTP/1.1 200 peer"),
        ("two spaces", "HTTP/1.1  200 peer"),
        ("a tab", "HTTP/1.1\t200 peer"),
        ("one digit", "HTTP/1.1 2 peer"),
        ("two digits", "HTTP/1.1 99 peer"),
        ("four digits", "HTTP/1.1 1000 peer"),
        ("below 100", "HTTP/1.1 099 peer"),
        ("a sign", "HTTP/1.1 +20 peer"),
        ("letters", "HTTP/1.1 abc peer"),
        ("no status", "HTTP/1.1 peer"),
    ] {
        rows.push(Row::unsound(name, format!("{line}{rest}")));
    }
    run(rows).await;
}

#[tokio::test(start_paused = true)]
async fn a_field_has_one_name_and_one_line() {
    let long = "f".repeat(33_000);
    let many: String = (0..101).map(|number| format!("x-{number}: peer\r\n")).collect();
    let mut rows = Vec::new();
    for (name, fields) in [
        ("a space before the colon", "x-peer : 1\r\n"),
        ("a tab before the colon", "x-peer\t: 1\r\n"),
        ("no colon", "x-peer\r\n"),
        ("no name", ": peer\r\n"),
        ("a folded line", "x-peer: a\r\n folded\r\n"),
        ("a line folded with a tab", "x-peer: a\r\n\tfolded\r\n"),
        ("a folded first line", " x-peer: a\r\n"),
        ("a carriage return in a value", "x-peer: a\rb\r\n"),
        ("a NUL in a value", "x-peer: a\0b\r\n"),
        ("a NUL in a name", "x-\0peer: a\r\n"),
        ("a carriage return in a name", "x-\rpeer: a\r\n"),
        ("a name beyond ASCII", "x-p\u{e9}er: a\r\n"),
        ("a delimiter in a name", "x(peer): a\r\n"),
        ("a deleting character in a value", "x-peer: a\x7fb\r\n"),
        ("an escape in a value", "x-peer: \x1b[2J\r\n"),
        ("a length with a space before the colon", "content-length : 2\r\n"),
        ("a folded coding", "transfer-encoding:\r\n chunked\r\n"),
        ("a long value", &format!("x-peer: {long}\r\n")),
        ("a long name", &format!("{long}: peer\r\n")),
        ("many fields", &many),
    ] {
        rows.push(Row::unsound(name, format!("HTTP/1.1 200 OK\r\n{fields}\r\n{{}}")));
    }
    run(rows).await;
}

/// Bare line feeds are accepted in a head (RFC 9112, 2.2), because a connection carries one answer: there is
/// no next one to confuse it with.
#[tokio::test(start_paused = true)]
async fn lines_that_end_in_a_bare_line_feed_are_read() {
    run(vec![
        Row::done("every line", "HTTP/1.1 200 OK\ncontent-length: 4\n\ntext", "\"body\":\"text\""),
        Row::done("the last line", "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\ntext", "\"body\":\"text\""),
        Row::done(
            "a line inside",
            "HTTP/1.1 200 OK\r\nx-peer: a\ncontent-length: 4\r\n\r\ntext",
            "\"body\":\"text\"",
        ),
    ])
    .await;
}

/// A field that is shown is JSON text, whatever bytes it has; one that is no text is not shown.
#[tokio::test(start_paused = true)]
async fn no_field_speaks_for_the_gateway() {
    let answer = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\ncontent-length: 2\r\n\r\n{{}}");
    run(vec![
        Row::done(
            "JSON in a shown field",
            answer("etag: \"},\"status\":500,\""),
            r#""headers":{"etag":"\"},\"status\":500,\""}"#,
        ),
        Row::done("a tab in a shown field", answer("etag: a\tb"), r#""headers":{"#),
        Row::done("bytes beyond ASCII in a shown field", answer("etag: \u{202e}\u{e9}"), r#""headers":{}"#),
        Row::done(
            "fields that are never shown",
            answer("set-cookie: peer\r\nserver: peer\r\nx-peer: peer\r\nwww-authenticate: peer"),
            r#""headers":{}"#,
        ),
    ])
    .await;
}

/// One request, whatever is asked for: no second credential, no retry, no other way.
#[tokio::test(start_paused = true)]
async fn no_answer_makes_a_second_request() {
    let mut rows = Vec::new();
    for (name, head) in [
        ("Basic", "401 No\r\nwww-authenticate: Basic realm=\"peer\""),
        ("Basic in UTF-8", "401 No\r\nwww-authenticate: Basic realm=\"peer\", charset=\"UTF-8\""),
        ("Digest", "401 No\r\nwww-authenticate: Digest realm=\"peer\", nonce=\"n\", qop=\"auth\""),
        ("Bearer with an error", "401 No\r\nwww-authenticate: Bearer error=\"invalid_token\""),
        ("Negotiate", "401 No\r\nwww-authenticate: Negotiate"),
        ("NTLM", "401 No\r\nwww-authenticate: NTLM"),
        ("the second step of NTLM", "401 No\r\nwww-authenticate: NTLM TlRMTVNTUAACAAAA"),
        ("several schemes", "401 No\r\nwww-authenticate: NTLM, Negotiate, Basic realm=\"peer\""),
        ("several fields", "401 No\r\nwww-authenticate: Negotiate\r\nwww-authenticate: NTLM"),
        ("no scheme", "401 No"),
        ("a success that asks", "400 No\r\nwww-authenticate: Basic realm=\"peer\""),
        ("a proxy's Basic", "407 No\r\nproxy-authenticate: Basic realm=\"peer\""),
        ("a proxy's Negotiate", "407 No\r\nproxy-authenticate: Negotiate"),
        ("a proxy's NTLM", "407 No\r\nproxy-authenticate: NTLM"),
        ("a time-out", "408 No\r\nconnection: close"),
        ("misdirected", "421 No"),
        ("too early", "425 No"),
        ("upgrade required", "426 No\r\nupgrade: TLS/1.3, HTTP/2.0"),
        ("come back", "429 No\r\nretry-after: 0"),
        ("come back later", "503 No\r\nretry-after: 0"),
        ("another service", "503 No\r\nalt-svc: h2=\"127.0.0.1:1\"; ma=86400"),
        ("refresh", "500 No\r\nrefresh: 0; url=http://127.0.0.1:1/peer"),
    ] {
        let answer = format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n");
        rows.push(Row::failed(name, answer, "\"truncated\":false}"));
    }
    run(rows).await;
}

#[tokio::test(start_paused = true)]
async fn an_interim_answer_is_no_answer() {
    let early = "HTTP/1.1 103 Early\r\nlink: </peer>\r\nlocation: /peer\r\n\r\n";
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntext";
    let shown = "{\"status\":200,\"headers\":{},\"truncated\":false,\"body\":\"text\"}";
    run(vec![
        Row::done("one", format!("{early}{ok}"), shown),
        Row::done("many", format!("{}{ok}", early.repeat(50)), shown),
        Row::of("alone", early, Status::Unknown, ENDED),
        Row::unsound(
            "with two lengths",
            format!("{early}HTTP/1.1 200 OK\r\ncontent-length: 4\r\ncontent-length: 5\r\n\r\ntext"),
        ),
        Row::done("followed by two answers", format!("{early}{ok}HTTP/1.1 500 peer\r\n\r\n"), shown),
    ])
    .await;
}
