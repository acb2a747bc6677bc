//! An adapter's example project: how its tests are run, and what they said.
//!
//! Belongs here: command lines and outputs of pytest and node:test. Does not belong here: what must come of a run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use framegate_corpus::Values;
use framegate_e2e::{binary, installed};
use serde_json::{Value, json};

/// Every adapter that is installed here.
pub fn adapters() -> Vec<Adapter> {
    let python = installed::folder("python-adapter").map(Adapter::Pytest);
    python.into_iter().chain(installed::folder("node-adapter").map(Adapter::Node)).collect()
}

/// A test runner, and where it is installed.
pub enum Adapter {
    Pytest(PathBuf),
    Node(PathBuf),
}

/// Which frames are sent, and how long a server may take.
pub struct Selection {
    /// What the adapter takes for itself, if there are none.
    pub levels: &'static [&'static str],
    /// All, if there are none.
    pub revisions: &'static [&'static str],
    /// In seconds.
    pub timeout: u32,
}

/// What a run of an example project said.
pub struct Run {
    pub output: Output,
    /// Each test's result, by the frame's id.
    pub results: BTreeMap<String, Outcome>,
}

#[derive(Debug, PartialEq)]
pub enum Outcome {
    Passed,
    Skipped,
    /// With the verdict that its message begins with.
    Failed(String),
}

impl Run {
    pub fn text(&self) -> String {
        let (stdout, stderr) = (&self.output.stdout, &self.output.stderr);
        format!("{}\n{}", String::from_utf8_lossy(stdout), String::from_utf8_lossy(stderr))
    }
}

impl Adapter {
    /// The example project's tests, against this server.
    pub fn run(&self, corpus: &Path, server: &[&str], selection: &Selection) -> Run {
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
                let mut selected = json!({});
                for (name, values) in [("levels", selection.levels), ("revisions", selection.revisions)] {
                    if !values.is_empty() {
                        selected[name] = json!(values);
                    }
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
    pub fn filled_in(&self, corpus: &Path, values: &Values, arguments: &Value) -> Output {
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
