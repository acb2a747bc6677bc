//! One file of each shape, as its client writes it.
//!
//! Belongs here: what is read of each. Does not belong here: files that must not be read (`hostile`).

mod hostile;

use super::*;

fn variable(name: &str) -> Option<String> {
    match name {
        "HOME" => Some("/home/ada".to_owned()),
        "TOKEN" => Some("secret-of-the-shell".to_owned()),
        _ => None,
    }
}

fn read_text(text: &str) -> Result<Vec<Server>, ConfigError> {
    servers(text, &Surroundings { folder: "/work/app".to_owned(), variable: &variable })
}

/// Each server in one line: its command, folder, variables; or why it is skipped.
fn lines(text: &str) -> Vec<String> {
    let line = |server: Server| {
        let what = match server.start {
            Err(why) => format!("skipped: {why}"),
            Ok(start) => {
                let mut words: Vec<_> = start
                    .command
                    .iter()
                    .map(|part| start.environment.filled(part.to_str().unwrap()))
                    .collect();
                words.extend(start.folder.map(|folder| format!("in {}", folder.display())));
                words.extend(start.environment.variables().map(|(name, value)| {
                    format!("{}={}", name.to_str().unwrap(), value.unwrap().to_str().unwrap())
                }));
                words.join(" ")
            }
        };
        format!("{}: {what}", server.name)
    };
    read_text(text).unwrap_or_else(|fault| panic!("{fault}")).into_iter().map(line).collect()
}

#[test]
fn mcp_servers_of_desktop_clients() {
    let text = r#"{
      "globalShortcut": "Ctrl+Space",
      "mcpServers": {
        "filesystem": {"command": "npx", "args": ["-y", "server-filesystem", "/home/ada"], "env": {"A": "1", "B": ""}},
        "alone": {"command": "/usr/bin/server"},
        "old": {"command": "old", "disabled": true, "autoApprove": []},
        "off": {"command": "off", "enabled": false},
        "http": {"type": "http", "url": "https://example.com/mcp"},
        "cursor": {"url": "https://example.com/mcp"},
        "gemini": {"httpUrl": "https://example.com/mcp", "timeout": 5},
        "windsurf": {"serverUrl": "https://example.com/mcp"},
        "copilot": {"type": "local", "command": "x", "tools": ["*"], "cwd": "sub"}
      }
    }"#;
    assert_eq!(
        lines(text),
        [
            "filesystem: npx -y server-filesystem /home/ada A=1 B=",
            "alone: /usr/bin/server",
            "old: skipped: disabled",
            "off: skipped: disabled",
            "http: skipped: not on stdio (`http`)",
            "cursor: skipped: not on stdio (`url`)",
            "gemini: skipped: not on stdio (`httpUrl`)",
            "windsurf: skipped: not on stdio (`serverUrl`)",
            "copilot: x in sub",
        ]
    );
}

#[test]
fn mcp_servers_fill_in_what_their_clients_do() {
    let text = r#"{"mcpServers": {
        "claude": {"command": "${HOME}/bin/server", "args": ["--key=${TOKEN}", "${PORT:-80}", "$TOKEN"],
                   "env": {"KEY": "${TOKEN}", "LEVEL": "${LEVEL:-info}"}},
        "cursor": {"command": "${userHome}/s", "args": ["${workspaceFolder}", "${workspaceFolderBasename}"],
                   "env": {"KEY": "${env:TOKEN}"}},
        "unset": {"command": "x", "env": {"KEY": "${NOT_SET}"}},
        "unknown": {"command": "x", "args": ["${input:key}"]},
        "nested": {"command": "x", "args": ["${A:-${B}}"]},
        "shell": {"command": "x", "env": {"KEY": "${A:=secret-of-the-file}"}},
        "file": {"command": "x", "envFile": ".env"}
    }}"#;
    assert_eq!(
        lines(text),
        [
            "claude: /home/ada/bin/server --key=secret-of-the-shell 80 $TOKEN KEY=secret-of-the-shell LEVEL=info",
            "cursor: /home/ada/s /work/app app KEY=secret-of-the-shell",
            "unset: skipped: `NOT_SET`: the variable is not set here",
            "unknown: skipped: only its client knows what `${input:key}` stands for",
            "nested: skipped: only its client knows what `${A:…}` stands for",
            "shell: skipped: only its client knows what `${A:…}` stands for",
            "file: skipped: `envFile`: a file that is not read here",
        ]
    );
    // The command is kept as it was written.
    let servers = read_text(text).unwrap();
    let start = servers[0].start.as_ref().unwrap();
    assert_eq!(start.command[1], "--key=${TOKEN}");
    assert!(!format!("{servers:?}").contains("secret-of"), "{servers:?}");
}

#[test]
fn mcp_servers_of_claude_codes_projects() {
    let text = r#"{
      "numStartups": 12, "mcpServers": {"mine": {"type": "stdio", "command": "m", "args": [], "env": {}}},
      "projects": {
        "/work/a": {"history": [{"display": "x"}], "mcpServers": {"mine": {"command": "a"}}},
        "/work/b": {"mcpServers": {}},
        "/work/c": {"allowedTools": []},
        "/work/d": {"mcpServers": {"other": {"command": "d", "cwd": "/tmp"}}}
      }
    }"#;
    assert_eq!(lines(text), ["mine: m", "mine@/work/a: a in /work/a", "other@/work/d: d in /tmp"]);
    let only_projects = r#"{"projects": {"/p": {"mcpServers": {"x": {"command": "y"}}}}}"#;
    assert_eq!(lines(only_projects), ["x@/p: y in /p"]);
}

#[test]
fn servers_of_vs_code() {
    let text = r#"
    // MCP servers of this workspace
    {
      "inputs": [{"type": "promptString", "id": "key", "description": "API Key", "password": true}],
      "servers": {
        /* local */
        "memory": {"type": "stdio", "command": "npx", "args": ["-y", "server-memory", "${workspaceFolder}/m",],},
        "asks": {"command": "x", "env": {"KEY": "${input:key}"}},
        "shell": {"command": "sh", "args": ["-c", "echo ${NAME}"], "cwd": "${workspaceFolder}/sub"},
        "env": {"command": "x", "env": {"KEY": "${env:TOKEN}"}, "dev": {"watch": "**"}},
        "github": {"type": "http", "url": "https://api.example.com/mcp/"},
      },
    }"#;
    let expected = [
        "memory: npx -y server-memory /work/app/m",
        "asks: skipped: only its client knows what `${input:key}` stands for",
        "shell: sh -c echo ${NAME} in /work/app/sub",
        "env: x KEY=secret-of-the-shell",
        "github: skipped: not on stdio (`http`)",
    ];
    assert_eq!(lines(text), expected);
    let settings = r#"{"editor.fontSize": 14, "mcp": {"inputs": [], "servers": {"a": {"command": "b"}}}}"#;
    assert_eq!(lines(settings), ["a: b"]);
}

#[test]
fn servers_of_codex() {
    let text = r#"
model = "gpt-5"
[mcp_servers.zeta]
command = "npx"
args = ["-y", "mcp-server"]
env = { "API_KEY" = "${TOKEN}" }
env_vars = ["TOKEN", "NOT_SET", { name = "HOME", source = "local" }]
startup_timeout_sec = 20
[mcp_servers."a.b"]
command = "uvx"
cwd = "/srv"
[mcp_servers."a.b".env]
X = "1"
[mcp_servers.figma]
url = "https://mcp.example.com/mcp"
bearer_token_env_var = "FIGMA"
[mcp_servers.off]
command = "x"
enabled = false
[mcp_servers.far]
command = "x"
env_vars = [{ name = "T", source = "remote" }]
"#;
    assert_eq!(
        lines(text),
        [
            "zeta: npx -y mcp-server API_KEY=${TOKEN} TOKEN=secret-of-the-shell HOME=/home/ada",
            "a.b: uvx in /srv X=1",
            "figma: skipped: not on stdio (`url`)",
            "off: skipped: disabled",
            "far: skipped: only its client knows what `T` stands for",
        ]
    );
}

#[test]
fn servers_of_zed() {
    let text = r#"// Zed settings
    {
      "theme": "One Dark", "vim_mode": false,
      "context_servers": {
        "flat": {"source": "custom", "command": "some-command", "args": ["a"], "env": {"K": "v"}},
        "nested": {"command": {"path": "/bin/s", "args": ["run"], "env": {"K": "v"}}, "settings": {}},
        "extension": {"source": "extension", "settings": {}},
        "configured": {"settings": {"database_url": "postgresql://"}},
        "off": {"enabled": false, "command": "x"},
        "remote": {"url": "https://example.com/mcp", "headers": {}}, // last
      }
    }"#;
    assert_eq!(
        lines(text),
        [
            "flat: some-command a K=v",
            "nested: /bin/s run K=v",
            "extension: skipped: its command is not in this file",
            "configured: skipped: its command is not in this file",
            "off: skipped: disabled",
            "remote: skipped: not on stdio (`url`)",
        ]
    );
}

#[test]
fn servers_of_goose() {
    let text = "
GOOSE_PROVIDER: anthropic
extensions:
  github:
    type: stdio
    name: GitHub
    cmd: npx
    args: [-y, '@modelcontextprotocol/server-github']
    enabled: true
    envs: {\"GITHUB_HOST\": 'example.com'}
    env_keys:
      - TOKEN
    timeout: 300
  keyring:
    type: stdio
    cmd: x
    env_keys: [NOT_SET]
  developer:
    bundled: true
    enabled: true
    type: builtin
  off:
    enabled: false
    type: stdio
    cmd: x
";
    assert_eq!(
        lines(text),
        [
            "github: npx -y @modelcontextprotocol/server-github GITHUB_HOST=example.com TOKEN=secret-of-the-shell",
            "keyring: skipped: `NOT_SET`: the variable is not set here",
            "developer: skipped: not on stdio (`builtin`)",
            "off: skipped: disabled",
        ]
    );
}

#[test]
fn servers_of_opencode() {
    let entries = r#"
        "local": {"type": "local", "command": ["bun", "x", "{env:TOKEN}", "{env:NOT_SET}"], "environment": {"K": "v{x:{env:HOME}}"}},
        "file": {"type": "local", "command": ["x"], "environment": {"K": "{file:./key}"}},
        "remote": {"type": "remote", "url": "https://example.com"},
        "changed": {"enabled": true},
        "off": {"type": "local", "command": ["x"], "SWITCH"},
    "#;
    let expected = [
        "local: bun x secret-of-the-shell  K=v{x:/home/ada}",
        "file: skipped: `{file:./key}`: a file that is not read here",
        "remote: skipped: not on stdio (`remote`)",
        "changed: skipped: its command is not in this file",
        "off: skipped: disabled",
    ];
    let first = entries.replace("\"SWITCH\"", "\"enabled\": false");
    assert_eq!(lines(&format!("{{\"$schema\": \"https://opencode.ai\", \"mcp\": {{{first}}},}}")), expected);
    let second = entries.replace("\"SWITCH\"", "\"disabled\": true");
    assert_eq!(lines(&format!("{{\"mcp\": {{\"servers\": {{{second}}}}}}}")), expected);
}

#[test]
fn gemini_has_a_member_of_the_name_of_opencodes() {
    let text = r#"{"mcp": {"allowed": ["a"]}, "mcpServers": {"a": {"command": "b", "trust": false}}}"#;
    assert_eq!(lines(text), ["a: b"]);
}
