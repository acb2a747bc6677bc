//! A target that repeats the secret: in the spellings that the redactor knows, and where decoding or cutting
//! would undo the masking.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{answered, answered_within, json_answer, ok, shown};
use crate::executor::fixture::SECRET;

const MASK: &str = "[redacted:key]";

fn percent(text: &str) -> String {
    text.bytes()
        .map(
            |byte| {
                if byte.is_ascii_alphanumeric() { char::from(byte).into() } else { format!("%{byte:02X}") }
            },
        )
        .collect()
}

#[tokio::test(start_paused = true)]
async fn an_echo_is_masked_in_every_known_spelling() {
    let quoted = json!(SECRET).to_string();
    let spellings = [
        SECRET.to_owned(),
        quoted.trim_matches('"').to_owned(),
        percent(SECRET),
        percent(&percent(SECRET)),
        STANDARD.encode(SECRET),
        STANDARD.encode(format!("user:{SECRET}")),
        SECRET.chars().map(|character| format!("\\u{:04x}", u32::from(character))).collect(),
    ];
    for spelling in spellings {
        let text = shown(&answered(ok("", format!("before {spelling} after").as_bytes())).await);
        let body = text["body"].as_str().unwrap();
        assert!(body.contains(MASK) && !body.contains(&spelling[4..spelling.len() - 4]), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_echo_in_base64_under_a_user_is_masked() {
    let pair = STANDARD.encode(format!("me:{SECRET}"));
    let (listener, text) = super::target("auth = { scheme = \"basic\", user = \"me\", secret = \"key\" }");
    let world = super::World::new(&text, super::GET);
    let answer = ok("", format!("Basic {pair}").as_bytes());
    let server = super::serve(listener, move |mut stream| {
        std::io::Write::write_all(&mut stream, &answer).unwrap();
        None
    });
    let outcome = super::perform(&world, &json!({})).await;
    server.await.unwrap().once();
    assert_eq!(shown(&outcome)["body"], format!("Basic {MASK}"));
}

#[tokio::test(start_paused = true)]
async fn an_echo_as_json_is_masked_in_names_and_values() {
    let body = json!({"a": [SECRET, {SECRET: 1}], "b": format!("x{SECRET}y")});
    let result = shown(&answered(json_answer(&body.to_string())).await);
    assert_eq!(result["body"], json!({"a": [MASK, {MASK: 1}], "b": format!("x{MASK}y")}));
}

/// A spelling that no search of the raw bytes knows, and that decoding turns into the secret itself.
#[tokio::test(start_paused = true)]
async fn what_decoding_brings_to_light_is_masked() {
    let escaped = json!(SECRET).to_string().replacen('z', "\\u007a", 1).replacen("pL2", "p\\u004c2", 1);
    let result = shown(&answered(json_answer(&format!("{{\"a\":[{escaped}],{escaped}:1}}"))).await);
    assert_eq!(result["body"], json!({"a": [MASK], MASK: 1}));
    // Two names that become one: no JSON is left, but a text without the secret.
    let plain = json!(SECRET);
    let result =
        shown(&answered(json_answer(&format!("{{{escaped}:1,\"[redacted:key]\":2,\"a\":{plain}}}"))).await);
    assert_eq!(result["body"], format!("{{\"{MASK}\":1,\"{MASK}\":2,\"a\":\"{MASK}\"}}"));
}

#[tokio::test(start_paused = true)]
async fn an_echo_in_a_shown_field_is_masked() {
    let fields = format!("etag: \"{SECRET}\"\r\nlink: <{}>\r\nx-echo: {SECRET}\r\n", percent(SECRET));
    let result = shown(&answered(ok(&fields, b"")).await);
    assert_eq!(result["headers"], json!({"etag": format!("\"{MASK}\""), "link": format!("<{MASK}>")}));
}

#[tokio::test(start_paused = true)]
async fn an_echo_in_a_redirect_is_not_shown() {
    let hidden = "an address that is not shown";
    let secret = percent(SECRET);
    for (location, expected) in [
        (format!("https://other.example/?token={secret}"), "https://other.example"),
        (format!("https://{secret}.example/"), hidden),
        (format!("https://x:{secret}@other.example/"), hidden),
    ] {
        let answer = format!("HTTP/1.1 307 Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let result = shown(&answered(answer).await);
        assert_eq!(result["redirect_not_followed"], expected);
    }
}

/// A secret whose own bytes make a host name: it is found in the host as the target wrote it.
#[tokio::test(start_paused = true)]
async fn a_secret_that_is_a_host_is_not_shown() {
    let secret = "k3v9x2m7q1w8z5t4";
    let (listener, text) = super::target(super::BEARER);
    let world = super::World::with_files(&text, super::GET, &[("key", secret.as_bytes())]);
    let answer =
        format!("HTTP/1.1 307 Moved\r\nlocation: https://{secret}.example/\r\ncontent-length: 0\r\n\r\n");
    let server = super::serve(listener, move |mut stream| {
        std::io::Write::write_all(&mut stream, answer.as_bytes()).unwrap();
        None
    });
    let outcome = super::perform(&world, &json!({})).await;
    server.await.unwrap().once();
    assert!(!outcome.text().contains(secret), "{outcome:?}");
}

/// A secret that no placeholder can stand for: nothing of the body, or of the field, is shown.
#[tokio::test(start_paused = true)]
async fn a_secret_torn_apart_withholds_the_field() {
    const WITHHELD: &str = "[withheld:secret-suspected]";
    let apart: String = SECRET.chars().map(|character| format!("{character} ")).collect();
    let result = shown(&answered(ok(&format!("etag: {apart}\r\n"), apart.as_bytes())).await);
    assert_eq!(result["body"], WITHHELD);
    assert_eq!(result["headers"]["etag"], WITHHELD);
}

/// The cut is after masking, wherever it falls in the secret or its placeholder.
#[tokio::test(start_paused = true)]
async fn a_secret_across_the_cut_is_masked() {
    let settings = "max_response_bytes = 1024";
    for before in 1024 - SECRET.len()..1026 {
        let body = format!("{}{SECRET}{}", "a".repeat(before), "b".repeat(3000));
        let result = shown(&answered_within(settings, ok("", body.as_bytes())).await);
        let kept = result["body"].as_str().unwrap();
        let after_it = kept.trim_start_matches('a');
        assert_eq!(kept.len() - after_it.len(), before.min(1024));
        assert!(["", MASK].contains(&after_it.trim_end_matches('b')), "{before}: {after_it}");
        assert_eq!(result["truncated"], true);
    }
}

/// Placeholders are shorter than some spellings: what was read to fill the limit must not end in a part of one.
#[tokio::test(start_paused = true)]
async fn a_body_of_nothing_but_secrets_shows_none_of_them() {
    let settings = "max_response_bytes = 1024";
    let spelling: String =
        SECRET.chars().map(|character| format!("\\u{:04x}", u32::from(character))).collect();
    for (spelling, count) in [(spelling.clone(), 20_000), (SECRET.to_owned(), 200), (spelling, 7)] {
        let body = format!("{}{}", spelling.repeat(count), &spelling[..spelling.len() - 1]);
        let result = shown(&answered_within(settings, ok("", body.as_bytes())).await);
        let kept = result["body"].as_str().unwrap().replace(MASK, "");
        let whole = count == 7;
        // Of the last, which is cut, only the escape that is not whole.
        assert_eq!(kept, if whole { &spelling[spelling.len() - 6..spelling.len() - 1] } else { "" });
        assert_eq!(result["truncated"], !whole);
    }
}

/// The most that is read in search of what can be shown: the rest of a secret that is cut there is left out.
#[tokio::test(start_paused = true)]
async fn a_search_that_is_given_up_shows_no_part_of_a_secret() {
    const LIMIT: usize = 256 * 1024;
    let spelling: String =
        SECRET.chars().map(|character| format!("\\u{:04x}", u32::from(character))).collect();
    let body = spelling.repeat(8 * LIMIT / spelling.len());
    let settings = format!("max_response_bytes = {LIMIT}");
    let tool = format!("{}\nresult = {{ max_bytes = {LIMIT} }}", super::GET);
    let outcome = super::asked_of(&settings, &tool, move |mut stream| {
        let _ = std::io::Write::write_all(&mut stream, &ok("", body.as_bytes()));
        None
    });
    let result = shown(&outcome.await);
    let kept = result["body"].as_str().unwrap();
    assert!(kept.len() > LIMIT / 20 && kept.replace(MASK, "").is_empty(), "{}", kept.len());
    assert_eq!(result["truncated"], true);
}

/// Chunks of one byte: what is masked does not depend on how the body arrives.
#[tokio::test(start_paused = true)]
async fn a_secret_in_many_chunks_is_masked() {
    let body = format!("x{SECRET}y");
    let chunks: String = body.chars().map(|character| format!("1\r\n{character}\r\n")).collect();
    let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
    let result: Value = shown(&answered(answer).await);
    assert_eq!(result["body"], format!("x{MASK}y"));
}

/// The text of a body that is no JSON keeps what a decoder of JSON would make of it to itself.
#[tokio::test(start_paused = true)]
async fn a_secret_in_bytes_that_are_no_text_is_masked() {
    let body = [b"\xff", SECRET.as_bytes(), b"\xfe"].concat();
    let result = shown(&answered(ok("", &body)).await);
    let bytes = STANDARD.decode(result["body_base64"].as_str().unwrap()).unwrap();
    assert_eq!(bytes, [b"\xff", MASK.as_bytes(), b"\xfe"].concat());
}

/// One answer may be an accident. The third one that repeats the credential is not shown, and none after it, whatever
/// it holds; another target's answers are.
#[tokio::test(start_paused = true)]
async fn the_third_answer_that_repeats_the_credential_ends_it() {
    let (listener, text) = super::target(&format!("{}\nkeep_alive = false", super::BEARER));
    let world = super::World::new(&text, super::GET);
    let executor = world.executor();
    let mut told = Vec::new();
    let mut listener = Some(listener);
    for body in ["a", SECRET, "b", SECRET, SECRET, "c"] {
        let answer = ok(&format!("etag: \"{body}\"\r\n"), body.as_bytes());
        let server = super::serve(listener.take().unwrap(), move |mut stream| {
            std::io::Write::write_all(&mut stream, &answer).unwrap();
            None
        });
        let (recorded, _receipt) = world.recorded(&json!({}));
        let outcome = crate::executor::Executor::perform(&executor, recorded).await;
        listener = Some(server.await.unwrap().listener);
        assert!(!outcome.text().contains(SECRET));
        super::check_shown(&world, &outcome);
        let result = shown(&outcome);
        told.push((result["body"].as_str().map(str::to_owned), outcome.secret_hits(), outcome.is_withheld()));
        if outcome.is_withheld() {
            assert!(
                result["body_refused"].as_str().unwrap().contains("withheld for the rest of the session")
            );
            assert_eq!(result["headers"], json!({}));
        }
    }
    let shown = |text: &str, hits| (Some(text.to_owned()), hits, false);
    assert_eq!(
        told,
        [shown("a", 0), shown(MASK, 2), shown("b", 0), shown(MASK, 2), (None, 2, true), (None, 0, true)]
    );
}
