//! One decision, from frame to permit, with 5, 50 and 100 tools of two rules each.
//!
//! Prints microseconds, the median of interleaved rounds, and the ratio to 5 tools. Run with
//! `cargo bench -p framegate-policy`; with `-- --count TOOLS ROUNDS` it only does the work, for
//! `cargo xtask instructions`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use framegate_gate::Moment;
use framegate_gate::action::{Origin, Scheme};
use framegate_gate::authorization::Principal;
use framegate_gate::outcome::Outcome;
use framegate_gate::schema::{
    Catalog, HttpDeclaration, ParameterDeclaration, ParameterType, ResultDeclaration, ToolDeclaration,
};
use framegate_gate::session::{Input, OnInvalidFrame, Session, SessionOptions};
use framegate_policy::{Allow, CedarPolicy, Sources};
use framegate_wire::Limits;
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;

const SIZES: [usize; 3] = [5, 50, 100];
const ROUNDS: usize = 200;
const CALLS: usize = 50;

fn main() {
    let arguments: Vec<String> = std::env::args().skip_while(|word| word != "--count").skip(1).collect();
    if let [tools, rounds] = &arguments[..] {
        let mut run = Run::new(tools.parse().expect("a number"));
        (0..rounds.parse().expect("a number")).for_each(|_| run.round());
        return;
    }
    let mut runs: Vec<Run> = SIZES.into_iter().map(Run::new).collect();
    for run in &mut runs {
        run.round();
        run.times.clear();
    }
    for _ in 0..ROUNDS {
        for run in &mut runs {
            run.round();
        }
    }
    let medians: Vec<f64> = runs.iter_mut().map(Run::median_microseconds).collect();
    println!("tools  compile ms  frame to permit µs  ratio to 5");
    for (run, median) in runs.iter().zip(&medians) {
        let compile = run.compile.as_secs_f64() * 1e3;
        println!("{:>5}  {compile:>10.2}  {median:>18.2}  {:>10.2}", run.tools, median / medians[0]);
    }
}

struct Run {
    tools: usize,
    compile: Duration,
    reader: Reader,
    session: Session,
    sent: u64,
    times: Vec<Duration>,
}

impl Run {
    fn new(tools: usize) -> Self {
        let catalog =
            Arc::new(Catalog::compile((0..tools).map(declaration).collect()).expect("tools compile"));
        let start = Instant::now();
        let policy = CedarPolicy::compile(sources(tools), &catalog).expect("rules compile");
        let compile = start.elapsed();
        let options = SessionOptions {
            limits: Limits::default(),
            on_invalid_frame: OnInvalidFrame::Close,
            max_refusals: 1,
            revisions: Revision::ALL.to_vec(),
            max_used_ids: 1_000_000,
            permit_lifetime: Duration::from_secs(60),
            config: Arc::from("digest"),
            principal: Arc::new(Principal::new("bench".to_owned(), 1000)),
            server_version: "bench",
            instructions: None,
        };
        let reader = Reader::new(&options.limits);
        let session = Session::new(options, catalog, Arc::new(policy));
        let mut run = Self { tools, compile, reader, session, sent: 0, times: Vec::new() };
        run.send(
            r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}"#,
        );
        run.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        run
    }

    /// Calls a different tool each time; the time is of all calls together.
    fn round(&mut self) {
        let frames: Vec<String> = (0..CALLS).map(|call| self.frame(call % self.tools)).collect();
        let start = Instant::now();
        for frame in &frames {
            assert!(self.send(frame), "every call is permitted");
        }
        self.times.push(start.elapsed());
    }

    fn frame(&mut self, tool: usize) -> String {
        self.sent += 1;
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"name":"tool_{tool}","arguments":{{"owner":"acme","number":{},"state":"open","note":"a note of some length"}}}}}}"#,
            self.sent, self.sent
        )
    }

    /// Sends a frame and settles its permit; whether there was one.
    fn send(&mut self, frame: &str) -> bool {
        self.reader.push(frame.as_bytes());
        self.reader.push(b"\n");
        let frame = self.reader.next().expect("a line").expect("a frame");
        let mut step = self.session.receive(Input::Frame(frame), Moment::default());
        let Some(permit) = step.permits.pop() else { return false };
        let (granted, ticket) = permit.into_parts();
        black_box(granted);
        self.session.settle(ticket, &Outcome::simulated(String::new())).is_some()
    }

    fn median_microseconds(&mut self) -> f64 {
        self.times.sort();
        self.times[self.times.len() / 2].as_secs_f64() * 1e6 / CALLS as f64
    }
}

fn declaration(index: usize) -> ToolDeclaration {
    let parameter = |name: &str, kind| ParameterDeclaration {
        name: name.to_owned(),
        description: None,
        kind,
        required: true,
        default: None,
    };
    let query = ["number", "state", "note"].map(|name| (name.to_owned(), format!("{{{name}}}")));
    ToolDeclaration {
        name: format!("tool_{index}"),
        title: None,
        description: "a tool".to_owned(),
        parameters: vec![
            parameter("owner", ParameterType::Word { max_length: None, pattern: None }),
            parameter("number", ParameterType::Int { min: None, max: None, string_form: false }),
            parameter("state", ParameterType::Enum { values: vec!["open".to_owned(), "closed".to_owned()] }),
            parameter("note", ParameterType::String { min_length: None, max_length: None, pattern: None }),
        ],
        ignore_arguments: Vec::new(),
        result: ResultDeclaration::default(),
        http: HttpDeclaration {
            target: "forge".to_owned(),
            origin: Origin::new(Scheme::Https, Arc::from("api.example.test"), 443),
            method: "GET".to_owned(),
            path: "/repos/{owner}".to_owned(),
            query: query.into(),
            headers: Vec::new(),
            open_query: None,
            cursor: None,
            save: None,
            redirects: Vec::new(),
            body: None,
            reserved_names: Vec::new(),
        },
    }
}

/// Each tool has a generated permit and a written forbid.
fn sources(tools: usize) -> Sources {
    let forbid = |index: usize| {
        format!(
            "@id(\"limit-{index}\") forbid (principal, action == Framegate::Action::\"tool_{index}\", resource)\n\
             when {{ context.arguments.number < 0 || context.arguments.state == \"closed\" }};\n"
        )
    };
    Sources {
        files: vec![("bench.cedar".to_owned(), (0..tools).map(forbid).collect())],
        allows: (0..tools).map(|index| (format!("tool_{index}"), Allow::Read)).collect(),
    }
}
