//! The table of figures that every benchmark here prints.
//!
//! Belongs here: ratios of medians, marks, how many were missed. Does not belong here: what is measured.

use std::process::ExitCode;
use std::time::Duration;

/// How many marks were missed by now.
#[derive(Debug, Default)]
pub(crate) struct Table {
    missed: usize,
}

impl Table {
    /// Prints the head.
    pub(crate) fn begin() -> Self {
        println!("| figure | ours | compared with | ratio | mark |");
        println!("|---|--:|--:|--:|--:|");
        Self::default()
    }

    /// A ratio that must not be above the mark.
    pub(crate) fn at_most(&mut self, figure: &str, ours: Duration, what: &str, theirs: Duration, mark: f64) {
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        self.missed += usize::from(ratio > mark);
        println!("| {figure} | {} | {what}: {} | {ratio:.2} | ≤ {mark} |", show(ours), show(theirs));
    }

    /// A ratio without a mark.
    pub(crate) fn compare(&self, figure: &str, ours: Duration, what: &str, theirs: Duration) {
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("| {figure} | {} | {what}: {} | {ratio:.2} | (no mark) |", show(ours), show(theirs));
    }

    /// Bytes over idle that must not be above the mark.
    pub(crate) fn over_idle(&mut self, figure: &str, ours: usize, mark: usize) {
        self.missed += usize::from(ours > mark);
        let mib = |bytes: usize| bytes as f64 / (1024.0 * 1024.0);
        println!("| {figure} | {:.1} MiB over idle | | | ≤ {:.1} MiB |", mib(ours), mib(mark));
    }

    /// What could not be measured: a mark that is not met.
    pub(crate) fn skipped(&mut self, figure: &str, needs: &str) {
        self.missed += 1;
        println!("| {figure} | SKIPPED: needs {needs} | | | |");
    }

    /// 1 if marks are checked and one was missed.
    pub(crate) fn exit(&self) -> ExitCode {
        let check = std::env::args().any(|argument| argument == "--check");
        if check && self.missed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

fn show(duration: Duration) -> String {
    format!("{:.3} ms", duration.as_secs_f64() * 1e3)
}

pub(crate) fn median(mut values: Vec<Duration>) -> Duration {
    values.sort();
    values[values.len() / 2]
}
