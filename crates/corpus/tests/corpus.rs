//! The corpus is what it says it is: complete, well-formed, and hostile only where it means to be.

use std::collections::{BTreeMap, BTreeSet};

use framegate_corpus::{
    Case, FILES, HOSTILE, Outcome, Phase, ReplyId, VALID, Values, boundaries, cases, read, valid,
};

fn values() -> Values {
    Values::new("mk-7f3a", 900_101)
}

fn all() -> Vec<Case> {
    cases().into_iter().chain(valid()).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn every_embedded_file_reads() {
    for (file, text) in FILES {
        match read(file, text) {
            Ok(cases) => assert!(!cases.is_empty(), "{file} is empty"),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn every_file_of_the_folder_is_embedded() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/frames");
    let found: BTreeSet<String> = std::fs::read_dir(folder)
        .expect("the folder of frames")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let embedded: BTreeSet<String> = FILES.iter().map(|(file, _)| format!("{file}.json")).collect();
    assert_eq!(found, embedded);
}

#[test]
fn counts() {
    let refusals = cases();
    let complete = refusals.iter().filter(|case| case.complete_call).count();
    let alone = refusals.iter().filter(|case| case.needs.is_none()).count();
    let valid = valid().len();
    println!(
        "{} refusal cases, {complete} complete calls, {valid} valid ({alone} refusals need nothing but their bytes)",
        refusals.len()
    );
    assert!(refusals.len() >= 200);
    assert!(complete >= 120);
    assert!(valid >= 30);
}

#[test]
fn ids_are_unique_and_kebab_case() {
    let mut seen = BTreeSet::new();
    for case in all() {
        assert!(seen.insert(case.id.clone()), "`{}` occurs twice", case.id);
        assert!(
            case.id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
            "{}",
            case.id
        );
        assert!(!case.gist.is_empty() && !case.gist.contains('\n'), "{}", case.id);
    }
}

#[test]
fn every_hostile_item_is_covered_and_every_case_covers_something() {
    let mut covered: BTreeMap<String, u32> = BTreeMap::new();
    for case in all() {
        assert!(!case.covers.is_empty(), "{}", case.id);
        for item in &case.covers {
            *covered.entry(item.clone()).or_default() += 1;
        }
    }
    let known: BTreeSet<&str> = HOSTILE.iter().map(|(id, _)| *id).collect();
    for id in &known {
        assert!(covered.contains_key(*id), "{id} has no case");
    }
    for item in covered.keys().filter(|item| item.starts_with("H-")) {
        assert!(known.contains(item.as_str()), "{item} is no hostile item");
    }
    let numbers: Vec<usize> =
        HOSTILE.iter().map(|(id, _)| id.trim_start_matches("H-").parse().expect("a number")).collect();
    assert_eq!(numbers, (1..=HOSTILE.len()).collect::<Vec<_>>());
}

/// Calls of anything but `probe_write` say so by not being `complete_call`.
#[test]
fn every_twin_is_one_valid_call() {
    for case in cases() {
        let twin = case.twin(&values());
        let line =
            twin.strip_suffix(b"\n").unwrap_or_else(|| panic!("{}: the twin has no line end", case.id));
        assert!(!line.contains(&b'\n'), "{}: the twin is more than one line", case.id);
        let call: serde_json::Value =
            serde_json::from_slice(line).unwrap_or_else(|error| panic!("{}: {error}", case.id));
        assert_eq!(call["jsonrpc"], "2.0", "{}", case.id);
        assert_eq!(call["method"], "tools/call", "{}", case.id);
        assert!(text(line).contains(&values().marker), "{}: the twin has no marker", case.id);
        let tool = call["params"]["name"].as_str().unwrap_or_default();
        assert!(tool.starts_with("probe_"), "{}", case.id);
        if case.complete_call {
            assert_eq!(tool, "probe_write", "{}", case.id);
        }
        let modern = call["params"].get("_meta").is_some();
        assert_eq!(modern, case.revision.is_modern(), "{}", case.id);
        assert!(matches!(case.twin_phase, Phase::Ready | Phase::Modern | Phase::New), "{}", case.id);
        assert!(
            case.twin_phase != Phase::New || case.revision.is_modern(),
            "{}: a call runs in no new legacy session",
            case.id
        );
    }
}

/// Whoever fills in the holes elsewhere sends the same bytes.
#[test]
fn an_open_frame_that_is_filled_in_is_the_frame() {
    let values = values().with_call("write_file", r#"{"path":"/tmp/${marker}"}"#);
    let arguments = values.arguments.replace("${marker}", &values.marker);
    let (id, next) = (values.id.to_string(), values.next().to_string());
    let holes = [
        ("${tool}", values.tool.as_str()),
        ("${arguments}", &arguments),
        ("${arguments_text}", r#"{\"path\":\"/tmp/mk-7f3a\"}"#),
        ("${members}", r#""path":"/tmp/mk-7f3a""#),
        ("${other_members}", r#""path":"/tmp/mk-7f3a-other""#),
        ("${escaped_members}", r#""\u0070\u0061\u0074\u0068":"/tmp/mk-7f3a-other""#),
        ("${marker}", &values.marker),
        ("${id}", &id),
        ("${next}", &next),
    ];
    let fill_in = |open: Vec<u8>| {
        holes.iter().fold(open, |bytes, (hole, value)| replace(&bytes, hole.as_bytes(), value.as_bytes()))
    };
    let general: Vec<_> = cases().into_iter().filter(Case::is_general).collect();
    assert!(general.len() >= 300, "{}", general.len());
    for case in general {
        let open = |bytes: Option<Vec<u8>>| bytes.unwrap_or_else(|| panic!("{} has no open form", case.id));
        assert_eq!(fill_in(open(case.open_frame())), case.frame(&values), "{}", case.id);
        assert_eq!(fill_in(open(case.open_twin())), case.twin(&values), "{}", case.id);
    }
}

fn replace(bytes: &[u8], part: &[u8], with: &[u8]) -> Vec<u8> {
    let (mut replaced, mut rest) = (Vec::new(), bytes);
    while let Some((byte, behind)) = rest.split_first() {
        if let Some(behind) = rest.strip_prefix(part) {
            replaced.extend_from_slice(with);
            rest = behind;
        } else {
            replaced.push(*byte);
            rest = behind;
        }
    }
    replaced
}

/// Where the bytes are the twin's, the state is the fault.
#[test]
fn a_frame_is_not_its_twin() {
    for case in cases() {
        let other_state = case.twin_phase != case.phase || !case.before.is_empty() || case.needs.is_some();
        if !other_state {
            assert_ne!(case.frame(&values()), case.twin(&values()), "{}", case.id);
        }
    }
}

#[test]
fn a_complete_call_differs_from_its_twin_only_in_the_fault() {
    let mut wrong = Vec::new();
    for case in cases().into_iter().filter(|case| case.complete_call) {
        let (frame, twin) = (case.frame(&values()), case.twin(&values()));
        let before = frame.iter().zip(&twin).take_while(|(left, right)| left == right).count();
        let rest = frame.len().min(twin.len()) - before;
        let behind = frame
            .iter()
            .rev()
            .zip(twin.iter().rev())
            .take(rest)
            .take_while(|(left, right)| left == right)
            .count();
        let shared = (before + behind) * 100 / twin.len();
        // Noise around a call leaves the call in one piece.
        let piece = twin
            .strip_suffix(b"\n")
            .is_some_and(|call| frame.windows(call.len()).any(|window| window == call));
        let marked = text(&frame).contains(&values().marker);
        if !(marked && (shared >= 50 || piece)) {
            wrong.push(format!("{}: marker {marked}, shares {shared} % of its twin at its ends", case.id));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn markers_stand_where_they_are_expected() {
    let values = values();
    for case in all() {
        for before in &case.before {
            let sent = text(&before.frame(&values, 0));
            assert_eq!(
                sent.contains(&values.held()),
                before.executes > 0 || sent.contains("probe_nothing"),
                "{}: {sent}",
                case.id
            );
            assert!(!before.hold || before.executes > 0, "{}", case.id);
        }
        if let Some(then) = case.then(&values) {
            let then = text(&then);
            assert!(
                then.contains(&values.good())
                    && then.ends_with('\n')
                    && then.matches("tools/call").count() == 1,
                "{}",
                case.id
            );
        }
        let frame = text(&case.frame(&values));
        assert!(!frame.contains(&values.held()) && !frame.contains(&values.good()), "{}", case.id);
        if case.executes > 0 && !case.id.starts_with("read-tool") {
            assert!(frame.contains(&values.marker), "{}", case.id);
        }
    }
}

#[test]
fn frames_end_where_they_say() {
    for case in all() {
        let frame = case.frame(&values());
        assert_eq!(!case.ends_input, frame.ends_with(b"\n"), "{}", case.id);
        assert!(frame.len() <= 64 * 1024 * 1024 + 1, "{}: {} bytes", case.id, frame.len());
    }
}

#[test]
fn replies_fit_their_phase() {
    for case in all() {
        let passes = case.reason.is_none();
        assert_eq!(
            passes,
            matches!(case.reply.outcome, Outcome::Result) || (passes && case.reply.id == ReplyId::None),
            "{}",
            case.id
        );
        assert_eq!(case.executes > 0, passes && case.executes > 0, "{}: a refusal executes nothing", case.id);
        if case.reply.in_batch || case.stays {
            assert_eq!(case.revision.name(), "2025-03-26", "{}", case.id);
        }
        assert_eq!(
            case.phase == Phase::Modern,
            case.revision.is_modern() && case.phase != Phase::New,
            "{}",
            case.id
        );
        for also in &case.also_reasons {
            assert!(
                FILES.iter().any(|(file, _)| *file == also.reason && *file != VALID),
                "{}: {}",
                case.id,
                also.reason
            );
        }
        if let Some(id) = case.reply.id_json(&values()) {
            serde_json::from_str::<serde_json::Value>(&id)
                .unwrap_or_else(|error| panic!("{}: {error}", case.id));
        }
    }
}

#[test]
fn cuts_lie_within_the_frame() {
    for case in all() {
        let frame = case.frame(&values());
        let cuts = case.cuts(&frame);
        assert!(cuts.is_sorted_by(|left, right| left < right), "{}", case.id);
        assert!(cuts.iter().all(|cut| (1..frame.len()).contains(cut)), "{}", case.id);
        assert!(frame.len() < 2 || !cuts.is_empty(), "{}", case.id);
        assert!(cuts.len() <= 1_000, "{}: {} cuts; name fewer in `splits`", case.id, cuts.len());
    }
    assert_eq!(boundaries(b"a\r\nb"), [1, 2, 3]);
}

/// Another server's tool would refuse an argument that it does not have, and the fault would go unjudged.
#[test]
fn general_frames_bring_no_argument_of_their_own() {
    for case in cases().into_iter().filter(Case::is_general) {
        let values = values().with_call("write_file", r#"{"path":"/tmp/${marker}"}"#);
        assert!(!text(&case.frame(&values)).contains("marker"), "{}", case.id);
    }
    assert!(cases().iter().any(|case| case.id == "duplicate-argument" && case.is_general()));
    assert!(cases().iter().any(|case| case.id == "duplicate-proto" && !case.is_general()));
}
