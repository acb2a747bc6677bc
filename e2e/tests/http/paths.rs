//! Path segments that mean something else to some decoder, against the decoders of nginx and of Node.
//!
//! Whatever an agent puts into a segment: either no connection is made, or the segments that the server
//! decodes are exactly those that policy judged.

use framegate_e2e::server::{Nginx, Server};
use framegate_e2e::session::Session;
use framegate_e2e::stage::{Stage, write_private};
use serde_json::{Value, json};

use super::{REVISION, shown, stage, text, tool, word};

/// Refused as a segment, whatever the type: each is empty, a dot segment, or split, decoded, cut or folded by
/// some server.
const HOSTILE: &[&str] = &[
    "",
    ".",
    "..",
    "...",
    "a.",
    "a..",
    "a ",
    " a",
    " ",
    "a. ",
    "%",
    "%2e",
    "%2E",
    "%2e%2e",
    ".%2e",
    "%252e",
    "%252e%252e",
    "%2f",
    "a%2fb",
    "%5c",
    "%00",
    "..%00",
    "%c0%ae",
    "%c0%ae%c0%ae",
    "%u002e",
    "..%c0%af",
    "%e0%80%ae",
    "%",
    "100%",
    ";",
    "..;",
    "..;/",
    ".;x=1",
    ";x=1",
    "a;x=1",
    "a;",
    "a;/../b",
    "\\",
    "..\\",
    "..\\..",
    "a\\b",
    "/",
    "a/",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "?",
    "a?b",
    "?a=1",
    "#",
    "a#b",
    "a?",
    "a\0",
    "\0",
    "a\0.json",
    "a\nb",
    "a\r\nHost: b",
    "a\tb",
    "a\u{7f}",
    "a\u{85}b",
    "\u{ff0e}\u{ff0e}",
    "\u{ff0e}",
    ".\u{ff0e}",
    "\u{2024}\u{2024}",
    "\u{2025}",
    "\u{2026}",
    "\u{ff0f}",
    "a\u{ff0f}b",
    "\u{ff3c}",
    "\u{fe68}",
    "\u{ff05}2e",
    "a\u{ff1b}b",
    "\u{ff1f}",
    "\u{ff03}",
    "\u{2215}",
    "\u{2044}",
    "a\u{a5}b",
    "\u{20a9}",
    "..\u{200b}",
    "a\u{202e}b",
    "e\u{301}",
    "a\u{2028}b",
    "\u{feff}",
    "a\u{ad}b",
];

/// Words.
const PLAIN: &[&str] = &["plain", "a.b", "a..b", "a~b", "a-b", "a_b", "0", "_", "A.json"];

/// No words, but odd only to look at: any decoder gives them back as they are.
const ODD: &[&str] = &[
    "..a",
    ".a",
    "...a",
    "-a",
    "--",
    "a b",
    "a+b",
    "a&b=c",
    "@",
    "a@b",
    "a:b",
    ":",
    "a::$DATA",
    "*",
    "$(id)",
    "`id`",
    "~",
    "~root",
    "a,b",
    "'",
    "\"",
    "<b>",
    "|",
    "[x]",
    "{x}",
    "{{x}}",
    "^",
    "!",
    "=",
    "\u{e9}",
    "\u{65e5}\u{672c}",
    "\u{1f600}",
    "\u{ff21}",
    "\u{df}",
    "\u{130}",
    "\u{2160}",
];

/// A path that one type takes as several segments.
const RELATIVE: &[&str] = &["a/b", "a/b.c/d e"];

/// What each tool sends, as segments.
fn segments(tool: &str, value: &str) -> Vec<String> {
    match tool {
        "first" => vec![value.to_owned()],
        "between" => vec!["echo".to_owned(), format!("v-{value}.json"), "end".to_owned()],
        "relative" => [&["echo"], value.split('/').collect::<Vec<_>>().as_slice(), &["end"]]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        _ => ["echo", value, "end"].map(str::to_owned).to_vec(),
    }
}

/// A stage whose tools send a value as a segment, in every way there is. Policy allows a call only if the
/// value as it came is among the segments.
fn echo(name: &str, server: &Server) -> Stage {
    let word = "params.value = { type = \"word\" }";
    let open = "params.value = { type = \"string\", pattern = \".*\" }";
    let stage = stage(name, |_| {
        let target = format!(
            "[policy]\nfiles = [\"policy.cedar\"]\n[target.probe]\norigin = \"http://{}\"\nallow_plain_loopback = true\nkeep_alive = false\n{}\n",
            server.address(),
            super::BEARER
        );
        let tools = [
            ("word", "/echo/{value}/end", word),
            ("line", "/echo/{value}/end", open),
            ("first", "/{value}", open),
            ("between", "/echo/v-{value}.json/end", word),
            ("relative", "/echo/{value}/end", "params.value = { type = \"path\" }"),
        ]
        .map(|(name, path, params)| {
            let text = tool(name, &format!("method = \"GET\"\npath = \"{path}\"\n{params}"));
            // What comes between literals is no segment of its own: its tool has a generated rule.
            if name == "between" { text } else { text.replace("allow = true\n", "") }
        });
        target + &tools.concat()
    });
    let rule = |tool: &str, condition: &str| {
        format!(
            "@id(\"{tool}\")\npermit (principal, action == Framegate::Action::\"{tool}\", resource) when {{ {condition} }};\n"
        )
    };
    let seen = "context.request.path_segments.contains(context.arguments.value)";
    let all = "context.request.path_segments.containsAll(context.arguments.value.segments)";
    let rules = [rule("word", seen), rule("line", seen), rule("first", seen), rule("relative", all)].concat();
    write_private(&stage.folder().join("policy.cedar"), &rules);
    stage
}

/// Calls every tool with every value. `decoded` gives what a server's answer says it saw, in as many readings
/// as it has, and how many connections it had by then.
fn run(name: &str, server: &Server, decoded: impl Fn(&Value) -> (Vec<Vec<String>>, usize)) {
    let stage = echo(name, server);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let (mut performed, mut refused) = (0, 0);
    let mut connections = None;
    for tool in ["word", "line", "first", "between", "relative"] {
        for value in HOSTILE.iter().chain(PLAIN).chain(ODD).chain(RELATIVE) {
            let reply = session.call(REVISION, tool, json!({ "value": value }));
            let place = format!("{tool} {value:?}");
            let became = word(&reply);
            let plain = PLAIN.contains(value);
            let whole = plain || ODD.contains(value);
            let expected = match tool {
                "word" => Some(plain),
                "relative" => Some((whole || RELATIVE.contains(value)) && !value.starts_with('-')),
                "between" => None,
                _ => Some(whole),
            };
            if became == "done" {
                performed += 1;
                let (readings, made) = decoded(&shown(&reply));
                for reading in readings {
                    assert_eq!(reading, segments(tool, value), "{place}");
                }
                // The server counts on its own; only the first count is not known before.
                let before = *connections.get_or_insert(made - performed);
                assert!(made - before <= performed, "{place}: a connection for a call that was refused");
            } else {
                refused += 1;
                assert!(
                    became.starts_with("argument-") || became == "render-shape",
                    "{place}: {}",
                    text(&reply)
                );
            }
            assert_eq!(expected.unwrap_or(became == "done"), became == "done", "{place}: {became}");
        }
    }
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.journal.count("intent"), performed);
    assert!(performed > 150 && refused > 300, "{performed} performed, {refused} refused");
    eprintln!("{name}: {performed} decoded as judged, {refused} refused without a connection");
}

#[test]
fn nginx_decodes_the_segments_that_were_judged() {
    let setup = Nginx {
        server: "location / { default_type text/plain; return 200 \"$connection $uri\"; }",
        log: "$connection",
        ..Nginx::default()
    };
    let Some(server) = Server::nginx(&setup) else { return };
    run("paths-nginx", &server, |answer| {
        let body = answer["body"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let (connection, path) = body.split_once(' ').expect("two words");
        let segments = path.split('/').skip(1).map(str::to_owned).collect();
        (vec![segments], connection.parse().expect("a number"))
    });
}

#[test]
fn node_decodes_the_segments_that_were_judged() {
    let Some(server) = Server::node("echo.mjs") else { return };
    run("paths-node", &server, |answer| {
        let body = &answer["body"];
        assert_eq!((&body["host"], &body["query"]), (&json!("echo.invalid"), &json!("")), "{answer}");
        let segments = |name: &str| -> Vec<String> {
            let list = body[name].as_array().unwrap_or_else(|| panic!("{answer}"));
            list.iter().map(|segment| segment.as_str().expect("text").to_owned()).collect()
        };
        let connections = body["connections"].as_u64().expect("a number");
        (vec![segments("split"), segments("url")], usize::try_from(connections).expect("small"))
    });
}
