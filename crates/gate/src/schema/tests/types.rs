//! Every parameter type at its edges.
//!
//! Belongs here: for each type, what it accepts and as what, and what it refuses and why.
//! Does not belong here: several arguments, templates.

use framegate_wire::Reason::{
    self, ArgumentBounds as Bounds, ArgumentCharacter as Character, ArgumentEnum as Enum,
    ArgumentPattern as Pattern, ArgumentType as Type,
};
use serde_json::{Value, json};

use super::{
    ParameterType, call, catalog, in_body, int, list, options, path, reason, required, string, text, word,
};

/// One type, by name, with what it accepts and refuses, as JSON.
pub(super) struct Edges {
    pub(super) name: &'static str,
    pub(super) kind: ParameterType,
    /// What is accepted.
    pub(super) fits: Vec<String>,
    /// What is accepted and becomes another spelling.
    becomes: Vec<(&'static str, &'static str)>,
    pub(super) misfits: Vec<(String, Reason)>,
}

fn edges(name: &'static str, kind: ParameterType, fits: &[&str], misfits: &[(&str, Reason)]) -> Edges {
    Edges {
        name,
        kind,
        fits: fits.iter().map(|text| (*text).to_owned()).collect(),
        becomes: Vec::new(),
        misfits: misfits.iter().map(|(text, reason)| ((*text).to_owned(), *reason)).collect(),
    }
}

fn quoted(length: usize) -> String {
    format!("\"{}\"", "a".repeat(length))
}

impl Edges {
    /// Accepts this many bytes and not one more.
    fn at_most(mut self, length: usize) -> Self {
        self.fits.push(quoted(length));
        self.misfits.push((quoted(length + 1), Bounds));
        self
    }

    fn becomes(mut self, pairs: &[(&'static str, &'static str)]) -> Self {
        self.becomes.extend_from_slice(pairs);
        self
    }
}

pub(super) fn all() -> Vec<Edges> {
    let mut all = texts();
    all.extend(numbers());
    all.extend(places());
    all.extend(lists());
    all
}

fn texts() -> Vec<Edges> {
    let bounded = ParameterType::String { min_length: Some(2), max_length: Some(4), pattern: None };
    vec![
        edges(
            "string",
            string(None),
            &[r#""""#, r#""é世🙂""#, r#"" a ""#, r#""null""#, r#""{owner}""#, r#""../x""#],
            &[
                ("1", Type),
                ("null", Type),
                ("true", Type),
                ("[]", Type),
                ("{}", Type),
                (r#"["a"]"#, Type),
                (r#""a\nb""#, Character),
                (r#""a\tb""#, Character),
                (r#""\u0000""#, Character),
                (r#""\u007f""#, Character),
                (r#""\u0085""#, Character),
                (r#""a\u2028b""#, Character),
                (r#""pro\u200bd""#, Character),
                (r#""\u202ex""#, Character),
                (r#""e\u0301""#, Character),
                (r#""\ufffe""#, Character),
                (r#""\ufeffa""#, Character),
                (r#""\ud83f\udffe""#, Character),
            ],
        )
        .becomes(&[(r#""\u0061\/\u00e9""#, r#""a/é""#), (r#""\ud83d\ude42""#, r#""🙂""#)])
        .at_most(1_024),
        // Lengths are bytes: `é` has two, `🙂` four.
        edges(
            "bounded string",
            bounded,
            &[r#""ab""#, r#""é""#, r#""🙂""#, r#""abcd""#],
            &[(r#""a""#, Bounds), (r#""""#, Bounds), (r#""abcde""#, Bounds), (r#""🙂a""#, Bounds)],
        ),
        edges(
            "string with a pattern",
            string(Some("[A-Z]+-[0-9]+|none")),
            &[r#""AB-12""#, r#""none""#],
            &[
                (r#""xAB-12""#, Pattern),
                (r#""AB-12x""#, Pattern),
                (r#""nonex""#, Pattern),
                (r#""AB-12 ""#, Pattern),
                (r#""ab-12""#, Pattern),
                (r#""""#, Pattern),
                (r#""AB-12\n""#, Character),
            ],
        ),
        edges(
            "word",
            word(),
            &[r#""a""#, r#""_""#, r#""0""#, r#""a.b~c-d_e""#, r#""a..b""#, r#""null""#],
            &[
                ("7", Type),
                ("null", Type),
                (r#""""#, Bounds),
                (r#""-a""#, Character),
                (r#""--flag""#, Character),
                (r#"".a""#, Character),
                (r#"".""#, Character),
                (r#""..""#, Character),
                (r#""~root""#, Character),
                (r#""a b""#, Character),
                (r#""a/b""#, Character),
                (r#""a\\b""#, Character),
                (r#""a%2e""#, Character),
                (r#""é""#, Character),
                (r#""ａ""#, Character),
                (r#""a\u0000""#, Character),
                (r#""a\n""#, Character),
            ],
        )
        .at_most(128),
        edges(
            "text",
            text(),
            &[r#""""#, r#""a\nb\tc""#, r#""e\u0301""#, r#""\u2028""#, r#""\"\\""#],
            &[
                ("1", Type),
                (r#""\r\n""#, Character),
                (r#""\u0000""#, Character),
                (r#""\u001b[2J""#, Character),
                (r#""\u009b""#, Character),
                (r#""\uffff""#, Character),
            ],
        )
        .at_most(4_096),
        edges(
            "enum",
            options(&["prod", "Test", "é", ""]),
            &[r#""prod""#, r#""Test""#, r#""é""#, r#""""#],
            &[
                (r#""Prod""#, Enum),
                (r#""prod ""#, Enum),
                (r#""test""#, Enum),
                (r#""pro""#, Enum),
                (r#""e\u0301""#, Enum),
                (r#""ｐrod""#, Enum),
                (r#""pro\u200bd""#, Enum),
                ("0", Type),
                ("null", Type),
                (r#"["prod"]"#, Type),
            ],
        )
        .becomes(&[(r#""\u0070rod""#, r#""prod""#)]),
    ]
}

fn numbers() -> Vec<Edges> {
    let ranged = ParameterType::Int { min: Some(-5), max: Some(10), string_form: false };
    let spelled = ParameterType::Int { min: None, max: Some(1_000), string_form: true };
    let ranged_number = ParameterType::Number { min: Some("-1.5".to_owned()), max: Some("1e3".to_owned()) };
    vec![
        edges(
            "int",
            int(),
            &["0", "-1", "9223372036854775807", "-9223372036854775808"],
            &[
                ("9223372036854775808", Bounds),
                ("18446744073709551615", Bounds),
                ("1.0", Type),
                ("1e0", Type),
                ("1E2", Type),
                ("-0.0", Type),
                ("1.5", Type),
                (r#""1""#, Type),
                ("true", Type),
                ("null", Type),
                ("[1]", Type),
            ],
        )
        .becomes(&[("-0", "0")]),
        edges(
            "int with a range",
            ranged,
            &["-5", "10", "0"],
            &[("-6", Bounds), ("11", Bounds), ("9223372036854775807", Bounds)],
        ),
        edges(
            "int, also as a string",
            spelled,
            &["5", "-5"],
            &[
                (r#""05""#, Pattern),
                (r#""+5""#, Pattern),
                (r#""-0""#, Pattern),
                (r#""-05""#, Pattern),
                (r#""00""#, Pattern),
                (r#""1e3""#, Type),
                (r#""1.0""#, Type),
                (r#""0x10""#, Type),
                (r#"" 5""#, Type),
                (r#""5 ""#, Type),
                (r#""""#, Type),
                (r#""-""#, Type),
                (r#""٥""#, Type),
                (r#""1_000""#, Type),
                ("5.0", Type),
                ("1e3", Type),
                (r#""1001""#, Bounds),
                ("1001", Bounds),
                (r#""9223372036854775808""#, Bounds),
                (r#""99999999999999999999""#, Bounds),
                ("null", Type),
            ],
        )
        .becomes(&[
            (r#""5""#, "5"),
            (r#""-7""#, "-7"),
            (r#""0""#, "0"),
            (r#""-9223372036854775808""#, "-9223372036854775808"),
        ]),
        edges(
            "number",
            ParameterType::Number { min: None, max: None },
            &["0", "-1.5", "0.0001", "1.2345", "99999999999.9999", "-99999999999.9999"],
            &[
                ("0.00001", Bounds),
                ("1.23456", Bounds),
                ("1e-5", Bounds),
                ("100000000000", Bounds),
                ("99999999999.99991", Bounds),
                ("1e300", Bounds),
                (r#""1.5""#, Type),
                ("null", Type),
                ("true", Type),
            ],
        )
        .becomes(&[
            ("-0", "0"),
            ("-0.0", "0"),
            ("1.0", "1"),
            ("1e2", "100"),
            ("12E-2", "0.12"),
            ("1.50000", "1.5"),
        ]),
        edges(
            "number with a range",
            ranged_number,
            &["-1.5", "1000", "0"],
            &[("-1.5001", Bounds), ("1000.0001", Bounds), ("1001", Bounds)],
        )
        .becomes(&[("1e3", "1000")]),
        edges(
            "bool",
            ParameterType::Bool,
            &["true", "false"],
            &[("0", Type), ("1", Type), (r#""true""#, Type), ("null", Type), ("[]", Type)],
        ),
    ]
}

fn places() -> Vec<Edges> {
    let logs = ParameterType::AbsPath {
        roots: vec!["/var/log".to_owned(), "/srv/a/".to_owned()],
        max_length: Some(40),
    };
    let urls = ParameterType::Url { schemes: vec!["https".to_owned()] };
    vec![
        edges(
            "path",
            path(),
            &[r#""a""#, r#""a/b.txt""#, r#"".hidden/x""#, r#""a b/c""#, r#""é/世""#, r#""a/-b""#],
            &[
                ("1", Type),
                (r#""""#, Bounds),
                (r#""/a""#, Character),
                (r#""a/""#, Character),
                (r#""a//b""#, Character),
                (r#""../a""#, Character),
                (r#""a/../b""#, Character),
                (r#""a/./b""#, Character),
                (r#""..""#, Character),
                (r#""a\\b""#, Character),
                (r#""a%2fb""#, Character),
                (r#""a;b""#, Character),
                (r#""-rf""#, Character),
                (r#""a/b.""#, Character),
                (r#""a/b ""#, Character),
                (r#""a?b""#, Character),
                (r#""a#b""#, Character),
                (r#""a\u0000""#, Character),
                (r#""．．/a""#, Character),
                (r#""a／b""#, Character),
            ],
        )
        .at_most(1_024),
        edges(
            "abspath",
            logs,
            &[r#""/var/log/a""#, r#""/var/log/a/b.gz""#, r#""/srv/a/x""#],
            &[
                // A name that begins like a root is not below it, and a root is not below itself.
                (r#""/var/logs/a""#, Pattern),
                (r#""/var/log""#, Pattern),
                (r#""/var/logs""#, Pattern),
                (r#""/srv/ab/x""#, Pattern),
                (r#""/var""#, Pattern),
                (r#""/etc/passwd""#, Pattern),
                (r#""var/log/a""#, Pattern),
                (r#""~/a""#, Pattern),
                (r#""/var/log/""#, Character),
                (r#""/var/log/../x""#, Character),
                (r#""/var/log/./x""#, Character),
                (r#""/var//log/x""#, Character),
                (r#""//var/log/x""#, Character),
                (r#""/""#, Character),
                (r#""/var/log/a\u0000""#, Character),
                (r#""/var/log/%2e%2e/x""#, Character),
                (r#""/VAR/log/a""#, Pattern),
                (r#""""#, Bounds),
                (r#""/var/log/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa""#, Bounds),
                ("null", Type),
            ],
        ),
        edges(
            "host",
            ParameterType::Host,
            &[r#""a""#, r#""host.example.com""#, r#""xn--bcher-kva.example""#, r#""1a.test""#, r#""a-b""#],
            &[
                ("1", Type),
                (r#""""#, Bounds),
                (r#""A.test""#, Character),
                (r#""a.""#, Character),
                (r#"".a""#, Character),
                (r#""a..b""#, Character),
                (r#""-a""#, Character),
                (r#""a-""#, Character),
                (r#""a_b""#, Character),
                (r#""127.0.0.1""#, Character),
                (r#""127.1""#, Character),
                (r#""2130706433""#, Character),
                (r#""0x7f000001""#, Character),
                (r#""a.0x7f""#, Character),
                (r#""::1""#, Character),
                (r#""[::1]""#, Character),
                (r#""a:80""#, Character),
                (r#""a/b""#, Character),
                (r#""a@b""#, Character),
                (r#""bücher.example""#, Character),
                (r#""ａ.test""#, Character),
            ],
        ),
        edges(
            "url",
            urls,
            &[r#""https://a.test/""#, r#""https://a.test:8443/p?q=1""#, r#""https://a.test/%20""#],
            &[
                ("1", Type),
                (r#""""#, Bounds),
                (r#""https://a.test""#, Pattern),
                (r#""HTTPS://a.test/""#, Pattern),
                (r#""https://A.test/""#, Pattern),
                (r#""https://a.test:443/""#, Pattern),
                (r#""https://a.test/../b""#, Pattern),
                (r#""https://a.test/%2e%2e/b""#, Pattern),
                (r#""https:\\\\a.test/""#, Pattern),
                (r#""https://a.test\\b""#, Pattern),
                (r#""https:a.test/""#, Pattern),
                (r#""http://a.test/""#, Pattern),
                (r#""file:///etc/passwd""#, Pattern),
                (r#""javascript:alert(1)""#, Pattern),
                (r#""https://user@a.test/""#, Pattern),
                (r#""https://:p@a.test/""#, Pattern),
                (r#""https://@a.test/""#, Pattern),
                (r#""https://a.test/#f""#, Pattern),
                (r#""https://a.test/#""#, Pattern),
                (r#""https://127.0.0.1/""#, Pattern),
                (r#""https://[::1]/""#, Pattern),
                (r#""https://2130706433/""#, Pattern),
                (r#""https://a.test./""#, Pattern),
                (r#""//a.test/""#, Pattern),
                (r#""/p""#, Pattern),
                (r#"" https://a.test/""#, Pattern),
                (r#""https://é.test/""#, Character),
                (r#""https://a.test/\n""#, Character),
            ],
        ),
    ]
}

fn lists() -> Vec<Edges> {
    let bounded = ParameterType::List { item: Box::new(int()), min_items: Some(1), max_items: Some(3) };
    vec![
        edges(
            "list of words",
            list(word()),
            &["[]", r#"["a"]"#, r#"["a","a","b"]"#],
            &[
                (r#""a""#, Type),
                ("{}", Type),
                ("null", Type),
                (r#"["a",1]"#, Type),
                (r#"["a",null]"#, Type),
                (r#"[["a"]]"#, Type),
                (r#"["a",".."]"#, Character),
                (r#"["a",""]"#, Bounds),
            ],
        ),
        edges(
            "bounded list",
            bounded,
            &["[1]", "[1,2,3]"],
            &[("[]", Bounds), ("[1,2,3,4]", Bounds), ("[1,1.0]", Type), (r#"["1"]"#, Type)],
        ),
    ]
}

#[test]
fn each_type_accepts_and_refuses_at_its_edges() {
    let mut cases = 0;
    for Edges { name, kind, fits, becomes, misfits } in all() {
        let catalog = catalog(in_body(vec![required("v", kind)]));
        let same = fits.iter().map(|text| (text.as_str(), text.as_str()));
        for (given, expected) in same.chain(becomes.iter().copied()) {
            let checked = call(&catalog, &format!(r#"{{"v":{given}}}"#))
                .unwrap_or_else(|refused| panic!("{name} {given}: {refused:?}"));
            let expected: Value = serde_json::from_str(expected).unwrap();
            let value = &checked.call().arguments()["v"];
            assert_eq!(json!(value), expected, "{name} {given}");
            cases += 1;
        }
        for (given, expected) in misfits {
            assert_eq!(reason(&catalog, &format!(r#"{{"v":{given}}}"#)), expected, "{name} {given}");
            cases += 1;
        }
    }
    assert!(cases > 250, "{cases}");
}

#[test]
fn a_list_holds_at_most_a_hundred_items_unless_declared() {
    let catalog = catalog(in_body(vec![required("v", list(int()))]));
    let items = |count| format!(r#"{{"v":[{}]}}"#, vec!["1"; count].join(","));
    assert!(call(&catalog, &items(100)).is_ok());
    assert_eq!(reason(&catalog, &items(101)), Bounds);
}

/// The example that a refusal gives would have been accepted.
#[test]
fn examples_fit_their_own_type() {
    let narrow = [
        ParameterType::Word { max_length: Some(1), pattern: None },
        ParameterType::Word { max_length: None, pattern: Some("[A-Z]".to_owned()) },
        ParameterType::String { min_length: Some(50), max_length: Some(60), pattern: None },
        ParameterType::String { min_length: None, max_length: Some(1), pattern: None },
        ParameterType::Text { max_length: Some(4) },
        ParameterType::Path { max_length: Some(3) },
        ParameterType::AbsPath { roots: vec!["/r".to_owned()], max_length: Some(4) },
        ParameterType::Int { min: Some(7), max: Some(9), string_form: true },
        ParameterType::Number { min: None, max: Some("-0.5".to_owned()) },
        ParameterType::List { item: Box::new(options(&["x"])), min_items: Some(3), max_items: Some(3) },
        ParameterType::Url { schemes: vec!["wss".to_owned()] },
    ];
    for kind in all().into_iter().map(|edges| edges.kind).chain(narrow) {
        let what = format!("{kind:?}");
        let catalog = catalog(in_body(vec![required("v", kind)]));
        let text = super::explanation(&catalog, "{}");
        match text.split_once("; example: ") {
            Some((_, example)) => {
                assert!(call(&catalog, &format!(r#"{{"v":{example}}}"#)).is_ok(), "{what}: {example}");
            }
            None => assert!(what.contains("pattern: Some"), "{what}: {text}"),
        }
    }
}

/// What no usual value fits has no example of ours, unless its default shows one.
#[test]
fn a_default_is_an_example_where_only_the_pattern_can_tell() {
    let kind = || string(Some("[0-9]{4}-[0-9]{2}"));
    let alone = catalog(in_body(vec![required("v", kind())]));
    assert!(!super::explanation(&alone, r#"{"v":"x"}"#).contains("example"));
    let defaulted = catalog(in_body(vec![super::with_default("v", kind(), "2024-01".into())]));
    assert!(super::explanation(&defaulted, r#"{"v":"x"}"#).ends_with(r#"; example: "2024-01""#));
}
