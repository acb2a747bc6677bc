//! The inbound frames of public failure reports, under `on_invalid_frame = "continue"`: every expected
//! verdict, with the recorder and with the live target.

use std::collections::BTreeMap;

use base64::Engine as _;
use framegate_e2e::launch::Launch;
use framegate_e2e::session::Session;
use framegate_e2e::stage::{Executor, OnInvalidFrame, Stage};
use framegate_e2e::target::Answer;
use framegate_e2e::{client, parallel, shared};
use framegate_wire::message::Revision;
use serde_json::{Value, json};

/// One case, to be run under one revision with one executor.
struct Job {
    case: Value,
    revision: Revision,
    executor: Executor,
}

/// Cases whose refusal has another form from 2025-11-25 on: a result with `isError`, not an error.
const RESULT_FORM: [&str; 4] =
    ["C01-unknown-argument", "C03-proto-key", "C04-constructor-key", "C05-type-drift"];

fn cases() -> Option<Vec<Value>> {
    let file = shared::folder("cases")?.join("field_reports.jsonl");
    let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let cases = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("a case"));
    Some(cases.filter(|case| case["kind"] == "inbound-frame").collect())
}

#[test]
fn inbound_frames_get_their_expected_verdicts() {
    let Some(cases) = cases() else { return };
    assert!(cases.len() >= 64, "only {} inbound frames", cases.len());
    let mut jobs = Vec::new();
    for case in cases {
        let revisions = match case["spec"].as_str() {
            Some("legacy") if RESULT_FORM.contains(&text(&case["id"])) => {
                vec![Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28]
            }
            Some("legacy") => vec![Revision::V2025_06_18],
            Some("2026-07-28") => vec![Revision::V2026_07_28],
            other => panic!("an unknown `spec`: {other:?}"),
        };
        for revision in revisions {
            for executor in [Executor::Recorder, Executor::Live] {
                // The recorder is done before a second call can come.
                if executor == Executor::Live || case["executor"].is_null() {
                    jobs.push(Job { case: case.clone(), revision, executor });
                }
            }
        }
    }
    parallel::run(&jobs, || (), |(), job| run(job));
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn run(job: &Job) {
    let (case, expect) = (&job.case, &job.case["expect"]);
    let name = format!("field-{}-{}-{:?}", text(&case["id"]), job.revision, job.executor);
    let stage = Stage::new(&name, job.executor, OnInvalidFrame::Continue);
    let held = !case["executor"].is_null();
    if held {
        stage.target().script([Answer::Hold(Box::new(Answer::ok()))]);
    }
    let launch: Launch = stage.launch();
    let mut session = Session::launch(&stage, launch);
    match text(&case["phase"]) {
        "new" => {}
        "initializing" => {
            session.initialize(job.revision.name());
        }
        "ready" => session.ready(job.revision),
        other => panic!("{name}: an unknown phase: {other}"),
    }
    let before = session.lines().len();
    let bytes = in_revision(
        job,
        base64::engine::general_purpose::STANDARD.decode(text(&case["bytes_b64"])).expect("base64"),
    );
    write(&mut session, &bytes, &case["chunks"]);

    let closes = expect["session"] == "closes";
    let expected = expect["replies"].as_array().expect("replies");
    let ended = if closes && bytes.last() == Some(&b'\n') {
        session.wait_end()
    } else if closes {
        session.end()
    } else {
        if held {
            // The refusal of the second call comes while the first is open; then the first may end.
            session.wait_lines(before + expected.len() - 1);
            stage.target().wait_requests(1);
            stage.target().release();
        }
        // The session goes on: it still answers, and everything before has been answered by then.
        session.wait_lines(before + expected.len());
        sentinel(&mut session, case, job.revision);
        session.end()
    };
    assert_eq!(ended.code(), Some(if closes { 65 } else { 0 }), "{name}: {}", ended.stderr);

    let replies = &ended.replies[before..];
    let replies = if closes { replies } else { &replies[..replies.len() - 1] };
    assert_eq!(replies.len(), expected.len(), "{name}: {replies:#?}");
    for wanted in expected {
        let found = replies.iter().any(|reply| matches_reply(reply, wanted, job));
        assert!(found, "{name}: no reply is as {wanted} wants it: {replies:#?}");
    }

    let mut markers = BTreeMap::new();
    for marker in expect["executor_markers"].as_array().expect("markers") {
        *markers.entry(text(marker)).or_insert(0) += 1;
    }
    for (marker, times) in &markers {
        assert_eq!(stage.executed(marker), *times, "{name}: {marker}");
    }
    let calls = usize::try_from(expect["executor_calls"].as_u64().expect("a number")).expect("small");
    let traces = stage.traces();
    match job.executor {
        Executor::Recorder => {
            assert_eq!((traces.records, traces.connections, traces.questions), (calls, 0, 0), "{name}");
            assert_eq!(traces.secret_reads, 0, "{name}: the recorder read the secret");
        }
        Executor::Live => {
            assert_eq!((traces.records, traces.connections, traces.lookups), (0, calls, calls), "{name}");
            assert_eq!(traces.secret_reads > 0, calls > 0, "{name}: reads of the secret");
        }
    }
    assert_eq!(ended.journal.count("intent"), calls, "{name}: intents");
    if text(&case["id"]) == "B01-utf8-bytewise" {
        let note = "café 世界 🙂 —";
        let seen = match job.executor {
            Executor::Recorder => stage.recorded().concat(),
            Executor::Live => stage.target().received(),
        };
        let whole = String::from_utf8(seen).expect("UTF-8");
        assert!(whole.contains(note) || whole.contains(&escaped(note)), "{name}: {whole}");
        assert!(!whole.contains('\u{fffd}'), "{name}: {whole}");
    }
}

/// The same frame as a request of the stateless era, where the case runs there too.
fn in_revision(job: &Job, bytes: Vec<u8>) -> Vec<u8> {
    if !job.revision.is_modern() || job.case["spec"] != "legacy" {
        return bytes;
    }
    let meta = format!("\"params\":{{\"_meta\":{},", client::meta());
    String::from_utf8(bytes).expect("text").replacen("\"params\":{", &meta, 1).into_bytes()
}

fn write(session: &mut Session<'_>, bytes: &[u8], chunks: &Value) {
    let offsets: Vec<usize> = match (chunks["every"].as_u64(), chunks["at"].as_array()) {
        (Some(every @ 1..), _) => {
            (0..bytes.len()).step_by(usize::try_from(every).expect("small")).skip(1).collect()
        }
        (_, Some(at)) => {
            at.iter().map(|at| usize::try_from(at.as_u64().expect("an offset")).expect("small")).collect()
        }
        _ => Vec::new(),
    };
    session.process().write_split(bytes, &offsets);
}

/// Asks for something harmless and waits for the answer.
fn sentinel(session: &mut Session<'_>, case: &Value, revision: Revision) {
    session.last_id = 930_000;
    let modern = revision.is_modern() || case["phase"] == "new";
    let reply = if modern {
        session.ask("server/discover", Some(client::modern(json!({}))))
    } else {
        session.ask("ping", None)
    };
    assert!(reply["result"].is_object(), "{}: the session does not go on: {reply}", session.stage().name());
}

fn matches_reply(reply: &Value, wanted: &Value, job: &Job) -> bool {
    let result_form = RESULT_FORM.contains(&text(&job.case["id"])) && job.revision >= Revision::V2025_11_25;
    let id = if wanted["id_unreadable"] == true {
        let unread = job.case["phase"] == "new" || job.revision < Revision::V2025_11_25;
        if unread { reply.get("id") == Some(&Value::Null) } else { reply.get("id").is_none() }
    } else {
        reply["id"] == wanted["id"]
    };
    let outcome = match &wanted["outcome"] {
        Value::String(word) if word == "ok" => reply["result"].is_object() && served(reply, job.executor),
        _ if result_form => {
            let text = text(&reply["result"]["content"][0]["text"]);
            reply["result"]["isError"] == true
                && !text.is_empty()
                && reply["result"]["_meta"]["framegate/reason"].is_string()
        }
        code => &reply["error"]["code"] == code,
    };
    id && outcome
}

/// Whether a result that is a tool's is what this executor makes of it.
fn served(reply: &Value, executor: Executor) -> bool {
    let result = &reply["result"];
    let simulated = result.to_string().contains("performed");
    match (result["content"].is_array(), executor) {
        (false, _) => true,
        (true, Executor::Recorder) => result["isError"] == true && simulated,
        (true, Executor::Live) => result["isError"] != true && !simulated,
    }
}

/// A text with everything beyond ASCII written as `\u` escapes.
fn escaped(text: &str) -> String {
    text.encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            _ => format!("\\u{unit:04x}"),
        })
        .collect()
}
