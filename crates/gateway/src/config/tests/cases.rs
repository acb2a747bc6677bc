//! Headers against the shared case data, and origins by rule. The shared URLs are run in `net::tests`.

use std::path::PathBuf;

use serde_json::Value;

use super::read;

/// The shared cases, or `None` with a loud line when there are none.
fn shared(name: &str) -> Option<Vec<Value>> {
    let Some(folder) = std::env::var_os("FRAMEGATE_SHARED") else {
        eprintln!("SKIPPED: FRAMEGATE_SHARED is not set; cases/{name} was not run");
        return None;
    };
    let path = PathBuf::from(folder).join("cases").join(name);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    match serde_json::from_str(&text).unwrap() {
        Value::Array(cases) => Some(cases),
        other => panic!("{name} holds {other:?}"),
    }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            character if character.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(character))),
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

fn with_origin(origin: &str) -> String {
    let ca = if origin.starts_with("http://") { "" } else { "ca = \"ca.pem\"\n" };
    format!("version = 1\n[target.api]\norigin = {}\n{ca}", quoted(origin))
}

#[test]
fn only_the_one_spelling_of_an_origin_is_read() {
    let good = [
        "https://api.example.com",
        "https://api.example.com:8443",
        "https://93.184.215.14",
        "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]",
        "https://[2606:2800:21f:cb07:6820:80da:af6b:8b2c]:8443",
        "https://xn--bcher-kva.example.com",
        "https://a.b",
    ];
    for origin in good {
        let config = read(&with_origin(origin)).unwrap_or_else(|faults| panic!("{origin}: {faults}"));
        assert_eq!(config.targets["api"].origin.to_string(), origin);
    }
    // One change to a good origin makes each of these; the reports are golden files.
    for origin in [
        "https://93.184.215.014",
        "https://[2606:2800:21F::1]",
        "https://xn--bcher-kvä.example.com",
        "https://a.b:443",
        "https://a.b./",
    ] {
        assert!(read(&with_origin(origin)).is_err(), "{origin}");
    }
}

/// The one header of a case, or its several.
fn headers(case: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match case.get("headers") {
        Some(headers) => {
            let pairs = headers.as_array().unwrap().iter().map(|pair| (text(&pair[0]), text(&pair[1])));
            pairs.collect()
        }
        None => vec![(text(&case["name"]), text(&case["value"]))],
    }
}

#[test]
fn shared_headers_are_refused_where_they_must_be() {
    let Some(cases) = shared("header_cases.json") else { return };
    // In the shared cases X-Api-Key is the target's credential, and these four are declared; any
    // other header is declared here by the tool itself.
    let target = "version = 1\n[secret.key]\nsource = \"env:KEY\"\n[target.api]\norigin = \"https://api.example.com\"\nca = \"ca.pem\"\nauth = { scheme = \"header\", name = \"x-api-key\", secret = \"key\" }\n";
    let mut undeclared = Vec::new();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let lines: Vec<String> = headers(case)
            .iter()
            .map(|(name, value)| {
                // A placeholder is config syntax; the cases hold none.
                assert!(!value.contains(['{', '}']), "{id}");
                format!("{} = {}\n", quoted(&name.to_ascii_lowercase()), quoted(value))
            })
            .collect();
        let tool = format!(
            "{target}[tool.t]\ndescription = \"T\"\ntarget = \"api\"\nmethod = \"GET\"\npath = \"/\"\n[tool.t.headers]\n{}",
            lines.concat()
        );
        let verdict = read(&tool);
        match (case["verdict"].as_str().unwrap(), case["code"].as_str().unwrap()) {
            ("allow", _) => assert!(verdict.is_ok(), "{id}: {}", verdict.unwrap_err()),
            (_, "not_declared") => undeclared.push((id.to_owned(), verdict.is_ok())),
            (_, code) => assert!(verdict.is_err(), "{id} must be refused for {code}"),
        }
    }
    // What nobody declared cannot be sent at all; declared, most of these are the operator's choice.
    let declarable: Vec<_> = undeclared.iter().filter(|(_, ok)| *ok).map(|(id, _)| id.as_str()).collect();
    assert_eq!(declarable, ["hdr-045", "hdr-087", "hdr-088", "hdr-089", "hdr-091", "hdr-092", "hdr-093"]);
    assert!(cases.len() >= 80);
}
