//! A question that nobody asks.
//! door: Question
use framegate_gate::authorization::{Policy, PermitTerms, Question, Verdict, authorize};
use framegate_gate::schema::Checked;

fn forge(checked: Checked, policy: &dyn Policy, terms: PermitTerms) -> bool {
    let verdict: Verdict = policy.judge(Question::new(checked)); //~ forged E0624
    let verdict = authorize(checked, policy, terms); //~ twin
    drop(verdict);
    true
}

fn main() {}
