//! The shared URL cases as what an agent tries with an open tool: a whole URL as the path, and what follows the
//! authority. Either nothing is asked and nothing is sent, or the pinned target gets it.

use framegate_e2e::parallel;
use framegate_e2e::session::Session;
use framegate_e2e::target::{Answer, tls};
use serde_json::{Map, Value, json};

use super::{BEARER, REVISION, cases, probe, stage, text, word};

/// Cases that pass with a URL, and not with the decoded segments that an agent gives: stricter here.
const STRICTER: &[(&str, &str)] = &[
    ("ssrf-126", "a percent sign in a segment, which one reader more would decode"),
    ("ssrf-131", "a segment without a character, which some servers leave out"),
];

/// Cases that a URL may not hold as they are, and a decoded segment may: they are encoded on their way.
const ENCODED: &[(&str, &str)] = &[("ssrf-132", "/a%20b"), ("ssrf-133", "/%C3%A9")];

/// The arguments for what follows a URL's authority, as an agent would fill them in.
fn decoded(rest: &str) -> Value {
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let query: Map<String, Value> = pairs.map(|(name, value)| (name.to_owned(), json!(value))).collect();
    let path = if path.is_empty() { "/" } else { path };
    json!({"method": "GET", "path": path, "query": query})
}

/// A call reaches the pinned target once, with one look-up of its name, or reaches nothing.
fn reaches_only_the_target(session: &mut Session<'_>, id: &str, arguments: &Value) -> bool {
    let stage = session.stage();
    let (before, requests) = (stage.traces(), stage.target().requests().len());
    stage
        .target()
        .script([Answer::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec())]);
    let reply = session.call(REVISION, "open", arguments.clone());
    let after = stage.traces();
    let reached = after.connections - before.connections;
    assert_eq!(after.lookups - before.lookups, reached, "{id}: {arguments}");
    assert_eq!(after.questions > before.questions, reached > 0, "{id}: {arguments}");
    if word(&reply) == "done" {
        assert_eq!(reached, 1, "{id}: {arguments}");
        let requests = stage.target().requests();
        let request = requests.last().expect("one request");
        let host = format!("{}:{}", tls::NAME, stage.target().address().port());
        assert_eq!(request.header("host"), Some(host), "{id}: {arguments}");
        return true;
    }
    assert!(word(&reply).starts_with("argument-"), "{id}: {arguments}: {}", text(&reply));
    assert_eq!((reached, stage.target().requests().len()), (0, requests), "{id}: {arguments}");
    false
}

#[test]
fn every_shared_url_through_an_open_tool_reaches_the_pinned_target_or_nothing() {
    let Some(cases) = cases("ssrf_urls.json") else { return };
    let open = "[tool.open]\nkind = \"http-request\"\ndescription = \"A test\"\nallow = true\ntarget = \"probe\"\n\
                methods = [\"GET\"]\npaths = [\"/**\"]\n";
    let counts = std::sync::Mutex::new((0, 0));
    parallel::run(
        &cases,
        || stage("urls", |stage| probe(stage, &format!("keep_alive = false\n{BEARER}")) + open),
        |stage, case| {
            let field = |pointer: &str| case.pointer(pointer).and_then(Value::as_str).expect("a text");
            let (id, url) = (field("/id"), field("/url"));
            let mut session = Session::start(stage);
            session.ready(REVISION);
            let whole = reaches_only_the_target(&mut session, id, &json!({"method": "GET", "path": url}));
            // Only what is a path already is taken for one, and then it is one on the pinned target.
            assert!(!whole || (url.starts_with('/') && !url.starts_with("//")), "{id}: {url}");
            let rest = url.find("://").map_or(url, |at| &url[at + 3..]);
            let rest = &rest[rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len())..];
            let passed = reaches_only_the_target(&mut session, id, &decoded(rest));
            let stricter = STRICTER.iter().any(|(stricter, _)| *stricter == id);
            if field("/pinned/verdict") == "allow" {
                assert_eq!(passed, !stricter, "{id}: {rest}");
            }
            if let Some((_, encoded)) = ENCODED.iter().find(|(encoded, _)| *encoded == id) {
                let requests = stage.target().requests();
                assert_eq!(requests.last().expect("one").line(), format!("GET {encoded} HTTP/1.1"), "{id}");
            } else if field("/cls") == "path" && field("/pinned/verdict") == "refuse" {
                assert!(!passed, "{id}: {rest}");
            }
            session.end();
            let mut counts = counts.lock().expect("not poisoned");
            counts.0 += usize::from(whole);
            counts.1 += usize::from(passed);
        },
    );
    let (whole, passed) = counts.into_inner().expect("not poisoned");
    eprintln!(
        "ssrf_urls.json: {} URLs; {whole} are paths and went to the pinned target, {passed} had a path that did",
        cases.len()
    );
    for (id, why) in STRICTER {
        eprintln!("  {id}: refused: {why}");
    }
    assert!(passed > 100, "the twin: sound paths are carried out");
}
