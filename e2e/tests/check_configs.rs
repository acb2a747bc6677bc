//! `framegate check --config` through the release binary: the servers of clients' configurations, really started.
//!
//! Belongs here: what a client's configuration sets reaches the server, and nothing of it a reader; which servers are
//! judged; `--as`. Does not belong here: what is judged (`check.rs`), every notation of every client (unit tests).

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use framegate_e2e::{binary, parallel};
use serde_json::{Value, json};

/// Longer than any machine needs, in seconds: nothing that is right is judged by how fast it is.
const PATIENT: &str = "60";
/// The value of a variable in a configuration. Its quotes are written otherwise in most forms of a report.
const SECRET: &str = "s3cret-\"quoted\"-value";
/// The beginning of [`SECRET`], as every form would write it.
const SECRET_START: &str = "s3cret";

/// A folder with a script that notes its variables and its folder, says what it is told to, and is then a planted server.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn make() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!(
            "env >> \"$1\"; pwd > \"$1.folder\"; eval \"$4\"; exec '{}' \"$3\" \"$2\"\n",
            env!("CARGO_BIN_EXE_planted")
        );
        std::fs::write(folder.path().join("start.sh"), script).expect("a script");
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text_of(&self, name: &str) -> String {
        self.path(name).to_str().expect("a plain path").to_owned()
    }

    /// The arguments of `sh` for a server with this fault, which first says what `says` does.
    fn arguments(&self, log: &str, fault: &str, says: &str) -> [String; 5] {
        let words = [self.text_of("start.sh"), self.text_of(log)];
        let [script, log] = words;
        [script, log, fault.to_owned(), "{effect.dir}".to_owned(), says.to_owned()]
    }

    /// An entry of `mcpServers`.
    fn entry(&self, fault: &str) -> Value {
        json!({"command": "sh", "args": self.arguments("log", fault, "")})
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.path(name), text).expect("a file");
        self.text_of(name)
    }

    fn configuration(&self, servers: &Value) -> String {
        self.write("mcp.json", &json!({ "mcpServers": servers }).to_string())
    }

    /// The variables that the server had, launch after launch.
    fn variables(&self, log: &str) -> Vec<(String, String)> {
        let text = std::fs::read_to_string(self.path(log)).expect("the server was started");
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    fn variable(&self, log: &str, name: &str) -> Option<String> {
        self.variables(log).into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

fn check(options: &[&str]) -> Output {
    command(options).output().expect("the program starts")
}

fn command(options: &[&str]) -> Command {
    let mut command = Command::new(binary::program());
    command.args(["check", "--timeout", PATIENT]).args(options).stdin(Stdio::null());
    command
}

fn text(output: &Output) -> String {
    format!("{}\n{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn report(file: &Path) -> Value {
    let text = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    serde_json::from_slice(&text).expect("JSON")
}

const ONE: [&str; 2] = ["--only", "plain/session"];

/// Each shape: its name, the file, and whether its client names a working folder.
fn shapes(place: &Place) -> Vec<(&'static str, String, bool)> {
    let words = |log: &str| place.arguments(log, "none", "");
    let (log, folder) = (|name: &str| json!(words(name)), place.text_of("sub"));
    let environment = json!({ "SET": SECRET });
    let with_sh = |name: &str| {
        let words = words(name);
        json!(["sh"].into_iter().chain(words.iter().map(String::as_str)).collect::<Vec<_>>())
    };
    let mut all = vec![
        (
            "mcp-servers",
            json!({"mcpServers": {"s": {"command": "sh", "args": log("mcp-servers"), "env": environment, "cwd": folder}}}),
            true,
        ),
        (
            "project",
            json!({"projects": {&folder: {"mcpServers": {"s": {"command": "sh", "args": log("project"), "env": environment}}}}}),
            true,
        ),
        (
            "vs-code",
            json!({"servers": {"s": {"type": "stdio", "command": "sh", "args": log("vs-code"), "env": environment, "cwd": folder}}}),
            true,
        ),
        (
            "settings",
            json!({"mcp": {"servers": {"s": {"command": "sh", "args": log("settings"), "env": environment, "cwd": folder}}}}),
            true,
        ),
        (
            "zed-flat",
            json!({"context_servers": {"s": {"command": "sh", "args": log("zed-flat"), "env": environment}}}),
            false,
        ),
        (
            "zed-nested",
            json!({"context_servers": {"s": {"command": {"path": "sh", "args": log("zed-nested"), "env": environment}}}}),
            false,
        ),
        (
            "opencode",
            json!({"mcp": {"s": {"type": "local", "command": with_sh("opencode"), "environment": environment, "cwd": folder}}}),
            true,
        ),
    ]
    .into_iter()
    // What editors write: comments, and a comma behind the last member.
    .map(|(name, value, has_folder)| {
        let text = value.to_string();
        let open = text.strip_suffix('}').expect("an object");
        (name, format!("// {name}\n{open},\n}}\n"), has_folder)
    })
    .collect::<Vec<_>>();
    // A JSON string is one of TOML and of YAML too.
    all.push((
        "codex",
        format!(
            "[mcp_servers.s]\ncommand = \"sh\"\nargs = {}\ncwd = {}\n[mcp_servers.s.env]\nSET = {}\n",
            log("codex"),
            json!(folder),
            json!(SECRET)
        ),
        true,
    ));
    all.push((
        "goose",
        format!(
            "extensions:\n  s:\n    type: stdio\n    enabled: true\n    cmd: sh\n    args: {}\n    envs:\n      SET: {}\n",
            log("goose"),
            json!(SECRET)
        ),
        false,
    ));
    all
}

#[test]
fn servers_of_every_shape_are_started_as_their_client_starts_them() {
    let place = Place::make();
    std::fs::create_dir(place.path("sub")).expect("a folder");
    let shapes = shapes(&place);
    parallel::run(
        &shapes,
        || (),
        |(), (name, configuration, has_folder)| {
            // The name of a file says nothing.
            let file = place.write(&format!("{name}.conf"), configuration);
            let output = check(&[&ONE[..], &["--config", &file]].concat());
            assert_eq!(output.status.code(), Some(0), "{name}: {}", text(&output));
            assert_eq!(place.variable(name, "SET").as_deref(), Some(SECRET), "{name}");
            let folder = std::fs::read_to_string(place.path(&format!("{name}.folder"))).expect("a folder");
            let expected =
                if *has_folder { place.path("sub") } else { std::env::current_dir().expect("one") };
            let real = |path: &Path| path.canonicalize().expect("it exists");
            assert_eq!(real(Path::new(folder.trim_end())), real(&expected), "{name}");
            assert!(!text(&output).contains(SECRET_START), "{name}: {}", text(&output));
        },
    );
}

/// Also of a server that repeats it everywhere it can.
#[test]
fn a_value_of_the_environment_is_in_no_output() {
    let place = Place::make();
    let says = "echo \"token $SET\"; echo \"{\\\"token\\\":\\\"$ARGUMENT\\\"}\"; echo \"$SET $ARGUMENT\" >&2";
    let mut arguments = place.arguments("log", "none", says).to_vec();
    arguments.extend(["--key=${env:ARGUMENT}".to_owned(), SECRET.to_owned()]);
    let environment = json!({"SET": SECRET, "ARGUMENT": "${ARGUMENT}"});
    let file =
        place.configuration(&json!({"says": {"command": "sh", "args": arguments, "env": environment}}));
    let evidence = place.text_of("evidence");
    let forms = ["html", "json", "junit", "md", "sarif", "tap"];
    let reports: Vec<_> = forms.iter().map(|form| format!("{form}={}", place.text_of(form))).collect();
    let mut options = vec!["--config", &file, "--evidence", &evidence];
    reports.iter().for_each(|report| options.extend(["--report", report]));
    let output =
        command(&options).env("ARGUMENT", "s3cret-of-the-shell").output().expect("the program starts");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(place.variable("log", "ARGUMENT").as_deref(), Some("s3cret-of-the-shell"));
    assert!(text(&output).contains("token *********************"), "{}", text(&output));
    assert!(text(&output).contains("--server says"), "{}", text(&output));
    assert!(!text(&output).contains(SECRET_START), "{}", text(&output));
    let mut files: Vec<_> = forms.iter().map(|form| place.path(form)).collect();
    let mut folders = vec![place.path("evidence")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    assert!(files.iter().any(|file| file.ends_with("says/plain.session/stdout.bin")), "{files:?}");
    for file in files {
        let content = String::from_utf8_lossy(&std::fs::read(&file).expect("a file")).into_owned();
        assert!(!content.contains(SECRET_START), "{}: {content}", file.display());
        // In hexadecimal, as the first wrong bytes are shown.
        assert!(!content.contains("73 33 63 72 65 74"), "{}: {content}", file.display());
    }
    let report = report(&place.path("json"));
    assert_eq!(report["server"], "says");
    assert_eq!(report["command"][6], "--key=${env:ARGUMENT}");
    assert_eq!(report["command"][7], "*".repeat(SECRET.len()));
}

#[test]
fn several_servers_are_judged_one_after_the_other_and_the_worst_is_the_exit_code() {
    let place = Place::make();
    let missing = json!({"command": "/nonexistent/server"});
    let nowhere = json!({"command": "sh", "cwd": "/nonexistent/folder"});
    let remote = json!({"type": "http", "url": "https://example.com/mcp"});
    let off = json!({"command": "sh", "disabled": true});
    let servers = json!({
        "clean": place.entry("none"), "dirty": place.entry("banner"), "missing": missing, "nowhere": nowhere,
        "remote": remote, "off": off,
    });
    let file = place.configuration(&servers);
    let reports = format!("json={}", place.text_of("{server}.json"));
    let with = |servers: &[&str]| {
        let mut options = [&ONE[..], &["--config", &file, "--report", &reports]].concat();
        servers.iter().for_each(|server| options.extend(["--server", server]));
        check(&options)
    };
    assert_eq!(with(&["clean", "off"]).status.code(), Some(0));
    assert_eq!(with(&["dirty", "clean"]).status.code(), Some(1));
    let output = with(&[]);
    assert_eq!(output.status.code(), Some(69), "{}", text(&output));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let table: Vec<_> = said.lines().skip_while(|line| !line.starts_with("server   ")).collect();
    assert_eq!(
        table,
        [
            "server   pass  fail  policy-gap  inconclusive  unavailable  hung  skipped",
            "clean       1     0           0             0            0     0        0",
            "dirty       0     1           0             0            0     0        0",
            "missing     0     0           0             0            1     0        0",
            "nowhere     0     0           0             0            1     0        0",
            "skipped: remote: not on stdio (`http`)",
            "skipped: off: disabled",
        ],
        "{said}"
    );
    assert!(said.contains("server dirty\n\nFAIL (stdout-dirty)  plain/session"), "{said}");
    assert!(said.contains("`/nonexistent/server`: No such file"), "{said}");
    assert!(said.contains("its working folder does not exist"), "{said}");
    let verdict = |server: &str| {
        let report = report(&place.path(&format!("{server}.json")));
        (report["server"].clone(), report["cases"][0]["verdict"].clone())
    };
    for (server, expected) in [("clean", "pass"), ("dirty", "fail"), ("missing", "unavailable")] {
        assert_eq!(verdict(server), (json!(server), json!(expected)));
    }
}

/// The command that a report gives shows the failure again.
#[test]
fn a_failure_of_a_configured_server_can_be_shown_again() {
    let place = Place::make();
    let name = "it's \u{1b}[31mred\u{202e}";
    let mut entry = place.entry("banner");
    entry["env"] = json!({ "SET": SECRET });
    let file = place.configuration(&json!({ name: entry, "other": place.entry("none") }));
    let report = format!("junit={}", place.text_of("{server}.xml"));
    let output = check(&[
        "--config",
        &file,
        "--server",
        name,
        "--report",
        &report,
        "--as",
        "python-sdk",
        "--jobs",
        "2",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    let said = text(&output);
    assert!(!said.contains('\u{1b}') && !said.contains('\u{202e}'), "{said:?}");
    assert!(said.contains("server it's \\x1b[31mred\\xe2\\x80\\xae"), "{said}");
    let kept = std::fs::read_to_string(place.path("it%27s%20%1b%5b31mred%e2%80%ae.xml")).expect("a report");
    assert!(!kept.contains('\u{1b}') && kept.contains("failures=\""), "{kept}");
    let again = said.lines().find_map(|line| line.trim().strip_prefix("again: ")).expect("a command");
    assert!(again.contains("--as python-sdk") && !again.contains(SECRET_START), "{again}");
    let program = binary::program().display().to_string();
    let again = again.replacen("framegate", &program, 1);
    std::fs::remove_file(place.path("log")).expect("the server was started");
    let output = Command::new("sh").args(["-c", &again]).stdin(Stdio::null()).output().expect("a shell");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output));
    assert_eq!(place.variable("log", "SET").as_deref(), Some(SECRET));
}

#[test]
fn faults_are_told_in_one_line_and_nothing_is_started() {
    let place = Place::make();
    let file = place.configuration(&json!({"a": place.entry("none"), "b": place.entry("none")}));
    let remote = place.write("remote.json", "{\"mcpServers\": {\"\\u001b[31m\": {\"url\": \"https://x\"}}}");
    let none = place.write("none.json", "{\"mcpServers\": {}}");
    let package = place.write("package.json", "{\"name\": \"x\", \"version\": \"1\"}");
    let broken = place.write("broken.json", &format!("{{\"mcpServers\": {{\"a\": {SECRET}"));
    let missing = place.text_of("missing.json");
    let json = format!("json={}", place.text_of("report.json"));
    let call = "probe_write={\"marker\":\"{marker}\"}";
    for (options, expected) in [
        (&["--config", &missing][..], "missing.json: No such file or directory"),
        (&["--config", &package], "no configuration of an MCP client: there is no `mcpServers`"),
        (&["--config", &broken], "broken.json: not JSON: line 1, column "),
        (&["--config", &none], "no server on stdio to check: it names none"),
        (&["--config", &remote], "no server on stdio to check: \\u{1b}[31m (not on stdio (`url`))"),
        (&["--config", &file, "--server", "c"], "no server `c`; there are: a, b"),
        (&["--config", &file, "--report", &json], "write {server} into"),
        (&["--config", &file, "--call", call], "--call with --config needs one --server"),
        (&["--config", &file, "--server", "a", "--server", "b", "--call", call], "needs one --server"),
    ] {
        let output = check(options);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{options:?}: {said}");
        assert!(said.contains(expected), "{options:?}: {said}");
        assert!(!said.contains(SECRET_START) && !said.contains('\u{1b}'), "{options:?}: {said}");
    }
    for options in [
        &["--config", &file, "--", "sh"][..],
        &["--server", "a", "--", "sh"],
        &["--as", "cursor", "--", "sh"],
    ] {
        assert_eq!(check(options).status.code(), Some(2), "{options:?}");
    }
    assert!(!place.path("log").exists() && !place.path("report.json").exists());
}

/// Nothing hostile is sent to the servers of a configuration unless it is asked for.
#[test]
fn hostile_frames_are_sent_only_with_a_profile_that_has_them() {
    let place = Place::make();
    let file = place.configuration(&json!({"a": place.entry("none")}));
    let call = "probe_write={\"marker\":\"{marker}\"}";
    let id = "json-noise/noise-banner-same-line";
    let cases = |options: &[&str]| {
        let report_option = format!("json={}", place.text_of("report.json"));
        let output = check(&[options, &["--config", &file, "--report", &report_option]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let report = report(&place.path("report.json"));
        let cases = report["cases"].as_array().expect("cases");
        cases.iter().map(|case| case["id"].as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    let quiet = cases(&["--server", "a", "--call", call]);
    let is_plain = |id: &String| ["plain/", "launch/", "leak/"].iter().any(|start| id.starts_with(start));
    assert!(quiet.len() > 5 && quiet.iter().all(is_plain), "{quiet:?}");
    assert_eq!(cases(&["--server", "a", "--call", call, "--profile", "quick", "--only", id]), [id]);
}

/// Neither a launch that takes variables away nor one that adds some changes what the configuration sets.
#[test]
fn what_a_configuration_sets_is_set_in_every_launch() {
    let place = Place::make();
    let mut entry = place.entry("none");
    entry["env"] = json!({"API_KEY": SECRET, "DEBUG_OF_ITS_OWN": "1"});
    let file = place.configuration(&json!({ "a": entry }));
    for ours in [None, Some("ours")] {
        let _ = std::fs::remove_file(place.path("log"));
        let ids = ["--only", "launch/client-environment", "--only", "leak/canary"];
        let mut command = command(&[&ids[..], &["--config", &file]].concat());
        command.env_remove("API_KEY").envs(ours.map(|value| ("API_KEY", value)));
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        let variables = place.variables("log");
        let values_of = |wanted: &str| {
            let found = variables.iter().filter(|(name, _)| name == wanted);
            found.map(|(_, value)| value.as_str()).collect::<Vec<_>>()
        };
        let launches = values_of("DEBUG_OF_ITS_OWN").len();
        assert!(launches >= 3, "{launches}");
        assert_eq!(values_of("API_KEY"), vec![SECRET; launches], "{ours:?}");
    }
}

#[test]
fn a_clients_library_decides_what_is_inherited_and_who_says_hello() {
    let place = Place::make();
    let file = place.configuration(&json!({"a": {
        "command": "sh", "args": place.arguments("log", "banner", ""), "env": {"SET": "1"},
    }}));
    let arguments = place.arguments("log", "banner", "");
    let plain: Vec<&str> = ["--", "sh"].into_iter().chain(arguments.iter().map(String::as_str)).collect();
    for (target, set) in [(&["--config", file.as_str()][..], &["SET"][..]), (&plain[..], &[][..])] {
        for (client, all, name) in [
            (None, true, "framegate-check"),
            (Some("typescript-sdk"), false, "framegate-check"),
            (Some("python-sdk"), false, "mcp"),
            (Some("rust-sdk"), true, "rmcp"),
        ] {
            let evidence = tempfile::tempdir().expect("a folder");
            let folder = evidence.path().join("kept");
            let mut options = vec!["--evidence", folder.to_str().expect("a plain path")];
            options.extend(ONE);
            options.extend(client.into_iter().flat_map(|client| ["--as", client]));
            let path = std::env::var_os("PATH").unwrap_or_default();
            let ours: [(&str, OsString); 5] = [
                ("PATH", path),
                ("HOME", "/tmp".into()),
                ("EXTRA", "1".into()),
                ("TERM", "dumb".into()),
                // A function, as an old shell exports it.
                ("USER", "() { :; }".into()),
            ];
            let _ = std::fs::remove_file(place.path("log"));
            let output =
                command(&[&options[..], target].concat()).env_clear().envs(ours).output().expect("it starts");
            assert_eq!(output.status.code(), Some(1), "{client:?}: {}", text(&output));
            let had: BTreeSet<_> = place.variables("log").into_iter().map(|(name, _)| name).collect();
            // These the shell sets itself.
            let had: BTreeSet<_> = had
                .iter()
                .map(String::as_str)
                .filter(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name))
                .collect();
            let inherited: &[&str] =
                if all { &["PATH", "HOME", "TERM", "EXTRA", "USER"] } else { &["PATH", "HOME", "TERM"] };
            let expected: BTreeSet<_> = inherited.iter().chain(set).copied().collect();
            assert_eq!(had, expected, "{client:?}");
            let case = if set.is_empty() { "plain.session" } else { "a/plain.session" };
            let sent = std::fs::read_to_string(folder.join(case).join("stdin.bin")).expect("evidence");
            let hello: Value = serde_json::from_str(sent.lines().next().expect("a line")).expect("JSON");
            assert_eq!(hello["params"]["clientInfo"]["name"], name, "{client:?}");
        }
    }
}
