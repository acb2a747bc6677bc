//! Open tools: the reach that an operator declares, and everything an agent tries beyond it.
//!
//! Belongs here: paths, queries and bodies that an agent chooses.
//! Does not belong here: patterns as such, which `open` tests itself.

use std::sync::Arc;

use framegate_wire::Reason;
use serde_json::{Value, json};

use super::{
    BodyDeclaration, Catalog, ParameterType, action, bare, catalog, compile_faults, explanation, optional,
    options, reason, required, word,
};

/// As a configuration declares one.
fn open_tool(methods: &[&str], paths: &[&str]) -> super::ToolDeclaration {
    let patterns = paths.iter().map(|path| (*path).to_owned()).collect();
    let mut tool = bare(vec![
        required("method", options(methods)),
        required("path", ParameterType::RequestPath { patterns }),
        optional("query", ParameterType::Query),
        optional("body", ParameterType::Json),
    ]);
    tool.http.method = "{method}".to_owned();
    tool.http.path = "{path}".to_owned();
    tool.http.open_query = Some("query".to_owned());
    tool.http.body = Some(BodyDeclaration::Json(json!("{body}")));
    tool.http.reserved_names = vec!["x-api-key".to_owned()];
    tool
}

fn items() -> Arc<Catalog> {
    catalog(open_tool(&["GET", "HEAD", "POST"], &["/items", "/items/{id}/**", "/"]))
}

fn get(path: &str) -> String {
    json!({"method": "GET", "path": path}).to_string()
}

#[test]
fn a_request_within_the_reach_is_what_was_asked_for() {
    let tool = items();
    let made = action(
        &tool,
        r#"{"method":"POST","path":"/items/a b/\u00e9","query":{"page":2,"all":true,"tag":["x","&y=1"],"q":"a b"},
            "body":{"n":[1,2.5,null,"\u2028"],"deep":{"a":-7}}}"#,
    );
    assert_eq!(made.segments(), ["items", "a b", "\u{e9}"]);
    assert_eq!(made.path_and_query(), "/items/a%20b/%C3%A9?page=2&all=true&tag=x&tag=%26y%3D1&q=a%20b");
    assert_eq!(made.json_body(), Some(&json!({"n": [1, 2.5, null, "\u{2028}"], "deep": {"a": -7}})));
    assert_eq!(made.content_type(), Some("application/json"));
    let root = action(&tool, &get("/"));
    assert_eq!((root.path_and_query().as_str(), root.body_bytes()), ("/", None));
}

/// Nothing that an agent writes into a path, a query or a method leaves the declared reach or the pinned origin.
#[test]
fn what_leaves_the_reach_is_refused() {
    let tool = items();
    for path in ["/admin", "/item", "/itemsx", "/items/", "/users/1"] {
        let expected = if path == "/items/" { Reason::ArgumentCharacter } else { Reason::ArgumentPattern };
        assert_eq!(reason(&tool, &get(path)), expected, "{path}");
    }
    for path in [
        "items",
        "//evil.test",
        "//evil.test/items",
        "/\\evil.test",
        "\\\\evil.test",
        "https://evil.test/items",
        "/items/..",
        "/items/../admin",
        "/items/%2e%2e/admin",
        "/items/%2fadmin",
        "/items/..;/admin",
        "/items/.",
        "/items//x",
        "/items/a?b=1",
        "/items/a#b",
        "/items/a;v=1",
        "/items/a\\..\\b",
        "/items/\0",
        "/items/a\r\nHost: b",
        "/items/\u{ff0e}\u{ff0e}/admin",
        "/items/\u{2025}/admin",
        "/items/a\u{200b}b",
        "@evil.test/",
        "/items/a/",
    ] {
        assert_eq!(reason(&tool, &get(path)), Reason::ArgumentCharacter, "{path}");
    }
    for path in [String::new(), format!("/items/{}", "a".repeat(2_048))] {
        assert_eq!(reason(&tool, &get(&path)), Reason::ArgumentBounds);
    }
    for method in ["PUT", "get", "CONNECT", "GET ", ""] {
        let call = json!({"method": method, "path": "/items"}).to_string();
        assert_eq!(reason(&tool, &call), Reason::ArgumentEnum, "{method}");
    }
}

#[test]
fn queries_are_flat_and_never_the_credentials() {
    let tool = items();
    let refused =
        |query: Value| reason(&tool, &json!({"method": "GET", "path": "/items", "query": query}).to_string());
    for query in
        [json!([]), json!("a=b"), json!({"a": null}), json!({"a": {}}), json!({"a": [[]]}), json!({"a": 1.5})]
    {
        assert_eq!(refused(query.clone()), Reason::ArgumentType, "{query}");
    }
    let many: serde_json::Map<_, _> = (0..101).map(|index| (index.to_string(), json!(1))).collect();
    for query in [
        json!({"": 1}),
        json!({"n".repeat(129): 1}),
        json!({"a": "x".repeat(4_097)}),
        many.into(),
        json!({"a": u64::MAX}),
    ] {
        assert_eq!(refused(query.clone()), Reason::ArgumentBounds, "{query}");
    }
    for query in [json!({"a\n": 1}), json!({"a": "b\r\nc"}), json!({"a": "\u{202e}"}), json!({"a": ["\0"]})] {
        assert_eq!(refused(query.clone()), Reason::ArgumentCharacter, "{query}");
    }
    for name in ["x-api-key", "X_API_KEY", "x.api.key", "x api-key"] {
        assert_eq!(refused(json!({"a": 1, name: "mine"})), Reason::RenderShape, "{name}");
    }
}

#[test]
fn a_body_goes_only_where_one_is_carried_and_keeps_its_numbers() {
    let tool = items();
    let with_body =
        |method: &str, body: &str| format!(r#"{{"method":"{method}","path":"/items","body":{body}}}"#);
    for method in ["GET", "HEAD"] {
        assert_eq!(reason(&tool, &with_body(method, "null")), Reason::RenderShape, "{method}");
    }
    let told = explanation(&tool, &with_body("GET", "{}"));
    assert!(told.contains("a GET request carries no body; leave the body out"), "{told}");
    for number in ["12345678901234567", "-9223372036854775808", "123456789.012345", "1e300"] {
        let sent = action(&tool, &with_body("POST", number)).body_bytes().unwrap().to_vec();
        let sent: f64 = String::from_utf8(sent).unwrap().parse().unwrap();
        assert_eq!(sent, number.parse::<f64>().unwrap());
    }
    for number in ["18446744073709551615", "0.1234567890123456", "[1,{\"a\":1234567890123456.5}]"] {
        assert_eq!(reason(&tool, &with_body("POST", number)), Reason::ArgumentBounds, "{number}");
    }
}

#[test]
fn open_parameters_stand_nowhere_else() {
    let mut tool = open_tool(&["GET"], &["/**"]);
    tool.http.body = None;
    for place in ["/x/{path}", "/{query}", "/{body}"] {
        let mut tool = tool.clone();
        tool.http.path = place.to_owned();
        assert!(compile_faults(tool).iter().any(|fault| fault.place == ["path"]), "{place}");
    }
    for value in ["{path}", "{query}", "{body}", "a{body}"] {
        let mut tool = tool.clone();
        tool.http.query.push(("q".to_owned(), value.to_owned()));
        let found = compile_faults(tool);
        let stands = found
            .iter()
            .any(|fault| fault.problem.ends_with("is an open parameter, which cannot stand here"));
        assert!(stands, "{value}: {found:?}");
    }
    let mut other = bare(vec![required("w", word())]);
    other.http.open_query = Some("w".to_owned());
    assert!(compile_faults(other).iter().any(|fault| fault.problem == "`w` is no query parameter"));
    let mut optional_path = open_tool(&["GET"], &["/**"]);
    optional_path.parameters[1].required = false;
    assert!(compile_faults(optional_path).iter().any(|fault| fault.place == ["path"]));
}
