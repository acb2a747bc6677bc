//! What can be wrong with a declaration: each fault at its place, in its words.
//!
//! Belongs here: one wrong declaration a row.
//! Does not belong here: how a configuration file shows the fault.

use serde_json::{Value, json};

use super::{
    BodyDeclaration, Catalog, ParameterDeclaration, ParameterType, ToolDeclaration, bare, compile_faults,
    in_body, int, list, optional, options, path, required, string, text, with_default, word,
};

/// One parameter `v` that is used in the body; the fault must be the only one.
fn parameter_fault(parameter: ParameterDeclaration) -> (String, String) {
    only_fault(in_body(vec![parameter]))
}

fn only_fault(tool: ToolDeclaration) -> (String, String) {
    let what = format!("{tool:?}");
    let mut found = compile_faults(tool);
    assert_eq!(found.len(), 1, "{found:?} {what}");
    let fault = found.remove(0);
    assert!(!fault.problem.contains('\n') && fault.problem == fault.to_string());
    (fault.place.join("."), fault.problem)
}

fn at_most(max_length: usize) -> Option<usize> {
    Some(max_length)
}

#[test]
fn bounds_of_types() {
    let bounded = |min_length, max_length| ParameterType::String { min_length, max_length, pattern: None };
    let number = |min: Option<&str>, max: Option<&str>| ParameterType::Number {
        min: min.map(str::to_owned),
        max: max.map(str::to_owned),
    };
    let roots = |roots: &[&str]| ParameterType::AbsPath {
        roots: roots.iter().map(|root| (*root).to_owned()).collect(),
        max_length: None,
    };
    let schemes = |schemes: &[&str]| ParameterType::Url {
        schemes: schemes.iter().map(|text| (*text).to_owned()).collect(),
    };
    let items = |min_items, max_items| ParameterType::List { item: Box::new(word()), min_items, max_items };
    let patterned = |pattern: &str| string(Some(pattern));
    const DECIMAL: &str = "needs at most four fraction digits and fifteen digits in all";
    const ROOTS: &str = "`roots` needs at least one absolute path of plain segments";
    const SCHEMES: &str = "`schemes` needs at least one lower-case scheme";
    const FOREIGN: &str = "the pattern uses syntax that JSON Schema reads differently";
    const UNSOUND: &str = "the pattern is no regular expression, or compiles to more than 256 KiB";
    let long = "a".repeat(257);
    for (kind, key, problem) in [
        (bounded(Some(3), at_most(2)), "min_length", "`min_length` is above `max_length`"),
        (bounded(Some(1_025), None), "min_length", "`min_length` is above `max_length`"),
        (bounded(None, at_most(0)), "max_length", "`max_length` must be from 1 to 4096"),
        (bounded(None, at_most(4_097)), "max_length", "`max_length` must be from 1 to 4096"),
        (
            ParameterType::Word { max_length: at_most(129), pattern: None },
            "max_length",
            "`max_length` must be from 1 to 128",
        ),
        (
            ParameterType::Path { max_length: at_most(1_025) },
            "max_length",
            "`max_length` must be from 1 to 1024",
        ),
        (
            ParameterType::AbsPath { roots: vec!["/a".to_owned()], max_length: at_most(0) },
            "max_length",
            "`max_length` must be from 1 to 1024",
        ),
        (
            ParameterType::Text { max_length: at_most(1_048_577) },
            "max_length",
            "`max_length` must be from 1 to 1048576",
        ),
        (
            ParameterType::Int { min: Some(2), max: Some(1), string_form: false },
            "min",
            "`min` is above `max`",
        ),
        (number(Some("2"), Some("1.9999")), "min", "`min` is above `max`"),
        (number(Some("0.00001"), None), "min", &format!("`min` {DECIMAL}")),
        (number(None, Some("100000000000")), "max", &format!("`max` {DECIMAL}")),
        (number(None, Some("ten")), "max", &format!("`max` {DECIMAL}")),
        (options(&[]), "values", "`values` needs at least one value"),
        (options(&["a", "b", "a"]), "values", "`a` is listed twice"),
        (options(&["pro\u{200b}d"]), "values", "`pro\\u{200b}d` cannot be a value"),
        (options(&[&long]), "values", &format!("`{long}` cannot be a value")),
        (roots(&[]), "roots", ROOTS),
        (roots(&["var/log"]), "roots", ROOTS),
        (roots(&["/"]), "roots", ROOTS),
        (roots(&["/ok", "/var/../etc"]), "roots", ROOTS),
        (roots(&["/var//log"]), "roots", ROOTS),
        (schemes(&[]), "schemes", SCHEMES),
        (schemes(&["https", "HTTP"]), "schemes", SCHEMES),
        (schemes(&["https:"]), "schemes", SCHEMES),
        (schemes(&[""]), "schemes", SCHEMES),
        (patterned(r"\d+"), "pattern", FOREIGN),
        (patterned("a)|(b"), "pattern", UNSOUND),
        (patterned(&"a".repeat(1_025)), "pattern", "the pattern is longer than 1,024 bytes"),
        (ParameterType::Word { max_length: None, pattern: Some("(?i)a".to_owned()) }, "pattern", FOREIGN),
        (items(None, Some(0)), "max_items", "`max_items` must be from 1 to 1000"),
        (items(None, Some(1_001)), "max_items", "`max_items` must be from 1 to 1000"),
        (items(Some(5), Some(4)), "min_items", "`min_items` is above `max_items`"),
        (list(list(word())), "items", "a list of lists cannot be declared"),
        (list(patterned("(")), "items.pattern", UNSOUND),
        (list(options(&[])), "items.values", "`values` needs at least one value"),
        (list(bounded(None, at_most(0))), "items.max_length", "`max_length` must be from 1 to 4096"),
    ] {
        let found = parameter_fault(required("v", kind));
        assert_eq!(found, (format!("params.v.{key}"), problem.to_owned()));
    }
}

#[test]
fn names_and_defaults_of_parameters() {
    let long = "a".repeat(65);
    for name in ["", "1a", "_a", "__proto__", "a-b", "a b", "é", "a.b", &long] {
        let mut tool = bare(vec![required(name, word())]);
        tool.http.body = Some(BodyDeclaration::Json(json!({})));
        let (place, problem) = only_fault(tool);
        assert_eq!(place, format!("params.{name}"));
        assert_eq!(problem, format!("`{}` is no parameter name", name.escape_default()));
    }
    let both = ParameterDeclaration { required: true, ..with_default("v", word(), json!("a")) };
    let expected =
        ("params.v.default".to_owned(), "a required parameter has no use for a default".to_owned());
    assert_eq!(parameter_fault(both), expected);
    for (kind, default, reason) in [
        (word(), json!(".."), "argument-character"),
        (word(), Value::Null, "argument-type"),
        (int(), json!("1"), "argument-type"),
        (int(), json!(1.0), "argument-type"),
        (options(&["a"]), json!("b"), "argument-enum"),
        (list(word()), json!(["a", 1]), "argument-type"),
        (string(Some("[a-z]")), json!("A"), "argument-pattern"),
    ] {
        let (place, problem) = parameter_fault(with_default("v", kind, default));
        assert_eq!(place, "params.v.default");
        assert!(
            problem.starts_with(&format!("the default does not fit its own type ({reason}): expected ")),
            "{problem}"
        );
    }
    let (place, problem) = only_fault(in_body(vec![required("v", word()), required("v", word())]));
    assert_eq!((&*place, &*problem), ("params.v", "the parameter is declared twice"));
}

#[test]
fn the_tool_itself() {
    let long = "a".repeat(41);
    for name in ["", "Tool", "a-b", "a.b", "a b", "é", &long] {
        let mut tool = bare(Vec::new());
        tool.name = name.to_owned();
        assert_eq!(only_fault(tool), (String::new(), format!("`{}` is no tool name", name.escape_default())));
    }
    let mut tool = in_body(vec![required("v", word())]);
    tool.ignore_arguments = vec!["x".to_owned(), "v".to_owned()];
    assert_eq!(only_fault(tool), ("ignore_arguments".to_owned(), "`v` is a declared parameter".to_owned()));
}

/// A request with the parameters word `w`, list `l`, optional `o`, text `t` and enum `m` of methods, each used
/// in the body, and one thing changed.
fn request(change: impl FnOnce(&mut ToolDeclaration)) -> ToolDeclaration {
    let mut tool = in_body(vec![
        required("w", word()),
        required("l", list(word())),
        optional("o", word()),
        required("t", text()),
        required("p", path()),
        required("m", options(&["POST", "PUT"])),
        required("e", options(&["a/b"])),
        required("s", string(None)),
    ]);
    change(&mut tool);
    tool
}

#[test]
fn methods() {
    for (method, problem) in [
        ("post", "`post` is no method that can be declared"),
        ("TRACE", "`TRACE` is no method that can be declared"),
        ("CONNECT", "`CONNECT` is no method that can be declared"),
        ("", "`` is no method that can be declared"),
        ("P{w}", "`P{w}` is no method that can be declared"),
        ("{w}", "`w` must be a required enum whose values are all methods"),
        ("{e}", "`e` must be a required enum whose values are all methods"),
        ("{o}", "`o` must be a required enum whose values are all methods"),
        ("{x}", "`{x}` is no parameter of this tool"),
        ("{m", "a placeholder is `{name}`; a literal brace is written `{{`"),
    ] {
        let found = only_fault(request(|tool| tool.http.method = method.to_owned()));
        assert_eq!(found, ("method".to_owned(), problem.to_owned()));
    }
    assert!(Catalog::compile(vec![request(|tool| tool.http.method = "{m}".to_owned())]).is_ok());
    let optional_method = |default| {
        let mut tool = in_body(vec![ParameterDeclaration { default, ..optional("m", options(&["POST"])) }]);
        tool.http.method = "{m}".to_owned();
        tool
    };
    assert!(Catalog::compile(vec![optional_method(Some(json!("POST")))]).is_ok());
    assert_eq!(only_fault(optional_method(None)).0, "method");
}

#[test]
fn a_body_needs_a_method_that_carries_one() {
    for method in ["GET", "HEAD"] {
        let expected = ("body".to_owned(), format!("a {method} request carries no body"));
        assert_eq!(only_fault(request(|tool| tool.http.method = method.to_owned())), expected);
        let mut chosen = in_body(vec![required("m", options(&["POST", method]))]);
        chosen.http.method = "{m}".to_owned();
        assert_eq!(only_fault(chosen), expected);
    }
}

#[test]
fn paths() {
    const SHAPE: &str = "has a type that cannot stand in this path segment";
    for (path, problem) in [
        ("", "the path must begin with `/`"),
        ("a", "the path must begin with `/`"),
        ("https://x.test/", "the path must begin with `/`"),
        ("//evil.test", "the path has an empty segment"),
        ("/a//b", "the path has an empty segment"),
        ("/a/../b", "`..` cannot be a path segment"),
        ("/.", "`.` cannot be a path segment"),
        ("/a%2fb", "`a%2fb` cannot be a path segment"),
        ("/a;b", "`a;b` cannot be a path segment"),
        ("/a?b=1", "`a?b=1` cannot be a path segment"),
        ("/a#b", "`a#b` cannot be a path segment"),
        ("/\\evil", "`\\\\evil` cannot be a path segment"),
        ("/a\u{ff0f}b", "`a\\u{ff0f}b` cannot be a path segment"),
        ("/a\n", "`a\\n` cannot be a path segment"),
        ("/{w}{m}", "a path segment holds one parameter at most"),
        ("/{w}-{w}", "a path segment holds one parameter at most"),
        ("/{x}", "`{x}` is no parameter of this tool"),
        ("/{w", "a placeholder is `{name}`; a literal brace is written `{{`"),
        ("/w}", "a `}` without its `{`; a literal brace is written `}}`"),
        ("/{a/b}", "a placeholder is `{name}`; a literal brace is written `{{`"),
        ("/{t}", &format!("`t` {SHAPE}")),
        ("/{l}", &format!("`l` {SHAPE}")),
        ("/{s}", &format!("`s` {SHAPE}")),
        ("/{e}", &format!("`e` {SHAPE}")),
        ("/x{p}", &format!("`p` {SHAPE}")),
        ("/{o}", "`o` is optional, and a path needs it"),
    ] {
        let found = compile_faults(request(|tool| tool.http.path = path.to_owned()));
        assert!(found.iter().all(|fault| fault.place == ["path"]), "{path}: {found:?}");
        assert_eq!(found[0].problem, problem, "{path}");
    }
}

#[test]
fn queries_headers_and_bodies() {
    let query = |name: &str, value: &str| {
        let pair = (name.to_owned(), value.to_owned());
        request(move |tool| tool.http.query.push(pair))
    };
    let header = |name: &str, value: &str| {
        let pair = (name.to_owned(), value.to_owned());
        request(move |tool| tool.http.headers.push(pair))
    };
    let body = |node: Value| {
        request(move |tool| {
            let Some(BodyDeclaration::Json(tree)) = &mut tool.http.body else { panic!() };
            tree["deep"] = json!([0, {"x": node}]);
        })
    };
    let form = |value: &str| {
        let pair = ("f".to_owned(), value.to_owned());
        request(move |tool| {
            let Some(BodyDeclaration::Json(Value::Object(tree))) = tool.http.body.take() else { panic!() };
            let pairs = tree.into_iter().map(|(name, node)| (name, node.as_str().unwrap().to_owned()));
            tool.http.body = Some(BodyDeclaration::Form(pairs.chain([pair]).collect()));
        })
    };
    let raw = |base64: &str| {
        let mut tool =
            bare(vec![required("b", ParameterType::Base64 { max_length: None }), required("w", word())]);
        tool.http.query.push(("w".to_owned(), "{w}{b}".to_owned()));
        let content_type = "application/zip".to_owned();
        tool.http.body = Some(BodyDeclaration::Binary { content_type, base64: base64.to_owned() });
        tool
    };
    const BYTES: &str = "this is one base64 parameter and nothing else";
    const OPTIONAL: &str = "`o` is optional inside longer text";
    const LIST: &str = "`l` is a list and must stand alone in a query value or body node";
    const BRACE: &str = "a `}` without its `{`; a literal brace is written `}}`";
    for (tool, place, problem) in [
        (query("q", "{x}"), "query.q", "`{x}` is no parameter of this tool"),
        (query("q", "{o}!"), "query.q", OPTIONAL),
        (query("q", "{l}!"), "query.q", LIST),
        (query("q", "}"), "query.q", BRACE),
        (header("h", "{x}"), "headers.h", "`{x}` is no parameter of this tool"),
        (header("h", "a{o}"), "headers.h", OPTIONAL),
        (header("h", "{l}"), "headers.h", LIST),
        (header("h", "}"), "headers.h", BRACE),
        (body(json!("{x}")), "body.deep.1.x", "`{x}` is no parameter of this tool"),
        (form("{x}"), "form.f", "`{x}` is no parameter of this tool"),
        (form("{o}!"), "form.f", OPTIONAL),
        (form("{l}!"), "form.f", LIST),
        (form("}"), "form.f", BRACE),
        (raw("{x}"), "raw.base64", "`{x}` is no parameter of this tool"),
        (raw("{w}"), "raw.base64", BYTES),
        (raw("{b}{b}"), "raw.base64", BYTES),
        (raw("AAAA"), "raw.base64", BYTES),
        (body(json!(["a{o}"])), "body.deep.1.x.0", OPTIONAL),
        (body(json!("a{l}")), "body.deep.1.x", LIST),
        (body(json!({"y": "}"})), "body.deep.1.x.y", BRACE),
    ] {
        assert_eq!(only_fault(tool), (place.to_owned(), problem.to_owned()));
    }
    // An optional parameter and a list may stand alone; names are no templates.
    for tool in
        [query("q", "{o}"), query("q", "{l}"), header("h", "{o}"), body(json!("{l}")), query("{w}", "x")]
    {
        assert!(Catalog::compile(vec![tool]).is_ok());
    }
}

#[test]
fn a_name_that_some_server_reads_as_the_credentials_is_refused() {
    for name in ["X-Api-Key", "x-api-key", "x_api_key", "X.API.KEY", "x api key", "x+api+key"] {
        let reserve = |tool: &mut ToolDeclaration| tool.http.reserved_names = vec!["X-Api-Key".to_owned()];
        let pair = (name.to_owned(), "1".to_owned());
        let problem = format!("`{name}` carries the target's credential");
        let (header, query) = (pair.clone(), pair);
        let tool = request(|tool| {
            reserve(tool);
            tool.http.headers.push(header);
        });
        assert_eq!(only_fault(tool), (format!("headers.{name}"), problem.clone()));
        let tool = request(|tool| {
            reserve(tool);
            tool.http.query.push(query);
        });
        assert_eq!(only_fault(tool), (format!("query.{name}"), problem));
    }
}

#[test]
fn a_parameter_that_is_used_nowhere() {
    let mut tool = in_body(vec![required("v", word()), optional("w", word())]);
    tool.http.body = Some(BodyDeclaration::Json(json!({"v": "{v}", "w": "{{w}}"})));
    assert_eq!(only_fault(tool), ("params.w".to_owned(), "the parameter is used nowhere".to_owned()));
}

/// A template that cannot be read hides which parameters it uses: they are not reported as well.
#[test]
fn one_mistake_in_a_template_is_one_fault() {
    let tool = |change: &dyn Fn(&mut ToolDeclaration)| {
        let mut tool = bare(vec![required("v", word()), required("w", word())]);
        tool.http.path = "/{v}".to_owned();
        tool.http.query = vec![("w".to_owned(), "{w}".to_owned())];
        change(&mut tool);
        tool
    };
    assert_eq!(only_fault(tool(&|tool| tool.http.path = "/{v".to_owned())).0, "path");
    assert_eq!(only_fault(tool(&|tool| tool.http.path = "{v}".to_owned())).0, "path");
    assert_eq!(only_fault(tool(&|tool| tool.http.path = "/{v}{v}".to_owned())).0, "path");
    assert_eq!(only_fault(tool(&|tool| tool.http.query[0].1 = "{w".to_owned())).0, "query.w");
    assert_eq!(
        only_fault(tool(&|tool| tool.http.body = Some(BodyDeclaration::Json(json!(["{"]))))).0,
        "body.0"
    );
}

#[test]
fn twins_among_tools_and_every_fault_at_once() {
    let named = |name: &str| ToolDeclaration { name: name.to_owned(), ..bare(Vec::new()) };
    for twin in ["get_issue", "getissue", "get__issue", "_get_issue"] {
        let faults =
            Catalog::compile(vec![named("get_issue"), named("other"), named(twin)]).map(|_| ()).unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].0, 2);
        assert!(faults[0].1.problem.contains("are one name to clients"), "{faults:?}");
    }
    let mut wrong = named("Wrong");
    wrong.parameters = vec![required("1", word()), required("v", options(&[]))];
    let faults = Catalog::compile(vec![wrong, named("also-wrong")]).map(|_| ()).unwrap_err();
    let places: Vec<_> = faults.iter().map(|(index, fault)| (*index, fault.place.join("."))).collect();
    let expected = [(0, ""), (0, "params.1"), (0, "params.v.values"), (1, "")];
    assert_eq!(places, expected.map(|(index, place)| (index, place.to_owned())));
}
