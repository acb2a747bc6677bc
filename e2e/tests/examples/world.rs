//! One example between an agent and a mock server, and what must be true of each call.
//!
//! Belongs here: the judgement that all examples share. Does not belong here: the calls themselves.

use std::collections::BTreeSet;

use framegate_e2e::canary::Canary;
use serde_json::{Map, Value, json};

use crate::description::Description;
use crate::gateway::{Credential, Gateway};
use crate::mock::{self, Mock};
use crate::relay::{Exchange, Relay};

/// What a result shows of an answer.
#[derive(Clone, Copy, Debug)]
pub enum Shows {
    /// All of it.
    Whole,
    /// The parts of these names, at these places, and nothing else.
    Parts(&'static [(&'static str, &'static str)]),
    /// All of it, page by page: this is the argument that takes the cursor.
    Pages(&'static str),
}

/// A call that must be sent as it is expected, and be accepted.
#[derive(Debug)]
pub struct Good {
    pub tool: &'static str,
    pub arguments: Value,
    /// Method and target of the request line.
    pub sent: &'static str,
    /// Media type and value of the body; a form as one string.
    pub body: Option<(&'static str, Value)>,
    pub shows: Shows,
}

/// A call that must be refused before anything is sent.
#[derive(Debug)]
pub struct Wrong {
    pub tool: &'static str,
    pub arguments: Value,
    /// What the refusal names.
    pub says: &'static str,
}

/// A call that leaves the gateway, because the configuration is wrong on purpose, and that the mock must reject.
#[derive(Debug)]
pub struct Rejected {
    /// What stands in the example, and what stands in its place.
    pub edit: (&'static str, &'static str),
    pub tool: &'static str,
    pub arguments: Value,
    pub status: u16,
    /// What the mock server says of it.
    pub complaint: &'static str,
}

/// An API with all its calls.
#[derive(Debug)]
pub struct Api {
    pub name: &'static str,
    pub credential: Credential,
    /// The header that carries the credential, and its value with this secret.
    pub carried: (&'static str, fn(&str) -> String),
    pub good: Vec<Good>,
    pub wrong: Vec<Wrong>,
    pub rejected: Rejected,
}

struct World {
    canary: Canary,
    description: Description,
    relay: Relay,
    _mock: Mock,
}

/// Makes every call of the API. Every tool of the example and every operation of the reduced description
/// must be among the good ones.
pub fn run(api: &Api) {
    let Some(installed) = mock::installed() else { return };
    let mock = Mock::start(&installed, api.name);
    let relay = Relay::start(mock.address);
    let description = Description::read(&installed.join("descriptions").join(format!("{}.json", api.name)));
    let world = World { canary: Canary::new(), description, relay, _mock: mock };

    let mut gateway = start(api, &world, str::to_owned);
    let (mut operations, mut more_pages) = (BTreeSet::new(), 0);
    for good in &api.good {
        let (operation, pages) = accepted(api, &world, &mut gateway, good);
        operations.insert(operation);
        more_pages += pages - 1;
    }
    assert_eq!(operations, world.description.operations(), "operations called and operations described");
    let called: BTreeSet<String> = api.good.iter().map(|good| good.tool.to_owned()).collect();
    let declared: BTreeSet<String> = gateway.tools().into_iter().collect();
    assert_eq!(called, declared, "tools called and tools declared");

    for wrong in &api.wrong {
        refused(&world, &mut gateway, wrong);
    }
    let journal = gateway.end();
    // A page that is read on is recorded like any call, though it sends nothing.
    assert_eq!(journal.count("intent"), world.relay.connections() + more_pages, "what was sent was recorded");
    assert_eq!(
        journal.refused().len(),
        api.wrong.len(),
        "what was refused was recorded: {:?}",
        journal.refused()
    );

    let Rejected { edit: (from, to), tool, arguments, status, complaint } = &api.rejected;
    let mut gateway = start(api, &world, |text| {
        assert_eq!(text.matches(from).count(), 1, "the edit finds its place: {from}");
        text.replacen(from, to, 1)
    });
    let reply = gateway.call(tool, arguments);
    let exchange = world.relay.last();
    assert_eq!(exchange.status(), *status, "{}", exchange.request().raw.escape_ascii());
    let complaints = exchange.complaints();
    assert!(complaints.iter().any(|one| one.contains(complaint)), "{complaints:?}");
    assert_eq!(reply["result"]["isError"], true, "{reply}");
    gateway.end();
}

/// A session on the example, whose target is the relay. Nothing else of it is changed but by `edit`.
fn start(api: &Api, world: &World, edit: impl FnOnce(&str) -> String) -> Gateway {
    // A connection a request: that is what the relay counts.
    let origin = format!(
        "origin = \"http://{}\"\nallow_plain_loopback = true\nkeep_alive = false",
        world.relay.address
    );
    Gateway::start(api.name, api.credential, &world.canary, |text| {
        let lines = edit(text);
        let replaced = ["ca = ", "address_ranges = ", "allow_plain_loopback = "];
        let lines = lines.lines().filter(|line| !replaced.iter().any(|start| line.starts_with(start)));
        let lines: Vec<&str> =
            lines.map(|line| if line.starts_with("origin = ") { origin.as_str() } else { line }).collect();
        format!("{}\n", lines.join("\n"))
    })
}

/// Makes a good call; gives the operation that it was of, and in how many pages its answer was read.
fn accepted(api: &Api, world: &World, gateway: &mut Gateway, good: &Good) -> (String, usize) {
    let before = world.relay.connections();
    let reply = gateway.call(good.tool, &good.arguments);
    let shown = format!("{} {}: {reply}", good.tool, good.arguments);
    assert_eq!(world.relay.connections(), before + 1, "{shown}");
    let exchange = world.relay.last();
    let request = exchange.request();
    let sent = request.raw.escape_ascii();

    // The description first, so that an expectation below cannot agree with a mistake in the example.
    assert_eq!(exchange.complaints(), Vec::<String>::new(), "{sent}");
    let (operation, unknown) = world.description.judge(&request);
    assert_eq!(unknown, Vec::<String>::new(), "{operation} has no name for it: {sent}");
    assert!((200..300).contains(&exchange.status()), "{shown}");

    assert_eq!(request.line(), format!("{} HTTP/1.1", good.sent), "{shown}");
    let (header, credential) = (api.carried.0, (api.carried.1)(world.canary.value()));
    assert!(request.header(header).is_some_and(|value| value == credential), "{shown}");
    match &good.body {
        None => assert_eq!(request.body(), b"", "{sent}"),
        Some((media_type, body)) => {
            assert_eq!(request.header("content-type").as_deref(), Some(*media_type), "{sent}");
            // A form is compared as it is written, a JSON body as a value.
            let text = String::from_utf8_lossy(request.body());
            let found =
                if body.is_string() { json!(text) } else { serde_json::from_str(&text).expect("JSON") };
            assert_eq!(found, *body, "{sent}");
        }
    }

    let result = &reply["result"];
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["status"]),
        (&json!(false), &json!(exchange.status())),
        "{shown}"
    );
    let pages = judge_body(gateway, good, &exchange, &result["structuredContent"]);
    assert_eq!(world.relay.connections(), before + 1, "reading on sends nothing: {shown}");
    (operation, pages)
}

/// Compares what is shown with what the mock server answered; gives the number of pages.
fn judge_body(gateway: &mut Gateway, good: &Good, exchange: &Exchange, first: &Value) -> usize {
    let answer = exchange.answer();
    let text = String::from_utf8(answer.body().to_vec()).expect("text");
    let is_json = answer.header("content-type").is_some_and(|value| value.starts_with("application/json"));
    let body = match is_json && !text.is_empty() {
        true => serde_json::from_str(&text).expect("JSON"),
        false => json!(text),
    };
    match good.shows {
        Shows::Whole if text.is_empty() => assert_eq!(first.get("body"), None, "{}", good.tool),
        Shows::Whole => assert_eq!(first["body"], body, "{}", good.tool),
        Shows::Parts(parts) => {
            let parts = parts.iter().map(|(name, pointer)| {
                let part = body.pointer(pointer).unwrap_or_else(|| panic!("{}: no {pointer}", good.tool));
                ((*name).to_owned(), part.clone())
            });
            assert_eq!(first["body"], Value::Object(parts.collect::<Map<_, _>>()), "{}", good.tool);
        }
        Shows::Pages(cursor) => {
            let mut read = String::new();
            let mut page = first.clone();
            let mut pages = 1;
            loop {
                read.push_str(page["body"].as_str().expect("a page of text"));
                assert_eq!(page["truncated"], page.get("next_cursor").is_some(), "{}", good.tool);
                let Some(next) = page.get("next_cursor") else { break };
                let mut arguments = good.arguments.clone();
                arguments[cursor] = next.clone();
                page = gateway.call(good.tool, &arguments)["result"]["structuredContent"].clone();
                pages += 1;
            }
            assert_eq!(read, text, "{}", good.tool);
            assert!(pages > 1, "{}: the answer fits into one page", good.tool);
            return pages;
        }
    }
    1
}

fn refused(world: &World, gateway: &mut Gateway, wrong: &Wrong) {
    let before = world.relay.connections();
    let reply = gateway.call(wrong.tool, &wrong.arguments);
    let shown = format!("{} {}: {reply}", wrong.tool, wrong.arguments);
    assert_eq!(reply["result"]["isError"], true, "{shown}");
    let text = reply["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains(wrong.says), "{shown}");
    assert_eq!(world.relay.connections(), before, "nothing may be sent: {shown}");
}
