//! What an agent is told of an answer.

use framegate_gate::outcome::Status;
use serde_json::{Value, json};

use super::{answered, answered_within, json_answer, ok, shown};

#[tokio::test(start_paused = true)]
async fn a_status_decides_between_done_and_failed() {
    for (status, expected) in [
        (200, Status::Done),
        (204, Status::Done),
        (299, Status::Done),
        (300, Status::Failed),
        (304, Status::Failed),
        (399, Status::Failed),
        (400, Status::Failed),
        (404, Status::Failed),
        (499, Status::Failed),
        (500, Status::Failed),
        (599, Status::Failed),
        (600, Status::Failed),
        (999, Status::Failed),
    ] {
        let answer = format!("HTTP/1.1 {status} Some Words\r\ncontent-length: 0\r\n\r\n");
        let outcome = answered(answer).await;
        assert_eq!(outcome.status(), expected, "{status}");
        assert_eq!(shown(&outcome), json!({"status": status, "headers": {}, "truncated": false}));
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_is_one_object() {
    let fields = "content-type: Application/JSON; charset=utf-8\r\nETag: \"1\"\r\nset-cookie: a=b\r\n\
                  link: </2>; rel=\"next\"\r\nlink: </1>; rel=\"first\"\r\nserver: it\r\nretry-after: 7\r\n\
                  last-modified: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let body = br#" {"a": [1, 2.5, null], "\u0062": "\ud83d\ude00\n"} "#;
    let outcome = answered(ok(fields, body)).await;
    assert_eq!(
        shown(&outcome),
        json!({
            "status": 200,
            "headers": {
                "content-type": "Application/JSON; charset=utf-8",
                "etag": "\"1\"",
                "last-modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                "link": "</2>; rel=\"next\", </1>; rel=\"first\"",
                "retry-after": "7",
            },
            "truncated": false,
            "body": {"a": [1, 2.5, null], "b": "\u{1f600}\n"},
        })
    );
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_data_and_no_success() {
    for status in [301, 302, 303, 307, 308] {
        let answer = |location: &str| {
            format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n")
        };
        // `answered` fails on a second connection.
        let outcome = answered(answer("http://127.0.0.1:1/path?query=1")).await;
        assert_eq!(outcome.status(), Status::Failed);
        assert_eq!(shown(&outcome)["redirect_not_followed"], "http://127.0.0.1:1");
    }
    let hidden = "an address that is not shown";
    for (location, expected) in [
        ("https://other.example:8443/a?b#c", "https://other.example:8443"),
        ("https://other.example", "https://other.example"),
        ("//other.example/a", "http://other.example"),
        // Spellings that a parser would tidy up.
        ("https://OTHER.example/", hidden),
        ("https://%6fther.example/", hidden),
        ("https://user:word@other.example/", hidden),
        ("https:\\\\other.example/", hidden),
        ("https://[::1", hidden),
        ("javascript:alert(1)", hidden),
        ("file:///etc/passwd", hidden),
    ] {
        let answer = format!("HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(shown(&answered(answer).await)["redirect_not_followed"], expected, "{location}");
    }
    // Within the target: its own origin, with no part of the path.
    let relative =
        shown(&answered("HTTP/1.1 302 Found\r\nlocation: /new?a\r\ncontent-length: 0\r\n\r\n").await);
    let own = relative["redirect_not_followed"].as_str().unwrap();
    assert!(own.starts_with("http://127.0.0.1:") && !own.contains("new"), "{own}");
    let not_one = ok("location: https://other.example/\r\n", b"");
    assert_eq!(shown(&answered(not_one).await).get("redirect_not_followed"), None);
}

#[tokio::test(start_paused = true)]
async fn a_challenge_is_not_answered() {
    for (status, field) in [(401, "www-authenticate"), (407, "proxy-authenticate")] {
        for scheme in ["Basic realm=\"r\"", "Negotiate", "NTLM", "Digest realm=\"r\", nonce=\"n\""] {
            let answer = format!("HTTP/1.1 {status} No\r\n{field}: {scheme}\r\ncontent-length: 2\r\n\r\nno");
            let outcome = answered(answer).await;
            assert_eq!(outcome.status(), Status::Failed);
            let expected = json!({"status": status, "headers": {}, "truncated": false, "body": "no"});
            assert_eq!(shown(&outcome), expected);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_long_body_is_cut_and_that_is_said() {
    let settings = "max_response_bytes = 1024";
    for (length, cut) in [(1023, false), (1024, false), (1025, true), (100_000, true)] {
        let body = "a".repeat(length);
        let result = shown(&answered_within(settings, ok("", body.as_bytes())).await);
        assert_eq!(result["truncated"], cut, "{length}");
        assert_eq!(result["body"].as_str().unwrap().len(), length.min(1024), "{length}");
    }
    // Cut inside a character: the characters before it, and still text.
    let body = format!("a{}", "é".repeat(1000));
    let result = shown(&answered_within(settings, ok("", body.as_bytes())).await);
    assert_eq!(result["body"], format!("a{}", "é".repeat(511)));
    // JSON that is cut is text.
    let body = format!("[\"{}\"]", "a".repeat(2000));
    let result = shown(&answered_within(settings, json_answer(&body)).await);
    assert_eq!(result["body"].as_str(), Some(&body[..1024]));
    assert_eq!(result["truncated"], true);
}

#[tokio::test(start_paused = true)]
async fn a_body_with_a_coding_is_refused() {
    for field in ["gzip", "br", "GZIP, identity", "identity, identity", "", "\u{e9}"] {
        let answer = ok(&format!("content-encoding: {field}\r\n"), b"PK-peer-bytes");
        let result = shown(&answered(answer).await);
        assert_eq!(result["body_refused"], "it has a content-encoding that was not asked for", "{field}");
        assert_eq!((result.get("body"), result.get("body_base64")), (None, None));
    }
    let plain = shown(&answered(ok("Content-Encoding: Identity\r\n", b"text")).await);
    assert_eq!(plain["body"], "text");
}

#[tokio::test(start_paused = true)]
async fn every_byte_of_a_body_is_told_in_some_form() {
    for (body, form, expected) in [
        (&b"\xff\xfe"[..], "body_base64", "//4="),
        (b"half \xc3", "body_base64", "aGFsZiDD"),
        (b"\xed\xa0\x80", "body_base64", "7aCA"),
        (b"a\0b", "body", "a\0b"),
        (b"\x1b[2J\x07", "body", "\u{1b}[2J\u{7}"),
        ("a\u{2028}b\u{2029}\u{202e}".as_bytes(), "body", "a\u{2028}b\u{2029}\u{202e}"),
    ] {
        let result = shown(&answered(ok("", body)).await);
        assert_eq!(result[form], expected);
        assert_eq!(result.as_object().unwrap().len(), 4, "{result}");
    }
}

#[tokio::test(start_paused = true)]
async fn only_json_with_one_reading_becomes_json() {
    let deep = format!("{}{}", "[".repeat(61), "]".repeat(61));
    for text in [
        r#"{"a":1,"a":2}"#,
        r#"{"a":1,"\u0061":2}"#,
        r#"{"a":1}{"b":2}"#,
        r#"{"a":18446744073709551616}"#,
        r#"{"a":1e400}"#,
        r#"{"a":"\ud800"}"#,
        r#"{"a":NaN}"#,
        "{\"a\":1,}",
        "\u{feff}{}",
        &deep,
    ] {
        assert_eq!(shown(&answered(json_answer(text)).await)["body"], text);
    }
    let fits = format!("{}{}", "[".repeat(60), "]".repeat(60));
    assert!(shown(&answered(json_answer(&fits)).await)["body"].is_array());
    // Only what is declared as JSON: the text `1.10` is no number.
    for (fields, expected) in [
        ("", json!("1.10")),
        ("content-type: text/plain\r\n", json!("1.10")),
        ("content-type: application/json\r\ncontent-type: text/plain\r\n", json!("1.10")),
        ("content-type: application/problem+json\r\n", json!(1.1)),
    ] {
        let result: Value = shown(&answered(ok(fields, b"1.10")).await);
        assert_eq!(result["body"], expected, "{fields}");
    }
}

/// Our own reply, with such a body in it, passes our own parser.
#[tokio::test(start_paused = true)]
async fn the_deepest_body_fits_a_reply() {
    let fits = format!("{}{}", "[".repeat(60), "]".repeat(60));
    let outcome = answered(json_answer(&fits)).await;
    let reply = json!([{"result": {"structuredContent": outcome.structured()}}]).to_string();
    let limits = framegate_wire::Limits::default();
    assert!(framegate_wire::json::Parser::new(&limits).parse_text(&reply).is_ok());
}
