//! The mock server: Prism, which answers from a description and judges every request by it.
//!
//! Belongs here: finding and starting it. Does not belong here: what is asked of it.

use std::net::SocketAddr;
use std::path::PathBuf;

use framegate_e2e::launch::Launch;
use framegate_e2e::process::Process;
use framegate_e2e::{binary, shared};

/// Waits of [`framegate_e2e::process::DEADLINE`] each. Reading a description takes seconds of processor time.
const PATIENCE: usize = 6;

/// A running mock server. It stops when it is dropped.
#[derive(Debug)]
pub struct Mock {
    _process: Process,
    /// Where it listens.
    pub address: SocketAddr,
}

/// The folder of what `e2e/mocks/setup.sh` installed; `None` where it did not run and need not have.
pub fn installed() -> Option<PathBuf> {
    let folder = binary::workspace().join(".test-env");
    if ["prism", "descriptions"].iter().all(|part| folder.join(part).join("installed").exists()) {
        return Some(folder);
    }
    assert!(
        std::env::var_os(shared::VARIABLE).is_none(),
        "the mock server is not installed: run e2e/mocks/setup.sh"
    );
    eprintln!("SKIPPED: the mock server is not installed: run e2e/mocks/setup.sh");
    None
}

impl Mock {
    /// Starts it on the description of this name. The descriptions' own examples are left aside: they do not
    /// always fit their schemas.
    pub fn start(installed: &std::path::Path, name: &str) -> Self {
        let mut launch = Launch::new("/usr/bin/env", installed)
            .arguments(["node", "prism/node_modules/.bin/prism", "mock", "--ignore-examples"])
            .arguments(["--host", "127.0.0.1", "--port", "0"])
            .arguments([format!("descriptions/{name}.json")]);
        if let Some(path) = std::env::var_os("PATH") {
            launch = launch.variable("PATH", path);
        }
        let process = Process::start(&format!("examples-mock-{name}"), launch);
        let address = (0..PATIENCE).find_map(|_| process.stdout().wait(listening).ok());
        let address = address.unwrap_or_else(|| process.fail("the mock server does not listen"));
        Self { _process: process, address }
    }
}

/// The address in the line that says so.
fn listening(output: &[u8]) -> Option<SocketAddr> {
    let text = String::from_utf8_lossy(output);
    let (_, rest) = text.split_once("Prism is listening on http://")?;
    let (address, _) = rest.split_once('\n')?;
    address.trim().parse().ok()
}
