//! The adapters for pytest and node:test, with the corpus as the release binary exports it: each runs its example
//! project against servers with at most one planted fault.
//!
//! Belongs here: that exactly the frames that have an effect fail, and that nothing passes blind.
//! Does not belong here: the adapters and their examples (`adapters/`), how faults are planted (`src/bin/planted.rs`).
//!
//! The test runners are installed by `e2e/clients/setup.sh`. Where they are not, the tests say so loudly; with
//! FRAMEGATE_SHARED set, as in CI, they fail instead.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use framegate_corpus::{Case, Values, cases};
use framegate_e2e::{binary, installed, parallel};
use serde_json::{Value, json};

/// Longer than any machine needs, in seconds: nothing that is right is judged by how fast it is.
const PATIENT: u32 = 60;
/// How long is waited for what does not come, in seconds.
const SILENT: u32 = 5;
/// The levels that are tested unless others are asked for.
const DEFAULT: &[&str] = &["must", "should"];
/// A revision with few frames, at every default level.
const FEW: &[&str] = &["2024-11-05"];

/// Every adapter that is installed here.
fn adapters() -> Vec<Adapter> {
    let python = installed::folder("python-adapter").map(Adapter::Pytest);
    python.into_iter().chain(installed::folder("node-adapter").map(Adapter::Node)).collect()
}

/// A test runner, and where it is installed.
enum Adapter {
    Pytest(PathBuf),
    Node(PathBuf),
}

/// Which frames are sent, and how long a server may take.
struct Selection {
    levels: &'static [&'static str],
    revisions: &'static [&'static str],
    timeout: u32,
}

/// What a run of an example project said.
struct Run {
    output: Output,
    /// Each test's result, by the frame's id.
    results: BTreeMap<String, Outcome>,
}

#[derive(Debug, PartialEq)]
enum Outcome {
    Passed,
    Skipped,
    /// With the verdict that its message begins with.
    Failed(String),
}

impl Run {
    fn text(&self) -> String {
        let (stdout, stderr) = (&self.output.stdout, &self.output.stderr);
        format!("{}\n{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
    }
}

impl Adapter {
    /// The example project's tests, against this server.
    fn run(&self, corpus: &Path, server: &[&str], selection: &Selection) -> Run {
        let mut command = self.example(corpus, selection);
        let output = command
            .env("EXAMPLE_SERVER", json!(server).to_string())
            .stdin(Stdio::null())
            .output()
            .expect("the test runner starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let results = match self {
            Self::Pytest(_) => pytest_results(&text),
            Self::Node(_) => tap_results(&text),
        };
        Run { output, results }
    }

    fn example(&self, corpus: &Path, selection: &Selection) -> Command {
        let adapters = binary::workspace().join("adapters");
        match self {
            Self::Pytest(folder) => {
                let mut command = Command::new(folder.join("bin/pytest"));
                command
                    .current_dir(adapters.join("python/example"))
                    .args(["-v", "-rfE", "--tb=no", "-p", "no:cacheprovider", "--framegate-corpus"])
                    .arg(corpus)
                    .env("COLUMNS", "1000")
                    .env("EXAMPLE_TIMEOUT", selection.timeout.to_string());
                for level in selection.levels {
                    command.args(["--framegate-level", level]);
                }
                for revision in selection.revisions {
                    command.args(["--framegate-revision", revision]);
                }
                command
            }
            Self::Node(_) => {
                let mut selected = json!({ "levels": selection.levels });
                if !selection.revisions.is_empty() {
                    selected["revisions"] = json!(selection.revisions);
                }
                let mut command = Command::new("node");
                command
                    .current_dir(adapters.join("node/example"))
                    .args(["--test", "--test-reporter=tap", "hostile_frames.test.js"])
                    .env("EXAMPLE_CORPUS", corpus)
                    .env("EXAMPLE_SELECTION", selected.to_string())
                    .env("EXAMPLE_TIMEOUT", (selection.timeout * 1000).to_string());
                command
            }
        }
    }

    /// The bytes of every frame and twin as the adapter fills them in, in hexadecimal.
    fn filled_in(&self, corpus: &Path, values: &Values, arguments: &Value) -> Output {
        let plan = json!({
            "corpus": corpus, "tool": values.tool, "arguments": arguments, "marker": values.marker, "id": values.id,
        });
        let mut command = match self {
            Self::Pytest(folder) => {
                let mut command = Command::new(folder.join("bin/python"));
                command.args(["-c", PYTHON_FILL_IN]);
                command
            }
            Self::Node(_) => {
                let mut command = Command::new("node");
                command.current_dir(binary::workspace().join("adapters/node")).args([
                    "--input-type=module",
                    "--eval",
                    NODE_FILL_IN,
                    "--",
                ]);
                command
            }
        };
        command.arg(plan.to_string()).stdin(Stdio::null()).output().expect("the runtime starts")
    }
}

const PYTHON_FILL_IN: &str = r#"
import json, sys
from framegate_corpus.corpus import LEVELS, Call, load
plan = json.loads(sys.argv[1])
call = Call.of(plan["tool"], plan["arguments"])
fill_in = lambda template: call.fill_in(template, plan["marker"], plan["id"]).hex()
print(json.dumps({case.id: [fill_in(case.frame), fill_in(case.twin)] for case in load(plan["corpus"], levels=LEVELS)}))
"#;

const NODE_FILL_IN: &str = r#"
import { Call, cases } from "./src/corpus.js";
const plan = JSON.parse(process.argv[1]);
const call = new Call(plan.tool, plan.arguments);
const fillIn = (template) => call.fillIn(template, plan.marker, plan.id).toString("hex");
const all = cases(plan.corpus, { levels: ["must", "should", "policy"] });
process.stdout.write(JSON.stringify(Object.fromEntries(all.map((c) => [c.id, [fillIn(c.frame), fillIn(c.twin)]]))));
"#;

/// `FILE::TEST[ID] PASSED`, and for what failed once more `FAILED FILE::TEST[ID] - EXCEPTION: VERDICT: …`.
fn pytest_results(text: &str) -> BTreeMap<String, Outcome> {
    let mut results = BTreeMap::new();
    for line in text.lines() {
        let Some((test, behind)) = line.split_once("] ") else { continue };
        let Some((before, id)) = test.split_once('[').filter(|(before, _)| before.contains(".py::")) else {
            continue;
        };
        let outcome = if before.starts_with("FAILED ") {
            Outcome::Failed(behind.split(": ").nth(1).unwrap_or_default().to_owned())
        } else if behind.starts_with("PASSED") {
            Outcome::Passed
        } else if behind.starts_with("SKIPPED") {
            Outcome::Skipped
        } else {
            continue;
        };
        results.insert(id.to_owned(), outcome);
    }
    results
}

/// `ok N - ID` or `not ok N - ID`, then a block with `error`.
fn tap_results(text: &str) -> BTreeMap<String, Outcome> {
    let mut results = BTreeMap::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some((word, rest)) = line.split_once("ok ") else { continue };
        let Some((_, id)) = rest.split_once(" - ").filter(|_| word.is_empty() || word == "not ") else {
            continue;
        };
        let (id, skipped) = id.split_once(" # SKIP").map_or((id, false), |(id, _)| (id, true));
        let outcome = if word == "not " {
            let error = lines.by_ref().find_map(|line| line.trim_start().strip_prefix("error: "));
            let message = match error {
                Some("|-") => lines.next().map(str::trim_start),
                other => other.map(|message| message.trim_start_matches('\'')),
            };
            Outcome::Failed(
                message.and_then(|message| message.split(':').next()).unwrap_or_default().to_owned(),
            )
        } else if skipped {
            Outcome::Skipped
        } else {
            Outcome::Passed
        };
        results.insert(id.to_owned(), outcome);
    }
    results
}

/// The corpus as the release binary exports it.
struct Exported {
    /// Removed when this is dropped.
    _folder: tempfile::TempDir,
    frames: PathBuf,
}

impl Exported {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let frames = folder.path().join("frames");
        let mut command = Command::new(binary::program());
        let output = command.args(["corpus", "export"]).arg(&frames).output().expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        Self { _folder: folder, frames }
    }

    /// The frames that a selection must test, by the index.
    fn selected(&self, selection: &Selection) -> Vec<String> {
        let index = std::fs::read(self.frames.join("index.json")).expect("an index");
        let index: Value = serde_json::from_slice(&index).expect("JSON");
        let is_among = |value: &Value, names: &[&str]| names.iter().any(|name| value == name);
        let is_selected = |case: &&Value| {
            case["general"] == true
                && case["must_refuse"] == true
                && is_among(&case["level"], selection.levels)
                && (selection.revisions.is_empty() || is_among(&case["revision"], selection.revisions))
        };
        let cases = index["cases"].as_array().expect("cases").iter().filter(is_selected);
        cases.map(|case| case["id"].as_str().expect("text").to_owned()).collect()
    }
}

/// A fault, the frames that are sent, the beginning of the ids of those that must fail, and their verdict.
const FAULTS: &[(&str, Selection, &str, &str)] = &[
    ("none", Selection { levels: DEFAULT, revisions: &[], timeout: PATIENT }, NONE, ""),
    (
        "executes-json-duplicate-member",
        Selection { levels: &["should"], revisions: &[], timeout: PATIENT },
        "json-duplicate-member/",
        "effect-observed",
    ),
    (
        "executes-frame-not-utf8",
        Selection { levels: &["must"], revisions: &["2025-06-18"], timeout: PATIENT },
        "frame-not-utf8/",
        "effect-observed",
    ),
    ("late-effect", Selection { levels: DEFAULT, revisions: FEW, timeout: PATIENT }, "", "effect-observed"),
    ("exits-on-refusal", Selection { levels: DEFAULT, revisions: FEW, timeout: PATIENT }, "", "unavailable"),
    ("hangs-on-refusal", Selection { levels: DEFAULT, revisions: FEW, timeout: SILENT }, "", "hung"),
    // Blind: the well-formed twin is not seen either.
    ("no-effect", Selection { levels: DEFAULT, revisions: FEW, timeout: SILENT }, "", "inconclusive"),
];
/// No id begins so.
const NONE: &str = "-";

#[test]
fn exactly_the_frames_that_have_an_effect_fail_and_nothing_passes_blind() {
    let (corpus, adapters) = (Exported::new(), adapters());
    let jobs: Vec<_> =
        adapters.iter().flat_map(|adapter| FAULTS.iter().map(move |row| (adapter, row))).collect();
    parallel::run(
        &jobs,
        || (),
        |(), (adapter, (fault, selection, failing, verdict))| {
            let server = [env!("CARGO_BIN_EXE_planted"), "{folder}", fault];
            let run = adapter.run(&corpus.frames, &server, selection);
            let outcome = |id: &String| match id.starts_with(failing) {
                true => Outcome::Failed((*verdict).to_owned()),
                false => Outcome::Passed,
            };
            let expected: BTreeMap<_, _> =
                corpus.selected(selection).into_iter().map(|id| (id.clone(), outcome(&id))).collect();
            assert!(expected.len() >= 4, "{} frames", expected.len());
            assert_eq!(run.results, expected, "{fault}: {}", run.text());
            let fails = expected.values().any(|outcome| *outcome != Outcome::Passed);
            assert_eq!(run.output.status.code(), Some(i32::from(fails)), "{fault}: {}", run.text());
        },
    );
}

/// Frames of a revision that the server does not speak are skipped; but one that speaks none was not tested.
#[test]
fn a_server_is_skipped_for_one_revision_and_not_for_all() {
    let corpus = Exported::new();
    let selection = Selection { levels: DEFAULT, revisions: FEW, timeout: PATIENT };
    let one_revision = "import json, sys\n\
                        for line in sys.stdin:\n    \
                            request = json.loads(line)\n    \
                            if 'id' in request:\n        \
                                result = {'protocolVersion': '2025-06-18'}\n        \
                                print(json.dumps({'jsonrpc': '2.0', 'id': request['id'], 'result': result}), flush=True)\n";
    for adapter in adapters() {
        for (server, outcome) in [
            (&["python3", "-c", one_revision][..], Outcome::Skipped),
            (&["true"], Outcome::Failed("inconclusive".to_owned())),
            (&["/nonexistent/server"], Outcome::Failed("unavailable".to_owned())),
        ] {
            let run = adapter.run(&corpus.frames, server, &selection);
            assert_eq!(run.results.len(), corpus.selected(&selection).len(), "{}", run.text());
            assert!(run.results.values().all(|result| *result == outcome), "{server:?}: {}", run.text());
        }
    }
}

/// What is wrong with the folder, or leaves no frame, fails before any test.
#[test]
fn without_frames_nothing_is_green() {
    let corpus = Exported::new();
    let empty = tempfile::tempdir().expect("a folder");
    let old = tempfile::tempdir().expect("a folder");
    std::fs::write(old.path().join("index.json"), "{\"format\": 1, \"cases\": []}").expect("an index");
    let none = Selection { levels: &["should"], revisions: &["2025-03-26"], timeout: PATIENT };
    assert_eq!(corpus.selected(&none), [""; 0]);
    for adapter in adapters() {
        for (folder, says) in [
            (&*corpus.frames, "no frame is of these levels and revisions"),
            (empty.path(), "framegate corpus export DIR"),
            (old.path(), "not of format 2"),
        ] {
            let run = adapter.run(folder, &["true"], &none);
            assert!(!run.output.status.success() && run.text().contains(says), "{says}: {}", run.text());
        }
    }
}

/// An adapter that garbled a frame would see it refused all the same.
#[test]
fn adapters_send_the_bytes_that_the_corpus_says() {
    let corpus = Exported::new();
    let arguments = json!({ "path": "/tmp/ü \"{marker}\"", "depth": [1, null] });
    let values = Values::new("fgm-1", 41)
        .with_call("schreibe_ü", arguments.to_string().replace("{marker}", "${marker}"));
    let general: Vec<_> = cases().into_iter().filter(Case::is_general).collect();
    for adapter in adapters() {
        let output = adapter.filled_in(&corpus.frames, &values, &arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let filled_in: BTreeMap<String, [String; 2]> =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        assert_eq!(filled_in.len(), general.len());
        for case in &general {
            let id = format!("{}/{}", case.reason.as_deref().expect("a refusal"), case.id);
            let expected = [hexadecimal(&case.frame(&values)), hexadecimal(&case.twin(&values))];
            assert_eq!(filled_in[&id], expected, "{id}");
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The types that users get are those of the code and of the examples.
#[test]
fn types_hold() {
    for adapter in adapters() {
        let folder = binary::workspace().join("adapters");
        let mut command = match &adapter {
            Adapter::Pytest(installed) => {
                let mut command = Command::new(installed.join("bin/mypy"));
                command.current_dir(folder.join("python"));
                command.args(["--strict", "--cache-dir=/dev/null", "framegate_corpus", "example"]);
                command
            }
            Adapter::Node(installed) => {
                let modules = installed.join("node_modules");
                let mut command = Command::new(modules.join(".bin/tsc"));
                command.current_dir(folder.join("node")).arg("--typeRoots").arg(modules.join("@types"));
                command
            }
        };
        let output = command.stdin(Stdio::null()).output().expect("the type checker starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
