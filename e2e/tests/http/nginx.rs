//! nginx over TLS as a target like any other: it checks the credential, and tells connections and sessions apart.

use std::collections::BTreeSet;

use framegate_e2e::canary::Canary;
use framegate_e2e::server::{Certificate, Nginx, Server, certificate};
use framegate_e2e::session::Session;
use framegate_e2e::stage::{Stage, write_private};
use framegate_e2e::target::tls;
use serde_json::json;

use super::{REVISION, shown, stage, text, word};

/// What nginx is asked to do: to answer 401 unless it knows the credential, and to offer sessions for reuse.
fn server(credentials: [&str; 2], versions: &str, signed: &Certificate) -> Option<Server> {
    let [one, other] = credentials;
    let http = format!(
        "map_hash_bucket_size 256;\n\
         map $http_authorization $who {{ default nobody; \"Bearer {one}\" one; }}\n\
         map $http_x_api_key $which {{ default $who; \"{other}\" other; }}\n\
         ssl_protocols {versions};\nssl_session_cache shared:sessions:1m;\nssl_session_tickets on;\n\
         ssl_verify_client off;\nkeepalive_timeout 60s;"
    );
    Server::nginx(&Nginx {
        http: &http,
        server: "default_type application/json;\n\
                 if ($which = nobody) { return 401 '{\"error\":\"who?\"}'; }\n\
                 location / { return 200 '{\"who\":\"$which\",\"host\":\"$http_host\",\"client\":\"$ssl_client_verify\"}'; }",
        log: "$which $status $connection $ssl_session_reused $ssl_protocol $request",
        tls: Some((&signed.certificate, &signed.key)),
    })
}

/// A stage with two targets on the same host: the second credential is in a header of its own.
fn two_targets(name: &str, server: &Server, signed: &Certificate, secrets: [&str; 2]) -> Stage {
    let stage = stage(name, |stage| {
        for (file, secret) in ["one", "other"].into_iter().zip(secrets) {
            write_private(&stage.folder().join(file), secret);
        }
        write_private(&stage.folder().join("nginx.pem"), &signed.authority);
        let origin = format!("https://{}:{}", tls::NAME, server.address().port());
        let target = |name: &str, auth: &str| {
            format!(
                "[secret.{name}]\nsource = \"file:{name}\"\n[target.{name}]\norigin = \"{origin}\"\nca = \"nginx.pem\"\n\
                 address_ranges = [\"127.0.0.0/8\"]\nauth = {auth}\n\
                 [tool.ask_{name}]\ndescription = \"Ask\"\nallow = \"read\"\ntarget = \"{name}\"\nmethod = \"GET\"\npath = \"/{{item}}\"\n\
                 params.item = {{ type = \"word\" }}\n"
            )
        };
        target("one", "{ scheme = \"bearer\", secret = \"one\" }")
            + &target("other", "{ scheme = \"header\", name = \"x-api-key\", secret = \"other\" }")
    });
    // Each secret must be declared and used; `probe` is not needed here.
    stage.edit_config(|text| text.replace("[secret.probe]\nsource = \"file:secret\"\n", ""));
    stage
}

#[test]
fn two_credentials_share_no_connection_and_no_session() {
    for versions in ["TLSv1.3", "TLSv1.2"] {
        let (one, other) = (Canary::new(), Canary::new());
        let signed = certificate(tls::NAME, |_| ());
        let Some(server) = server([one.value(), other.value()], versions, &signed) else { return };
        let name = format!("nginx-{versions}");
        let stage = two_targets(&name, &server, &signed, [one.value(), other.value()]);
        let mut session = Session::start(&stage);
        session.ready(REVISION);
        for number in 0..6 {
            // In turns, and then the same one twice.
            for who in if number % 3 == 2 { ["one", "one"] } else { ["one", "other"] } {
                let reply =
                    session.call(REVISION, &format!("ask_{who}"), json!({ "item": format!("i{number}") }));
                assert_eq!(word(&reply), "done", "{}", text(&reply));
                let host = format!("{}:{}", tls::NAME, server.address().port());
                assert_eq!(shown(&reply)["body"], json!({ "who": who, "host": host, "client": "NONE" }));
            }
        }
        // All at once.
        let ids: Vec<_> = (0..8)
            .map(|number| {
                let tool = if number % 2 == 0 { "ask_one" } else { "ask_other" };
                session.start_call(REVISION, tool, json!({ "item": format!("p{number}") }))
            })
            .collect();
        for id in ids {
            let reply = session.reply(&id);
            assert_eq!(word(&reply), "done", "{}", text(&reply));
        }
        let ended = session.end();
        for canary in [&one, &other] {
            canary.assert_absent("stdout", &ended.stdout);
            canary.assert_absent("stderr", ended.stderr.as_bytes());
            canary.assert_absent("the journal", &ended.journal.raw);
        }

        let lines = server.wait_log(20);
        let connections = |who: &str| -> BTreeSet<String> {
            let of = lines.iter().filter_map(|line| line.strip_prefix(who)?.strip_prefix(" 200 "));
            of.map(|rest| rest.split(' ').next().expect("a number").to_owned()).collect()
        };
        let (ones, others) = (connections("one"), connections("other"));
        assert!(!ones.is_empty() && !others.is_empty(), "{lines:#?}");
        assert!(ones.is_disjoint(&others), "one connection carried two credentials: {lines:#?}");
        for line in &lines {
            let mut words = line.split(' ').skip(3);
            assert_eq!(words.next(), Some("."), "a session was resumed: {line}");
            assert_eq!(words.next(), Some(versions), "{line}");
        }
    }
}

#[test]
fn a_credential_that_the_target_does_not_know_is_told_as_its_answer() {
    let (one, other) = (Canary::new(), Canary::new());
    let signed = certificate(tls::NAME, |_| ());
    let Some(server) = server([one.value(), other.value()], "TLSv1.3", &signed) else { return };
    // Each target has the other's.
    let stage = two_targets("nginx-refused", &server, &signed, [other.value(), one.value()]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    for tool in ["ask_one", "ask_other"] {
        let reply = session.call(REVISION, tool, json!({ "item": "a" }));
        assert_eq!(word(&reply), "failed");
        assert_eq!(
            (&shown(&reply)["status"], &shown(&reply)["body"]),
            (&json!(401), &json!({ "error": "who?" }))
        );
    }
    let ended = session.end();
    for canary in [&one, &other] {
        canary.assert_absent("stdout", &ended.stdout);
    }
    assert_eq!(server.wait_log(2).iter().filter(|line| line.starts_with("nobody 401 ")).count(), 2);
}

/// nginx itself as the hostile one: a certificate for another host gets no byte of the request.
#[test]
fn nginx_with_the_wrong_certificate_gets_no_request() {
    let (one, other) = (Canary::new(), Canary::new());
    let signed = certificate("other.test", |_| ());
    let Some(server) = server([one.value(), other.value()], "TLSv1.2 TLSv1.3", &signed) else { return };
    let stage = two_targets("nginx-wrong", &server, &signed, [one.value(), other.value()]);
    let mut session = Session::start(&stage);
    session.ready(REVISION);
    let reply = session.call(REVISION, "ask_one", json!({ "item": "a" }));
    assert_eq!(word(&reply), "failed");
    assert!(
        text(&reply).contains("the target's certificate is for another host; nothing was sent"),
        "{}",
        text(&reply)
    );
    session.end();
    assert_eq!(server.log(), Vec::<String>::new());
}
