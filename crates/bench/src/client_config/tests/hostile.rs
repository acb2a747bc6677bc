//! Files that are no client's, or not as a client writes them.
//!
//! Belongs here: that each is refused in one line that shows no value. Does not belong here: what is read.

use std::io::Write;

use super::*;

fn fault(text: &str) -> String {
    let fault = read_text(text).expect_err(text).to_string();
    assert!(!fault.contains('\n') && fault.chars().all(|character| !character.is_control()), "{fault:?}");
    assert!(!fault.contains("s3cret"), "{fault}");
    fault
}

#[test]
fn what_is_no_clients_configuration() {
    for text in [
        "",
        "{}",
        "[]",
        "plain text",
        "- a\n- b",
        "# nothing\n",
        "{\"servers\": 5}",
        "{\"mcp\": {\"allowed\": []}}",
        "{\"extensions\": {\"disabled\": []}}",
        "{\"name\": \"x\", \"dependencies\": {\"a\": \"1\"}}",
        "[package]\nname = \"x\"",
    ] {
        assert!(fault(text).starts_with("no configuration of an MCP client"), "{text}: {}", fault(text));
    }
    let both = "{\"mcpServers\": {}, \"context_servers\": {}}";
    assert!(fault(both).contains("`mcpServers` and `context_servers` are two"), "{}", fault(both));
}

#[test]
fn what_is_in_no_language_is_told_with_its_place_and_without_its_text() {
    for (text, expected) in [
        ("{\"mcpServers\": {\"a\": {\"env\": {\"K\": s3cret}}}}", "not JSON: line 1, column 36"),
        ("{\n  \"mcpServers\": {}", "not JSON: line 2, column 19"),
        ("{'mcpServers': {}}", "not JSON: line 1, column 2"),
        ("[mcp_servers.a]\nenv = { K = s3cret }", "not TOML: line 2, column 13"),
        ("[a]\n[a]\nk = \"s3cret\"", "not TOML: line 2, column 2"),
        ("extensions:\n  a:\n    envs: {K: s3cret", "not YAML: line 3"),
        ("extensions:\n  a: {type: stdio}\n  a: {type: stdio}", "not YAML: line 3"),
        ("{\"mcpServers\": {}} {}", "not JSON: line 1, column 20"),
    ] {
        assert!(fault(text).starts_with(expected), "{text}: {}", fault(text));
    }
}

#[test]
fn wrong_members_are_told_with_their_place() {
    for (entry, expected) in [
        ("5", "`mcpServers.a` must be a table"),
        ("{}", "`mcpServers.a.command` is missing"),
        ("{\"command\": \"\"}", "`mcpServers.a.command` is empty"),
        ("{\"command\": [\"s3cret\"]}", "`mcpServers.a.command` must be a text"),
        ("{\"command\": \"x\", \"args\": \"s3cret\"}", "`mcpServers.a.args` must be a list"),
        ("{\"command\": \"x\", \"args\": [\"s3cret\", 1]}", "`mcpServers.a.args` must be a list of texts"),
        ("{\"command\": \"x\", \"env\": [\"s3cret\"]}", "`mcpServers.a.env` must be a table"),
        ("{\"command\": \"x\", \"env\": {\"K\": 1}}", "`mcpServers.a.env.K` must be a text"),
        (
            "{\"command\": \"x\", \"env\": {\"K=\": \"s3cret\"}}",
            "`mcpServers.a.env.K=` is no name of a variable",
        ),
        ("{\"command\": \"x\", \"env\": {\"\": \"s3cret\"}}", "`mcpServers.a.env.` is no name of a variable"),
        ("{\"command\": \"x\", \"disabled\": \"yes\"}", "`mcpServers.a.disabled` must be true or false"),
        ("{\"command\": \"x\\u0000\"}", "`mcpServers.a.command` holds a NUL"),
        ("{\"command\": \"x\", \"args\": [\"\\u0000\"]}", "`mcpServers.a.args` holds a NUL"),
        ("{\"command\": \"x\", \"cwd\": \"\\u0000\"}", "`mcpServers.a.cwd` holds a NUL"),
        ("{\"command\": \"x\", \"command\": \"y\"}", "`mcpServers.a.command` stands there twice"),
    ] {
        let text = format!("{{\"mcpServers\": {{\"a\": {entry}}}}}");
        assert!(fault(&text).starts_with(expected), "{text}: {}", fault(&text));
    }
    assert_eq!(fault("{\"mcpServers\": []}"), "`mcpServers` must be a table");
    let escape = "{\"mcpServers\": {\"\\u001b[31m\": 5}}";
    assert_eq!(fault(escape), "`mcpServers.\\u{1b}[31m` must be a table");
}

#[test]
fn a_name_that_stands_there_twice_is_refused() {
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}, \"a\": {\"command\": \"y\"}}}";
    assert!(fault(text).starts_with("`mcpServers.a` stands there twice"), "{}", fault(text));
    let text = "{\"mcpServers\": {\"a\": {\"command\": \"x\"}}, \"mcpServers\": {}}";
    assert!(fault(text).starts_with("`mcpServers` stands there twice"), "{}", fault(text));
    let text = "{\"mcpServers\": {\"a@/p\": {\"command\": \"x\"}}, \"projects\": {\"/p\": {\"mcpServers\": \
                {\"a\": {\"command\": \"y\"}}}}}";
    assert_eq!(fault(text), "two servers are named `a@/p`");
    // Where it is not one of ours, it is none of our business: editors take such files.
    let text = "{\"theme\": 1, \"theme\": 2, \"mcpServers\": {\"a\": {\"command\": \"x\"}}}";
    assert_eq!(lines(text), ["a: x"]);
}

#[test]
fn deep_files_end_in_a_fault_and_not_in_a_full_stack() {
    let deep = 200_000;
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let text = format!("{{\"mcpServers\": {}1{}}}", open.repeat(deep), close.repeat(deep));
        assert!(fault(&text).starts_with("not JSON"), "{open}: {}", fault(&text));
    }
    // What is no TOML for its depth may be one long text in YAML, which is no client's configuration either.
    for text in [format!("a = {}{}", "[".repeat(deep), "]".repeat(deep)), format!("[{}a]", "a.".repeat(deep))]
    {
        assert!(fault(&text).starts_with("no"), "{}", fault(&text));
    }
    let text = format!("a: {}{}", "[".repeat(deep), "]".repeat(deep));
    assert!(fault(&text).starts_with("not YAML"), "{}", fault(&text));
    // Nine lines that stand for a thousand million texts.
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..10 {
        let names = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{names}]\n"));
    }
    assert!(fault(&text).starts_with("not YAML"), "{}", fault(&text));
}

fn read_bytes(bytes: &[u8]) -> Result<Vec<Server>, ConfigError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read(file.path(), &Surroundings { folder: "/work/app".to_owned(), variable: &variable })
}

#[test]
fn files_are_utf_8_and_not_endless() {
    let fault = read_bytes(b"{\"mcpServers\": {\"a\": {\"command\": \"\xff\"}}}").unwrap_err();
    assert_eq!(fault.to_string(), "not UTF-8 at byte 34");
    let marked = read_bytes(b"\xef\xbb\xbf{\"mcpServers\": {\"a\": {\"command\": \"x\"}}}").unwrap();
    assert_eq!(marked.len(), 1);
    let long = |bytes: usize| {
        let history = "x".repeat(bytes);
        read_bytes(
            format!("{{\"h\": \"{history}\", \"mcpServers\": {{\"a\": {{\"command\": \"x\"}}}}}}").as_bytes(),
        )
    };
    assert_eq!(long(10 * 1024 * 1024).unwrap().len(), 1);
    assert_eq!(long(16 * 1024 * 1024).unwrap_err().to_string(), "longer than 16 MiB");
    let surroundings = Surroundings { folder: String::new(), variable: &variable };
    let endless = read(Path::new("/dev/zero"), &surroundings).unwrap_err();
    assert_eq!(endless.to_string(), "longer than 16 MiB");
    assert!(matches!(read(Path::new("/nonexistent"), &surroundings), Err(ConfigError::Read(_))));
    assert!(matches!(read(Path::new("/"), &surroundings), Err(ConfigError::Read(_))));
}
