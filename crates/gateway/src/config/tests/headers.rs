//! The never-list itself.

use super::{accepted, refused};

fn with_header(table: &str, name: &str) -> String {
    let target = "version = 1\n[secret.key]\nsource = \"env:KEY\"\n[target.api]\norigin = \"https://api.example.com\"\nca = \"ca.pem\"\n";
    let tool = "[tool.t]\ndescription = \"T\"\ntarget = \"api\"\nmethod = \"GET\"\npath = \"/\"\n";
    let line = format!("headers = {{ \"{name}\" = \"x\" }}\n");
    match table {
        "target" => format!("{target}{line}{tool}"),
        "tool" => format!("{target}{tool}{line}"),
        _ => format!("{target}auth = {{ scheme = \"header\", name = \"{name}\", secret = \"key\" }}\n{tool}"),
    }
}

#[test]
fn never_means_never_and_under_any_twin() {
    let names = [
        "accept-encoding",
        "connection",
        "content-encoding",
        "content-length",
        "cookie",
        "expect",
        "forwarded",
        "host",
        "keep-alive",
        "proxy-anything",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "via",
        "x-forwarded-anything",
        "x-http-method-override",
        "x-original-url",
        "x-real-ip",
        "metadata-flavor",
        "x-aws-ec2-metadata-token",
    ];
    for name in names {
        for name in [name.to_owned(), name.replace('-', "_")] {
            for table in ["target", "tool", "auth"] {
                let faults = refused(&with_header(table, &name));
                let fault = faults.iter().next().unwrap();
                let expected = format!("the header `{name}` is never set by a configuration");
                assert_eq!((faults.len(), fault.problem()), (1, expected.as_str()), "{table}");
            }
        }
    }
}

#[test]
fn each_place_sets_its_own_headers() {
    for (name, places) in [
        ("accept", ["target", "tool"].as_slice()),
        ("x-note", &["target", "tool", "auth"]),
        ("x-atlassian-token", &["target", "tool", "auth"]),
        ("user-agent", &["target"]),
        ("content-type", &["tool"]),
        ("authorization", &["auth"]),
        ("x-api-key", &["auth"]),
        ("api-key", &["auth"]),
        ("x-vault-token", &["auth"]),
        ("expectation", &["target", "tool", "auth"]),
        ("proxyless", &["target", "tool", "auth"]),
    ] {
        for table in ["target", "tool", "auth"] {
            let text = with_header(table, name);
            if places.contains(&table) {
                let _ = accepted(&text);
            } else {
                let _ = refused(&text);
            }
        }
    }
}

#[test]
fn lengths_are_bounded() {
    let name = |length: usize| with_header("tool", &"a".repeat(length));
    let _ = accepted(&name(128));
    let _ = refused(&name(129));
    let value =
        |length: usize| with_header("tool", "x-a").replace("\"x\"", &format!("\"{}\"", "v".repeat(length)));
    let _ = accepted(&value(8192));
    let _ = refused(&value(8193));
    let many = |count: usize| {
        let lines: String = (0..count).map(|number| format!("x-{number} = \"1\"\n")).collect();
        format!(
            "{}[tool.t.headers]\n{lines}",
            with_header("tool", "x").replace("headers = { \"x\" = \"x\" }\n", "")
        )
    };
    let _ = accepted(&many(64));
    let _ = refused(&many(65));
}
