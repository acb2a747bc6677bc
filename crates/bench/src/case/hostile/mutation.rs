//! Seeded mutation: a call's bytes, changed a little, of which our own parser is sure that they are no call.
//!
//! Belongs here: changes, how they are drawn from a seed, which of them are judged, making a failure smaller.
//! Does not belong here: sending.
//!
//! What the tool is told is never changed: its name stays whole, and within its arguments bytes are only put in that
//! no JSON text may have there. So no other call is made than the one that was allowed.

use std::fmt;

use framegate_corpus::Revision;
use framegate_wire::Limits;
use framegate_wire::frame::Reader;
use framegate_wire::json::Parser;
use framegate_wire::message::{CallParams, Incoming, Revision as WireRevision, read};

use super::{Body, HostileCase, of_tool, ready};
use crate::bench::Bench;
use crate::case::{Delivery, Level};
use crate::observe::Folder;
use crate::options::Call;

/// An id of as many digits as those that are sent: what is drawn stays what it is.
pub(super) const SAMPLE_ID: i64 = 1_000_000;
/// How many changes a frame gets at most.
const MAX_CHANGES: u64 = 3;
/// How many draws one number gets until one of them is a frame that must be refused.
const MAX_DRAWS: u64 = 200;

/// What is put in between bytes outside the arguments.
const TOKENS: &[&[u8]] = &[
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b" ",
    b"\t",
    b"\r",
    b"\x00",
    b"\x0b",
    b"\x7f",
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xc2\x85",
    b"\xe2\x80\xa8",
    b"0",
    b"-",
    b"1e999",
    b"NaN",
    b"Infinity",
    b"null",
    b"true",
    b"//",
    b"/**/",
    b"#",
    b"'",
    b";",
    b"\"id\":1,",
    b"\"method\":\"ping\",",
    b"\"jsonrpc\":\"2.0\",",
    b"\"params\":{},",
    b"\"result\":{},",
    b"\"error\":{},",
    b"\"name\":\"x\",",
    b"\\u0000",
    b"\\ud800",
    b"\x1b[0m",
];
/// What is put in within the arguments: bytes that end no text and make no member.
const NOISE: &[&[u8]] =
    &[b"\x00", b"\x01", b"\x0b", b"\x1b", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\r", b"\x9f"];

/// One change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    PutIn { at: u32, token: u32 },
    TakeOut { at: u32, length: u32 },
    Repeat { at: u32, length: u32 },
    Flip { at: u32, bit: u32 },
    CutOff { at: u32 },
}

/// Changes to a call's bytes, in order. Positions are fractions of 2^32, so that they fit any length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mutation {
    seed: u64,
    number: u64,
    changes: Vec<Change>,
}

impl fmt::Display for Mutation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.seed, self.number)
    }
}

/// Numbers that depend on nothing but the seed: SplitMix64 (Steele, Lea and Flood, 2014), whose sequence never changes.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn part(&mut self) -> u32 {
        u32::try_from(self.next() >> 32).unwrap_or(u32::MAX)
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    fn change(&mut self) -> Change {
        let (at, length) = (self.part(), u32::try_from(self.below(24)).unwrap_or(0).saturating_add(1));
        match self.below(8) {
            0..=3 => Change::PutIn { at, token: self.part() },
            4 => Change::TakeOut { at, length },
            5 => Change::Repeat { at, length },
            6 => Change::Flip { at, bit: u32::try_from(self.below(8)).unwrap_or(0) },
            _ => Change::CutOff { at },
        }
    }
}

/// The place that a fraction stands for.
fn place(at: u32, length: usize) -> usize {
    let product = u64::from(at).saturating_mul(u64::try_from(length).unwrap_or(u64::MAX));
    usize::try_from(product >> 32).unwrap_or(0)
}

impl Mutation {
    fn draw(seed: u64, number: u64, attempt: u64) -> Self {
        let mut draw = Draw(seed ^ number.rotate_left(32) ^ attempt.rotate_left(16));
        let count = draw.below(MAX_CHANGES).saturating_add(1);
        Self { seed, number, changes: (0..count).map(|_| draw.change()).collect() }
    }

    /// The changed line; its line end stays.
    pub(super) fn apply(&self, line: &[u8]) -> Vec<u8> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let told = arguments(line);
        let is_told = |at: usize| told.as_ref().is_some_and(|told| told.contains(&at));
        let mut bytes: Vec<_> =
            line.iter().enumerate().map(|(at, byte)| Byte { value: *byte, is_told: is_told(at) }).collect();
        for change in &self.changes {
            change.apply(&mut bytes);
        }
        let kept = bytes.iter().map(|byte| byte.value).filter(|byte| *byte != b'\n');
        kept.chain([b'\n']).collect()
    }

    /// The same with fewer changes, each left out once.
    fn smaller(&self) -> impl Iterator<Item = Self> + '_ {
        let without = |left_out: usize| {
            let kept = self.changes.iter().enumerate().filter(move |(index, _)| *index != left_out);
            Self { changes: kept.map(|(_, change)| *change).collect(), ..self.clone() }
        };
        (0..self.changes.len()).map(without).filter(|smaller| !smaller.changes.is_empty())
    }
}

/// A byte of a line, and whether it is what the tool is told.
#[derive(Clone, Copy)]
struct Byte {
    value: u8,
    is_told: bool,
}

impl Change {
    fn apply(self, bytes: &mut Vec<Byte>) {
        let is_told = |at: usize| bytes.get(at).is_some_and(|byte| byte.is_told);
        match self {
            Self::PutIn { at, token } => {
                let at = place(at, bytes.len().saturating_add(1));
                let is_told = is_told(at);
                let tokens = if is_told { NOISE } else { TOKENS };
                let token = tokens.get(place(token, tokens.len())).copied().unwrap_or_default();
                bytes.splice(at..at, token.iter().map(|value| Byte { value: *value, is_told }));
            }
            Self::TakeOut { at, length } | Self::Repeat { at, length } => {
                let from = place(at, bytes.len());
                let to = from.saturating_add(usize::try_from(length).unwrap_or(0)).min(bytes.len());
                if (from..to).any(is_told) {
                    return;
                }
                let piece: Vec<_> = bytes.get(from..to).unwrap_or_default().to_vec();
                match self {
                    Self::Repeat { .. } => drop(bytes.splice(to..to, piece)),
                    _ => drop(bytes.drain(from..to)),
                }
            }
            Self::Flip { at, bit } => {
                let at = place(at, bytes.len());
                if let Some(byte) = bytes.get_mut(at).filter(|byte| !byte.is_told) {
                    byte.value ^= 1_u8.checked_shl(bit).unwrap_or(0);
                }
            }
            Self::CutOff { at } => {
                let at = place(at, bytes.len());
                // A shorter path would be another path.
                if !is_told(at) {
                    bytes.truncate(at);
                }
            }
        }
    }
}

/// Where the arguments' object stands, its braces left out.
fn arguments(bytes: &[u8]) -> Option<core::ops::Range<usize>> {
    let name = b"\"arguments\":{";
    let start = bytes.windows(name.len()).position(|window| window == name)?.checked_add(name.len())?;
    let (mut depth, mut in_text, mut escaped) = (1_usize, false, false);
    for (at, byte) in bytes.iter().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' if !in_text => depth = depth.saturating_add(1),
            b'}' if !in_text => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(start..at);
                }
            }
            _ => {}
        }
    }
    // An object that does not end goes on to the end.
    Some(start..bytes.len())
}

/// How binding the rule is that the line breaks; `None` if it breaks none of which we are sure.
fn broken_rule(line: &[u8], revision: Revision) -> Option<(&'static str, Level)> {
    let limits = Limits::default();
    let mut reader = Reader::new(&limits);
    reader.push(line);
    let of = |reason: framegate_wire::Reason| {
        let level = Level::of(reason.code(), "");
        (level != Level::Policy).then_some((reason.code(), level))
    };
    let frame = match reader.next()? {
        Err(refusal) => return of(refusal.reason()),
        Ok(frame) => frame,
    };
    let mut parser = Parser::new(&limits);
    let document = match parser.parse(frame) {
        Err(refusal) => return of(refusal.reason()),
        Ok(document) => document,
    };
    match read(&document, false, &limits) {
        Err(refusal) => of(refusal.refusal().reason()),
        Ok(Incoming::Request(request)) if request.method() == "tools/call" => {
            let revision = WireRevision::from_name(revision.name())?;
            of(CallParams::read(&request, revision).err()?.reason())
        }
        // Whole, and no call: nobody may take it for one.
        Ok(_) => Some(("method-unknown", Level::Must)),
    }
}

/// Seed, number and revision of an id.
pub(crate) fn named(id: &str) -> Option<(u64, u64, Revision)> {
    let rest = id.strip_prefix("mutation/")?;
    let (seed, rest) = rest.split_once('-')?;
    let (number, _) = rest.split_once('@')?;
    let revision =
        Revision::ALL.into_iter().find(|revision| id.ends_with(&format!("@{}", revision.name())))?;
    Some((seed.parse().ok()?, number.parse().ok()?, revision))
}

/// The frame of this number, if one can be drawn.
pub(crate) fn plan(
    bench: &Bench<'_>,
    calls: &[Call],
    revision: Revision,
    seed: u64,
    number: u64,
) -> Option<HostileCase> {
    let index = usize::try_from(number).ok()?.checked_rem(calls.len())?;
    let call = calls.get(index)?;
    let folder = Folder::make().ok()?;
    let case = |mutation: Mutation| HostileCase {
        id: format!("mutation/{mutation}{}@{}", of_tool(call, calls), revision.name()),
        gist: String::new(),
        requirements: vec!["H-01".to_owned()],
        level: Level::Must,
        state: ready(revision),
        twin_state: ready(revision),
        call: call.clone(),
        body: Body::Mutation(mutation),
        delivery: Delivery::Whole,
        ends_input: false,
    };
    (0..MAX_DRAWS).find_map(|attempt| {
        let drawn = case(Mutation::draw(seed, number, attempt));
        judged(bench, &folder, drawn)
    })
}

/// With the rule that it breaks, if it still names its tool, and carries its marker.
fn judged(bench: &Bench<'_>, folder: &Folder, mut case: HostileCase) -> Option<HostileCase> {
    let marker = bench.marker();
    let line = case.frame(bench, folder, &marker, SAMPLE_ID);
    let twin = case.twin(bench, folder, &marker, SAMPLE_ID);
    let named = format!("\"name\":{}", serde_json::Value::from(case.call.tool.as_str()));
    let holds = |part: &[u8]| line.windows(part.len()).filter(|window| *window == part).count();
    if line == twin || holds(named.as_bytes()) == 0 || holds(marker.as_bytes()) == 0 {
        return None;
    }
    let (rule, level) = broken_rule(&line, case.revision())?;
    case.gist = format!("a call whose bytes were changed at random, so that it is refused as `{rule}`");
    case.level = level;
    Some(case)
}

/// A frame with fewer changes that has an effect too, if there is one: `has_effect` sends it.
pub(crate) fn shrink(
    bench: &Bench<'_>,
    case: &HostileCase,
    has_effect: impl Fn(&HostileCase) -> bool,
) -> HostileCase {
    let mut smallest = case.clone();
    let Ok(folder) = Folder::make() else { return smallest };
    while let Body::Mutation(mutation) = &smallest.body {
        let smaller = mutation.smaller().filter_map(|mutation| {
            let case = HostileCase { body: Body::Mutation(mutation), ..smallest.clone() };
            judged(bench, &folder, case)
        });
        let Some(found) = smaller.into_iter().find(|case| has_effect(case)) else { break };
        smallest = found;
    }
    smallest
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1000001,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{\"path\":\"/tmp/fgm-1\"}}}\n";

    #[test]
    fn a_number_always_gives_the_same_bytes() {
        assert_eq!(Draw(1).next(), 0x910a_2dec_8902_5cc1, "SplitMix64's first number of the seed 1");
        for number in 0..500 {
            assert_eq!(Mutation::draw(7, number, 0).apply(LINE), Mutation::draw(7, number, 0).apply(LINE));
        }
        assert_ne!(Mutation::draw(7, 1, 0), Mutation::draw(8, 1, 0));
    }

    #[test]
    fn what_a_tool_is_told_is_never_changed() {
        for number in 0..20_000 {
            let line = Mutation::draw(3, number, 0).apply(LINE);
            assert!(line.ends_with(b"\n") && line.iter().filter(|byte| **byte == b'\n').count() == 1);
            // Without what was put in, the arguments are there in one piece, or the line was cut off.
            let plain = line.iter().filter(|byte| (b' '..=b'~').contains(byte));
            let plain: String = plain.map(|byte| char::from(*byte)).collect();
            let is_cut = !plain.contains("fgm-1");
            assert!(plain.contains("\"path\":\"/tmp/fgm-1\"") || is_cut, "{number}: {plain}");
        }
    }

    #[test]
    fn only_what_is_no_call_is_judged() {
        assert_eq!(broken_rule(LINE, Revision::V2025_06_18), None);
        let rule = |line: &[u8]| broken_rule(line, Revision::V2025_06_18).map(|(rule, _)| rule);
        assert_eq!(
            rule(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"tools/call\"}\n"),
            Some("json-duplicate-member")
        );
        assert_eq!(
            rule(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/calL\"}\n"),
            Some("method-unknown")
        );
        assert_eq!(
            rule(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[]}\n"),
            Some("call-params")
        );
        assert_eq!(rule(b"{}\xff\n"), Some("frame-not-utf8"));
    }

    #[test]
    fn a_mutation_gets_smaller_one_change_at_a_time() {
        let three = (0..100)
            .map(|number| Mutation::draw(1, number, 0))
            .find(|drawn| drawn.changes.len() == 3)
            .unwrap();
        assert_eq!(three.smaller().count(), 3);
        assert!(three.smaller().all(|smaller| smaller.changes.len() == 2));
        let one = Mutation { changes: vec![three.changes[0]], ..three };
        assert_eq!(one.smaller().count(), 0);
    }
}
