//! `framegate mcp` on one of the examples, and a client that talks to it.
//!
//! Belongs here: the copy of an example, the session. Does not belong here: what is expected of a call.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use framegate_e2e::canary::Canary;
use framegate_e2e::journal::Journal;
use framegate_e2e::launch::Launch;
use framegate_e2e::oracle::{self, Transcript};
use framegate_e2e::process::Process;
use framegate_e2e::session::parse_lines;
use framegate_e2e::stage::write_private;
use framegate_e2e::target::tls;
use framegate_e2e::{binary, client};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where an example says that its credential is.
#[derive(Clone, Copy, Debug)]
pub enum Credential {
    /// In this environment variable.
    Variable(&'static str),
    /// In this file beside the configuration.
    File(&'static str),
}

/// The folder of the examples.
pub fn examples() -> PathBuf {
    binary::workspace().join("examples")
}

/// A private copy of an example with what its first lines tell an operator to put beside it. `edit` changes the
/// configuration's text.
pub fn folder(
    name: &str,
    credential: Credential,
    secret: &str,
    edit: impl FnOnce(&str) -> String,
) -> TempDir {
    let folder = tempfile::Builder::new().prefix("framegate-example-").tempdir().expect("a folder");
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(folder.path(), mode).expect("own folder");
    let read = |file: &str| std::fs::read_to_string(examples().join(file)).expect("an example");
    write_private(&folder.path().join(format!("{name}.toml")), &edit(&read(&format!("{name}.toml"))));
    write_private(&folder.path().join(format!("{name}.cedar")), &read(&format!("{name}.cedar")));
    write_private(&folder.path().join(format!("{name}-ca.pem")), tls::authority());
    if let Credential::File(file) = credential {
        write_private(&folder.path().join(file), secret);
    }
    folder
}

/// A session. It must be ended by [`Gateway::end`], which judges it.
#[derive(Debug)]
pub struct Gateway {
    folder: TempDir,
    process: Process,
    canary: Canary,
    last: i64,
}

impl Gateway {
    /// Starts a session on a copy of an example, up to where calls are served.
    pub fn start(
        name: &str,
        credential: Credential,
        canary: &Canary,
        edit: impl FnOnce(&str) -> String,
    ) -> Self {
        let folder = folder(name, credential, canary.value(), edit);
        let config: &Path = &folder.path().join(format!("{name}.toml"));
        let mut launch =
            Launch::new(binary::program(), folder.path()).arguments(["mcp", "--config"]).arguments([config]);
        if let Credential::Variable(variable) = credential {
            launch = launch.variable(variable, canary.value());
        }
        let process = Process::start(&format!("examples-{name}"), launch);
        let mut gateway = Self { folder, process, canary: canary.clone(), last: 0 };
        let reply = gateway.send(|id| client::initialize(id, "2025-11-25"));
        assert_eq!(reply["result"]["protocolVersion"], "2025-11-25", "{reply}");
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        gateway.process.write(format!("{initialized}\n").as_bytes());
        gateway
    }

    fn send(&mut self, request: impl FnOnce(&Value) -> Value) -> Value {
        self.last += 1;
        let id = json!(self.last);
        self.process.write(format!("{}\n", request(&id)).as_bytes());
        let found = self.process.stdout().wait(|bytes| {
            parse_lines(bytes).into_iter().find(|line| line["id"] == id && line.get("method").is_none())
        });
        found.unwrap_or_else(|how| self.process.fail(&format!("stdout {how} before the reply to {id}")))
    }

    /// The names of the tools, as an agent sees them.
    pub fn tools(&mut self) -> Vec<String> {
        let reply = self.send(|id| client::request(id, "tools/list", None));
        let tools = reply["result"]["tools"].as_array().expect("tools");
        tools.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// The whole reply to a call.
    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let params = client::call_params(tool, arguments.clone());
        self.send(|id| client::request(id, "tools/call", Some(params)))
    }

    /// Ends the session and judges it: every line a message, every request answered, the credential nowhere.
    pub fn end(mut self) -> Journal {
        self.process.close_stdin();
        let status = self
            .process
            .wait_exit()
            .unwrap_or_else(|how| self.process.fail(&format!("the program {how} instead of ending")));
        assert!(
            self.process.stdout().wait_end().is_ok() && self.process.stderr().wait_end().is_ok(),
            "a descriptor of the program outlived it"
        );
        let (stdout, stderr) = (self.process.stdout().bytes(), self.process.stderr().bytes());
        let answers = oracle::answers_of(Some(status), false);
        let transcript = Transcript { stdin: self.process.written(), stdout: &stdout, answers };
        oracle::require(self.process.name(), self.process.command(), &transcript, &stderr);
        assert_eq!(status.code(), Some(0), "{}", String::from_utf8_lossy(&stderr));
        let journal = Journal::read(&self.folder.path().join("journal"));
        for (place, bytes) in [("stdout", &stdout), ("stderr", &stderr), ("the journal", &journal.raw)] {
            self.canary.assert_absent(place, bytes);
        }
        journal
    }
}
