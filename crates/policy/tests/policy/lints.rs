//! What a policy file must satisfy: one test for each way in which a rule can look like a control and be
//! none, with the honest twins that must be accepted.

use crate::fixture::{compile, faults, marked};
use framegate_policy::{Allow, Place};

/// The text is refused for this reason, at this word, and for no other.
#[track_caller]
fn refused(text: &str, allows: &[(&str, Allow)], reason: &str, word: &str) {
    let faults = faults(text, allows);
    assert_eq!(faults.len(), 1, "{text}\n{faults:#?}");
    assert!(faults[0].problem.contains(reason), "{text}\n{faults:#?}");
    assert_eq!(marked(text, &faults[0]), word, "{text}\n{faults:#?}");
    assert!(faults[0].hint.is_some(), "{text}\n{faults:#?}");
}

#[track_caller]
fn accepted(text: &str, allows: &[(&str, Allow)]) {
    if let Err(faults) = compile(text, allows) {
        panic!("{text}\n{faults:#?}");
    }
}

const EVERY_DEPLOY: &[(&str, Allow)] = &[("deploy", Allow::Every)];

fn forbid(condition: &str) -> String {
    format!(
        "@id(\"f\")\nforbid (principal, action == Framegate::Action::\"deploy\", resource)\n{condition};\n"
    )
}

fn permit(condition: &str) -> String {
    format!(
        "@id(\"p\")\npermit (principal, action == Framegate::Action::\"deploy\", resource)\n{condition};\n"
    )
}

#[test]
fn m5_forbidding_a_value_of_open_text_under_a_broad_permit_is_refused() {
    for (condition, word) in [
        ("when { context.arguments.env == \"prod\" }", "env"),
        ("when { context.arguments[\"env\"] == \"prod\" }", "\"env\""),
        ("when { \"prod\" == context.arguments.env }", "env"),
        ("when { [\"prod\", \"live\"].contains(context.arguments.env) }", "env"),
        ("when { context.arguments.env like \"prod*\" }", "env"),
        ("when { context.arguments.stage == \"dev\" && context.arguments.env == \"prod\" }", "env"),
        ("unless { context.arguments.env != \"prod\" }", "env"),
        ("unless { !(context.arguments.env == \"prod\") }", "env"),
        ("when { if context.arguments.env == \"prod\" then true else false }", "env"),
        ("when { (context.arguments.env == \"prod\") == true }", "env"),
        ("when { (context.arguments.env == \"prod\") != false }", "env"),
        ("when { {\"e\": context.arguments.env}.e == \"prod\" }", "env"),
        ("when { context.arguments.owner == \"acme\" }", "owner"),
        ("when { context.arguments has hook && context.arguments.hook == \"https://x.test/\" }", "hook"),
        ("when { context.arguments has labels && context.arguments.labels.contains(\"prod\") }", "labels"),
        ("when { context has claimed_client && context.claimed_client == \"bad\" }", "claimed_client"),
    ] {
        refused(&forbid(condition), EVERY_DEPLOY, "is open text: `allow:deploy` allows every spelling", word);
    }
}

#[test]
fn m5_a_permit_that_only_excludes_values_of_open_text_is_refused() {
    for condition in [
        "when { context.arguments.env != \"prod\" }",
        "unless { context.arguments.env == \"prod\" }",
        "when { !([\"prod\"].contains(context.arguments.env)) }",
        "when { context.arguments.stage == \"dev\" || context.arguments.env != \"prod\" }",
    ] {
        refused(&permit(condition), &[], "is open text: this permit allows every spelling", "env");
    }
}

#[test]
fn a_second_broad_permit_is_enough() {
    let text = format!(
        "{}{}{}",
        forbid("when { context.arguments.env == \"prod\" }"),
        permit("when { context.arguments.env == \"dev\" }"),
        "@id(\"wide\") permit (principal, action in [Framegate::Action::\"deploy\"], resource) \
         when { context.arguments.env == \"dev\" || context.arguments.stage == \"test\" };"
    );
    refused(&text, &[], "`wide` allows every spelling", "env");
}

#[test]
fn allowing_values_and_forbidding_closed_ones_is_accepted() {
    for condition in [
        "when { context.arguments.stage == \"prod\" }",
        "unless { context.arguments.env == \"dev\" }",
        "unless { [\"dev\", \"test\"].contains(context.arguments.env) }",
        "when { context.arguments.env != \"dev\" }",
        "when { !(context.arguments.env == \"dev\") }",
        "when { context.arguments has branch && context.arguments.branch == \"main\" }",
        "when { context.arguments has force && context.arguments.force }",
        "when { context.arguments has labels && !context.arguments.labels.isEmpty() }",
        "when { !(context has claimed_client) }",
        "when { context.user == 0 }",
    ] {
        accepted(&forbid(condition), EVERY_DEPLOY);
    }
    for condition in [
        "when { context.arguments.env == \"dev\" }",
        "when { [\"dev\", \"test\"].contains(context.arguments.env) && context.arguments.env != \"test\" }",
        "unless { context.arguments.env != \"dev\" || context.arguments.stage == \"prod\" }",
        "when { context.arguments has labels && [\"a\", \"b\"].containsAll(context.arguments.labels) }",
    ] {
        accepted(&permit(condition), &[]);
    }
    let narrow = permit("when { [\"dev\", \"test\"].contains(context.arguments.env) }");
    accepted(&format!("{narrow}{}", forbid("when { context.arguments.env == \"prod\" }")), &[]);
}

#[test]
fn m6_like_over_a_path_does_not_type_and_is_refused() {
    let rule = |condition: &str| {
        format!(
            "@id(\"r\")\npermit (principal, action == Framegate::Action::\"read_file\", resource)\nwhen {{ {condition} }};\n"
        )
    };
    for condition in
        ["context.arguments.file like \"reports*\"", "context.arguments.file.first like \"rep*\""]
    {
        refused(&rule(condition), &[], "`like` over `file`", "like");
    }
    let path_as_text = permit("when { context.arguments.env like \"reports/*\" }");
    refused(&path_as_text, &[], "also matches `reports/../admin`", "like");
    let url = permit("when { context.arguments has hook && context.arguments.hook like \"https:*\" }");
    refused(&url, &[], "`like` over `hook`", "like");
    accepted(&rule("context.arguments.file.first == \"reports\" && context.arguments.file.depth == 2"), &[]);
    accepted(&rule("context.arguments.file.segments.contains(\"reports\")"), &[]);
    accepted(&permit("when { context.request.host like \"*.example.test\" }"), &[]);
}

#[test]
fn a6_a_permit_that_names_no_action_must_say_that_it_covers_new_tools() {
    let reason = "also covers every tool that is declared later";
    for head in ["principal, action, resource", "principal, action, resource == Framegate::Target::\"forge\""]
    {
        refused(&format!("@id(\"w\") permit ({head});"), &[], reason, "permit");
        refused(&format!("@id(\"w\") @covers_new_tools(\"false\") permit ({head});"), &[], reason, "permit");
        accepted(&format!("@id(\"w\") @covers_new_tools(\"true\") permit ({head});"), &[]);
        accepted(&format!("@id(\"w\") forbid ({head});"), &[]);
    }
}

#[test]
fn every_rule_has_a_name_of_its_own() {
    let rule = "permit (principal, action == Framegate::Action::\"pay\", resource);";
    refused(rule, &[], "this rule has no name", "permit");
    refused(
        &format!("@id(\"a\")\n{rule}\n@id(\"a\") // again\n{rule}"),
        &[],
        "`a` is already the name of a rule in `policy.cedar`",
        "id",
    );
    refused(&format!("@id(\"allow:pay\") {rule}"), &[], "those of generated rules", "id");
    let long = "x".repeat(65);
    for name in ["", "a b", "a\\u{202e}", long.as_str()] {
        refused(&format!("@id(\"{name}\") {rule}"), &[], "is not a name for a rule", "id");
    }
    accepted(&format!("@id(\"a\") {rule} @id(\"b\") {rule}"), &[]);
}

#[test]
fn names_are_unique_across_files() {
    let rule = "@id(\"a\") permit (principal, action == Framegate::Action::\"pay\", resource);".to_owned();
    let mut sources = crate::fixture::sources(&rule, &[]);
    sources.files.push(("more.cedar".to_owned(), rule));
    let faults = framegate_policy::CedarPolicy::compile(sources, &crate::fixture::three_tools()).unwrap_err();
    assert_eq!(faults[0].to_string(), "more.cedar:1:2: `a` is already the name of a rule in `policy.cedar`");
    assert_eq!(faults.len(), 1);
}

#[test]
fn a_rule_that_can_never_match_is_refused() {
    for head in [
        "principal, action == Framegate::Action::\"pay\", resource == Framegate::Target::\"forge\"",
        "principal, action == Framegate::Action::\"gone\", resource",
        "principal, action, resource == Framegate::Target::\"gone\"",
    ] {
        refused(&format!("@id(\"n\") forbid ({head});"), &[], "it can never match", "forbid");
    }
    let impossible = "@id(\"n\") forbid (principal, action, resource) when { false };";
    let faults = faults(impossible, &[]);
    assert_eq!(faults.len(), 1);
    assert!(faults[0].problem.contains("impossible"), "{faults:?}");
}

#[test]
fn what_does_not_type_is_refused_in_its_place() {
    for (condition, word) in [
        ("context.arguments.amuont == 1", "context.arguments.amuont"),
        ("context.arguments.count == \"1\"", "context.arguments.count == \"1\""),
        ("context.arguments.note == \"x\"", "context.arguments.note"),
        ("context.claimed_client == \"x\"", "context.claimed_client"),
        ("context.secret == \"x\"", "context.secret"),
        ("principal.name == \"x\"", "principal.name"),
        ("context.claimed_client.name == \"x\"", "context.claimed_client.name"),
    ] {
        let text = format!(
            "// é\n@id(\"t\")\npermit (principal, action == Framegate::Action::\"pay\", resource)\nwhen {{ {condition} }};\n"
        );
        let faults = faults(&text, &[]);
        assert!(faults.iter().any(|fault| marked(&text, fault) == word), "{condition}\n{faults:#?}");
        assert!(faults.iter().all(|fault| !fault.problem.starts_with("for policy")), "{faults:#?}");
        assert!(
            faults.iter().all(
                |fault| matches!(&fault.place, Place::File { file, line: 4, .. } if file == "policy.cedar")
            ),
            "{faults:#?}"
        );
    }
}

#[test]
fn text_that_is_no_policy_is_refused_in_its_place() {
    for (text, word) in [
        ("@id(\"a\")\npermit (principal, action, resouce);", "resouce"),
        ("permit (principal action, resource);", "action"),
        ("permit (principal, action, resource)\n", ""),
    ] {
        let faults = faults(text, &[]);
        assert!(faults.iter().any(|fault| marked(text, fault) == word), "{text}\n{faults:#?}");
    }
}

#[test]
fn templates_are_refused() {
    let text =
        "@id(\"t\")\npermit (principal == ?principal, action == Framegate::Action::\"pay\", resource);";
    refused(text, &[], "is a template", "?");
}

#[test]
fn every_fault_is_reported_at_once_in_order() {
    let text = "permit (principal, action, resource);\n@id(\"x\") forbid (principal, action, resource) when { context.nothing };\n";
    let lines: Vec<String> = faults(text, &[]).iter().map(ToString::to_string).collect();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].starts_with("policy.cedar:1:1: "));
    assert!(lines[1].starts_with("policy.cedar:1:1: "));
    assert!(lines[2].starts_with("policy.cedar:2:"));
}

#[test]
fn characters_that_hide_what_a_rule_says_are_refused_and_never_shown_raw() {
    let text = "@id(\"b\") permit (principal == Framegate::Client::\"adm\u{202e}in\", action == Framegate::Action::\"pay\", resource);";
    let faults = faults(text, &[]);
    assert!(!faults.is_empty());
    assert!(faults.iter().all(|fault| !format!("{fault} {fault:?}").contains('\u{202e}')), "{faults:#?}");
}

#[test]
fn texts_that_mix_scripts_are_warned_of() {
    let rule = |name: &str| {
        format!(
            "@id(\"m\") permit (principal == Framegate::Client::\"{name}\", action == Framegate::Action::\"pay\", resource);"
        )
    };
    let policy = compile(&rule("аdmin"), &[]).unwrap();
    assert_eq!(policy.warnings().len(), 1, "{:#?}", policy.warnings());
    assert!(policy.warnings()[0].to_string().starts_with("policy.cedar:1:1: "), "{:#?}", policy.warnings());
    assert_eq!(compile(&rule("admin"), &[]).unwrap().warnings(), []);
}
