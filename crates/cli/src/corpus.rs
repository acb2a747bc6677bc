//! `framegate corpus`: the hostile frames, for people and for other test suites.
//!
//! Belongs here: listing, showing, exporting. Does not belong here: the frames (`framegate_corpus`).

use std::fs;
use std::path::Path;

use framegate_bench::Level;
use framegate_corpus::{Case, Values, cases, valid};
use framegate_gateway::exit;
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::out;

/// The version of the export's `index.json` (docs/corpus.md).
const FORMAT: u32 = 3;
/// What stands for the marker, and the id, in frames that are shown, and in exported ones without holes.
const MARKER: &str = "marker-1";
const ID: i64 = 41;
/// The most that is shown of a frame, in bytes.
const SHOWN: usize = 2_000;

pub(crate) fn list() -> Result<u8, Failure> {
    for case in all() {
        out::line(&format!("{:<60} {}", id(&case), case.gist));
    }
    Ok(exit::OK)
}

pub(crate) fn show(wanted: &str) -> Result<u8, Failure> {
    let Some(case) = all().into_iter().find(|case| id(case) == wanted || case.id == wanted) else {
        return Err(Failure::usage(format!(
            "there is no frame `{}`; `framegate corpus list` names them",
            out::printable(wanted)
        )));
    };
    let values = Values::new(MARKER, ID);
    out::line(&format!("{}\n{}\ncovers {}", id(&case), case.gist, case.covers.join(" ")));
    out::line(&format!("frame {}", bytes(&case.frame(&values))));
    out::line(&format!("twin  {}", bytes(&case.twin(&values))));
    let must = if case.reason.is_some() { "it must have no effect" } else { "it must pass" };
    out::line(&format!("in phase {:?} of {}: {must}", case.phase, case.revision.name()));
    Ok(exit::OK)
}

pub(crate) fn export(folder: &Path) -> Result<u8, Failure> {
    let failed = |error: std::io::Error| Failure::io(format!("{}: {error}", folder.display()));
    fs::create_dir(folder).map_err(failed)?;
    let values = Values::new(MARKER, ID);
    let mut index = Vec::new();
    for case in all() {
        let name = id(&case).replace('/', ".");
        let (frame, twin) = exported(&case, &values);
        fs::write(folder.join(format!("{name}.frame")), frame).map_err(failed)?;
        fs::write(folder.join(format!("{name}.twin")), twin).map_err(failed)?;
        index.push(entry(&case, &name));
    }
    let count = index.len();
    let index = json!({
        "format": FORMAT,
        "framegate": env!("CARGO_PKG_VERSION"),
        "marker": MARKER,
        "id": ID,
        "tool": values.tool,
        "cases": index,
    });
    let text = serde_json::to_string_pretty(&index).unwrap_or_default();
    fs::write(folder.join("index.json"), format!("{text}\n")).map_err(failed)?;
    out::line(&format!("{count} frames, each with its twin, and index.json"));
    Ok(exit::OK)
}

/// The bytes of a case's files: with holes where it fits any server, and as the fixture's tools are called elsewhere.
fn exported(case: &Case, values: &Values) -> (Vec<u8>, Vec<u8>) {
    let open = case.open_frame().zip(case.open_twin()).filter(|_| case.is_general());
    open.unwrap_or_else(|| (case.frame(values), case.twin(values)))
}

fn entry(case: &Case, name: &str) -> Value {
    json!({
        "id": id(case),
        "gist": case.gist,
        "covers": case.covers,
        "must_refuse": case.reason.is_some(),
        "level": case.reason.as_deref().map(|reason| Level::of(reason, &case.id).name()),
        "general": case.is_general(),
        "complete_call": case.complete_call,
        "phase": format!("{:?}", case.phase).to_lowercase(),
        "twin_phase": format!("{:?}", case.twin_phase).to_lowercase(),
        "revision": case.revision.name(),
        "frame": format!("{name}.frame"),
        "twin": format!("{name}.twin"),
        "ends_input": case.ends_input,
        "needs": case.needs,
        "sent_before": !case.before.is_empty(),
    })
}

fn all() -> Vec<Case> {
    cases().into_iter().chain(valid()).collect()
}

fn id(case: &Case) -> String {
    format!("{}/{}", case.reason.as_deref().unwrap_or("valid"), case.id)
}

/// Bytes on one line: what is not printable ASCII is escaped.
fn bytes(bytes: &[u8]) -> String {
    let shown = bytes.get(..SHOWN.min(bytes.len())).unwrap_or_default();
    let more = if shown.len() < bytes.len() { format!("… ({} bytes)", bytes.len()) } else { String::new() };
    format!("{}{more}", shown.escape_ascii())
}
