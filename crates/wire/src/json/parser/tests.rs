//! Which texts are refused where and why, and what the tree of the others is.

use super::*;
use crate::json::{Kind, Value};

fn parser() -> Parser {
    Parser::new(&Limits::default())
}

fn refusal_of(text: &str) -> Option<(Reason, usize)> {
    parser().parse_text(text).err().map(|refusal| (refusal.reason(), refusal.offset()))
}

fn assert_refused(cases: &[(&str, Reason, usize)]) {
    for (text, reason, offset) in cases {
        assert_eq!(refusal_of(text), Some((*reason, *offset)), "{text}");
    }
}

fn assert_accepted(texts: &[&str]) {
    for text in texts {
        assert_eq!(refusal_of(text), None, "{text}");
    }
}

#[test]
fn texts_that_begin_with_no_value_are_noise() {
    assert_refused(&[
        ("", Reason::JsonNoise, 0),
        ("  ", Reason::JsonNoise, 2),
        ("INFO: starting", Reason::JsonNoise, 0),
        (" hello", Reason::JsonNoise, 1),
        ("tru", Reason::JsonNoise, 0),
        (" trueish", Reason::JsonNoise, 1),
        ("null_", Reason::JsonNoise, 0),
        ("NaN", Reason::JsonNoise, 0),
        ("-Infinity", Reason::JsonNoise, 0),
        ("2026-07-28T12:00:00Z start", Reason::JsonNoise, 0),
        ("012", Reason::JsonNoise, 0),
        ("-", Reason::JsonNoise, 0),
        (",", Reason::JsonNoise, 0),
        ("}", Reason::JsonNoise, 0),
        ("'a'", Reason::JsonNoise, 0),
        ("\u{feff}{}", Reason::JsonNoise, 0),
        ("\0", Reason::JsonNoise, 0),
    ]);
}

#[test]
fn grammar_breaks_at_the_first_wrong_byte() {
    assert_refused(&[
        ("[INFO] x", Reason::JsonSyntax, 1),
        ("[1,]", Reason::JsonSyntax, 3),
        ("[,1]", Reason::JsonSyntax, 1),
        ("[1 2]", Reason::JsonSyntax, 3),
        ("[1}", Reason::JsonSyntax, 2),
        ("[}", Reason::JsonSyntax, 1),
        ("{]", Reason::JsonSyntax, 1),
        ("{\"a\":1]", Reason::JsonSyntax, 6),
        ("{\"a\":1,}", Reason::JsonSyntax, 7),
        ("{,}", Reason::JsonSyntax, 1),
        ("{a:1}", Reason::JsonSyntax, 1),
        ("{1:1}", Reason::JsonSyntax, 1),
        ("{\"a\" 1}", Reason::JsonSyntax, 5),
        ("{\"a\":,}", Reason::JsonSyntax, 5),
        ("{\"a\"}", Reason::JsonSyntax, 4),
        ("{\"a\":1 \"b\":2}", Reason::JsonSyntax, 7),
        ("[trux]", Reason::JsonSyntax, 4),
        ("[truex]", Reason::JsonSyntax, 5),
        ("[True]", Reason::JsonSyntax, 1),
        ("[\"a\tb\"]", Reason::JsonSyntax, 3),
        ("[\"a\nb\"]", Reason::JsonSyntax, 3),
        ("[\"\\n\u{1}\"]", Reason::JsonSyntax, 4),
        ("[1\u{c}]", Reason::JsonSyntax, 2),
        ("[1\0]", Reason::JsonSyntax, 2),
        ("[\u{a0}1]", Reason::JsonSyntax, 1),
        ("[1]//", Reason::JsonTrailingData, 3),
        ("{} {}", Reason::JsonTrailingData, 3),
        ("{}}", Reason::JsonTrailingData, 2),
        ("{}\0", Reason::JsonTrailingData, 2),
        ("{},", Reason::JsonTrailingData, 2),
        ("\"a\"x", Reason::JsonTrailingData, 3),
        ("true-ish", Reason::JsonTrailingData, 4),
        ("1 2", Reason::JsonTrailingData, 2),
    ]);
}

#[test]
fn texts_that_end_too_early() {
    assert_refused(&[
        ("{", Reason::JsonTruncated, 1),
        ("[ ", Reason::JsonTruncated, 2),
        ("[1", Reason::JsonTruncated, 2),
        ("[1,", Reason::JsonTruncated, 3),
        ("[-", Reason::JsonTruncated, 2),
        ("[1.", Reason::JsonTruncated, 3),
        ("[1e+", Reason::JsonTruncated, 4),
        ("[tru", Reason::JsonTruncated, 4),
        ("{\"a\"", Reason::JsonTruncated, 4),
        ("{\"a\":", Reason::JsonTruncated, 5),
        ("{\"a\":{}", Reason::JsonTruncated, 7),
        ("{\"a\":1,", Reason::JsonTruncated, 7),
        ("\"", Reason::FramingNewlineInString, 1),
        ("[\"abc", Reason::FramingNewlineInString, 5),
        ("{\"abc", Reason::FramingNewlineInString, 5),
        ("{\"abcdefghijklmnopqrstuvwxyz", Reason::FramingNewlineInString, 28),
        ("\"\\", Reason::FramingNewlineInString, 2),
        ("\"\\u00", Reason::FramingNewlineInString, 5),
        ("\"\\ud800", Reason::FramingNewlineInString, 7),
        ("\"\\ud800\\", Reason::FramingNewlineInString, 8),
        ("\"\\ud800\\u", Reason::FramingNewlineInString, 9),
    ]);
}

#[test]
fn escapes_are_those_of_json_and_surrogates_come_in_pairs() {
    assert_refused(&[
        ("[\"\\x41\"]", Reason::JsonEscape, 3),
        ("[\"\\'\"]", Reason::JsonEscape, 3),
        ("[\"\\é\"]", Reason::JsonEscape, 3),
        ("[\"\\u12G4\"]", Reason::JsonEscape, 6),
        ("[\"\\u12\"]", Reason::JsonEscape, 6),
        ("[\"\\u+123\"]", Reason::JsonEscape, 4),
        ("[\"\\U0041\"]", Reason::JsonEscape, 3),
        ("[\"ab\\ud800\"]", Reason::JsonLoneSurrogate, 4),
        ("[\"\\ud800x\"]", Reason::JsonLoneSurrogate, 2),
        ("[\"\\ud800\\n\"]", Reason::JsonLoneSurrogate, 2),
        ("[\"\\ud800\\u0041\"]", Reason::JsonLoneSurrogate, 2),
        ("[\"\\ud800\\ud800\"]", Reason::JsonLoneSurrogate, 2),
        ("[\"\\udc00\\ud800\"]", Reason::JsonLoneSurrogate, 2),
        ("[\"\\udfff\"]", Reason::JsonLoneSurrogate, 2),
        ("[\"\\ud800\\uZZZZ\"]", Reason::JsonEscape, 10),
        ("{\"\\ud800\":1}", Reason::JsonLoneSurrogate, 2),
    ]);
    let mut parser = parser();
    let decoded =
        |parser: &mut Parser, text: &str| parser.parse_text(text).unwrap().root().as_str().map(str::to_owned);
    assert_eq!(decoded(&mut parser, r#""\"\\\/\b\f\n\r\t""#).as_deref(), Some("\"\\/\u{8}\u{c}\n\r\t"));
    assert_eq!(
        decoded(&mut parser, r#""\u0000\u00e9\u20AC\uD83d\uDE00\uffff""#).as_deref(),
        Some("\0é€😀\u{ffff}")
    );
    assert_eq!(
        decoded(&mut parser, r#""plain é\nthen plain for more than a word""#).as_deref(),
        Some("plain é\nthen plain for more than a word")
    );
    assert_eq!(
        decoded(&mut parser, "\"\u{fdd0}\u{10ffff}\u{7f}\"").as_deref(),
        Some("\u{fdd0}\u{10ffff}\u{7f}")
    );
}

#[test]
fn what_ends_a_string_is_seen_at_every_place_of_a_long_one() {
    let mut parser = parser();
    let mut text = format!("\"{}\"", "a".repeat(700)).into_bytes();
    for at in 1..text.len() - 1 {
        for (byte, reason, offset) in [
            (b'\n', Reason::JsonSyntax, at),
            (0, Reason::JsonSyntax, at),
            (0x1F, Reason::JsonSyntax, at),
            (b'"', Reason::JsonTrailingData, at + 1),
            (b'\\', Reason::JsonEscape, at + 1),
        ] {
            text[at] = byte;
            let refusal = parser.parse_text(str::from_utf8(&text).unwrap()).err();
            let expected = if at == 700 && byte == b'\\' {
                Refusal::new(Reason::FramingNewlineInString, 702)
            } else {
                Refusal::new(reason, offset)
            };
            assert_eq!(refusal, Some(expected), "{byte:#x} at {at}");
        }
        text[at] = b'a';
        assert!(parser.parse_text(str::from_utf8(&text).unwrap()).is_ok());
    }
}

#[test]
fn every_unit_is_decoded_as_serde_json_decodes_it() {
    let mut parser = parser();
    for unit in 0..=0xFFFF_u32 {
        let text = if unit % 2 == 0 { format!("\"\\u{unit:04x}\"") } else { format!("\"\\u{unit:04X}\"") };
        let ours =
            parser.parse_text(&text).ok().and_then(|document| document.root().as_str().map(str::to_owned));
        assert_eq!(ours, serde_json::from_str::<String>(&text).ok(), "{text}");
    }
}

#[test]
fn numbers_are_written_as_json_writes_them() {
    assert_refused(&[
        ("[01]", Reason::JsonNumberSyntax, 2),
        ("[-01]", Reason::JsonNumberSyntax, 3),
        ("[00]", Reason::JsonNumberSyntax, 2),
        ("[+1]", Reason::JsonNumberSyntax, 1),
        ("[.5]", Reason::JsonNumberSyntax, 1),
        ("[1.]", Reason::JsonNumberSyntax, 3),
        ("[1.e5]", Reason::JsonNumberSyntax, 3),
        ("[1e]", Reason::JsonNumberSyntax, 3),
        ("[1e+]", Reason::JsonNumberSyntax, 4),
        ("[1E--1]", Reason::JsonNumberSyntax, 4),
        ("[-]", Reason::JsonNumberSyntax, 2),
        ("[--1]", Reason::JsonNumberSyntax, 2),
        ("[0x1F]", Reason::JsonNumberSyntax, 2),
        ("[1_000]", Reason::JsonNumberSyntax, 2),
        ("[1.2.3]", Reason::JsonNumberSyntax, 4),
        ("[1e5.5]", Reason::JsonNumberSyntax, 4),
        ("[1-2]", Reason::JsonNumberSyntax, 2),
        ("[1a]", Reason::JsonNumberSyntax, 2),
        ("[NaN]", Reason::JsonNumberSyntax, 1),
        ("[Infinity]", Reason::JsonNumberSyntax, 1),
        ("[-Infinity]", Reason::JsonNumberSyntax, 2),
    ]);
    assert_accepted(&[
        "0",
        "-0",
        "[0,-0,1,-1,10]",
        "[0.0,-0.0,0e0,0E-5,1.5e+3,123456789012345678]",
        " 1 ",
        "1.0",
    ]);
}

#[test]
fn numbers_fit_64_bits_or_a_double() {
    for text in [
        "18446744073709551616",
        "-9223372036854775809",
        "99999999999999999999999",
        "1e309",
        "-1e309",
        "1.8e308",
        "1e99999999999999999999",
        "1e-400",
        "0.1e-99999999999999999999",
        "4e-325",
        &format!("0.{}1", "0".repeat(400)),
        &format!("{}.0", "9".repeat(400)),
    ] {
        assert_eq!(refusal_of(text), Some((Reason::JsonNumberRange, 0)), "{text}");
        assert_eq!(refusal_of(&format!("[{text}]")), Some((Reason::JsonNumberRange, 1)), "{text}");
    }
    assert_accepted(&[
        "18446744073709551615",
        "-9223372036854775808",
        "1e308",
        "1.7976931348623157e308",
        "5e-324",
        "2.2e-310",
        "0e99999999999999999999",
        "-0.000e-99999999999999999999",
        &format!("0.{}1", "0".repeat(300)),
        &format!("{}.0", "9".repeat(300)),
        &format!("1{}e-400", "0".repeat(400)),
        "1000000000000000000000.0",
    ]);
}

#[test]
fn duplicate_names_are_refused_at_any_depth_after_unescaping() {
    assert_refused(&[
        (r#"{"a":1,"a":1}"#, Reason::JsonDuplicateMember, 7),
        (r#"{"a":1,"b":2,"\u0061":3}"#, Reason::JsonDuplicateMember, 13),
        (r#"{"\u0061":1,"a":2}"#, Reason::JsonDuplicateMember, 12),
        (r#"{"":1,"":2}"#, Reason::JsonDuplicateMember, 6),
        (
            r#"[{"x":[{"aaaaaaaaaa":{},"b":{"aaaaaaaaaa":1},"aaaaaaaaaa":1}]}]"#,
            Reason::JsonDuplicateMember,
            45,
        ),
        (r#"{"a\u0000":1,"a":2,"a\u0000":3}"#, Reason::JsonDuplicateMember, 19),
    ]);
    assert_accepted(&[
        r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#,
        r#"{"a":1,"A":2,"a ":3,"á":4,"a\u0301":5,"a\u0000":6,"":7}"#,
        r#"{"aaaaaaaa":1,"aaaaaaab":2,"aaaaaaaaa":3,"aaaaaaaaaaaaaaaaa":4,"aaaaaaaaaaaaaaaab":5}"#,
    ]);
}

#[test]
fn an_object_like_the_one_before_it_is_still_searched_for_duplicates() {
    assert_refused(&[
        (r#"[{"a":1,"b":2},{"a":1,"b":2,"a":3}]"#, Reason::JsonDuplicateMember, 28),
        (r#"[{"a":1,"b":2},{"a":1,"c":2,"a":3}]"#, Reason::JsonDuplicateMember, 28),
        (r#"[{"a":1,"b":2},{"b":1,"b":2}]"#, Reason::JsonDuplicateMember, 22),
        // Behind the last name expected stands one that is not of the same object.
        (r#"[{"x":{"a":1},"a":2},{"x":{"a":1,"a":2}}]"#, Reason::JsonDuplicateMember, 33),
        (r#"[[{"a":1},{"b":1}],[{"a":1,"b":1,"b":1}]]"#, Reason::JsonDuplicateMember, 33),
        (r#"[{"a":{"x":1,"y":1}},{"a":{"x":1,"y":1,"x":1}}]"#, Reason::JsonDuplicateMember, 39),
        (r#"[{"a\n":1,"b":1},{"a\n":1,"b":1,"a\n":1}]"#, Reason::JsonDuplicateMember, 32),
    ]);
    assert_accepted(&[
        r#"[{"a":1,"b":2},{"b":1,"a":2},{"a":1},{},{"a":1,"b":2,"c":3},{"c":1,"a":[{"a":1}]}]"#,
        r#"[{"a":{"b":1}},{"a":[1]},{"a":{"b":1,"c":2}},{"a":{}},{"a":null},{"a":{"b":2}}]"#,
        r#"[[1,[2]],[{"a":1}],[[1],{"a":1}]]"#,
    ]);
}

/// An object of `count` different members, then perhaps one more.
fn wide(count: usize, last: Option<usize>, prefix: &str) -> String {
    let names = (0..count).chain(last);
    let members: Vec<String> = names.map(|number| format!("\"{prefix}{number}\":{number}")).collect();
    format!("{{{}}}", members.join(","))
}

#[test]
fn duplicates_are_found_in_objects_of_every_size() {
    for prefix in ["", "a name longer than sixteen bytes "] {
        for count in [1, 2, 63, 64, 65, 66, 129, 500, 3000] {
            assert_accepted(&[&wide(count, None, prefix)]);
            for again in [0, count / 2, count - 1] {
                let text = wide(count, Some(again), prefix);
                let offset = text.rfind(&format!("\"{prefix}{again}\"")).unwrap();
                assert_eq!(refusal_of(&text), Some((Reason::JsonDuplicateMember, offset)), "{count} {again}");
                // The same behind a model of it.
                let modelled = format!("[{},{text}]", wide(count, None, prefix));
                assert_eq!(
                    refusal_of(&modelled).map(|(reason, _)| reason),
                    Some(Reason::JsonDuplicateMember)
                );
            }
        }
    }
}

#[test]
fn large_objects_within_each_other_keep_their_names_apart() {
    let inner = wide(100, None, "n");
    let text = format!(
        "{{{},\"inner\":{inner},\"again\":[{inner},{inner}]}}",
        &wide(100, None, "n")[1..wide(100, None, "n").len() - 1]
    );
    assert_accepted(&[&text]);
    let twice = format!("{},\"n3\":0}}", &text[..text.len() - 1]);
    assert_eq!(refusal_of(&twice), Some((Reason::JsonDuplicateMember, text.len())));
}

#[test]
fn limits_hold_to_the_last_one() {
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert_accepted(&[&nested(64)]);
    assert_eq!(refusal_of(&nested(65)), Some((Reason::JsonDepth, 64)));
    assert_eq!(refusal_of(&"[".repeat(100_000)), Some((Reason::JsonDepth, 64)));
    assert_eq!(refusal_of(&"{\"a\":".repeat(65)), Some((Reason::JsonDepth, 64 * 5)));

    let array = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    assert_accepted(&[&array(10_000), &wide(10_000, None, "")]);
    assert_eq!(refusal_of(&array(10_001)), Some((Reason::JsonMembers, 20_001)));
    let too_wide = wide(10_001, None, "");
    assert_eq!(refusal_of(&too_wide), Some((Reason::JsonMembers, too_wide.rfind(",\"").unwrap() + 1)));

    let limits = Limits { max_nodes: 5, ..Limits::default() };
    let nodes = |text: &str| {
        Parser::new(&limits).parse_text(text).err().map(|refusal| (refusal.reason(), refusal.offset()))
    };
    assert_eq!(nodes(r#"{"a":1,"b":[2,3]}"#), None);
    assert_eq!(nodes(r#"{"a":1,"b":[2,3,4]}"#), Some((Reason::JsonNodes, 16)));

    let limits = Limits { max_frame: 4, ..Limits::default() };
    assert_eq!(Parser::new(&limits).parse_text("[1,2]").err(), Some(Refusal::new(Reason::FrameTooLong, 4)));
    assert!(Parser::new(&limits).parse_text("[12]").is_ok());
}

#[test]
fn a_parser_forgets_the_text_before() {
    let mut parser = parser();
    for _ in 0..3 {
        assert!(parser.parse_text(&wide(200, None, "")).is_ok());
        assert!(parser.parse_text(&wide(200, Some(7), "")).is_err());
        assert!(parser.parse_text("[{\"a\":1},{\"a\"").is_err());
        let document = parser.parse_text("{\"a\":[true,null]}").unwrap();
        assert_eq!(document.root().to_owned_json(), serde_json::json!({"a": [true, null]}));
    }
}

#[test]
fn buffers_beyond_what_is_retained_are_given_back() {
    let limits = Limits { max_nodes: 1 << 20, max_members: 1 << 20, ..Limits::default() };
    let mut parser = Parser::new(&limits);
    let many = format!("[{}]", vec!["1"; 600_000].join(","));
    let escaped = format!("\"{}\"", "\\n".repeat(1_500_000));
    assert!(parser.parse_text(&many).is_ok());
    assert!(parser.parse_text(&escaped).is_ok());
    assert!(parser.parse_text("1").is_ok());
    assert!(parser.tape.nodes.capacity() <= RETAINED_NODES, "{}", parser.tape.nodes.capacity());
    assert!(parser.tape.scratch.capacity() <= RETAINED_SCRATCH, "{}", parser.tape.scratch.capacity());
}

#[test]
fn the_tree_is_that_of_the_text() {
    let text = r#" {"n":null, "t":true,"f":false,"i":-12,"r":1.50,"s":"a","e":"\u0061","o":{},"a":[1,[2],{"x":3}],"":0} "#;
    let mut parser = parser();
    let document = parser.parse_text(text).unwrap();
    assert_eq!(document.text(), text);
    let root = document.root();
    assert_eq!(root.kind(), Kind::Object);
    let object = root.as_object().unwrap();
    let get = |name: &str| object.get(name).unwrap();
    assert_eq!((object.len(), object.is_empty(), object.iter().len()), (10, false, 10));
    assert!(get("n").is_null());
    assert_eq!((get("t").as_bool(), get("f").as_bool(), get("n").as_bool()), (Some(true), Some(false), None));
    assert_eq!((get("s").as_str(), get("e").as_str(), get("i").as_str()), (Some("a"), Some("a"), None));
    assert!(get("o").as_object().unwrap().is_empty());
    assert!(object.get("x").is_none() && object.get("N").is_none());
    let number = get("r").as_number().unwrap();
    assert_eq!(
        (number.text(), number.is_integer(), number.as_i64(), number.as_u64(), number.as_f64()),
        ("1.50", false, None, None, 1.5)
    );
    let array = get("a").as_array().unwrap();
    let kinds: Vec<Kind> = array.iter().map(Value::kind).collect();
    assert_eq!((array.len(), kinds), (3, vec![Kind::Number, Kind::Array, Kind::Object]));
    for member in object.iter() {
        let name = &text[member.span.clone()];
        assert_eq!(serde_json::from_str::<String>(name).unwrap(), member.name);
        let value: serde_json::Value = serde_json::from_str(&text[member.value.span()]).unwrap();
        assert_eq!(value, member.value.to_owned_json());
    }
    assert_eq!(root.to_owned_json(), serde_json::from_str::<serde_json::Value>(text).unwrap());
}

#[test]
fn integers_are_exact() {
    let mut parser = parser();
    let mut number = |text: &str| {
        let document = parser.parse_text(text).unwrap();
        let number = document.root().as_number().unwrap();
        (number.is_integer(), number.as_i64(), number.as_u64())
    };
    assert_eq!(number("18446744073709551615"), (true, None, Some(u64::MAX)));
    assert_eq!(number("-9223372036854775808"), (true, Some(i64::MIN), None));
    assert_eq!(number("9007199254740993"), (true, Some(9_007_199_254_740_993), Some(9_007_199_254_740_993)));
    assert_eq!(number("-0"), (true, Some(0), Some(0)));
    assert_eq!(number("1e3"), (false, None, None));
}

#[test]
fn debug_shows_no_content() {
    let mut parser = parser();
    let document = parser.parse_text(r#"{"token":"s3cret"}"#).unwrap();
    let shown =
        format!("{:?} {:?}", document.root(), document.root().as_object().map(|object| object.iter().next()));
    assert!(!shown.contains("s3cret"), "{shown}");
    let shown = format!("{document:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
}
