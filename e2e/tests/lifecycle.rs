//! The lifecycle as a well-behaved client sees it, in all five revisions and both eras.

use framegate_e2e::session::Session;
use framegate_e2e::stage::{Executor, OnInvalidFrame, Stage};
use framegate_wire::message::Revision;
use serde_json::{Value, json};

#[path = "lifecycle/batch.rs"]
mod batch;
#[path = "lifecycle/calls.rs"]
mod calls;
#[path = "lifecycle/handshake.rs"]
mod handshake;
#[path = "lifecycle/identifiers.rs"]
mod identifiers;
#[path = "lifecycle/modern.rs"]
mod modern;
#[path = "lifecycle/redirects.rs"]
mod redirects;
#[path = "lifecycle/waiting.rs"]
mod waiting;

const REVISION: Revision = Revision::V2025_06_18;

/// The revisions that begin with a handshake.
const LEGACY: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

fn recorder(name: &str) -> Stage {
    Stage::new(&format!("lifecycle-{name}"), Executor::Recorder, OnInvalidFrame::Close)
}

fn live(name: &str) -> Stage {
    Stage::new(&format!("lifecycle-{name}"), Executor::Live, OnInvalidFrame::Close)
}

fn marker(marker: &str) -> Value {
    json!({ "marker": marker })
}

/// Ends a session that must have gone well.
fn end(session: Session<'_>) {
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
}
