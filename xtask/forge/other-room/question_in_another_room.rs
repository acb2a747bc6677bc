//! A question from a room that may not ask.
//! door: Question
//! room: gate
use crate::authorization::{PermitTerms, Policy, Question, authorize};
use crate::schema::Checked;

pub fn forge(checked: Checked, policy: &dyn Policy, terms: PermitTerms) {
    let answer = policy.judge(Question::new(checked)); //~ forged E0624
    let answer = authorize(checked, policy, terms); //~ twin
    drop(answer);
}
