//! Instructions of the benchmarks, counted by valgrind: what a busy machine cannot blur.
//!
//! Belongs here: which benchmark is run with what, and the table.
//! Does not belong here: times; each benchmark prints its own.

use std::error::Error;
use std::process::{Command, ExitCode, Stdio};

use crate::cargo;
use crate::tree::Tree;

/// Two sides of one benchmark, each named by its words behind `--count`; `#` stands for the number of rounds.
struct Row {
    name: &'static str,
    package: &'static str,
    bench: &'static str,
    sides: [&'static [&'static str]; 2],
    /// Between this many rounds the difference is taken, so that set-up does not count.
    rounds: [u32; 2],
}

const fn json(name: &'static str, sides: [&'static [&'static str]; 2]) -> Row {
    Row { name, package: "framegate-wire", bench: "json", sides, rounds: [1, 3] }
}

const ROWS: [Row; 7] = [
    json(
        "512 different tools/call frames: serde_json, ours",
        [
            &["serde", "#", "512 different tools/call frames"],
            &["ours", "#", "512 different tools/call frames"],
        ],
    ),
    json(
        "1 MiB of small objects: serde_json, ours",
        [&["serde", "#", "1 MiB of small objects"], &["ours", "#", "1 MiB of small objects"]],
    ),
    json(
        "1 MiB of numbers: serde_json, ours",
        [&["serde", "#", "1 MiB numbers"], &["ours", "#", "1 MiB numbers"]],
    ),
    json(
        "1 MiB ASCII string: serde_json, ours",
        [&["serde", "#", "1 MiB ASCII string"], &["ours", "#", "1 MiB ASCII string"]],
    ),
    json(
        "social feed, pretty: serde_json, ours",
        [&["serde", "#", "social feed, pretty"], &["ours", "#", "social feed, pretty"]],
    ),
    Row {
        name: "512 frames to permits, without policy: 50 tools, 5 tools",
        package: "framegate-gate",
        bench: "permit",
        sides: [&["50", "#"], &["5", "#"]],
        rounds: [1, 3],
    },
    Row {
        name: "50 frames to permits, with Cedar: 50 tools, 5 tools",
        package: "framegate-policy",
        bench: "judge",
        sides: [&["50", "#"], &["5", "#"]],
        rounds: [1, 5],
    },
];

/// Prints the table.
pub fn run(tree: &Tree) -> ExitCode {
    println!("| work | first | second | ratio |\n|---|--:|--:|--:|");
    for row in ROWS {
        match compare(tree, &row) {
            Ok([first, second]) => {
                let ratio = first / second;
                println!("| {} | {:.0} k | {:.0} k | {ratio:.2} |", row.name, first / 1e3, second / 1e3);
            }
            Err(error) => {
                eprintln!("error: {}: {error}", row.name);
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// Instructions of one round on each side.
fn compare(tree: &Tree, row: &Row) -> Result<[f64; 2], Box<dyn Error>> {
    let program = cargo::bench(tree.root(), row.package, row.bench)?;
    let mut counts = [0.0; 2];
    for (count, words) in counts.iter_mut().zip(row.sides) {
        let [few, many] = row.rounds;
        let difference = instructions(&program, words, many)? - instructions(&program, words, few)?;
        *count = difference / f64::from(many - few);
    }
    Ok(counts)
}

fn instructions(program: &str, words: &[&str], rounds: u32) -> Result<f64, Box<dyn Error>> {
    let rounds = rounds.to_string();
    let words = words.iter().map(|word| if *word == "#" { rounds.as_str() } else { word });
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", program, "--count"])
        .args(words)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("valgrind is needed, and does not start: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{program} under valgrind: {}\n{text}", output.status).into());
    }
    let count = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    count.ok_or_else(|| format!("valgrind says no number of instructions:\n{text}").into())
}
