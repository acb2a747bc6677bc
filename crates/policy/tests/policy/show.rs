//! What operators are shown: the schema, generated rules, the matrix.

use framegate_policy::{Allow, generate, schema_text};

use crate::fixture::{catalog, compile, parameter, three_tools, tool, values, word};

#[test]
fn the_schema_of_the_tools_reads_as_expected() {
    insta::assert_snapshot!(schema_text(&three_tools()).unwrap());
}

#[test]
fn the_schema_is_one_that_cedar_reads_even_without_tools_or_with_odd_names() {
    assert!(framegate_policy::CedarPolicy::compile(Default::default(), &catalog(Vec::new())).is_ok());
    let odd = catalog(vec![tool(
        "if",
        "a \"quoted\\\" targeté",
        "GET",
        "/x",
        vec![parameter("in", word(), false), parameter("like", word(), true), parameter("has", word(), true)],
    )]);
    let policy = framegate_policy::CedarPolicy::compile(
        crate::fixture::sources(
            "@id(\"r\") permit (principal, action == Framegate::Action::\"if\", resource)\n\
             when { context.arguments[\"like\"] == \"x\" && context.arguments has \"in\" && context.arguments[\"in\"] == \"y\" };",
            &[("if", Allow::Read)],
        ),
        &odd,
    );
    assert!(policy.is_ok(), "{:#?}", policy.err());
    for tools in [&odd, &three_tools(), &catalog(Vec::new())] {
        let text = schema_text(tools).unwrap();
        assert!(cedar_policy::Schema::from_cedarschema_str(&text).is_ok(), "{text}");
    }
}

#[test]
fn generated_rules_read_as_expected() {
    let allows = [("read_file".to_owned(), Allow::Read), ("deploy".to_owned(), Allow::Every)];
    insta::assert_snapshot!(generate(&allows, &three_tools()).unwrap());
    assert_eq!(generate(&[], &three_tools()).unwrap(), "");
}

#[test]
fn an_allow_that_does_not_fit_its_tool_is_refused() {
    let method = || parameter("method", values(&["GET", "DELETE"]), true);
    let tools = catalog(vec![
        tool("by_method", "forge", "{method}", "/x", vec![method()]),
        tool("pay", "bank", "POST", "/x", Vec::new()),
        tool("look", "bank", "GET", "/x", Vec::new()),
    ]);
    for (allows, expected) in [
        (
            vec![("pay", Allow::Read)],
            "`allow` of tool `pay`: `allow = \"read\"` is for tools whose methods are all safe",
        ),
        (
            vec![("by_method", Allow::Read)],
            "`allow` of tool `by_method`: `allow = \"read\"` is for tools whose methods are all safe",
        ),
        (vec![("gone\u{1b}", Allow::Every)], "`allow` of tool `gone\\u{1b}`: there is no such tool"),
        (
            vec![("look", Allow::Read), ("look", Allow::Every)],
            "`allow` of tool `look`: a tool has one `allow`",
        ),
    ] {
        let allows: Vec<(String, Allow)> =
            allows.into_iter().map(|(tool, allow)| (tool.to_owned(), allow)).collect();
        let faults = generate(&allows, &tools).unwrap_err();
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    }
}

/// A6: what `config check` prints.
#[test]
fn the_matrix_says_whose_scope_matches() {
    let text = r#"
        @id("no-force") forbid (principal, action in [Framegate::Action::"deploy", Framegate::Action::"pay"], resource == Framegate::Target::"forge")
            when { context.arguments has force && context.arguments.force };
        @id("ci") permit (principal == Framegate::Client::"ci", action == Framegate::Action::"deploy", resource)
            when { context.arguments.stage == "dev" };
        @id("stop") forbid (principal == Framegate::Client::"guest", action, resource is Framegate::Target);
        @id("all-of-forge") @covers_new_tools("true") permit (principal, action, resource == Framegate::Target::"forge");
    "#;
    let policy = compile(text, &[("read_file", Allow::Read)]).unwrap();
    insta::assert_snapshot!(policy.matrix());
    let rows: Vec<(&str, bool)> =
        policy.matrix().rows.iter().map(|row| (row.tool.as_str(), row.has_permit())).collect();
    assert_eq!(rows, [("deploy", true), ("pay", false), ("read_file", true)]);
}
