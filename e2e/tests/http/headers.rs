//! The shared cases of request headers, by every way a header has into a request: a literal of the
//! configuration, a typed parameter, an argument that nobody declared.

use std::collections::BTreeMap;

use framegate_e2e::parallel;
use framegate_e2e::session::Session;
use framegate_e2e::stage::Stage;
use serde_json::{Value, json};

use super::{REVISION, cases, check_config, probe, quoted, stage, text, tool, word};

/// The credential's header in the cases.
const AUTH: &str = "auth = { scheme = \"header\", name = \"x-api-key\", secret = \"probe\" }";

/// The headers of a case. The cases spell names as HTTP/1.1 clients do; a configuration has one spelling.
fn headers(case: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    match case["headers"].as_array() {
        Some(pairs) => pairs.iter().map(|pair| (text(&pair[0]), text(&pair[1]))).collect(),
        None => vec![(text(&case["name"]), text(&case["value"]))],
    }
}

/// A stage whose one tool has these headers as literals.
fn declared(case: &Value) -> Stage {
    let lines: String = headers(case)
        .iter()
        .map(|(name, value)| format!("{} = {}\n", quoted(&name.to_ascii_lowercase()), quoted(value)))
        .collect();
    stage("headers", |stage| {
        probe(stage, AUTH) + &tool("ask", "method = \"GET\"\npath = \"/\"") + "[tool.ask.headers]\n" + &lines
    })
}

/// Whether the configuration is accepted.
fn is_accepted(stage: &Stage) -> bool {
    let output = check_config(stage);
    match output.status.code() {
        Some(0) => true,
        Some(78) => false,
        other => panic!("{other:?}: {}", String::from_utf8_lossy(&output.stderr)),
    }
}

/// The values of a header in the one request that was sent.
fn sent(stage: &Stage, name: &str) -> Vec<String> {
    let requests = stage.target().requests();
    assert_eq!(requests.len(), 1);
    let head = String::from_utf8(requests[0].raw[..requests[0].body_at].to_vec()).expect("ASCII");
    let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let values = lines.filter(|(found, _)| found.eq_ignore_ascii_case(name));
    // One space is the writer's own.
    values.map(|(_, value)| value.strip_prefix(' ').unwrap_or(value).to_owned()).collect()
}

/// Calls `ask` once; what became of it.
fn ask(stage: &Stage, arguments: Value) -> (String, String) {
    let mut session = Session::start(stage);
    session.ready(REVISION);
    let reply = session.call(REVISION, "ask", arguments);
    let became = (word(&reply).to_owned(), text(&reply).to_owned());
    assert_eq!(session.end().code(), Some(0));
    became
}

/// By configuration: what may be declared is sent as declared, and the rest is a fault.
fn by_configuration(case: &Value) {
    let id = &case["id"];
    let stage = declared(case);
    let accepted = is_accepted(&stage);
    assert_eq!(accepted, case["verdict"] == "allow", "{id}: as a literal");
    if accepted {
        let (became, said) = ask(&stage, json!({}));
        assert_eq!(became, "done", "{id}: {said}");
        for (name, value) in headers(case) {
            assert_eq!(sent(&stage, &name), [value], "{id}: {name}");
        }
        assert_eq!(sent(&stage, "x-api-key"), [stage.canary().value()], "{id}");
    }
}

/// By an argument: a header that no tool declares has no way in, under any of its names.
fn by_argument(case: &Value) {
    let id = &case["id"];
    let stage = stage("headers-argument", |stage| {
        probe(stage, AUTH)
            + &tool(
                "ask",
                "method = \"GET\"\npath = \"/\"\nheaders = { x-note = \"{value}\" }\nparams.value = { type = \"string\", required = false }",
            )
    });
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    for (name, value) in headers(case) {
        for arguments in [
            json!({ &name: value }),
            json!({ name.to_ascii_lowercase(): value, "value": "a" }),
            json!({ "headers": { &name: value } }),
        ] {
            let reply = session.call(REVISION, "ask", arguments);
            assert_eq!(word(&reply), "argument-unknown", "{id}: {}", text(&reply));
        }
    }
    session.end();
    assert_eq!(stage.traces().connections, 0, "{id}");
}

/// By a typed parameter: the value is sent byte for byte, or nothing is.
fn by_parameter(case: &Value) {
    let id = &case["id"];
    let value = case["value"].as_str().expect("text");
    for kind in ["{ type = \"string\" }", "{ type = \"string\", pattern = \".*\", max_length = 4096 }"] {
        let stage = stage("headers-parameter", |stage| {
            probe(stage, AUTH)
                + &tool(
                    "ask",
                    &format!(
                        "method = \"GET\"\npath = \"/\"\nheaders = {{ x-note = \"{{value}}\" }}\nparams.value = {kind}"
                    ),
                )
        });
        let (became, said) = ask(&stage, json!({ "value": value }));
        if case["verdict"] == "allow" {
            assert_eq!(became, "done", "{id}: {said}");
            assert_eq!(sent(&stage, "x-note"), [value], "{id}");
        } else {
            assert!(became.starts_with("argument-") || became == "render-shape", "{id}: {became}: {said}");
            assert_eq!(stage.traces().connections, 0, "{id}");
        }
    }
}

/// A way into a request, and how a case is run by it.
type Way = (&'static str, fn(&Value));

#[test]
fn shared_headers_get_their_verdicts() {
    let Some(cases) = cases("header_cases.json") else { return };
    assert!(cases.len() >= 88, "only {} cases", cases.len());
    // The ways of each case. Of a name that no tool declares, declaring it is the operator's right; that
    // an agent cannot is what the case is about.
    let ways = |case: &Value| -> Vec<Way> {
        let mut ways: Vec<Way> = Vec::new();
        if case["code"] == "not_declared" {
            ways.push(("an undeclared argument", by_argument));
        } else {
            ways.push(("a literal", by_configuration));
        }
        if case["name"] == "X-Note" {
            ways.push(("a typed parameter", by_parameter));
        }
        ways
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for case in &cases {
        assert!(matches!(case["verdict"].as_str(), Some("allow" | "refuse")), "{case}");
        for (way, _) in ways(case) {
            *counts.entry(way).or_default() += 1;
        }
    }
    let run = |case: &Value| ways(case).into_iter().for_each(|(_, run)| run(case));
    parallel::run(&cases, || (), |(), case| run(case));
    eprintln!(
        "header_cases.json: {} cases with their verdict, by {counts:?}; none without a way in",
        cases.len()
    );
}
