//! The shared URL cases, each on the way that it has into the product: as an origin that a configuration
//! pins, and through the one look-up of a pinned name.
//!
//! No part of the product takes a URL from an agent: paths and queries are rendered from typed parameters of
//! declared templates, and no parameter names a host, a port or a scheme. What only such a URL could do is
//! listed as not applicable, with the reason, and counted.

use std::net::IpAddr;
use std::path::Path;

use serde_json::Value;

use super::{LOOPBACK, shared, soon};
use crate::config::{Config, Target};
use crate::net::resolve::{ResolveError, Resolver};
use crate::net::stub_dns::{Answer, StubDns};
use crate::net::{NetError, check_all, connect};

const PINNED: &str = "api.example.com";

/// The target of a configuration that pins `origin`.
fn pinned(origin: &str) -> Option<Target> {
    let text: String = origin
        .chars()
        .map(|character| match character {
            '"' | '\\' => format!("\\{character}"),
            character if character.is_control() => format!("\\u{:04X}", u32::from(character)),
            character => character.to_string(),
        })
        .collect();
    let ca = if origin.starts_with("http://") { "" } else { "ca = \"ca.pem\"\n" };
    let text = format!("version = 1\n[target.api]\norigin = \"{text}\"\n{ca}");
    let mut config = Config::from_text("framegate.toml", &text, Path::new("/etc/framegate")).ok()?;
    let target = config.targets.remove("api").unwrap();
    assert_eq!(target.origin.to_string(), origin, "what is pinned is what is written");
    Some(target)
}

/// A URL up to its path.
fn origin_of(url: &str) -> &str {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..].find(['/', '?', '#']).map_or(url.len(), |at| start + at);
    &url[..end]
}

/// What became of one case.
#[derive(Debug, PartialEq, Eq)]
enum Ran {
    /// The origin is refused at load, as it must be.
    Refused,
    /// The origin is one that an operator may pin.
    Accepted,
    /// The look-up of the pinned name was judged.
    LookedUp,
    /// No way into the product.
    NotApplicable(&'static str),
}

const ANOTHER_HOST: &str =
    "another host or port than the pinned one: nothing that an agent sends names either";
const BEYOND_ORIGIN: &str =
    "the fault is in path, query or fragment: an agent fills typed parameters of a declared path";

const BARE_ORIGIN: &str = "not how a URL is written, and how an origin is: an agent writes neither";

/// The case as an origin. Panics where the product and the case differ.
fn as_origin(case: &Value) -> Ran {
    let text = |pointer: &str| case.pointer(pointer).and_then(Value::as_str).unwrap();
    let (id, url) = (text("/id"), text("/url"));
    let (code, literal) = (text("/pinned/code"), text("/literal_ip/code"));
    let origin = origin_of(url);
    let must = |origin: &str, accept: bool| {
        assert_eq!(pinned(origin).is_some(), accept, "{id}: {origin:?} ({code}, {literal})");
        if accept { Ran::Accepted } else { Ran::Refused }
    };
    // Whatever is wrong with it, a URL that goes on after its authority is no origin.
    if url != origin {
        assert_eq!(pinned(url), None, "{id}");
    }
    match code {
        "ok" | "resolved_special_use" | "resolve_empty" => must(origin, true),
        "scheme" => {
            must(origin, false);
            // Plain http names hosts like any other URL; their https twins are judged as literals.
            match (url.strip_prefix("http://"), literal) {
                (Some(rest), "ok") => must(&format!("https://{}", origin_of(rest)), true),
                (Some(rest), "special_use" | "not_canonical" | "parse_error" | "bad_bytes" | "userinfo") => {
                    must(&format!("https://{}", origin_of(rest)), false)
                }
                _ => Ran::Refused,
            }
        }
        "host_mismatch" | "port_mismatch" => match literal {
            "ok" | "port_not_allowed" => must(origin, true),
            "special_use" => must(origin, false),
            _ if pinned(origin).is_none() => Ran::Refused,
            _ => Ran::NotApplicable(ANOTHER_HOST),
        },
        "parse_error" | "bad_bytes" | "not_canonical" | "userinfo" if pinned(origin).is_none() => {
            Ran::Refused
        }
        // The second authority of such a text is in what follows the first, and was refused with it.
        "not_canonical" if url[origin.len()..].starts_with(['?', '#']) => Ran::Refused,
        _ => {
            let target = pinned(origin).unwrap_or_else(|| panic!("{id}: {code} in {origin:?}"));
            assert_eq!(target.host.to_string(), PINNED, "{id}: the authority is sound and the pinned one");
            Ran::NotApplicable(if url == origin { BARE_ORIGIN } else { BEYOND_ORIGIN })
        }
    }
}

/// The look-up of the pinned name with the case's answers: one, and no connection after a bad one.
async fn looked_up(case: &Value, answers: &[IpAddr]) -> Ran {
    let (id, code) = (&case["id"], case["pinned"]["code"].as_str().unwrap());
    let target = pinned(origin_of(case["url"].as_str().unwrap())).unwrap();
    let names = StubDns::start([(PINNED, Answer::Addresses(answers.to_vec()))]);
    let resolver = Resolver::new([names.address()]).unwrap();
    if code == "ok" {
        // The addresses are real: they are judged, and nobody connects.
        let crate::net::host::Host::Name(name) = &target.host else { panic!("{id}: no name") };
        let found = resolver.resolve(name, soon()).await.unwrap();
        assert_eq!(check_all(&target.addresses, &found).unwrap().len(), answers.len(), "{id}");
    } else {
        let listener = std::net::TcpListener::bind((LOOPBACK, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let fault = connect(&resolver, &target.addresses, &target.host, port, soon()).await.unwrap_err();
        match code {
            "resolve_empty" => assert_eq!(fault, NetError::Resolve(ResolveError::NoAddress), "{id}"),
            _ => assert!(matches!(fault, NetError::Address(_)), "{id}: {fault:?}"),
        }
        assert!(!fault.connection_opened(), "{id}");
        assert!(listener.accept().is_err(), "{id}: a connection was made");
    }
    assert_eq!(names.lookups(PINNED), 1, "{id}");
    Ran::LookedUp
}

#[tokio::test]
async fn every_shared_url_on_its_way_into_the_product() {
    let Some(cases) = shared::<Vec<Value>>("ssrf_urls.json") else { return };
    let (mut refused, mut accepted, mut looked, mut elsewhere) = (0, 0, 0, 0);
    for case in &cases {
        let mut ran = as_origin(case);
        let answers = case["resolver_answers"].as_array().filter(|_| ran == Ran::Accepted);
        if let Some(answers) = answers.filter(|_| case["pinned"]["code"] != "scheme") {
            let answers: Vec<IpAddr> =
                answers.iter().map(|text| text.as_str().unwrap().parse().unwrap()).collect();
            ran = looked_up(case, &answers).await;
        }
        match ran {
            Ran::Refused => refused += 1,
            Ran::Accepted => accepted += 1,
            Ran::LookedUp => looked += 1,
            Ran::NotApplicable(reason) => {
                elsewhere += 1;
                eprintln!("NOT APPLICABLE: {}: {reason}", case["id"].as_str().unwrap());
            }
        }
    }
    eprintln!(
        "{} cases: {refused} refused and {accepted} accepted as origins, {looked} looked up, {elsewhere} not applicable",
        cases.len()
    );
    assert_eq!(refused + accepted + looked + elsewhere, cases.len());
    // A case that moves from one way to another is a change to look at.
    assert_eq!((cases.len(), accepted, looked, elsewhere), (275, 15, 19, 22));
}
