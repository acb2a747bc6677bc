//! A denial turned into a permission.
//! door: Verdict
use framegate_gate::authorization::{Question, RuleId, Verdict};

fn forge(question: Question, rule: RuleId) -> Verdict {
    let mut verdict = question.deny(RuleId::NoRule); //~ forged
    verdict.allowed = true; //~ forged E0616
    let verdict = question.allow(rule); //~ twin
    verdict
}

fn main() {}
