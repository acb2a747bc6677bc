//! The part of a run that draws frames until its time is over.
//!
//! Belongs here: how long, how many, what is told of them. Does not belong here: how a frame is changed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use framegate_corpus::Revision;

use crate::bench::Bench;
use crate::case::{Controls, HostileCase, Level, Outcome, plan_mutation, run_group, shrink};
use crate::options::{Call, MutationOptions};
use crate::verdict::Verdict;

/// How many frames are drawn for one process.
const FRAMES: u64 = 40;

/// Draws and sends frames. Those that had an effect are told one by one, as small as they can be made; of the others
/// their number. The second are the observers that saw the control.
pub(crate) fn run(
    bench: &Bench<'_>,
    calls: &[Call],
    MutationOptions { seed, time }: MutationOptions,
) -> (Vec<Outcome>, Vec<&'static str>) {
    let preferred = [Revision::V2025_06_18].into_iter().chain(Revision::ALL.into_iter().rev());
    let spoken = preferred.into_iter().find(|revision| bench.speaks(*revision));
    let draw = |number: u64| plan_mutation(bench, calls, spoken?, seed, number);
    let Some(first) = (0..FRAMES).find_map(draw) else {
        let mut told = summary(seed, 0);
        told.verdict = Verdict::Inconclusive("no revision of the protocol was agreed on in time".to_owned());
        return (vec![told], Vec::new());
    };
    let begun = Instant::now();
    let controls = Controls::run(bench, std::slice::from_ref(&first));
    let (next, sent, failed) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let kinds: Mutex<Vec<Outcome>> = Mutex::new(Vec::new());
    let lock = || kinds.lock().unwrap_or_else(PoisonError::into_inner);
    let unproven = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..bench.options.jobs.max(1) {
            scope.spawn(|| {
                while begun.elapsed() < time && !bench.is_interrupted() {
                    let start = next.fetch_add(FRAMES, Ordering::Relaxed);
                    let group: Vec<_> = (start..start.saturating_add(FRAMES)).filter_map(draw).collect();
                    let outcomes = run_group(bench, &controls, &group, &|_| ());
                    sent.fetch_add(u64::try_from(outcomes.len()).unwrap_or(0), Ordering::Relaxed);
                    for (case, outcome) in group.iter().zip(outcomes) {
                        if outcome.needs_proof() {
                            *unproven.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome.verdict);
                        } else if outcome.verdict != Verdict::Pass {
                            failed.fetch_add(1, Ordering::Relaxed);
                            // One of a kind is enough.
                            let is_known = lock().iter().any(|known| known.is_like(&outcome));
                            if !is_known {
                                lock().push(smallest(bench, &controls, case, outcome));
                            }
                        }
                    }
                }
            });
        }
    });
    let mut outcomes = kinds.into_inner().unwrap_or_else(PoisonError::into_inner);
    let sent = sent.into_inner();
    let mut told = summary(seed, sent);
    let failed = failed.into_inner();
    told.explanation = format!("{failed} of {sent} were not refused as they must; one of each kind is told");
    if let Some(verdict) = unproven.into_inner().unwrap_or_else(PoisonError::into_inner) {
        told.verdict = verdict;
    }
    outcomes.push(told);
    (outcomes, controls.observers())
}

/// What is told of all frames together.
fn summary(seed: u64, sent: u64) -> Outcome {
    let gist = format!("{sent} calls whose bytes were changed at random (seed {seed})");
    Outcome::new(format!("mutation/{seed}"), gist, vec!["H-01".to_owned()], Level::Must)
}

/// The outcome of the smallest frame that still has the same verdict, alone in a process.
fn smallest(bench: &Bench<'_>, controls: &Controls, case: &HostileCase, outcome: Outcome) -> Outcome {
    let alone = |case: &HostileCase| run_group(bench, controls, std::slice::from_ref(case), &|_| ()).pop();
    let is_same = |case: &HostileCase| alone(case).is_some_and(|alone| alone.verdict == outcome.verdict);
    if !is_same(case) {
        return outcome;
    }
    let smallest = shrink(bench, case, is_same);
    alone(&smallest).filter(|smaller| smaller.verdict == outcome.verdict).unwrap_or(outcome)
}
