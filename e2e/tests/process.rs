//! The process and its descriptors: whatever the launcher does with them, stdout holds whole messages
//! only, the exit code is honest, nothing hangs, nothing spins, no reply is lost.
//!
//! Panics inside the program and prints from its dependencies need faults built in: the tests of
//! `crates/gateway` plant those.

use framegate_e2e::session::Session;
use framegate_e2e::stage::{Executor, OnInvalidFrame, Stage};
use framegate_wire::message::Revision;
use serde_json::{Value, json};

#[path = "process/config.rs"]
mod config;
#[path = "process/descriptors.rs"]
mod descriptors;
#[path = "process/disk.rs"]
mod disk;
#[path = "process/ends.rs"]
mod ends;
#[path = "process/merged.rs"]
mod merged;
#[path = "process/network.rs"]
mod network;
#[path = "process/stderr.rs"]
mod stderr;
#[path = "process/stdout.rs"]
mod stdout;

const REVISION: Revision = Revision::V2025_06_18;

fn recorder(name: &str) -> Stage {
    Stage::new(&format!("process-{name}"), Executor::Recorder, OnInvalidFrame::Continue)
}

fn live(name: &str) -> Stage {
    Stage::new(&format!("process-{name}"), Executor::Live, OnInvalidFrame::Continue)
}

fn marker(marker: &str) -> Value {
    json!({ "marker": marker })
}

/// A handshake, a refused frame that is told of on stderr, and a call: what every odd launch must do.
fn talk(session: &mut Session<'_>) {
    session.ready(REVISION);
    session.write(b"this is no message\n");
    let reply = session.call(REVISION, "probe_write", marker("mk-talk"));
    assert!(reply["result"].is_object(), "{reply}");
}
