//! A recorded action, made the one way there is: a configuration file, raw lines through every door, a journal.
//!
//! Belongs here: what the tests of executors start from.
//! Does not belong here: servers, expectations.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use framegate_gate::Moment;
use framegate_gate::authorization::Permit;
use framegate_gate::session::{Input, Session};
use framegate_journal::{Journal, Mode, Receipt, Recorded, Start};
use framegate_wire::frame::Reader;
use framegate_wire::message::Revision;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::http::{HttpExecutor, HttpSetupError};
use crate::assemble;
use crate::config::{Config, Loaded};
use crate::log::Masks;

/// What no byte of any outcome may hold: long, with bytes that JSON, URLs and base64 each write in another way.
pub(super) const SECRET: &str = "zq7/K+w\"9\\Xv<t4 %Rm&pL2";

/// A folder with a configuration of one tool, `call`, of one target, `api`.
pub(super) struct World {
    folder: TempDir,
    loaded: Loaded,
    masks: Masks,
}

impl World {
    /// `target` and `tool` are the TOML of the two; the secret `key` is in a file of the folder.
    pub(super) fn new(target: &str, tool: &str) -> Self {
        Self::with_files(target, tool, &[("key", SECRET.as_bytes())])
    }

    /// As `new`, with these files; all of mode 0600.
    pub(super) fn with_files(target: &str, tool: &str, files: &[(&str, &[u8])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let text = format!(
            "version = 1\n[secret.key]\nsource = \"file:key\"\n{target}\n\
             [tool.call]\ndescription = \"Call\"\ntarget = \"api\"\nallow = true\n{tool}\n"
        );
        let path = folder.path().join("framegate.toml");
        fs::write(&path, text).unwrap();
        let loaded = Config::load(&path).unwrap_or_else(|fault| panic!("{fault}"));
        Self { folder, loaded, masks: Masks::default() }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) fn executor(&self) -> HttpExecutor {
        self.try_executor().unwrap()
    }

    pub(super) fn try_executor(&self) -> Result<HttpExecutor, HttpSetupError> {
        let config = &self.loaded.config;
        let environment = assemble::environment(config).unwrap();
        HttpExecutor::new(config, assemble::resolver(config).unwrap(), Arc::new(environment), &self.masks)
    }

    /// The schema that `tools/list` publishes for the result.
    pub(super) fn output_schema(&self) -> &Value {
        self.loaded.config.catalog.get("call").unwrap().output_schema()
    }

    /// A call with these arguments, judged, permitted and recorded.
    pub(super) fn recorded(&self, arguments: &Value) -> (Recorded, Receipt) {
        self.recorded_of("call", arguments)
    }

    /// As `recorded`, of another tool.
    pub(super) fn recorded_of(&self, tool: &str, arguments: &Value) -> (Recorded, Receipt) {
        let options = assemble::journal_options(&self.loaded.config);
        let mut journal = Journal::open(&options).unwrap();
        let start = Start {
            version: "0.1.0",
            mode: Mode::Live,
            client: "tester",
            config: &self.loaded.digest.to_string(),
            revisions: &Revision::ALL,
        };
        journal.start(&start).unwrap();
        let mut recorded = journal.commit(vec![self.permit(tool, arguments)]).unwrap();
        recorded.pop().unwrap()
    }

    fn permit(&self, tool: &str, arguments: &Value) -> Permit {
        let config = &self.loaded.config;
        let options = assemble::session_options(&self.loaded, assemble::principal(config, None), "0.1.0");
        let policy = assemble::policy(&self.loaded).unwrap();
        let mut session = Session::new(options, Arc::clone(&config.catalog), Arc::new(policy));
        let initialize = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "tester", "version": "1"},
        });
        let call = json!({"name": tool, "arguments": arguments});
        let mut permits = Vec::new();
        let mut reader = Reader::new(&config.limits.wire);
        for line in [
            json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
        ] {
            reader.push(format!("{line}\n").as_bytes());
            let step = session.receive(Input::Frame(reader.next().unwrap().unwrap()), Moment::default());
            assert_eq!(step.refusals, []);
            permits.extend(step.permits);
        }
        assert_eq!(permits.len(), 1);
        permits.pop().unwrap()
    }
}
