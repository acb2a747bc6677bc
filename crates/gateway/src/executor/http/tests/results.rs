//! What a tool says that an agent may see, and nothing beside it.
//!
//! Belongs here: `[tool.NAME.result]` against answers that hold more.
//! Does not belong here: answers as such, masking.

use std::io::Write as _;

use framegate_gate::outcome::{Outcome, Status};
use serde_json::{Value, json};

use super::{GET, asked_of, json_answer, ok, shown};
use crate::executor::fixture::SECRET;

const MASK: &str = "[redacted:key]";

/// One call of a tool with these settings of its result.
async fn told(settings: &str, answer: impl Into<Vec<u8>>) -> Outcome {
    let answer = answer.into();
    let script = move |mut stream: std::net::TcpStream| {
        let _ = stream.write_all(&answer);
        None
    };
    asked_of("max_response_bytes = 4096", &format!("{GET}\nresult = {{ {settings} }}"), script).await
}

async fn body(settings: &str, answer: impl Into<Vec<u8>>) -> Value {
    shown(&told(settings, answer).await)["body"].clone()
}

const PARTS: &str = r#"select = { id = "/id", first = "/items/0/n~1a", all = "/items", none = "/x/y" }"#;

#[tokio::test(start_paused = true)]
async fn only_the_selected_parts_of_a_body_are_shown() {
    let answer = r#"{"id":7,"token":"t0k","items":[{"n/a":[1,null]},2],"x":[]}"#;
    assert_eq!(
        body(PARTS, json_answer(answer)).await,
        json!({"id": 7, "first": [1, null], "all": [{"n/a": [1, null]}, 2]})
    );
    assert_eq!(body(PARTS, json_answer("[1]")).await, json!({}));
    // An index is digits, not a sign, a leading zero or a word.
    let odd = r#"select = { a = "/00", b = "/-", c = "/+1", d = "/1" }"#;
    assert_eq!(body(odd, json_answer(r#"["x","y"]"#)).await, json!({"d": "y"}));
}

/// What an error says is selected from, too: targets repeat requests in errors most of all.
#[tokio::test(start_paused = true)]
async fn an_error_shows_no_more_than_a_success() {
    let body = r#"{"id":1,"message":"you sent abc"}"#;
    let answer = format!(
        "HTTP/1.1 500 No\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let outcome = told(PARTS, answer).await;
    assert_eq!(outcome.status(), Status::Failed);
    assert_eq!(shown(&outcome)["body"], json!({"id": 1}));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_cannot_be_selected_from_is_not_shown() {
    let html = ok("content-type: text/html\r\n", b"<p>{\"id\":1}</p>");
    let no_type = ok("", br#"{"id":1}"#);
    let two_readings = json_answer(r#"{"id":1,"id":2}"#);
    let binary = ok("content-type: application/json\r\n", b"\"\xff\"");
    let long = json_answer(&format!(r#"{{"id":1,"more":"{}"}}"#, "x".repeat(5_000)));
    let large = json_answer(&format!(r#"{{"id":"{}"}}"#, "x".repeat(300)));
    const NO_JSON: &str = "it is not JSON, and only parts of it may be shown";
    for (answer, expected) in [
        (html, NO_JSON),
        (no_type, NO_JSON),
        (two_readings, NO_JSON),
        (binary, NO_JSON),
        (long, "it is longer than what is read, and only parts of it may be shown"),
        (large, "what may be shown of it is longer than the limit"),
    ] {
        let result = shown(&told(&format!("{PARTS}, max_bytes = 256"), answer).await);
        assert_eq!((&result["body_refused"], result.get("body")), (&json!(expected), None), "{result}");
    }
    let empty = shown(&told(PARTS, ok("content-type: application/json\r\n", b"")).await);
    assert_eq!(
        empty,
        json!({"status": 200, "headers": {"content-type": "application/json"}, "truncated": false})
    );
}

#[tokio::test(start_paused = true)]
async fn selected_parts_are_masked_however_they_are_escaped() {
    let escaped: String =
        SECRET.chars().map(|character| format!("\\u{:04X}", u32::from(character))).collect();
    let half: String = SECRET
        .chars()
        .enumerate()
        .map(|(index, character)| match index % 2 {
            0 => format!("\\u{:04x}", u32::from(character)),
            _ => {
                let quoted = json!(character.to_string()).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            }
        })
        .collect();
    for secret in [escaped, half] {
        let answer = json_answer(&format!(r#"{{"id":"<{secret}>"}}"#));
        assert_eq!(body(PARTS, answer).await, json!({"id": format!("<{MASK}>")}));
    }
}

#[tokio::test(start_paused = true)]
async fn only_the_listed_fields_are_shown() {
    let fields =
        "content-type: text/plain\r\nx-one: 1\r\nX-Two: 2\r\nx-one: 3\r\netag: \"e\"\r\nset-cookie: a=b\r\n";
    let headers = |settings: &'static str| async move {
        shown(&told(settings, ok(fields, b"")).await)["headers"].clone()
    };
    assert_eq!(
        headers(r#"headers = ["x-one", "x-two", "x-three"]"#).await,
        json!({"x-one": "1, 3", "x-two": "2"})
    );
    assert_eq!(headers("headers = []").await, json!({}));
}

/// More than is shown at once is text that says so, never half a tree; a placeholder at the cut is whole.
#[tokio::test(start_paused = true)]
async fn a_longer_body_is_cut() {
    let limit = "max_bytes = 256";
    let tree = format!(r#"{{"a":"{}"}}"#, "x".repeat(248));
    assert_eq!(tree.len(), 256);
    let result = shown(&told(limit, json_answer(&tree)).await);
    assert_eq!((&result["body"]["a"], &result["truncated"]), (&json!("x".repeat(248)), &json!(false)));
    let longer = shown(&told(limit, json_answer(&format!("{tree} "))).await);
    assert_eq!((&longer["body"], &longer["truncated"]), (&json!(tree), &json!(true)));
    let secret = shown(&told(limit, ok("", format!("{}{SECRET}tail", "x".repeat(250)).as_bytes())).await);
    assert_eq!(secret["body"], json!(format!("{}{MASK}", "x".repeat(250))));
    let split = shown(&told(limit, ok("", format!("{}\u{e9}", "x".repeat(255)).as_bytes())).await);
    assert_eq!(split["body"], json!("x".repeat(255)));
    let bytes = shown(&told(limit, ok("", &[0xFF; 300])).await);
    assert_eq!(bytes["body_base64"].as_str().unwrap().len(), 344);
}
