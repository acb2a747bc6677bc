//! One recorded action performed twice.
//! door: Recorded
use framegate_journal::Recorded;

fn perform(_: Recorded) {}

fn forge(recorded: Recorded) {
    perform(recorded);
    perform(recorded); //~ forged E0382
    let _ = "once"; //~ twin
}

fn main() {}
