//! Long answers, read on page by page: nothing is sent for a page, and nobody reads another call's answer.
//!
//! Belongs here: cursors, page ends, what is kept.
//! Does not belong here: what one page shows.

use std::io::Write as _;

use framegate_gate::outcome::{Outcome, Status};
use serde_json::{Value, json};

use super::{BEARER, assert_untouched, ok, serve, shown, target};
use crate::executor::Executor as _;
use crate::executor::fixture::{SECRET, World};
use crate::executor::http::HttpExecutor;

const MASK: &str = "[redacted:key]";
const TOOL: &str = "method = \"POST\"\npath = \"/{id}\"\nresult = { max_bytes = 256, cursor = \"more\" }\n\
                    params = { id = { type = \"word\" } }";

/// A tool whose first call was answered with this body; the server takes no second request.
struct Read {
    world: World,
    executor: HttpExecutor,
    first: Outcome,
    listener: std::net::TcpListener,
}

impl Read {
    async fn new(settings: &str, body: &[u8]) -> Self {
        let (listener, text) = target(&format!("{BEARER}\n{settings}"));
        let world = World::new(&text, TOOL);
        let answer = ok("content-type: text/plain\r\netag: \"e\"\r\n", body);
        let server = serve(listener, move |mut stream| {
            let _ = stream.write_all(&answer);
            None
        });
        let executor = world.executor();
        let first = ask(&world, &executor, &json!({"id": "a"})).await;
        let listener = server.await.unwrap().listener;
        Self { world, executor, first, listener }
    }

    async fn more(&self, arguments: Value) -> Outcome {
        let outcome = ask(&self.world, &self.executor, &arguments).await;
        assert_untouched(&self.listener);
        super::check_shown(&self.world, &outcome);
        outcome
    }

    /// Every page, to the end.
    async fn all(&self) -> Vec<Value> {
        let mut pages = vec![shown(&self.first)];
        while let Some(cursor) = pages.last().unwrap().get("next_cursor") {
            let page = self.more(json!({"id": "a", "more": cursor})).await;
            assert_eq!(page.status(), Status::Done);
            pages.push(shown(&page));
        }
        pages
    }
}

async fn ask(world: &World, executor: &HttpExecutor, arguments: &Value) -> Outcome {
    let (recorded, _receipt) = world.recorded(arguments);
    executor.perform(recorded).await
}

fn joined(pages: &[Value]) -> String {
    pages.iter().map(|page| page["body"].as_str().unwrap()).collect()
}

#[tokio::test(start_paused = true)]
async fn pages_together_are_the_body_and_nothing_is_sent_for_them() {
    for body in
        ["x".repeat(1_000), "\u{e9}\u{1f600}".repeat(150), format!("{}y", "x".repeat(512)), "x".repeat(512)]
    {
        let pages = Read::new("", body.as_bytes()).await.all().await;
        assert_eq!(joined(&pages), body);
        assert_eq!(pages.len(), body.len().div_ceil(256));
        for (number, page) in pages.iter().enumerate() {
            assert!(page["body"].as_str().unwrap().len() <= 256);
            assert_eq!(page["truncated"], json!(number + 1 < pages.len()));
            assert_eq!((&page["status"], &page["headers"]["etag"]), (&json!(200), &json!("\"e\"")));
        }
    }
    let short = Read::new("", "x".repeat(256).as_bytes()).await;
    assert_eq!(shown(&short.first).get("next_cursor"), None);
}

#[tokio::test(start_paused = true)]
async fn no_secret_and_no_placeholder_is_split_between_pages() {
    for before in 256 - SECRET.len()..258 {
        let body = format!("{}{SECRET}{}", "a".repeat(before), "b".repeat(300));
        let pages = Read::new("", body.as_bytes()).await.all().await;
        assert_eq!(joined(&pages), format!("{}{MASK}{}", "a".repeat(before), "b".repeat(300)));
        assert!(pages.iter().any(|page| page["body"].as_str().unwrap().contains(MASK)), "{before}");
    }
}

#[tokio::test(start_paused = true)]
async fn bytes_are_paged_as_bytes() {
    let body: Vec<u8> = (0..600_u16).map(|index| if index == 599 { 0xFF } else { b'a' }).collect();
    let pages = Read::new("", &body).await.all().await;
    // The first page alone would be text.
    assert!(pages.iter().all(|page| page["body_base64"].is_string() && page.get("body").is_none()));
    assert_eq!(pages.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn what_was_not_read_is_said_on_the_last_page() {
    let pages = Read::new("max_response_bytes = 1024", "x".repeat(5_000).as_bytes()).await.all().await;
    assert_eq!(joined(&pages).len(), 1_024);
    let last = pages.last().unwrap();
    assert_eq!((&last["truncated"], last.get("next_cursor")), (&json!(true), None));
}

#[tokio::test(start_paused = true)]
async fn a_cursor_is_good_for_its_own_call_only_and_never_sends() {
    let read = Read::new("", "x".repeat(1_000).as_bytes()).await;
    let cursor = shown(&read.first)["next_cursor"].as_str().unwrap().to_owned();
    let (name, _) = cursor.split_once('-').unwrap();
    let mut wrong = vec![json!({"id": "b", "more": cursor})];
    for cursor in
        [&format!("{name}-4"), &format!("{name}-99999999999999999999"), name, "x", "0000000000000000-1"]
    {
        wrong.push(json!({"id": "a", "more": cursor}));
    }
    for arguments in wrong {
        let outcome = read.more(arguments).await;
        assert_eq!(outcome.status(), Status::NotStarted, "{outcome:?}");
        assert!(outcome.text().contains("nothing was sent"), "{outcome:?}");
    }
    // Read again, it is the same page.
    let arguments = json!({"id": "a", "more": cursor});
    assert_eq!(read.more(arguments.clone()).await, read.more(arguments).await);
}

/// What is longer than all that can be kept is cut there, and that is said.
#[tokio::test(start_paused = true)]
async fn what_is_kept_is_bounded() {
    let read = Read::new("max_response_bytes = 16777216", "x".repeat(5 << 20).as_bytes()).await;
    let result = shown(&read.first);
    assert_eq!(result["truncated"], true);
    let (name, _) = result["next_cursor"].as_str().unwrap().split_once('-').unwrap();
    let last = ((4 << 20) - (64 << 10)) / 256 - 1;
    let page = read.more(json!({"id": "a", "more": format!("{name}-{last}")})).await;
    assert_eq!((&shown(&page)["truncated"], shown(&page).get("next_cursor")), (&json!(true), None));
    let behind = read.more(json!({"id": "a", "more": format!("{name}-{}", last + 1)})).await;
    assert_eq!(behind.status(), Status::NotStarted);
}

#[tokio::test(start_paused = true)]
async fn a_text_that_is_cut_inside_a_character_stays_text() {
    let pages = Read::new("max_response_bytes = 1025", "é".repeat(3_000).as_bytes()).await.all().await;
    assert_eq!(joined(&pages), "é".repeat(512));
    assert_eq!(pages.last().unwrap()["truncated"], true);
}
