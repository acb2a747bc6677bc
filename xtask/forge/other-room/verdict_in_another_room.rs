//! A verdict from a room that does not judge.
//! door: Verdict
//! room: gate
use crate::authorization::{Question, RuleId, Verdict};
use crate::schema::Checked;

pub fn forge(checked: Checked, question: Question, rule: RuleId) -> Verdict {
    let _ = (&checked, &question);
    Verdict { checked, allowed: true, rule } //~ forged E0451
    question.allow(rule) //~ twin
}
