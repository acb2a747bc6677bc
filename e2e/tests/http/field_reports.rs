//! The HTTP actions of public failure reports: every verdict, by the product's own way to the same fault.
//!
//! In the product an agent gives no URL. A case's URL is the origin of a target, which is judged when the
//! configuration is loaded and when its name is looked up, and a path whose segments are arguments. The allowed
//! host is the stage's target, over TLS and by its own name.

use std::os::unix::fs::PermissionsExt as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use framegate_e2e::parallel;
use framegate_e2e::session::{Ended, Session};
use framegate_e2e::stage::Stage;
use framegate_e2e::stub_dns;
use framegate_e2e::target::{Answer, tls};
use serde_json::{Value, json};

use super::{BEARER, REVISION, cases, check_config, probe, quoted, shown, stage, text, tool, word};

/// What some cases have beside their verdict that the product has no way for.
const NOT_APPLICABLE: &[(&str, &str)] = &[
    (
        "H05 H06 H08 H09 H11 H12 H13 H14 H15 H16 H17",
        "the second policy, any public host: there is no policy over hosts, a target has one origin",
    ),
    ("H24", "plain http to a name: run over https"),
    ("H30", "a credential in the query: there is no such slot; run with one in a header"),
    ("H31", "the log level `trace`: run with `debug`, the most verbose one"),
    ("H37", "a key for deduplication: there is none, so both calls are performed"),
];

struct Run<'a> {
    case: &'a Value,
    marker: &'a str,
    post: bool,
}

impl Run<'_> {
    fn id(&self) -> &str {
        self.case["id"].as_str().expect("an id")
    }

    /// The case's URL behind its authority.
    fn path(&self) -> &str {
        let url = self.case["url"].as_str().expect("a URL");
        let rest = url.split_once("://").expect("a scheme").1;
        rest.find('/').map_or("/", |at| &rest[at..])
    }

    /// The case's action as a tool: its path with the marker as an argument, its header, its body.
    fn tool(&self) -> String {
        let path = self.path();
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let path = path.replace(self.marker, "{marker}");
        let query = query
            .split_once('=')
            .map(|(name, value)| format!("query = {{ {name} = {} }}\n", quoted(value)))
            .unwrap_or_default();
        let (method, body) = if self.post { ("POST", "body = { m = \"{marker}\" }\n") } else { ("GET", "") };
        tool(
            "act",
            &format!(
                "method = \"{method}\"\npath = \"{path}\"\n{query}headers = {{ x-case = \"{{marker}}\" }}\n{body}params.marker = {{ type = \"word\" }}"
            ),
        )
    }

    fn stage(&self, target: &str) -> Stage {
        stage(&format!("field-{}", self.id()), |stage| probe(stage, target) + &self.tool())
    }

    /// Calls the case's action once; the reply, and what is left.
    fn act(&self, stage: &Stage) -> (Value, Ended) {
        let mut session = Session::start(stage);
        session.ready(REVISION);
        let reply = session.call(REVISION, "act", json!({ "marker": self.marker }));
        (reply, session.end())
    }

    /// One call that the target answers; one connection, one execution, one intent.
    fn answered(&self, stage: &Stage, answer: Answer, expected: &str) -> (Value, Ended) {
        stage.target().script([answer]);
        let (reply, ended) = self.act(stage);
        assert_eq!(word(&reply), expected, "{}: {}", self.id(), text(&reply));
        assert_eq!(stage.executed(self.marker), 1, "{}", self.id());
        assert_eq!((stage.traces().connections, stage.traces().lookups), (1, 1), "{}", self.id());
        assert_eq!(ended.journal.count("intent"), 1, "{}", self.id());
        (reply, ended)
    }

    /// A call with these arguments of a tool with these lines is refused before anything is asked or sent.
    fn refused(&self, lines: &str, arguments: Value, reasons: &[&str]) {
        let stage =
            stage(&format!("field-{}", self.id()), |stage| probe(stage, BEARER) + &tool("act", lines));
        let mut session = Session::start(&stage);
        session.ready(REVISION);
        let reply = session.call(REVISION, "act", arguments);
        assert!(reasons.contains(&word(&reply)), "{}: {}: {}", self.id(), word(&reply), text(&reply));
        let ended = session.end();
        let traces = stage.traces();
        assert_eq!((traces.connections, traces.questions, traces.secret_reads), (0, 0, 0), "{}", self.id());
        assert_eq!(ended.journal.count("intent"), 0, "{}", self.id());
    }

    /// A target of this origin is a fault of the configuration; or else its call makes no connection.
    fn refused_origin(&self, origin: &str) {
        let stage = stage(&format!("field-{}", self.id()), |stage| {
            let port = format!(":{}\"", stage.target().address().port());
            let own = format!("https://{}{port}", tls::NAME);
            let target = probe(stage, BEARER).replace(&own, &format!("{}\"", origin.replace('\\', "\\\\")));
            target.replace("address_ranges = [\"127.0.0.0/8\"]\n", "") + &self.tool_of("/")
        });
        let checked = check_config(&stage);
        match checked.status.code() {
            Some(78) => {}
            Some(0) => {
                let (reply, _) = self.act(&stage);
                assert_eq!(word(&reply), "failed", "{}: {}", self.id(), text(&reply));
                assert!(text(&reply).ends_with("; nothing was sent"), "{}: {}", self.id(), text(&reply));
            }
            other => panic!("{}: {other:?}", self.id()),
        }
        let traces = stage.traces();
        assert_eq!(traces.connections, 0, "{}", self.id());
        assert!(traces.questions <= 2, "{}: more than one look-up", self.id());
    }

    fn tool_of(&self, path: &str) -> String {
        tool(
            "act",
            &format!(
                "method = \"GET\"\npath = \"{path}\"\nquery = {{ m = \"{{marker}}\" }}\nparams.marker = {{ type = \"word\" }}"
            ),
        )
    }

    /// The URL as an argument, which no tool has.
    fn refused_url(&self) {
        let lines = "method = \"GET\"\npath = \"/{marker}\"\nparams.marker = { type = \"word\" }";
        let arguments = json!({ "marker": self.marker, "url": self.case["url"] });
        self.refused(lines, arguments, &["argument-unknown"]);
    }
}

/// Everything of the URL in front of its path, over https where it names a host.
fn origin(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").expect("a scheme");
    let authority = rest.split('/').next().unwrap_or_default();
    let scheme = if scheme == "http" { "https" } else { scheme };
    format!("{scheme}://{authority}")
}

fn body(status: u16, text: &str) -> Answer {
    Answer::Body(status, "application/json", text.to_owned())
}

fn redirect(case: &Value) -> Answer {
    let mock = &case["mock"]["api.allowed.test"];
    let (status, location) = (&mock["status"], mock["location"].as_str().expect("a place"));
    Answer::Raw(
        format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").into_bytes(),
    )
}

fn run(case: &Value) {
    let marker = case["marker"].as_str().expect("a marker");
    let run = Run { case, marker, post: case["input"]["method"] == "POST" };
    let url = case["url"].as_str().expect("a URL");
    let id = run.id();
    let segment =
        "method = \"GET\"\npath = \"/{value}/end\"\nparams.value = { type = \"string\", pattern = \".*\" }";
    let path = "method = \"GET\"\npath = \"/{value}\"\nparams.value = { type = \"path\" }";
    let bad = &["argument-character", "argument-pattern", "render-shape"][..];
    match &id[..3] {
        "H01" | "H02" | "H03" | "H04" => {
            let auth = if id.starts_with("H04") {
                "auth = { scheme = \"header\", name = \"x-api-key\", secret = \"probe\" }"
            } else {
                BEARER
            };
            let stage = run.stage(auth);
            let (reply, _) = run.answered(&stage, redirect(case), "failed");
            let location = case["mock"]["api.allowed.test"]["location"].as_str().expect("a place");
            let told = shown(&reply)["redirect_not_followed"].as_str().expect("told").to_owned();
            let host = location.split("//").nth(1).and_then(|rest| rest.split('/').next()).expect("a host");
            assert!(told.ends_with(&format!("://{host}")), "{id}: {told}");
            let received = String::from_utf8(stage.target().received()).expect("text");
            assert_eq!(received.matches(stage.canary().value()).count(), 1, "{id}");
        }
        "H05" | "H06" | "H08" | "H09" | "H11" | "H12" | "H13" | "H14" | "H15" | "H16" | "H17" | "H22" => {
            run.refused_origin(&origin(url));
            run.refused_origin(&origin(url).replacen("https:", "http:", 1));
            run.refused_url();
        }
        "H19" => run.refused_url(),
        "H20" | "H21" => {
            let text = run.path().trim_start_matches('/');
            for value in [text, text.split('/').next().unwrap_or_default()] {
                run.refused(segment, json!({ "value": value }), bad);
                run.refused(path, json!({ "value": value }), bad);
            }
            run.refused_url();
        }
        "H23" => {
            run.refused_origin(&origin(url));
            let text = run.path().trim_start_matches('/');
            run.refused(path, json!({ "value": text }), bad);
            for value in text.split('/').filter(|part| part.contains(['.', '%'])) {
                run.refused(segment, json!({ "value": value }), bad);
            }
            run.refused_url();
        }
        "H24" => {
            let stage = run.stage(BEARER);
            stage.edit_config(|text| text.replace("address_ranges = [\"127.0.0.0/8\"]\n", ""));
            let mut session = Session::start(&stage);
            session.ready(REVISION);
            for answers in case["mock"]["dns"]["plain.allowed.test"].as_array().expect("answers") {
                let addresses = answers.as_array().expect("addresses").iter();
                let addresses =
                    addresses.map(|address| address.as_str().expect("text").parse().expect("an address"));
                stage.names().set(tls::NAME, stub_dns::Answer::Addresses(addresses.collect()));
                let reply = session.call(REVISION, "act", json!({ "marker": marker }));
                assert_eq!(word(&reply), "failed", "{id}");
                assert!(text(&reply).ends_with("; nothing was sent"), "{id}: {}", text(&reply));
            }
            session.end();
            assert_eq!((stage.traces().connections, stage.traces().lookups), (0, 2), "{id}");
        }
        "H26" => {
            let lines = "method = \"GET\"\npath = \"/a\"\nheaders = { x-note = \"{value}\" }\nparams.value = { type = \"KIND\" }";
            for kind in ["string", "word"] {
                let value = &case["input"]["headers"]["X-Note"];
                run.refused(&lines.replace("KIND", kind), json!({ "value": value }), bad);
            }
        }
        "H27" => {
            let lines = "method = \"GET\"\npath = \"/{marker}\"\nparams.marker = { type = \"word\" }";
            let value = &case["input"]["headers"]["authorization"];
            for arguments in [
                json!({ "marker": marker, "authorization": value }),
                json!({ "marker": marker, "headers": { "authorization": value } }),
            ] {
                run.refused(lines, arguments, &["argument-unknown"]);
            }
        }
        "H28" | "H29" => {
            let stage = run.stage(BEARER);
            let secret = stage.canary().value();
            let forms = [
                secret.to_owned(),
                STANDARD.encode(secret),
                URL_SAFE.encode(secret),
                STANDARD.encode(format!("Bearer {secret}")),
                secret.bytes().map(|byte| format!("%{byte:02X}")).collect(),
                secret.bytes().map(|byte| format!("\\u{byte:04x}")).collect(),
            ];
            let (status, expected) = if id.starts_with("H28") { (200, "done") } else { (401, "failed") };
            let body = format!("{{\"got\":\"Bearer {}\"}}", forms.join(" "));
            let answer = format!(
                "HTTP/1.1 {status} Echo\r\ncontent-type: application/json\r\netag: \"{secret}\"\r\nx-echo: Bearer {secret}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            // The session's own judgement searches every output for every form.
            let (reply, _) = run.answered(&stage, Answer::Raw(answer.into_bytes()), expected);
            assert!(text(&reply).contains("[redacted:probe]"), "{id}: {}", text(&reply));
        }
        "H30" => {
            let stage = run.stage(BEARER);
            stage.edit_config(|text| text.replace("ca.pem", "other.pem"));
            let other = framegate_e2e::server::certificate(tls::NAME, |_| ()).authority;
            framegate_e2e::stage::write_private(&stage.folder().join("other.pem"), &other);
            let (reply, _) = run.act(&stage);
            assert_eq!(word(&reply), "failed", "{id}");
            assert!(
                !text(&reply).contains("/x/") && !text(&reply).contains(marker),
                "{id}: {}",
                text(&reply)
            );
            assert_eq!(stage.target().received(), b"", "{id}");
        }
        "H31" => {
            let stage = run.stage(BEARER);
            stage.edit_config(|text| format!("{text}\n[log]\nlevel = \"debug\"\n"));
            run.answered(&stage, body(500, "{}"), "failed");
        }
        "H32" => {
            let stage = run.stage(BEARER);
            let (_, ended) = run.answered(&stage, body(200, "{}"), "done");
            for file in &ended.journal.actions {
                let mode = std::fs::metadata(file).expect("own file").permissions().mode();
                assert_eq!(mode & 0o777, 0o600, "{id}: {}", file.display());
            }
            assert!(!ended.journal.actions.is_empty(), "{id}");
        }
        "H33" => {
            let stage = run.stage(&format!("{BEARER}\ndeadline_seconds = 1\nconnect_seconds = 1"));
            run.answered(&stage, Answer::Hold(Box::new(Answer::ok())), "unknown");
        }
        "H36" => {
            let stage = run.stage(BEARER);
            let hostile = STANDARD
                .decode(case["mock"]["api.allowed.test"]["body_b64"].as_str().expect("text"))
                .expect("base64");
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", hostile.len());
            let (reply, ended) =
                run.answered(&stage, Answer::Raw([head.as_bytes(), &hostile].concat()), "done");
            let told = shown(&reply);
            assert_eq!(
                told["body_base64"].as_str().and_then(|text| STANDARD.decode(text).ok()),
                Some(hostile),
                "{id}"
            );
            let raw = |byte: &u8| byte.is_ascii_control() && *byte != b'\n';
            assert!(!ended.stdout.iter().any(raw), "{id}: a control character on stdout");
            assert_eq!(ended.stdout.split(|byte| *byte == b'\n').count(), ended.replies.len() + 1, "{id}");
        }
        "H37" => {
            let stage = run.stage(BEARER);
            let mut session = Session::start(&stage);
            session.ready(REVISION);
            let ids = [(); 2].map(|()| session.start_call(REVISION, "act", json!({ "marker": marker })));
            for id in &ids {
                assert_eq!(word(&session.reply(id)), "done");
            }
            let ended = session.end();
            assert_eq!((stage.executed(marker), ended.journal.count("intent")), (2, 2), "{id}");
        }
        "H38" => {
            let stage = run.stage(BEARER);
            let (reply, _) =
                run.answered(&stage, body(200, &json!(format!("ok {marker}")).to_string()), "done");
            assert!(text(&reply).contains(marker), "{id}");
            assert!(stage.canary().find(&stage.target().received()).is_some(), "{id}");
        }
        "H39" => {
            let stage = run.stage(BEARER);
            run.answered(&stage, body(200, "{}"), "done");
            let line = stage.target().requests()[0].line();
            assert_eq!(line, format!("GET /%40me/{marker}?to=a%40b.test HTTP/1.1"), "{id}");
        }
        _ => panic!("{id}: a case that nobody runs"),
    }
}

#[test]
fn http_actions_get_their_expected_verdicts() {
    let Some(cases) = cases("field_reports.jsonl") else { return };
    let cases: Vec<Value> = cases.into_iter().filter(|case| case["kind"] == "http-action").collect();
    assert!(cases.len() >= 33, "only {} HTTP actions", cases.len());
    parallel::run(&cases, || (), |(), case| run(case));
    eprintln!("field_reports.jsonl: {} HTTP actions, all with their verdicts", cases.len());
    for (ids, why) in NOT_APPLICABLE {
        eprintln!("  not applicable in {}: {why} ({ids})", ids.split(' ').count());
    }
}
