//! HTTP actions against hostile and real servers, through the release binary.
//!
//! Belongs here: what the tests below `http/` share. Does not belong here: answers that only break HTTP/1.1,
//! which the tests of `crates/gateway` go through byte by byte.

use std::process::{Command, Output, Stdio};

use framegate_e2e::stage::{Executor, OnInvalidFrame, Stage};
use framegate_e2e::target::tls;
use framegate_e2e::{binary, shared};
use framegate_wire::message::Revision;
use serde_json::Value;

#[path = "http/field_reports.rs"]
mod field_reports;
#[path = "http/handshakes.rs"]
mod handshakes;
#[path = "http/headers.rs"]
mod headers;
#[path = "http/memory.rs"]
mod memory;
#[path = "http/nginx.rs"]
mod nginx;
#[path = "http/paths.rs"]
mod paths;
#[path = "http/redirects.rs"]
mod redirects;
#[path = "http/urls.rs"]
mod urls;

/// A revision in which refused arguments, denials and outcomes all are results with a reason.
const REVISION: Revision = Revision::V2025_11_25;

const BEARER: &str = "auth = { scheme = \"bearer\", secret = \"probe\" }";

/// What `config check` says of a stage's configuration.
fn check_config(stage: &Stage) -> Output {
    Command::new(binary::program())
        .args(["config", "check", "--config"])
        .arg(stage.config())
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

/// A stage with these tables in its configuration, behind the ones that every stage has.
fn stage(name: &str, tables: impl FnOnce(&Stage) -> String) -> Stage {
    let stage = Stage::new(&format!("http-{name}"), Executor::Live, OnInvalidFrame::Close);
    let text = format!(
        "version = 1\n[journal]\ndir = \"journal\"\n[network]\nresolver = [\"{}\"]\n\
         [secret.probe]\nsource = \"file:secret\"\n{}",
        stage.names().address(),
        tables(&stage)
    );
    stage.edit_config(|_| text);
    stage
}

/// The stage's own target, by name and over TLS, as `[target.probe]`, with more lines in its table.
fn probe(stage: &Stage, more: &str) -> String {
    format!(
        "[target.probe]\norigin = \"https://{}:{}\"\nca = \"ca.pem\"\naddress_ranges = [\"127.0.0.0/8\"]\n{more}\n",
        tls::NAME,
        stage.target().address().port()
    )
}

/// A tool of `[target.probe]` that every client may call.
fn tool(name: &str, lines: &str) -> String {
    format!("[tool.{name}]\ndescription = \"A test\"\nallow = true\ntarget = \"probe\"\n{lines}\n")
}

/// What became of a call, in one word: `done`, another outcome, or the reason of a refusal.
fn word(reply: &Value) -> &str {
    let result = &reply["result"];
    match result["isError"].as_bool() {
        Some(false) => "done",
        Some(true) => result["_meta"]["framegate/reason"].as_str().expect("an error says why"),
        None => panic!("no result: {reply}"),
    }
}

/// What the agent reads.
fn text(reply: &Value) -> &str {
    reply["result"]["content"][0]["text"].as_str().expect("text")
}

/// The object that an outcome with an answer shows.
fn shown(reply: &Value) -> Value {
    serde_json::from_str(text(reply)).unwrap_or_else(|_| panic!("no answer: {reply}"))
}

/// The shared cases of this name, if there are any.
fn cases(name: &str) -> Option<Vec<Value>> {
    let file = shared::folder("cases")?.join(name);
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parse = |text: &str| serde_json::from_str(text).expect("a case");
    Some(if name.ends_with(".jsonl") {
        text.lines().map(parse).collect()
    } else {
        parse(&text).as_array().expect("a list").clone()
    })
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            character if character.is_control() => {
                quoted.push_str(&format!("\\u{:04X}", u32::from(character)))
            }
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}
