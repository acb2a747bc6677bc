//! From frame to permit, with 5 and with 50 tools: what one more tool costs every call.
//!
//! `cargo bench -p framegate-gate --bench permit` prints the medians and their ratio; with `-- --check` it fails
//! when 50 tools cost more than 1.5 times what 5 cost. Both are measured in turns in one run, over different
//! frames, with the policy left out. With `-- --count TOOLS ROUNDS` it only does the work, for
//! `cargo xtask instructions`.

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use framegate_gate::Moment;
use framegate_gate::outcome::Outcome;
use framegate_gate::session::{Input, Session};
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use serde_json::json;
use support::AllowAllBut;

/// Different frames, so that no predictor learns one by heart.
const FRAMES: usize = 512;
const ROUNDS: usize = 101;
/// The greatest ratio that `--check` lets pass.
const BOUND: f64 = 1.5;

struct Bench {
    session: Session,
    reader: Reader,
    lines: Vec<Vec<u8>>,
    times: Vec<Duration>,
}

impl Bench {
    fn new(tools: usize) -> Self {
        let names: Vec<_> = (0..tools).map(|index| format!("tool_{index:02}")).collect();
        let names: Vec<_> = names.iter().map(String::as_str).collect();
        let mut options = support::options();
        options.revisions = vec![Revision::V2026_07_28];
        let reader = Reader::new(&options.limits);
        let session = Session::new(options, support::catalog(&names), Arc::new(AllowAllBut("")));
        let lines = (0..FRAMES)
            .map(|index| {
                let labels = &["a", "b", "c"][..index % 4];
                let arguments = json!({
                    "marker": format!("m-{index}"),
                    "note": "x".repeat(index.wrapping_mul(7) % 90),
                    "count": index % 101,
                    "state": if index % 3 == 0 { "open" } else { "closed" },
                    "labels": labels,
                    "done": index % 2 == 0,
                });
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                let params = json!({"name": names[index % tools], "arguments": arguments, "_meta": meta});
                let request =
                    json!({"jsonrpc": "2.0", "id": index, "method": "tools/call", "params": params});
                format!("{request}\n").into_bytes()
            })
            .collect();
        Self { session, reader, lines, times: Vec::new() }
    }

    /// One permit a frame; settling is not part of the time.
    fn round(&mut self) {
        let Self { session, reader, lines, times } = self;
        let outcome = Outcome::done(String::new(), None);
        let mut total = Duration::ZERO;
        for line in lines {
            let begin = Instant::now();
            reader.push(line);
            let frame = reader.next().unwrap().unwrap();
            let mut step = black_box(session.receive(Input::Frame(frame), Moment::default()));
            total += begin.elapsed();
            let permit = step.permits.pop().unwrap();
            assert!(session.settle(permit.surrender(), &outcome).is_some());
        }
        times.push(total / u32::try_from(FRAMES).unwrap());
    }

    fn median(&mut self) -> f64 {
        self.times.sort();
        self.times[self.times.len() / 2].as_nanos() as f64 / 1_000.0
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip_while(|word| word != "--count").skip(1).collect();
    if let [tools, rounds] = &arguments[..] {
        let mut bench = Bench::new(tools.parse().unwrap());
        (0..rounds.parse().unwrap()).for_each(|_| bench.round());
        return ExitCode::SUCCESS;
    }
    let check = std::env::args().any(|argument| argument == "--check");
    let (mut few, mut many) = (Bench::new(5), Bench::new(50));
    for _ in 0..ROUNDS {
        few.round();
        many.round();
    }
    let (few, many) = (few.median(), many.median());
    let ratio = many / few;
    println!("frame to permit, 5 tools:  {few:.2} µs");
    println!("frame to permit, 50 tools: {many:.2} µs");
    println!("ratio: {ratio:.2} (bound {BOUND})");
    if check && ratio > BOUND { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
