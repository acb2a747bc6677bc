//! Which redirects make a next call, and which are only shown.
//!
//! Belongs here: locations as targets write them, methods, loops, reach; the shared cases.
//! Does not belong here: policy over the next call, sending.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Catalog, Checked, ParameterType, ToolDeclaration, bare, call, catalog, optional, options, required,
};
use crate::action::{Action, Origin, Scheme};
use crate::outcome::Redirect;
use crate::schema::follow;

fn origin(host: &str) -> Origin {
    Origin::new(Scheme::Https, host.into(), 443)
}

/// An open tool of `api` at `api.example.com`.
fn tool(redirects: &[(&str, &str)]) -> ToolDeclaration {
    let patterns = ["/a", "/b", "/c", "/d", "/e", "/x y/**"].map(str::to_owned).to_vec();
    let mut tool = bare(vec![
        required("method", options(&["GET", "HEAD", "POST", "DELETE"])),
        required("path", ParameterType::RequestPath { patterns }),
        optional("query", ParameterType::Query),
    ]);
    tool.http.target = "api".to_owned();
    tool.http.origin = origin("api.example.com");
    tool.http.method = "{method}".to_owned();
    tool.http.path = "{path}".to_owned();
    tool.http.open_query = Some("query".to_owned());
    tool.http.redirects = redirects.iter().map(|(name, host)| ((*name).to_owned(), origin(host))).collect();
    tool
}

fn start(catalog: &Arc<Catalog>, method: &str, path: &str) -> Checked {
    call(catalog, &json!({"method": method, "path": path}).to_string()).unwrap()
}

/// The next call, if there is one.
fn next(checked: Checked, status: u16, location: &str) -> Option<Checked> {
    let (call, ticket) = checked.into_parts();
    follow(&call, &Redirect { status, location: location.to_owned() }, ticket).ok()
}

fn request(checked: &Checked) -> (String, String) {
    let Action::Http(action) = checked.call().action();
    (action.method().to_string(), format!("{}{}", action.origin(), action.path_and_query()))
}

const OWN: &[(&str, &str)] = &[("api", "api.example.com")];

#[test]
fn a_location_is_followed_only_in_our_own_spelling() {
    let same = catalog(tool(OWN));
    let followed = |location: &str| {
        next(start(&same, "GET", "/a"), 302, location).map(|checked| request(&checked).1.split_off(23))
    };
    for (location, target) in [
        ("/b", "/b"),
        ("https://api.example.com/b", "/b"),
        ("/b?q=1&r=a%20b", "/b?q=1&r=a%20b"),
        ("?q=%26", "/a?q=%26"),
        ("/x%20y/%C3%A9", "/x%20y/%C3%A9"),
    ] {
        assert_eq!(followed(location).as_deref(), Some(target), "{location}");
    }
    for location in [
        "",
        "b",
        "./b",
        "../b",
        "//api.example.com/b",
        "//evil.test/b",
        "/\\evil.test",
        "\\\\evil.test",
        "/b#f",
        "/b/",
        "/b//",
        "/./b",
        "/../admin",
        "/b/..",
        "/%2e%2e/b",
        "/%62",
        "/x y",
        "/x%20y/%c3%a9",
        "/x%20y/a%2fb",
        "/x%20y/%00",
        "/x%20y/a;b",
        "/x%20y/%ff",
        "/x%20y/%",
        "/x%20y/%4",
        "/b?q",
        "/b?q=a+b",
        "/b?q=a b",
        "/b?q=%0a",
        "/b?&q=1",
        "/b?",
        "/admin",
        "/",
        "https://api.example.com",
        "https://api.example.com:443/b",
        "https://API.example.com/b",
        "https://api.example.com./b",
        "https://api.example.com@evil.test/",
        "https://u:p@api.example.com/b",
        "https://api.example.com.evil.test/",
        "http://api.example.com/b",
        "HTTPS://api.example.com/b",
        "https:/b",
        "javascript:1",
        "\u{ff0f}b",
    ] {
        assert_eq!(followed(location), None, "{location}");
    }
    assert!(next(start(&catalog(tool(&[])), "GET", "/a"), 302, "/b").is_none(), "none is the default");
}

#[test]
fn nothing_that_changes_something_is_sent_twice() {
    let same = catalog(tool(OWN));
    for (method, status, expected) in [
        ("GET", 301, Some("GET")),
        ("GET", 302, Some("GET")),
        ("GET", 303, Some("GET")),
        ("GET", 307, Some("GET")),
        ("GET", 308, Some("GET")),
        ("HEAD", 307, Some("HEAD")),
        ("HEAD", 303, Some("HEAD")),
        ("POST", 303, Some("GET")),
        ("DELETE", 303, Some("GET")),
        ("POST", 301, None),
        ("POST", 302, None),
        ("POST", 307, None),
        ("POST", 308, None),
        ("DELETE", 308, None),
        ("GET", 300, None),
        ("GET", 304, None),
        ("GET", 305, None),
        ("GET", 306, None),
        ("GET", 200, None),
        ("GET", 201, None),
    ] {
        let found = next(start(&same, method, "/a"), status, "/b").map(|checked| request(&checked).0);
        assert_eq!(found.as_deref(), expected, "{method} {status}");
    }
}

#[test]
fn a_chain_ends_at_three_hops_and_at_a_place_it_was_at() {
    let same = catalog(tool(OWN));
    let mut checked = start(&same, "GET", "/a");
    for (hop, location) in ["/b", "/c", "/d"].into_iter().enumerate() {
        assert_eq!(checked.call().hop(), hop);
        checked = next(checked, 302, location).unwrap();
    }
    assert!(next(checked, 302, "/e").is_none());
    for back in ["/a", "/b"] {
        let at_b = next(start(&same, "GET", "/a"), 302, "/b").unwrap();
        assert!(next(at_b, 302, back).is_none(), "{back}");
    }
}

/// The shared cases, but those about look-ups and about credentials in a query, which the executor deals with.
#[test]
fn the_shared_redirects_are_followed_as_told() {
    const ELSEWHERE: [(&str, &str); 4] = [
        ("redir-041", "an address is checked when it is dialled"),
        ("redir-064", "an address is checked when it is dialled"),
        ("redir-052", "no credential is sent in a query"),
        ("redir-053", "no credential is sent in a query"),
    ];
    let Some(folder) = std::env::var_os("FRAMEGATE_SHARED") else {
        eprintln!("SKIPPED: FRAMEGATE_SHARED is not set; cases/redirect_cases.json was not run");
        return;
    };
    let text = std::fs::read_to_string(PathBuf::from(folder).join("cases/redirect_cases.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut run = 0;
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        if let Some((_, why)) = ELSEWHERE.iter().find(|(name, _)| *name == id) {
            eprintln!("{id} is not decided here: {why}");
            continue;
        }
        let redirects: &[(&str, &str)] = match case["policy"].as_str().unwrap() {
            "none" => &[],
            "same_origin" => OWN,
            "declared" => &[("cdn", "cdn.example.net")],
            other => panic!("{other}"),
        };
        let mut declaration = tool(redirects);
        declaration.parameters[1].kind = ParameterType::RequestPath {
            patterns: ["/a", "/b", "/c", "/d", "/e", "/f", "/g"].map(str::to_owned).to_vec(),
        };
        let catalog = catalog(declaration);
        let mut checked = Some(start(&catalog, case["start"]["method"].as_str().unwrap(), "/a"));
        let mut sent = Vec::new();
        for response in case["responses"].as_array().unwrap() {
            let Some(current) = checked.take() else { break };
            sent.push(request(&current));
            let status = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
            // Bytes that no field value can hold never become a location.
            let location = response["location"]
                .as_str()
                .filter(|text| text.bytes().all(|byte| (0x20..0x7F).contains(&byte)));
            checked = location.and_then(|location| next(current, status, location));
        }
        sent.extend(checked.as_ref().map(request));
        let expected: Vec<_> = case["expect"]["requests_sent"]
            .as_array()
            .unwrap()
            .iter()
            .map(|sent| {
                (sent["method"].as_str().unwrap().to_owned(), sent["url"].as_str().unwrap().to_owned())
            })
            .collect();
        assert_eq!(sent, expected, "{id}: {}", case["reason"]);
        run += 1;
    }
    eprintln!("{run} of {} shared redirects", cases.len());
    assert_eq!(run + ELSEWHERE.len(), cases.len());
}
