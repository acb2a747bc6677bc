//! Two deeds on one intent.
//! door: Recorded
use framegate_journal::Recorded;

fn perform(_: Recorded) {}

fn forge(recorded: Recorded) {
    perform(recorded.clone()); //~ forged E0599
    perform(recorded);
    perform_nothing(); //~ twin
}

fn perform_nothing() {}

fn main() {}
