//! How strict parsing compares with `serde_json::Value`, which refuses neither duplicate names nor deep
//! or huge documents.
//!
//! Prints, for each shape of input, the ratio of the times in one run: the two parsers take turns,
//! and the median of the ratios of neighbouring turns counts. Ours uses its buffers again, as the
//! product does; `serde_json` allocates and frees, as a program that uses it does. Inputs are generated,
//! the same in every run.
//!
//! `cargo bench -p framegate-wire --bench json` prints the table; with `-- --check` it fails when a
//! floor is missed; with `-- --count ours|serde ROUNDS NAME` it only does the work. Not part of the tests: a busy machine must not make them fail.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use framegate_wire::Limits;
use framegate_wire::frame::Reader;
use framegate_wire::json::Parser;

const MIB: usize = 1024 * 1024;
const TURNS: usize = 41;
/// One turn works through about this many bytes.
const TURN_BYTES: usize = 2 * MIB;

struct Case {
    name: &'static str,
    /// What the median ratio must reach.
    floor: f64,
    texts: Vec<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [side, rounds, name] =
        arguments.iter().skip_while(|word| *word != "--count").skip(1).collect::<Vec<_>>()[..]
    {
        count(side == "ours", rounds.parse().expect("a number"), name);
        return ExitCode::SUCCESS;
    }
    let check = arguments.iter().any(|argument| argument == "--check");
    let only = arguments.iter().find(|argument| !argument.starts_with("--"));
    let mut missed = false;
    println!(
        "{:<34} {:>8} {:>9} {:>9} {:>7} {:>7} {:>6}",
        "input", "bytes", "ours µs", "serde µs", "median", "best", "floor"
    );
    for case in cases() {
        if only.is_some_and(|only| !case.name.contains(only.as_str())) {
            continue;
        }
        missed |= !compare(&case);
    }
    if only.is_none() {
        missed |= !wide_object_to_map();
        missed |= !colliding_names();
        missed |= !bytes_to_trees();
        missed |= !frames_to_trees();
    }
    if check && missed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn limits() -> Limits {
    Limits {
        max_members: 1 << 20,
        max_nodes: 1 << 22,
        max_frame: Limits::MAX_FRAME_CEILING,
        ..Limits::default()
    }
}

/// Times one turn in nanoseconds an input.
fn time(rounds: usize, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..rounds {
        work();
    }
    start.elapsed().as_nanos() as f64 / rounds as f64
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

/// Runs two jobs in turns: the shortest times, the median ratio of second to first,
/// and the ratio of the shortest times, which other work on the machine disturbs least.
fn turns(rounds: usize, mut first: impl FnMut(), mut second: impl FnMut()) -> [f64; 4] {
    let (mut firsts, mut seconds, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for turn in 0..=TURNS {
        let (one, two) = if turn % 2 == 0 {
            let one = time(rounds, &mut first);
            (one, time(rounds, &mut second))
        } else {
            let two = time(rounds, &mut second);
            (time(rounds, &mut first), two)
        };
        // The first turn warms up.
        if turn > 0 {
            firsts.push(one);
            seconds.push(two);
            ratios.push(two / one);
        }
    }
    let shortest = |samples: Vec<f64>| samples.into_iter().fold(f64::INFINITY, f64::min);
    let (one, two) = (shortest(firsts), shortest(seconds));
    [one, two, median(ratios), two / one]
}

fn row(name: &str, bytes: usize, [ours, theirs, ratio, best]: [f64; 4], floor: f64) -> bool {
    let verdict = if ratio < floor { "  MISSED" } else { "" };
    println!(
        "{name:<34} {bytes:>8} {:>9.2} {:>9.2} {ratio:>7.2} {best:>7.2} {floor:>6.1}{verdict}",
        ours / 1000.0,
        theirs / 1000.0
    );
    ratio >= floor
}

/// One side alone, so often: `cargo xtask instructions` counts what it takes.
fn count(ours: bool, rounds: usize, name: &str) {
    let case = cases().into_iter().find(|case| case.name == name).expect("a case of this name");
    let mut parser = Parser::new(&limits());
    for text in (0..rounds).flat_map(|_| &case.texts) {
        if ours {
            let _ = black_box(parser.parse_text(black_box(text)).expect("strict JSON"));
        } else {
            black_box(serde_json::from_str::<serde_json::Value>(black_box(text)).expect("JSON"));
        }
    }
}

fn compare(case: &Case) -> bool {
    let bytes: usize = case.texts.iter().map(String::len).sum();
    let mut parser = Parser::new(&limits());
    let measured = turns(
        TURN_BYTES.div_ceil(bytes),
        || {
            for text in &case.texts {
                let _ = black_box(parser.parse_text(black_box(text)).expect("strict JSON"));
            }
        },
        || {
            for text in &case.texts {
                black_box(serde_json::from_str::<serde_json::Value>(black_box(text)).expect("JSON"));
            }
        },
    );
    row(case.name, bytes, measured, case.floor)
}

/// Against the map that `serde_json` has by default. In this workspace a dependency has it keep the order
/// of members, and then its map, which hashes, is about twice as fast on so many names.
fn wide_object_to_map() -> bool {
    let text = wide_object();
    let mut parser = Parser::new(&limits());
    let measured = turns(
        TURN_BYTES.div_ceil(text.len()),
        || {
            let _ = black_box(parser.parse_text(black_box(&text)).expect("strict JSON"));
        },
        || {
            let map: BTreeMap<String, serde_json::Value> =
                serde_json::from_str(black_box(&text)).expect("JSON");
            black_box(map);
        },
    );
    row("one object of 45,000 members", text.len(), measured, 6.0)
}

/// From bytes: both must find out that they are UTF-8.
fn bytes_to_trees() -> bool {
    let text = string(|random| char::from_u32(0x3040 + (random.next() % 80) as u32).unwrap().to_string());
    let bytes = text.as_bytes();
    let mut parser = Parser::new(&limits());
    let measured = turns(
        TURN_BYTES.div_ceil(bytes.len()),
        || {
            let text = simdutf8::basic::from_utf8(black_box(bytes)).expect("UTF-8");
            let _ = black_box(parser.parse_text(text).expect("strict JSON"));
        },
        || {
            black_box(serde_json::from_slice::<serde_json::Value>(black_box(bytes)).expect("JSON"));
        },
    );
    row("1 MiB non-ASCII string, from bytes", bytes.len(), measured, 6.5)
}

/// From bytes to a tree, with cutting, UTF-8 and the bytes that no frame may hold.
fn frames_to_trees() -> bool {
    let lines: Vec<String> = calls().into_iter().map(|text| text + "\n").collect();
    let bytes = lines.iter().map(String::len).sum();
    let (mut reader, mut parser) = (Reader::new(&limits()), Parser::new(&limits()));
    let measured = turns(
        TURN_BYTES.div_ceil(bytes),
        || {
            for line in &lines {
                reader.push(black_box(line.as_bytes()));
                while let Some(frame) = reader.next() {
                    let _ = black_box(parser.parse(frame.expect("a frame")).expect("strict JSON"));
                }
            }
        },
        || {
            for line in &lines {
                black_box(
                    serde_json::from_slice::<serde_json::Value>(black_box(line.as_bytes())).expect("JSON"),
                );
            }
        },
    );
    row("512 calls, reader and parser", bytes, measured, 1.0)
}

/// Names that agree in length, head and tail must not cost more than three times what random ones do.
fn colliding_names() -> bool {
    let mut random = Random(7);
    let object = |mut name: Box<dyn FnMut() -> String>| {
        let mut text = String::from("{");
        while text.len() < 4 * MIB - 64 {
            if text.len() > 1 {
                text.push(',');
            }
            write!(text, "\"{}\":0", name()).unwrap();
        }
        text + "}"
    };
    let mut next = 0_u64;
    let alike = object(Box::new(move || {
        next += 1;
        format!("aaaaaaaaaaaaaaaa{next:016x}aaaaaaaaaaaaaaaa")
    }));
    let different = object(Box::new(move || {
        format!("{:016x}{:016x}{:016x}", random.next(), random.next(), random.next())
    }));
    let (mut one, mut two) = (Parser::new(&limits()), Parser::new(&limits()));
    let measured = turns(
        1,
        || {
            let _ = black_box(one.parse_text(black_box(&alike)).expect("strict JSON"));
        },
        || {
            let _ = black_box(two.parse_text(black_box(&different)).expect("strict JSON"));
        },
    );
    row("4 MiB of random over alike names", alike.len(), measured, 1.0 / 3.0)
}

fn cases() -> Vec<Case> {
    let feed = feed();
    let minified = serde_json::to_string(&feed).unwrap();
    let pretty = serde_json::to_string_pretty(&feed).unwrap();
    let case = |name, floor, text| Case { name, floor, texts: vec![text] };
    vec![
        Case { name: "512 different tools/call frames", floor: 3.0, texts: calls() },
        case("1 MiB of small objects", 9.0, small_objects()),
        case(
            "1 MiB ASCII string",
            3.4,
            string(|random| char::from(b'a' + (random.next() % 26) as u8).to_string()),
        ),
        case(
            "1 MiB escaped string",
            1.4,
            string(|random| {
                ["\\n", "abcdefgh", "\\u00e9", "\\\"", "words "][(random.next() % 5) as usize].to_owned()
            }),
        ),
        case("1 MiB numbers", 1.9, numbers()),
        case("social feed, minified", 5.0, minified),
        case("social feed, pretty", 4.8, pretty),
    ]
}

/// The generator of Marsaglia's xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 16) % bound
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }

    fn words(&mut self, from: u64, to: u64) -> String {
        const WORDS: [&str; 16] = [
            "deploy",
            "the",
            "service",
            "to",
            "staging",
            "with",
            "a",
            "canary",
            "and",
            "rollback",
            "après",
            "queue",
            "metrics",
            "\"quoted\"",
            "incident",
            "review",
        ];
        let count = from + self.below(to - from);
        let words: Vec<&str> = (0..count).map(|_| self.pick(&WORDS)).collect();
        words.join(" ")
    }
}

/// Calls as agents send them: several tools, different arguments, orders of members and kinds of ids.
fn calls() -> Vec<String> {
    const TOOLS: [&str; 8] = [
        "create_issue",
        "github.search_code",
        "deploy_service",
        "query_database",
        "send_message",
        "read_file",
        "list_pull_requests",
        "restart",
    ];
    const NAMES: [&str; 20] = [
        "owner",
        "repository",
        "title",
        "body",
        "labels",
        "assignees",
        "branch",
        "limit",
        "cursor",
        "path",
        "query",
        "timeout_ms",
        "dry_run",
        "environment",
        "channel",
        "since",
        "include_archived",
        "sort",
        "direction",
        "ratio",
    ];
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    (0..512)
        .map(|number| {
            let mut arguments = serde_json::Map::new();
            for _ in 0..random.below(8) + 5 {
                let value = match random.below(10) {
                    0..=3 => random.words(1, 9).into(),
                    4 => random.pick(&["acme", "main", "production", "2026-07-28T12:00:00Z", "desc", "src/lib.rs"]).into(),
                    5 => random.below(100_000).into(),
                    6 => (random.below(2) == 0).into(),
                    7 => serde_json::json!([random.words(1, 3), random.words(1, 2), "bug"]),
                    8 => (random.below(10_000) as f64 / 128.0).into(),
                    _ => serde_json::json!({"kind": random.pick(&["all", "open"]), "page": random.below(50), "note": null}),
                };
                arguments.insert(random.pick(&NAMES).to_owned(), value);
            }
            let arguments = serde_json::to_string(&arguments).unwrap();
            let id = if random.below(4) == 0 { format!("\"req-{number}\"") } else { number.to_string() };
            let tool = random.pick(&TOOLS);
            let progress = random.below(1000);
            match random.below(3) {
                0 => format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
                ),
                1 => format!(
                    r#"{{"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":{progress}}}}},"jsonrpc":"2.0","id":{id}}}"#
                ),
                _ => format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}},"name":"{tool}","arguments":{arguments}}}}}"#
                ),
            }
        })
        .collect()
}

fn array(mut item: impl FnMut(&mut String, &mut Random)) -> String {
    let mut random = Random(42);
    let mut text = String::from("[");
    while text.len() < MIB {
        if text.len() > 1 {
            text.push(',');
        }
        item(&mut text, &mut random);
    }
    text + "]"
}

fn small_objects() -> String {
    array(|text, random| {
        let (id, name, active) = (random.below(1_000_000), random.below(5000), random.below(2) == 0);
        write!(text, r#"{{"id":{id},"name":"user{name}","active":{active},"score":{}}}"#, random.below(100))
            .unwrap();
    })
}

fn numbers() -> String {
    array(|text, random| match random.below(4) {
        0 => write!(text, "{}", random.below(1000)).unwrap(),
        1 => write!(text, "-{}", random.next() >> 20).unwrap(),
        2 => write!(text, "{}", random.next() as f64 / 1e15).unwrap(),
        _ => write!(text, "{}.{}e{}", random.below(10), random.below(1_000_000), random.below(20)).unwrap(),
    })
}

fn string(mut piece: impl FnMut(&mut Random) -> String) -> String {
    let mut random = Random(3);
    let mut text = String::from("\"");
    while text.len() < MIB {
        text += &piece(&mut random);
    }
    text + "\""
}

fn wide_object() -> String {
    let mut random = Random(11);
    let members: Vec<String> = (0..45_000)
        .map(|number| format!(r#""key_{number}_{:x}":{}"#, random.below(65_536), random.below(1000)))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// A feed of posts: nested objects, many repeated names, texts in several scripts, links, nulls.
fn feed() -> serde_json::Value {
    let mut random = Random(5);
    let user = |random: &mut Random| {
        serde_json::json!({
            "id": random.next() >> 11, "id_str": (random.next() >> 11).to_string(), "name": random.words(1, 3),
            "screen_name": format!("user_{}", random.below(100_000)), "location": random.pick(&["", "東京", "Lisboa", "Berlin"]),
            "description": format!("{} 日本語の説明文です。{}", random.words(2, 12), random.words(1, 5)),
            "url": null, "protected": false, "followers_count": random.below(10_000), "friends_count": random.below(1000),
            "created_at": "Sun Aug 31 00:29:15 +0000 2014", "utc_offset": null, "verified": random.below(9) == 0,
            "profile_image_url": format!("http://img.example/profile_images/{}/photo_normal.jpeg", random.next() >> 20),
            "profile_background_tile": false, "default_profile": true, "following": false,
        })
    };
    let posts: Vec<serde_json::Value> = (0..400)
        .map(|_| {
            serde_json::json!({
                "metadata": {"result_type": "recent", "iso_language_code": "ja"},
                "created_at": "Sun Aug 31 00:29:15 +0000 2014",
                "id": random.next() >> 11, "id_str": (random.next() >> 11).to_string(),
                "text": format!("@user {}\n名前:前田あゆみ 第一印象:なんか怖っ! {}", random.words(1, 9), random.words(3, 12)),
                "source": "<a href=\"http://app.example/download\" rel=\"nofollow\">An app</a>",
                "truncated": false, "in_reply_to_status_id": null, "in_reply_to_user_id": random.below(1_000_000_000),
                "user": user(&mut random), "geo": null, "coordinates": [random.below(90) as f64 + 0.25, -71.5], "place": null,
                "retweet_count": random.below(100), "favorite_count": random.below(100),
                "entities": {"hashtags": [], "symbols": [], "urls": [], "user_mentions": [
                    {"screen_name": "user", "name": random.words(1, 2), "id": random.below(1 << 31), "indices": [0, 11]}
                ]},
                "favorited": false, "retweeted": false, "lang": "ja",
            })
        })
        .collect();
    serde_json::json!({"statuses": posts, "search_metadata": {"completed_in": 0.087, "count": 100, "next_results": "?max_id=5&q=%E4%B8%80"}})
}
