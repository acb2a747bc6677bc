//! Writes the seeds of `message` and `session` from the corpus: one small case a reason, and small valid ones.
//!
//! From the root of the repository: `cargo run --manifest-path fuzz/Cargo.toml --example seeds`.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use framegate_corpus::{Case, Phase, Values, cases, valid};

/// Longer cases are about sizes, which a fuzzer finds slowly and other tests cover.
const LONGEST: usize = 1_024;
const VALID: usize = 24;

fn main() -> io::Result<()> {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    for target in ["message", "session"] {
        let folder = seeds.join(target);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
    }
    let values = Values::new("m-1", 41);
    let mut seen = BTreeSet::new();
    let mut controls = 0;
    for case in cases().iter().chain(&valid()) {
        let frame = case.frame(&values);
        let is_new = match &case.reason {
            Some(reason) => !seen.contains(reason),
            None => controls < VALID,
        };
        if frame.len() > LONGEST || !is_new {
            continue;
        }
        match &case.reason {
            Some(reason) => drop(seen.insert(reason.clone())),
            None => controls += 1,
        }
        let name = case.id.replace(|character: char| !character.is_ascii_alphanumeric(), "_");
        fs::write(seeds.join("session").join(&name), session(case, &values, &frame))?;
        let line = frame.strip_suffix(b"\n").unwrap_or(&frame);
        if std::str::from_utf8(line).is_ok_and(|line| line.starts_with(['{', '['])) {
            fs::write(seeds.join("message").join(&name), line)?;
        }
    }
    fs::write(seeds.join("session").join("reuse"), reuse(&values))
}

/// A stateless session in which one id is used again before, between and after cancellation and outcome.
fn reuse(values: &Values) -> Vec<u8> {
    let call = values.call(true);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":41}}"#;
    // The outcome arrives with the fifth line.
    let mut input = vec![1 | 7 << 1, 0b0001_0000];
    for line in [&call, &call, cancel, &call, cancel, &call, &call] {
        input.extend(line.as_bytes());
        input.push(b'\n');
    }
    input
}

/// The choices of the target, what the case sends before, the frame, and a good call behind it.
fn session(case: &Case, values: &Values, frame: &[u8]) -> Vec<u8> {
    let revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let handshake = match case.phase {
        Phase::Ready => revisions.iter().position(|revision| *revision == case.revision.name()).unwrap_or(7),
        _ => 7,
    };
    let handshake = u8::try_from(handshake).unwrap_or(7);
    let held = case.before.iter().any(|before| before.hold);
    // The session goes on behind the frame; outcomes arrive at once unless calls are held.
    let mut input = vec![1 | handshake << 1, if held { 0 } else { 0xFF }];
    if case.phase == Phase::Modern {
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
        input.extend(list.as_bytes());
        input.push(b'\n');
    }
    for before in &case.before {
        for n in 0..before.times.min(8) {
            input.extend(before.frame(values, n));
        }
    }
    input.extend(frame);
    if !case.ends_input {
        input.extend(case.plain_call(&values.behind()));
    }
    input
}
