//! One question answered both ways.
//! door: Question
use framegate_gate::authorization::{Question, RuleId, Verdict};

fn forge(question: Question) -> [Verdict; 2] { //~ forged
fn forge(question: Question) -> [Verdict; 1] { //~ twin
    let no = question.deny(RuleId::NoRule);
    let yes = question.allow(RuleId::NoRule); //~ forged E0382
    [no, yes] //~ forged
    [no] //~ twin
}

fn main() {}
