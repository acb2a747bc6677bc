//! The twins: what differs from each hostile frame only in the fault runs, once, in the same state.

use std::collections::BTreeMap;

use framegate_wire::message::Revision;
use serde_json::Value;

use super::run::marker;
use super::{Case, Executor, OnInvalidFrame, Phase, Session, Stage, Values, expect, parallel, sendable};

/// How many twins share a session: each is a call of its own, counted apart.
const SHARED: usize = 40;

#[test]
fn every_twin_runs_once_with_one_lookup() {
    twins(Executor::Live);
}

#[test]
fn every_twin_is_recorded_once() {
    twins(Executor::Recorder);
}

fn twins(executor: Executor) {
    let cases = sendable();
    // A session for each state, shared by the twins that run in it; those that run as the first thing
    // said have sessions of their own.
    let mut states: BTreeMap<(Revision, bool, usize), Vec<&Case>> = BTreeMap::new();
    for (number, case) in cases.iter().enumerate() {
        let revision = Revision::from_name(case.revision.name()).expect("spoken here");
        let first = matches!(case.twin_phase, Phase::New | Phase::Initializing);
        // An id of the case's own can be used once in a session.
        let own_id =
            ids(&case.twin(&Values::new(marker(&case.id), 77))).iter().any(|id| *id != 77 && *id != 78);
        let place = if first || own_id { number + 1 } else { 0 };
        states.entry((revision, first, place)).or_default().push(case);
    }
    let groups: Vec<(Revision, Vec<&Case>)> = states
        .into_iter()
        .flat_map(|((revision, _, _), cases)| {
            cases.chunks(SHARED).map(|chunk| (revision, chunk.to_vec())).collect::<Vec<_>>()
        })
        .collect();
    parallel::run(
        &groups,
        || super::stage(executor, OnInvalidFrame::Close),
        |stage, (revision, cases)| run(stage, *revision, cases),
    );
}

fn run(stage: &Stage, revision: Revision, cases: &[&Case]) {
    stage.forget();
    let name = format!("twins-{}-{:?}", cases[0].id, stage.executor());
    let mut session = Session::named(stage, &name, stage.launch());
    match cases[0].twin_phase {
        Phase::New => {}
        Phase::Initializing => {
            session.initialize(revision.name());
        }
        Phase::Ready | Phase::Modern => session.ready(revision),
    }
    let mut calls = 0;
    for (number, case) in (0_i64..).zip(cases) {
        let values = Values::new(marker(&case.id), 920_000 + 10 * number);
        let before = stage.traces();
        let twin = case.twin(&values);
        session.write(&twin);
        // Several calls in one twin are several actions, each with its own marker.
        let ids = ids(&twin);
        assert!(!ids.is_empty(), "{}: the twin asks nothing", case.id);
        for id in &ids {
            let reply = session.reply(id);
            let refused = reply["result"]["isError"] == true;
            assert!(reply["result"].is_object(), "{}: the twin is answered by {reply}", case.id);
            assert_eq!(refused, stage.executor() == Executor::Recorder, "{}: {reply}", case.id);
        }
        calls += ids.len();
        assert_eq!(stage.executed(&values.marker), 1, "{}: actions of the twin", case.id);
        let now = stage.traces();
        match stage.executor() {
            Executor::Recorder => {
                assert_eq!(now.records - before.records, ids.len(), "{}: records", case.id);
                assert_eq!(
                    (now.connections, now.questions),
                    (before.connections, before.questions),
                    "{}",
                    case.id
                );
                assert_eq!(
                    now.secret_reads, before.secret_reads,
                    "{}: the recorder read the secret",
                    case.id
                );
            }
            Executor::Live => {
                assert_eq!(now.connections - before.connections, ids.len(), "{}: connections", case.id);
                assert_eq!(now.lookups - before.lookups, ids.len(), "{}: look-ups", case.id);
                assert!(now.secret_reads > before.secret_reads, "{}: the secret was not read", case.id);
            }
        }
    }
    let ended = session.end();
    assert_eq!(ended.code(), Some(0), "{name}: {}", ended.stderr);
    assert_eq!(ended.journal.count("intent"), calls, "{name}: intents");
    assert_eq!(ended.journal.refused(), [], "{name}: refusals");
}

/// The ids of every request in a twin.
fn ids(twin: &[u8]) -> Vec<Value> {
    twin.split(|byte| *byte == b'\n').filter_map(expect::id_of).collect()
}
