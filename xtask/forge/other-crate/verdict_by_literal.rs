//! A verdict without a question.
//! door: Verdict
use framegate_gate::authorization::{Question, RuleId, Verdict};
use framegate_gate::schema::Checked; //~ forged

fn forge(checked: Checked, rule: RuleId) -> Verdict { //~ forged
fn forge(question: Question, rule: RuleId) -> Verdict { //~ twin
    Verdict { checked, allowed: true, rule } //~ forged E0451
    question.allow(rule) //~ twin
}

fn main() {}
