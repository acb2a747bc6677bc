//! What the redactor costs: building it, and searching text in which there is nothing to find, beside
//! a search for the exact secret alone (`memchr::memmem`).
//!
//! Prints milliseconds and megabytes a second, and the ratio to `memmem` in the same run; the median of turns
//! counts. `cargo bench -p framegate-vault --bench redact`; not part of the tests: a busy machine must not
//! make them fail.

use std::hint::black_box;
use std::time::Instant;

use framegate_vault::{Redactor, Secret, Watched};

const MIB: u32 = 1024 * 1024;
const BYTES: usize = 1024 * 1024;
const TURNS: usize = 15;

fn main() {
    for length in [32, 4 * 1024] {
        let secret = Secret::new(characters(length, 7));
        let build = || Redactor::new([Watched { name: "k", secret: &secret, user: Some("svc-bot") }]);
        let seconds = median(|| {
            black_box(build().expect("a redactor"));
        });
        println!("build, secret of {length:>4} bytes: {:.3} ms", seconds * 1e3);
        let redactor = build().expect("a redactor");
        for (name, text) in texts() {
            let redacted = redactor.redact(&text);
            assert!(redacted.redactions.is_empty() && !redacted.suspected, "{name} is clean");
            let ours = median(|| {
                black_box(redactor.redact(black_box(&text)));
            });
            let finder = memchr::memmem::Finder::new(secret.expose_bytes());
            let theirs = median(|| {
                black_box(finder.find(black_box(&text)));
            });
            let speed = |seconds: f64| f64::from(MIB) / seconds / 1e6;
            println!(
                "  1 MiB of {name:<24} {:>6.0} MB/s; memmem {:>6.0} MB/s, {:.0} times",
                speed(ours),
                speed(theirs),
                ours / theirs
            );
        }
    }
}

/// Clean texts of 1 MiB, from the one without white space and escapes to the one of nothing else.
fn texts() -> [(&'static str, Vec<u8>); 5] {
    let fill = |piece: &dyn Fn(usize) -> String| {
        let mut text = String::new();
        for number in 0.. {
            if text.len() >= BYTES {
                break;
            }
            text.push_str(&piece(number));
        }
        text.into_bytes()[..BYTES].to_vec()
    };
    [
        ("base64", characters(BYTES, 99)),
        ("words", fill(&|n| format!("item {n} of the list is neither first nor last, and so on\n"))),
        (
            "JSON",
            fill(&|n| format!("{{\"id\":{n},\"name\":\"item {n}\",\"tags\":[\"a\",\"b\"],\"ok\":true}},")),
        ),
        (
            "JSON inside JSON, HTML",
            fill(&|n| format!("{{\\\"id\\\":{n},\\\"a\\\":\\\"<b class=x>&amp;</b>\\\"}}")),
        ),
        ("characters outside ASCII", fill(&|n| format!("запись {n}: ничего особенного\n"))),
    ]
}

fn characters(length: usize, seed: u64) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ALPHABET[usize::try_from(state >> 58).unwrap_or(0)]
    };
    (0..length).map(|_| next()).collect()
}

fn median(mut work: impl FnMut()) -> f64 {
    let mut turns: Vec<f64> = (0..TURNS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        })
        .collect();
    turns.sort_by(f64::total_cmp);
    turns[TURNS / 2]
}
