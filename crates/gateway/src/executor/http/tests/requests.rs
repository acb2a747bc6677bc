//! The bytes that leave: exactly what was judged, one credential, and nothing that was not asked for.

use std::io::Write;

use framegate_gate::action::Action;
use framegate_gate::outcome::Status;
use serde_json::{Value, json};

use super::{GET, Served, assert_unknown, check, serve, target};
use crate::executor::Executor;
use crate::executor::fixture::{SECRET, World};
use crate::executor::http::idempotency::key;

/// The request that one call sends; the server answers 204.
async fn sent(settings: &str, tool: &str, arguments: &Value, secret: &[u8]) -> (Served, Action) {
    let (listener, text) = target(settings);
    let world = World::with_files(&text, tool, &[("key", secret)]);
    let server = serve(listener, |mut stream| {
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        None
    });
    let (recorded, _receipt) = world.recorded(arguments);
    let action = recorded.granted().call().action().clone();
    let outcome = world.executor().perform(recorded).await;
    assert_eq!(outcome.status(), Status::Done, "{outcome:?}");
    check(&world, &outcome);
    (server.await.unwrap(), action)
}

/// The request line, the fields in alphabetical order, the body.
fn parts(served: &Served) -> (String, Vec<String>, String) {
    let (head, body) = served.text().split_once("\r\n\r\n").unwrap();
    let mut lines = head.split("\r\n").map(str::to_owned);
    let line = lines.next().unwrap();
    let mut fields: Vec<String> = lines.collect();
    fields.sort();
    (line, fields, body.to_owned())
}

fn host(served: &Served) -> String {
    format!("host: {}", served.listener.local_addr().unwrap())
}

const WRITE: &str = r#"
method = "POST"
path = "/a b/{owner}/{part}"
query = { "q[]" = "{text}", fixed = "100%&c=d" }
headers = { x-trace = "t-{owner}" }
body = { text = "{text}", fixed = [1.50, "é\u2028"] }
code_position = "accepted"
[tool.call.params.owner]
type = "word"
[tool.call.params.part]
type = "string"
pattern = ".*"
[tool.call.params.text]
type = "text"
"#;

#[tokio::test(start_paused = true)]
async fn a_request_is_what_was_judged_byte_for_byte() {
    let settings = format!("{}\nheaders = {{ x-fixed = \"yes\" }}", super::BEARER);
    let text = "50% +&=#?/\\\"é\n\u{2028}";
    let arguments = json!({"owner": "me", "part": "it's (50)+ü", "text": text});
    let (served, action) = sent(&settings, WRITE, &arguments, SECRET.as_bytes()).await;
    let (line, fields, body) = parts(&served);

    let Action::Http(action) = action;
    let encoded = "50%25%20%2B%26%3D%23%3F%2F%5C%22%C3%A9%0A%E2%80%A8";
    assert_eq!(
        action.path_and_query(),
        format!("/a%20b/me/it%27s%20%2850%29%2B%C3%BC?q%5B%5D={encoded}&fixed=100%25%26c%3Dd")
    );
    assert_eq!(line, format!("POST {} HTTP/1.1", action.path_and_query()));
    assert_eq!(body.as_bytes(), action.body_bytes().unwrap());
    let tree: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(tree, json!({"text": text, "fixed": [1.5, "é\u{2028}"]}));
    assert_eq!(
        fields,
        [
            "accept-encoding: identity".to_owned(),
            format!("authorization: Bearer {SECRET}"),
            format!("content-length: {}", body.len()),
            "content-type: application/json".to_owned(),
            host(&served),
            "user-agent: framegate".to_owned(),
            "x-fixed: yes".to_owned(),
            "x-trace: t-me".to_owned(),
        ]
    );
    served.once();
}

#[tokio::test(start_paused = true)]
async fn a_request_without_body_has_no_fields_about_one() {
    let (served, _) = sent("headers = { user-agent = \"other/1\" }", GET, &json!({}), b"unused").await;
    let (line, fields, body) = parts(&served);
    assert_eq!((line.as_str(), body.as_str()), ("GET /item HTTP/1.1", ""));
    let ours = ["accept-encoding: identity", &host(&served), "user-agent: other/1"];
    assert_eq!(fields, ours, "and no credential of a target that declares none");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_not_kept_is_said_to_close() {
    let (served, _) = sent("keep_alive = false", GET, &json!({}), b"unused").await;
    assert!(parts(&served).1.contains(&"connection: close".to_owned()));
}

/// One value for one intent: found in the journal, and never sent with another action.
#[tokio::test(start_paused = true)]
async fn an_idempotency_key_belongs_to_one_intent() {
    let (listener, text) = target(super::BEARER);
    let tool = "method = \"POST\"\npath = \"/{n}\"\nidempotency_key = \"idempotency-key\"\n\
                [tool.call.params.n]\ntype = \"int\"";
    let world = World::new(&text, tool);
    let executor = world.executor();
    let server = tokio::task::spawn_blocking(move || {
        let mut stream = super::accept(&listener);
        let mut requests = Vec::new();
        for _ in 0..2 {
            requests.push(String::from_utf8(super::read_request(&mut stream)).unwrap());
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        }
        requests
    });
    let mut keys = Vec::new();
    for _ in 0..2 {
        let (recorded, _receipt) = world.recorded(&json!({"n": 1}));
        let Action::Http(action) = recorded.granted().call().action().clone();
        keys.push((recorded.intent().to_owned(), key(recorded.intent(), &action).unwrap()));
        assert_eq!(key(recorded.intent(), &action), key(recorded.intent(), &action));
        assert_eq!(executor.perform(recorded).await.status(), Status::Done);
    }
    assert_ne!(keys[0].1, keys[1].1);
    for (request, (intent, key)) in server.await.unwrap().iter().zip(keys) {
        let value = key.to_str().unwrap();
        assert!(value.starts_with(&format!("{intent}-")) && value.len() == intent.len() + 33, "{value}");
        assert_eq!(request.matches(&format!("\r\nidempotency-key: {value}\r\n")).count(), 1, "{request}");
    }
    let action = |n: u64| {
        let (recorded, _receipt) = world.recorded(&json!({"n": n}));
        let Action::Http(action) = recorded.granted().call().action().clone();
        action
    };
    assert_ne!(key("same", &action(1)), key("same", &action(2)));
}

#[tokio::test(start_paused = true)]
async fn every_method_is_sent_as_it_is() {
    for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let tool = format!("method = \"{method}\"\npath = \"/\"");
        let (served, _) = sent("", &tool, &json!({}), b"unused").await;
        assert_eq!(parts(&served).0, format!("{method} / HTTP/1.1"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_credential_stands_once_in_its_own_form() {
    for (auth, expected) in [
        ("{ scheme = \"header\", name = \"x-api-key\", secret = \"key\" }", format!("x-api-key: {SECRET}")),
        (
            "{ scheme = \"basic\", user = \"me\", secret = \"key\" }",
            "authorization: Basic bWU6enE3L0srdyI5XFh2PHQ0ICVSbSZwTDI=".to_owned(),
        ),
    ] {
        // One line feed at the end of the file is not part of the secret.
        let file = format!("{SECRET}\n");
        let (served, _) = sent(&format!("auth = {auth}"), GET, &json!({}), file.as_bytes()).await;
        let fields = parts(&served).1;
        let others = ["accept-encoding: identity", &host(&served), "user-agent: framegate"];
        let found: Vec<_> = fields.iter().filter(|field| !others.contains(&field.as_str())).collect();
        assert_eq!(found, [&expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_credential_may_come_from_the_environment() {
    // Cargo sets it, and it is long enough to pass as a secret.
    let value = std::env::var("CARGO_MANIFEST_DIR").unwrap();
    let settings = "auth = { scheme = \"bearer\", secret = \"variable\" }\n\
                    [secret.variable]\nsource = \"env:CARGO_MANIFEST_DIR\"";
    let (served, _) = sent(settings, GET, &json!({}), b"unused").await;
    assert!(parts(&served).1.contains(&format!("authorization: Bearer {value}")));
}

/// A file is read at the moment of use: a secret that was changed since start is the one that is sent.
#[tokio::test(start_paused = true)]
async fn a_credential_is_read_at_the_moment_of_use() {
    let (listener, text) = target(super::BEARER);
    let world = World::new(&text, GET);
    let executor = world.executor();
    let (recorded, _receipt) = world.recorded(&json!({}));
    std::fs::write(world.path("key"), "another-Secret-5b1x").unwrap();
    let server = serve(listener, |_| None);
    assert_unknown(&executor.perform(recorded).await);
    assert!(server.await.unwrap().text().contains("\r\nauthorization: Bearer another-Secret-5b1x\r\n"));
}
