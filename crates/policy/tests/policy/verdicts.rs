//! How real frames are judged.

use std::sync::Arc;

use framegate_gate::authorization::RuleId;
use framegate_gate::schema::{BodyDeclaration, Catalog, ParameterType};
use framegate_policy::{Allow, CedarPolicy};
use framegate_wire::Reason;

use crate::fixture::{catalog, integer, list, number, parameter, sources, string, three_tools, tool, word};
use crate::peer::{Judged, Peer};

const PAY_EVERY: &[(&str, Allow)] = &[("pay", Allow::Every)];

/// A legacy peer of client `agent` over the three tools.
#[track_caller]
fn peer(text: &str, allows: &[(&str, Allow)]) -> Peer {
    peer_of("agent", text, allows)
}

#[track_caller]
fn peer_of(client: &str, text: &str, allows: &[(&str, Allow)]) -> Peer {
    let tools = Arc::new(three_tools());
    Peer::legacy(policy(&tools, text, allows), tools, client, "claimed")
}

#[track_caller]
fn policy(tools: &Catalog, text: &str, allows: &[(&str, Allow)]) -> Arc<CedarPolicy> {
    let policy = CedarPolicy::compile(sources(text, allows), tools);
    Arc::new(policy.unwrap_or_else(|faults| panic!("{text}\n{faults:#?}")))
}

fn over(tools: &Arc<Catalog>, text: &str, allows: &[(&str, Allow)]) -> Peer {
    Peer::legacy(policy(tools, text, allows), Arc::clone(tools), "agent", "claimed")
}

fn pay(peer: &mut Peer, count: i64) -> Judged {
    peer.call("pay", &format!(r#"{{"amount":1,"count":{count}}}"#))
}

#[test]
fn m3_an_overflow_in_a_forbid_denies() {
    let text = r#"@id("cap") forbid (principal, action == Framegate::Action::"pay", resource)
                  when { context.arguments.count * 100 > 1000 };"#;
    let mut peer = peer(text, PAY_EVERY);
    assert_eq!(pay(&mut peer, 10).allowed_by(), "allow:pay");
    assert_eq!(pay(&mut peer, 11), Judged::denied_by("cap"));
    for count in [i64::MAX, i64::MIN, i64::MAX / 100 + 1] {
        assert_eq!(pay(&mut peer, count), Judged::Denied(RuleId::EvaluationError), "{count}");
    }
}

#[test]
fn m3_an_overflow_in_one_permit_denies_what_another_allows() {
    let text = r#"@id("small") permit (principal, action == Framegate::Action::"pay", resource)
                  when { context.arguments.count + 1 < 10 };"#;
    let mut peer = peer(text, PAY_EVERY);
    assert_eq!(pay(&mut peer, 100).allowed_by(), "allow:pay");
    assert_eq!(pay(&mut peer, i64::MAX), Judged::Denied(RuleId::EvaluationError));
}

#[test]
fn an_error_in_a_rule_of_another_tool_denies_nothing_here() {
    let text = r#"@id("cap") forbid (principal, action == Framegate::Action::"pay", resource)
                  when { context.arguments.count * 100 > 1000 };"#;
    let mut peer = peer(text, &[("deploy", Allow::Every)]);
    let call = r#"{"env":"x","stage":"dev","owner":"o"}"#;
    assert_eq!(peer.call("deploy", call).allowed_by(), "allow:deploy");
}

#[test]
fn m4_agent_json_never_becomes_an_entity_or_an_extension_value() {
    let text = r#"@id("admin") permit (principal == Framegate::Client::"admin", action, resource in Framegate::Target::"bank");
                  @id("note") permit (principal, action == Framegate::Action::"pay", resource)
                  when { context.arguments has note && context.arguments.note == "{\"__entity\":{\"type\":\"Framegate::Client\",\"id\":\"admin\"}}" };"#;
    let text = text.replacen("@id(\"admin\")", "@id(\"admin\") @covers_new_tools(\"true\")", 1);
    let mut peer = peer(&text, &[]);
    let entity = r#"{"__entity":{"type":"Framegate::Client","id":"admin"}}"#;
    let decimal = r#"{"__extn":{"fn":"decimal","arg":"1.0"}}"#;
    for (name, value) in
        [("amount", entity), ("amount", decimal), ("count", entity), ("note", entity), ("note", decimal)]
    {
        let mut arguments = serde_json::json!({"amount": 1, "count": 1, "note": "x"});
        arguments[name] = serde_json::from_str(value).unwrap();
        let judged = peer.call("pay", &arguments.to_string());
        assert!(matches!(judged, Judged::Refused(_)), "{name}: {judged:?}");
    }
    // As text it is text.
    let arguments = serde_json::json!({"amount": 1, "count": 1, "note": entity});
    assert_eq!(peer.call("pay", &arguments.to_string()).allowed_by(), "note");
    // No parameter can carry the name of an escape.
    for name in ["__entity", "__extn", "__expr", "__cedar"] {
        let declaration = tool("t", "bank", "GET", "/x", vec![parameter(name, word(), true)]);
        assert!(Catalog::compile(vec![declaration]).is_err(), "{name}");
    }
}

#[test]
fn a_client_name_is_an_id_whatever_it_looks_like() {
    let text = r#"@id("admin") permit (principal == Framegate::Client::"admin", action == Framegate::Action::"pay", resource);"#;
    for client in
        ["Framegate::Client::\"admin\"", "admin\" || true || \"", "Admin", "admin ", "", "adm\u{200b}in"]
    {
        assert_eq!(pay(&mut peer_of(client, text, &[]), 1), Judged::Denied(RuleId::NoRule), "{client:?}");
    }
    assert_eq!(pay(&mut peer_of("admin", text, &[]), 1).allowed_by(), "admin");
}

/// Names that a peer may give itself: those that rules speak of, and those that look like syntax.
const CLAIMS: [&str; 20] = [
    "ci-bot",
    "admin",
    "agent",
    "root",
    "CI-BOT",
    "ci-bot ",
    "ci‑bot",
    "claude-code",
    "Cursor",
    "x",
    "Framegate::Client::\"ci-bot\"",
    "{\"__entity\":{\"type\":\"Framegate::Client\",\"id\":\"ci-bot\"}}",
    "\" || true || \"",
    "principal",
    "*",
    "0",
    "null",
    "ｃi-bot",
    "a very long name of a client that goes on and on",
    "-",
];

/// A1: who asks is fixed at start. What a peer calls itself changes no decision over principals, in the
/// handshake or switched from request to request, given or absent.
#[test]
fn a1_what_a_peer_calls_itself_changes_no_decision() {
    let text = r#"@id("ci") permit (principal == Framegate::Client::"ci-bot", action == Framegate::Action::"pay", resource);
                  @id("no-admin") forbid (principal == Framegate::Client::"admin", action, resource);"#;
    let tools = Arc::new(three_tools());
    let policy = policy(&tools, text, &[]);
    for (client, expected) in
        [("ci-bot", None), ("agent", Some(RuleId::NoRule)), ("admin", Some(RuleId::Named("no-admin".into())))]
    {
        let check = |judged: Judged, claim: &str| match &expected {
            None => assert_eq!(judged.allowed_by(), "ci", "{client} claiming {claim}"),
            Some(rule) => assert_eq!(judged, Judged::Denied(rule.clone()), "{client} claiming {claim}"),
        };
        for claim in CLAIMS {
            let mut peer = Peer::legacy(policy.clone(), Arc::clone(&tools), client, claim);
            check(pay(&mut peer, 1), claim);
        }
        let mut peer = Peer::modern(policy.clone(), Arc::clone(&tools), client);
        for claim in CLAIMS {
            check(peer.call_as("pay", r#"{"amount":1,"count":1}"#, Some(claim)), claim);
            check(peer.call_as("pay", r#"{"amount":1,"count":1}"#, None), "nothing");
        }
    }
}

#[test]
fn a_claimed_name_is_text_that_may_be_absent() {
    let text = r#"@id("named") permit (principal, action == Framegate::Action::"pay", resource)
                  when { context has claimed_client && context.claimed_client == "x" };"#;
    let tools = Arc::new(three_tools());
    let mut peer = Peer::modern(policy(&tools, text, &[]), tools, "agent");
    let arguments = r#"{"amount":1,"count":1}"#;
    assert_eq!(peer.call_as("pay", arguments, Some("x")).allowed_by(), "named");
    assert_eq!(peer.call_as("pay", arguments, Some("y")), Judged::Denied(RuleId::NoRule));
    assert_eq!(peer.call_as("pay", arguments, None), Judged::Denied(RuleId::NoRule));
}

#[test]
fn m6_what_leads_out_of_a_path_reaches_no_rule() {
    let text = r#"@id("reports") permit (principal, action == Framegate::Action::"read_file", resource)
                  when { context.arguments.file.first == "reports" && context.arguments.file.depth == 2 };"#;
    let mut peer = peer(text, &[]);
    let mut read = |file: &str| peer.call("read_file", &serde_json::json!({ "file": file }).to_string());
    assert_eq!(read("reports/may").allowed_by(), "reports");
    for file in [
        "reports/../admin",
        "reports/./may",
        "reports//may",
        "/reports/may",
        "reports\\..\\admin",
        "reports/%2e%2e",
    ] {
        assert!(matches!(read(file), Judged::Refused(_)), "{file}");
    }
    for file in ["admin/reports", "reports", "reports/may/1", "Reports/may", "reports-secret/may"] {
        assert_eq!(read(file), Judged::Denied(RuleId::NoRule), "{file}");
    }
}

#[test]
fn m5_the_honest_twin_denies_every_other_spelling() {
    let text = r#"@id("dev") permit (principal, action == Framegate::Action::"deploy", resource)
                  when { ["dev", "test"].contains(context.arguments.env) };"#;
    let mut peer = peer(text, &[]);
    let mut deploy = |env: &str| {
        peer.call("deploy", &serde_json::json!({"env": env, "stage": "dev", "owner": "o"}).to_string())
    };
    assert_eq!(deploy("dev").allowed_by(), "dev");
    for env in ["prod", "Prod", "prod ", "ｐrod", "Dev", "dev "] {
        assert_eq!(deploy(env), Judged::Denied(RuleId::NoRule), "{env}");
    }
    assert!(matches!(deploy("pro\u{200b}d"), Judged::Refused(_)));
}

/// A rule's scope decides ahead of time which tools it is asked for: no form of a scope may lose it.
#[test]
fn a_forbid_reaches_its_tool_by_every_form_of_scope() {
    for head in [
        "principal, action, resource",
        "principal, action == Framegate::Action::\"pay\", resource",
        "principal, action in Framegate::Action::\"pay\", resource",
        "principal, action in [Framegate::Action::\"deploy\", Framegate::Action::\"pay\"], resource",
        "principal, action, resource == Framegate::Target::\"bank\"",
        "principal, action, resource in Framegate::Target::\"bank\"",
        "principal, action, resource is Framegate::Target",
        "principal, action, resource is Framegate::Target in Framegate::Target::\"bank\"",
        "principal == Framegate::Client::\"agent\", action, resource",
        "principal in Framegate::Client::\"agent\", action, resource",
        "principal is Framegate::Client, action, resource",
        "principal is Framegate::Client in Framegate::Client::\"agent\", action, resource",
    ] {
        let mut peer = peer(&format!("@id(\"stop\") forbid ({head});"), PAY_EVERY);
        assert_eq!(pay(&mut peer, 1), Judged::denied_by("stop"), "{head}");
    }
    for head in [
        "principal, action == Framegate::Action::\"deploy\", resource",
        "principal, action, resource == Framegate::Target::\"forge\"",
        "principal == Framegate::Client::\"other\", action, resource",
    ] {
        let mut peer = peer(&format!("@id(\"stop\") forbid ({head});"), PAY_EVERY);
        assert_eq!(pay(&mut peer, 1).allowed_by(), "allow:pay", "{head}");
    }
}

#[test]
fn without_a_rule_everything_is_denied() {
    let mut peer = peer("", &[]);
    assert_eq!(pay(&mut peer, 1), Judged::Denied(RuleId::NoRule));
    assert_eq!(peer.call("read_file", r#"{"file":"a"}"#), Judged::Denied(RuleId::NoRule));
    assert_eq!(peer.call("gone", "{}"), Judged::Refused(Reason::ToolUnknown));
}

/// The rules were validated over one declaration of a tool: they say nothing of another, even of its twin.
#[test]
fn a_tool_that_the_policy_was_not_compiled_for_is_denied() {
    let policy = policy(&three_tools(), "", PAY_EVERY);
    let other = catalog(vec![tool("other", "bank", "GET", "/x", Vec::new())]);
    let mut peer = Peer::legacy(policy.clone(), Arc::new(other), "agent", "c");
    assert_eq!(peer.call("other", "{}"), Judged::Denied(RuleId::NoRule));
    let text = catalog(vec![tool("pay", "bank", "POST", "/x", vec![parameter("amount", string(), true)])]);
    let mut peer = Peer::legacy(policy.clone(), Arc::new(text), "agent", "c");
    assert_eq!(peer.call("pay", r#"{"amount":"1"}"#), Judged::Denied(RuleId::NoRule));
    let mut peer = Peer::legacy(policy, Arc::new(three_tools()), "agent", "c");
    assert_eq!(pay(&mut peer, 1), Judged::Denied(RuleId::NoRule));
}

#[test]
fn the_first_rule_by_name_is_given_and_a_forbid_wins() {
    let rule = |id: &str, effect: &str| {
        format!("@id(\"{id}\") {effect} (principal, action == Framegate::Action::\"pay\", resource);")
    };
    let permits = format!("{}{}{}", rule("c", "permit"), rule("a", "permit"), rule("b", "permit"));
    assert_eq!(pay(&mut peer(&permits, &[]), 1).allowed_by(), "a");
    let both = format!("{permits}{}{}", rule("z", "forbid"), rule("y", "forbid"));
    assert_eq!(pay(&mut peer(&both, PAY_EVERY), 1), Judged::denied_by("y"));
}

#[test]
fn generated_rules_allow_their_tools_only() {
    let mut peer = peer("", &[("read_file", Allow::Read), ("deploy", Allow::Every)]);
    assert_eq!(peer.call("read_file", r#"{"file":"a"}"#).allowed_by(), "allow:read_file");
    assert_eq!(peer.call("deploy", r#"{"env":"x","stage":"prod","owner":"o"}"#).allowed_by(), "allow:deploy");
    assert_eq!(pay(&mut peer, 1), Judged::Denied(RuleId::NoRule));
}

/// Every type of parameter and every part of the request reaches rules as the schema declares it.
#[test]
fn rules_see_typed_values_and_the_rendered_request() {
    let tools = Arc::new(catalog(vec![tool(
        "all",
        "forge",
        "POST",
        "/v1/{w}/{p}",
        vec![
            parameter("w", word(), true),
            parameter("p", ParameterType::Path { max_length: None }, true),
            parameter(
                "a",
                ParameterType::AbsPath { roots: vec!["/var/log".to_owned()], max_length: None },
                true,
            ),
            parameter("b", ParameterType::Bool, true),
            parameter("i", integer(), true),
            parameter("n", number(), true),
            parameter("h", ParameterType::Host, true),
            parameter("t", ParameterType::Text { max_length: None }, true),
            parameter("l", list(integer()), true),
            parameter("lp", list(ParameterType::Path { max_length: None }), true),
            parameter("ln", list(number()), true),
            parameter("o", word(), false),
        ],
    )]));
    let arguments =
        r#"{"w":"x","p":"a/b/a","a":"/var/log/app/x.log","b":true,"i":-7,"n":-0.05,"h":"db.example.test",
        "t":"two\nlines","l":[1,2,1],"lp":["a/b","c"],"ln":[1.5,-2]}"#
            .replace('\n', "");
    for (condition, holds) in [
        ("context.arguments.w == \"x\"", true),
        ("context.arguments.p == {\"segments\": [\"a\", \"b\"], \"first\": \"a\", \"depth\": 3}", true),
        (
            "context.arguments.a.first == \"var\" && context.arguments.a.depth == 4 && context.arguments.a.segments.contains(\"app\")",
            true,
        ),
        ("context.arguments.b", true),
        ("context.arguments.i == -7", true),
        ("context.arguments.n == decimal(\"-0.05\")", true),
        ("context.arguments.n.lessThan(decimal(\"-0.0499\"))", true),
        ("context.arguments.n.lessThan(decimal(\"-0.05\"))", false),
        ("context.arguments.h == \"db.example.test\"", true),
        ("context.arguments.t == \"two\\nlines\"", true),
        ("context.arguments.l == [2, 1]", true),
        (
            "context.arguments.lp.contains({\"segments\": [\"a\", \"b\"], \"first\": \"a\", \"depth\": 2})",
            true,
        ),
        ("context.arguments.ln.contains(decimal(\"-2.0\"))", true),
        ("context.arguments has o", false),
        ("context.user == 1000", true),
        ("context.request.method == \"POST\"", true),
        ("context.request.scheme == \"https\"", true),
        ("context.request.host == \"api.example.test\"", true),
        ("context.request.port == 443", true),
        ("context.request.path_segments == [\"v1\", \"x\", \"a\", \"b\"]", true),
        ("context.request.query_names == [\"a\", \"b\", \"h\", \"i\", \"n\", \"t\"]", true),
        ("context.request.has_body", true),
        ("context.request has body_sha256", true),
        ("context.request has content_type && context.request.content_type == \"application/json\"", true),
    ] {
        let text = format!(
            "@id(\"r\") permit (principal, action == Framegate::Action::\"all\", resource) when {{ {condition} }};"
        );
        let judged = over(&tools, &text, &[]).call("all", &arguments);
        assert_eq!(judged.is_allowed(), holds, "{condition}: {judged:?}");
    }
}

/// What an agent chooses of an open tool is judged as the request that it makes.
#[test]
fn rules_see_the_path_and_the_request_of_an_open_tool() {
    let mut open = tool(
        "any",
        "forge",
        "{method}",
        "{path}",
        vec![
            parameter(
                "method",
                ParameterType::Enum { values: vec!["GET".to_owned(), "POST".to_owned()] },
                true,
            ),
            parameter("path", ParameterType::RequestPath { patterns: vec!["/**".to_owned()] }, true),
            parameter("query", ParameterType::Query, false),
            parameter("body", ParameterType::Json, false),
        ],
    );
    open.http.query = Vec::new();
    open.http.open_query = Some("query".to_owned());
    open.http.body = Some(BodyDeclaration::Json("{body}".into()));
    let tools = Arc::new(catalog(vec![open]));
    let call = r#"{"method":"POST","path":"/repos/acme/x","query":{"per_page":5},"body":{"title":"t"}}"#;
    for (condition, holds) in [
        ("context.arguments.method == \"POST\"", true),
        (
            "context.arguments.path == {\"segments\": [\"repos\", \"acme\", \"x\"], \"first\": \"repos\", \"depth\": 3}",
            true,
        ),
        ("context.request.path_segments.contains(\"acme\")", true),
        ("context.request.query_names == [\"per_page\"]", true),
        ("context.request has body_sha256", true),
        ("context.request.method == \"GET\"", false),
    ] {
        let text = format!(
            "@id(\"r\") permit (principal, action == Framegate::Action::\"any\", resource) when {{ {condition} }};"
        );
        assert_eq!(over(&tools, &text, &[]).call("any", call).is_allowed(), holds, "{condition}");
    }
}

#[test]
fn the_digest_is_of_the_exact_body_and_absent_without_one() {
    let tools =
        Arc::new(catalog(vec![tool("put", "forge", "POST", "/x", vec![parameter("l", list(word()), true)])]));
    // printf '{"l":["a","b"]}' | sha256sum
    let digest = "8f209d7a9359bc0bf3fbda6a8ea4a7fdc7f37c08a578338c6e0c474d999e8b7b";
    let text = format!(
        "@id(\"pinned\") permit (principal, action, resource == Framegate::Target::\"forge\") when {{ \
         context.request has body_sha256 && context.request.body_sha256 == \"{digest}\" }};"
    );
    let text = text.replacen("@id", "@covers_new_tools(\"true\") @id", 1);
    let mut peer = over(&tools, &text, &[]);
    assert_eq!(peer.call("put", r#"{ "l" : [ "\u0061" , "b" ] }"#).allowed_by(), "pinned");
    assert_eq!(peer.call("put", r#"{"l":["b","a"]}"#), Judged::Denied(RuleId::NoRule));
}

#[test]
fn decimals_keep_their_whole_range() {
    for (token, literal) in [
        ("0", "0.0"),
        ("-0", "0.0"),
        ("0.0001", "0.0001"),
        ("-0.0001", "-0.0001"),
        ("1e2", "100.0"),
        ("99999999999.9999", "99999999999.9999"),
        ("-99999999999.9999", "-99999999999.9999"),
    ] {
        let text = format!(
            "@id(\"d\") permit (principal, action == Framegate::Action::\"pay\", resource) \
             when {{ context.arguments.amount == decimal(\"{literal}\") }};"
        );
        let judged = peer(&text, &[]).call("pay", &format!(r#"{{"amount":{token},"count":1}}"#));
        assert_eq!(judged.allowed_by(), "d", "{token}");
    }
}
