//! The adapters for pytest and node:test, with the corpus as the release binary exports it: each runs its example
//! project against servers with at most one planted fault.
//!
//! Belongs here: that exactly the frames that have an effect fail, and that nothing passes blind.
//! Does not belong here: the adapters and their examples (`adapters/`), how faults are planted (`src/bin/planted.rs`).
//!
//! The test runners are installed by `e2e/clients/setup.sh`. Where they are not, the tests say so loudly; with
//! FRAMEGATE_SHARED set, as in CI, they fail instead.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use framegate_corpus::{Case, Values, cases};
use framegate_e2e::{binary, parallel};
use serde_json::{Value, json};

#[path = "adapters/project.rs"]
mod project;

use project::{Adapter, Outcome, Selection, adapters};

/// Longer than any machine needs, in seconds: nothing that is right is judged by how fast it is.
const PATIENT: u32 = 60;
/// How long is waited for what does not come, in seconds.
const SILENT: u32 = 5;
/// What is tested unless other levels are asked for: `must` and `should`.
const DEFAULT: &[&str] = &[];
/// A revision with few frames, at every default level.
const FEW: &[&str] = &["2024-11-05"];

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
        let levels = if selection.levels.is_empty() { &["must", "should"] } else { selection.levels };
        let is_selected = |case: &&Value| {
            case["general"] == true
                && case["must_refuse"] == true
                && is_among(&case["level"], levels)
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
            (old.path(), "not of format 3"),
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
