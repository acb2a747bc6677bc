//! From typed arguments to the request, and nothing else: attacks on the template's shape.
//!
//! Belongs here: paths, queries, headers and bodies under hostile values; the one spelling of each.
//! Does not belong here: which values a type accepts.

use std::sync::Arc;

use framegate_wire::Reason;
use framegate_wire::Reason::RenderShape;
use proptest::prelude::{Strategy, any, prop, prop_assert_eq, proptest};
use proptest::test_runner::Config;
use serde_json::{Value, json};
use unicode_normalization::UnicodeNormalization;

use super::{
    BodyDeclaration, Catalog, ParameterType, action, bare, call, catalog, explanation, in_body, int, list,
    optional, options, path, reason, required, string, text, with_default, word,
};
use crate::action::{Action, HttpAction};
use crate::schema::render::render;

/// Values that some server reads as other segments than were meant (attack B1).
const HOSTILE: [&str; 44] = [
    "",
    ".",
    "..",
    "...",
    "%2e",
    "%2e%2e",
    "%252e%252e",
    "%2f",
    "a%2fb",
    "a%5cb",
    "%00",
    "..;",
    "..;/x",
    ";x=1",
    "a;b",
    "a/b",
    "/",
    "/evil",
    "//evil.test",
    "a//b",
    "../x",
    "x/..",
    "x/../..",
    "\\",
    "a\\b",
    "\\\\evil",
    "/\\evil",
    "..\\..",
    "a?b=1",
    "a#b",
    "a\0",
    "a\u{0}/../b",
    "a.",
    "a ",
    " a",
    "．．",
    "\u{2025}",
    "a／b",
    "a＼b",
    "％2e％2e",
    "a\u{2215}b",
    "a\n",
    "a\r\nHost: evil",
    "\u{202e}a",
];

/// One tool a kind of path parameter: `/fixed/{v}/end`.
fn paths() -> Vec<(&'static str, Arc<Catalog>)> {
    let tool = |kind: ParameterType, path: &str| {
        let mut tool = bare(vec![required("v", kind)]);
        tool.http.path = path.to_owned();
        catalog(tool)
    };
    vec![
        ("word", tool(word(), "/fixed/{v}/end")),
        ("word in text", tool(word(), "/fixed/pre-{v}.json/end")),
        ("string with a wide pattern", tool(string(Some(".*")), "/fixed/{v}/end")),
        ("path", tool(path(), "/fixed/{v}/end")),
        ("host", tool(ParameterType::Host, "/fixed/{v}/end")),
    ]
}

/// How servers read a path before they route it: decoded once or twice, matrix parameters cut, backslashes and
/// compatibility characters turned, dot segments removed.
fn readings(path: &str) -> Vec<Vec<String>> {
    let decode = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.as_bytes();
        while let [first, tail @ ..] = rest {
            let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                Some(byte) if *first == b'%' => {
                    bytes.push(byte);
                    rest = &tail[2..];
                }
                _ => {
                    bytes.push(*first);
                    rest = tail;
                }
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    let segments = |text: &str| {
        let mut segments: Vec<String> = Vec::new();
        for segment in text.trim_start_matches('/').split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()),
                _ => segments.push(segment.to_owned()),
            }
        }
        segments
    };
    let once = decode(path);
    let twice = decode(&once);
    let folded: String = once.nfkc().collect();
    let folded = folded.replace(['\\', '\u{2215}', '\u{2044}'], "/");
    let cut: Vec<_> = once.split('/').map(|segment| segment.split(';').next().unwrap()).collect();
    let trimmed: Vec<_> = once.split('/').map(|segment| segment.trim_end_matches(['.', ' '])).collect();
    let ended = once.split(['?', '#', '\0']).next().unwrap();
    [&*once, &twice, &folded, &cut.join("/"), &trimmed.join("/"), ended].map(segments).to_vec()
}

#[test]
fn no_value_leaves_the_shape_of_a_path() {
    let (mut refused, mut rendered) = (0, 0);
    let benign = ["a", "a.b", "a b", "é", "@me", "a:b", "a=b&c", "a+b", "~x", "a..b", "...a"];
    for (kind, tool) in paths() {
        for value in HOSTILE.into_iter().chain(benign) {
            let arguments = json!({"v": value}).to_string();
            let Ok(checked) = call(&tool, &arguments) else {
                refused += 1;
                continue;
            };
            let Action::Http(action) = checked.call().action();
            let path = action.path();
            let what = format!("{kind} {value:?}: {path}");
            assert_eq!(action.origin().to_string(), "https://t.test", "{what}");
            assert!(path.starts_with("/fixed/") && path.ends_with("/end") && !path.contains("//"), "{what}");
            for reading in readings(&path) {
                assert_eq!(reading.first().unwrap(), "fixed", "{what}");
                assert_eq!(reading.last().unwrap(), "end", "{what}");
                let inner = &reading[1..reading.len() - 1];
                let expected = if kind == "path" { value.split('/').count() } else { 1 };
                assert_eq!(inner.len(), expected, "{what}");
                let meant =
                    if kind == "word in text" { format!("pre-{value}.json") } else { value.to_owned() };
                assert_eq!(inner.join("/"), meant, "{what}");
            }
            rendered += 1;
        }
        // Hostile values are refused without exception where they would leave the shape.
        for value in [
            "",
            ".",
            "..",
            "%2e%2e",
            "..;",
            "a\\b",
            "a?b",
            "a#b",
            "a\0",
            "．．",
            "/evil",
            "//evil.test",
            "a／b",
        ] {
            assert!(call(&tool, &json!({"v": value}).to_string()).is_err(), "{kind} {value:?}");
        }
    }
    assert!(refused > 180 && rendered > 15, "{refused} {rendered}");
}

#[test]
fn what_only_the_rendered_segment_shows_is_refused_by_name() {
    let [_, _, (_, wide), ..] = &paths()[..] else { panic!() };
    for value in ["..", "a/b", "a%2e", "a;b", ""] {
        assert_eq!(reason(wide, &json!({"v": value}).to_string()), RenderShape, "{value:?}");
    }
    let text = explanation(wide, r#"{"v":"../CANARY"}"#);
    assert!(
        text.contains("argument `v`") && text.contains("example: ") && !text.contains("CANARY"),
        "{text}"
    );
    // A word may end in a dot, a segment may not.
    let [(_, plain), (_, inner), ..] = &paths()[..] else { panic!() };
    assert_eq!(reason(plain, r#"{"v":"a."}"#), RenderShape);
    assert_eq!(action(inner, r#"{"v":"a."}"#).path(), "/fixed/pre-a..json/end");
}

/// Attack B2: no composition of values within one segment, and literals never complete a dot segment.
#[test]
fn literals_and_values_compose_no_dot_segment() {
    let mut tool = bare(vec![required("v", word())]);
    tool.http.path = "/a/.{v}".to_owned();
    let tool = catalog(tool);
    assert_eq!(action(&tool, r#"{"v":"x"}"#).segments(), ["a", ".x"]);
    assert_eq!(reason(&tool, r#"{"v":"."}"#), Reason::ArgumentCharacter);
    let mut chosen = bare(vec![required("v", options(&["x", "a."]))]);
    chosen.http.path = "/{v}".to_owned();
    assert_eq!(super::compile_faults(chosen)[0].place, ["path"]);
}

#[test]
fn segments_are_percent_encoded_once_and_only_unreserved_stays() {
    let mut tool = bare(vec![required("v", string(Some(".*"))), required("p", path()), required("n", int())]);
    tool.http.path = "/a b/{v}/{n}/{p}/".to_owned();
    let tool = catalog(tool);
    let rendered = |v: &str, p: &str| action(&tool, &json!({"v": v, "p": p, "n": -5}).to_string());
    let action = rendered("a@b:c=d&e+f!$'()*,\"<>[]^`{|}~-._", "x/y z/é");
    assert_eq!(
        action.path(),
        "/a%20b/a%40b%3Ac%3Dd%26e%2Bf%21%24%27%28%29%2A%2C%22%3C%3E%5B%5D%5E%60%7B%7C%7D~-._/-5/x/y%20z/%C3%A9/"
    );
    assert_eq!(action.segments().last().unwrap(), "");
    assert_eq!(catalog_path("/"), "/");
    assert_eq!(catalog_path("/a/"), "/a/");
    assert_eq!(catalog_path("/{{x}}"), "/%7Bx%7D");
}

fn catalog_path(template: &str) -> String {
    let mut tool = bare(Vec::new());
    tool.http.path = template.to_owned();
    action(&catalog(tool), "{}").path()
}

fn queried() -> Arc<Catalog> {
    let mut tool = bare(vec![
        required("q", text()),
        optional("o", word()),
        optional("l", list(word())),
        with_default("n", int(), json!(1)),
    ]);
    tool.http.query = [("q", "{q}"), ("o", "{o}"), ("l[]", "{l}"), ("n", "p{n}"), ("fixed", "a&b")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    catalog(tool)
}

#[test]
fn queries_keep_their_names_and_their_number() {
    let tool = queried();
    let query = |arguments: Value| action(&tool, &arguments.to_string()).path_and_query();
    assert_eq!(query(json!({"q": ""})), "/?q=&n=p1&fixed=a%26b");
    assert_eq!(query(json!({"q": "a&o=b#c", "o": "x"})), "/?q=a%26o%3Db%23c&o=x&n=p1&fixed=a%26b");
    assert_eq!(query(json!({"q": "a b+c%20\n", "l": []})), "/?q=a%20b%2Bc%2520%0A&n=p1&fixed=a%26b");
    assert_eq!(query(json!({"q": "é", "l": ["x", "y"]})), "/?q=%C3%A9&l%5B%5D=x&l%5B%5D=y&n=p1&fixed=a%26b");
}

#[test]
fn header_values_are_one_line_of_visible_ascii() {
    let mut tool = bare(vec![optional("v", text())]);
    tool.http.headers = vec![("x-note".to_owned(), "{v}".to_owned())];
    let tool = catalog(tool);
    let rendered = |value: &str| call(&tool, &json!({"v": value}).to_string());
    for value in ["", "a", "a b", "\"{}\\", "~"] {
        assert!(rendered(value).is_ok(), "{value:?}");
    }
    for value in [" ", "a ", " a", "a\nX-Evil: 1", "a\tb", "é", "\u{2028}", "a\u{130}"] {
        let refused = rendered(value).map(|_| ()).unwrap_err();
        assert_eq!(refused.refusal().reason(), RenderShape, "{value:?}");
        assert!(refused.explanation().contains("header `x-note`"));
    }
    assert_eq!(action(&tool, "{}").headers(), []);
}

/// Attack B4: values are nodes of the tree, never text that is parsed again.
#[test]
fn bodies_are_trees() {
    let mut tool = bare(vec![required("t", text()), optional("o", text()), required("l", list(text()))]);
    tool.http.body = Some(BodyDeclaration::Json(json!({
        "whole": "{t}", "inside": "<{t}>", "absent": "{o}", "list": "{l}", "braces": "{{t}}",
        "nested": [{"a": "{t}"}, "{o}", 1.5, null, true, "{{{t}}}"], "{t}": "name",
    })));
    let tool = catalog(tool);
    for value in [
        "",
        "\"",
        "\\",
        "\\\"",
        "\",\"admin\":true,\"x\":\"",
        "\u{2028}\u{2029}",
        "🙂",
        "\u{fffd}",
        "{o}",
        "{t}",
        "}}",
        "null",
        "1",
        "[1]",
        "{\"$ref\":1}",
        "a\nb\tc",
        "</script>",
    ] {
        let action = action(&tool, &json!({"t": value, "l": [value, "x"]}).to_string());
        let expected = json!({
            "whole": value, "inside": format!("<{value}>"), "list": [value, "x"], "braces": "{t}",
            "nested": [{"a": value}, 1.5, null, true, format!("{{{value}}}")], "{t}": "name",
        });
        assert_eq!(action.json_body().unwrap(), &expected, "{value:?}");
        let sent: Value = serde_json::from_slice(action.body_bytes().unwrap()).unwrap();
        assert_eq!(sent, expected, "{value:?}");
    }
    // An escaped surrogate pair is the character that it spells.
    let escaped = action(&tool, r#"{"t":"\ud83d\ude42","l":[]}"#);
    assert_eq!(escaped, action(&tool, r#"{"t":"🙂","l":[]}"#));
}

#[test]
fn a_body_that_is_one_optional_parameter_is_left_out_with_it() {
    let mut tool = bare(vec![optional("o", word())]);
    tool.http.body = Some(BodyDeclaration::Json(json!("{o}")));
    let tool = catalog(tool);
    assert_eq!(action(&tool, "{}").body_bytes(), None);
    assert_eq!(action(&tool, r#"{"o":"x"}"#).body_bytes(), Some(br#""x""#.as_slice()));
}

/// Every type, in path, query, header and body.
fn everything() -> Arc<Catalog> {
    let mut tool = in_body(vec![
        required("w", word()),
        required("i", ParameterType::Int { min: None, max: None, string_form: true }),
        required("n", ParameterType::Number { min: None, max: None }),
        required("t", text()),
        optional("l", list(ParameterType::Number { min: None, max: None })),
        with_default("b", ParameterType::Bool, json!(false)),
    ]);
    tool.http.path = "/{w}/{i}".to_owned();
    tool.http.query = vec![("n".to_owned(), "{n}".to_owned()), ("l".to_owned(), "{l}".to_owned())];
    tool.http.headers = vec![("x-b".to_owned(), "{b}".to_owned())];
    catalog(tool)
}

/// A string in some JSON spelling: some of its characters escaped.
fn spelled(text: &str, escape: u32) -> String {
    let mut spelled = String::from("\"");
    for (index, character) in text.chars().enumerate() {
        if escape.rotate_right(u32::try_from(index).unwrap()) & 1 == 1
            || !matches!(character, ' '..='~')
            || "\"\\".contains(character)
        {
            for unit in character.encode_utf16(&mut [0; 2]) {
                spelled.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            spelled.push(character);
        }
    }
    spelled.push('"');
    spelled
}

fn http(catalog: &Arc<Catalog>, arguments: &str) -> HttpAction {
    let checked = call(catalog, arguments).unwrap();
    // The action is a function of the typed arguments: rendering them again gives the same.
    let tool = catalog.get("tool").unwrap();
    assert_eq!(&render(&tool.template, checked.call().arguments()).unwrap(), checked.call().action());
    match checked.call().action() {
        Action::Http(action) => action.clone(),
    }
}

/// Attack A4: what is sent depends on what policy saw, not on how the agent spelled it; and other arguments
/// make another request.
#[test]
fn the_request_is_a_function_of_the_typed_arguments() {
    let tool = everything();
    let arguments = (
        prop::string::string_regex("[A-Za-z0-9_][A-Za-z0-9_~-]{0,8}").unwrap(),
        any::<i64>(),
        -9_999_999_i64..9_999_999,
        any::<String>()
            .prop_map(|text| text.chars().filter(|character| !character.is_control()).collect::<String>()),
        any::<Option<bool>>(),
        any::<u32>(),
    );
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    proptest!(config, |((w, i, n, t, b, escape) in arguments)| {
        let t: String = t.chars().filter(|character| u32::from(*character) & 0xFFFE != 0xFFFE && !('\u{fdd0}'..='\u{fdef}').contains(character)).collect();
        let number = format!("{}{}.{:04}", if n < 0 { "-" } else { "" }, n.abs() / 10_000, n.abs() % 10_000);
        let flag = b.map(|b| format!(r#","b":{b}"#)).unwrap_or_default();
        let plain = format!(
            r#"{{"w":{},"i":{i},"n":{number},"l":[{number}],"t":{}{flag}}}"#, json!(w), json!(t)
        );
        // Other order, escapes, exponents, trailing zeros, the string form, the default written out.
        let other = format!(
            r#"{{ "t":{}, "l":[{n}e-4],"b":{},"\u006e":{number}0,"i":"{i}","w":{} }}"#,
            spelled(&t, escape), b.unwrap_or(false), spelled(&w, escape)
        );
        let action = http(&tool, &plain);
        prop_assert_eq!(&action, &http(&tool, &other));
        let body: Value = serde_json::from_slice(action.body_bytes().unwrap()).unwrap();
        prop_assert_eq!(&body, action.json_body().unwrap());
        prop_assert_eq!(body["t"].as_str().unwrap(), t);
        prop_assert_eq!(body["i"].as_i64().unwrap(), i);
        // The number is the same in the body and in the query, digit for digit.
        prop_assert_eq!(&body["n"].to_string(), &action.query()[0].1);
        let changed = http(&tool, &plain.replacen(&format!(r#""i":{i}"#), &format!(r#""i":{}"#, i.wrapping_add(1)), 1));
        assert_ne!(action, changed);
    });
}
