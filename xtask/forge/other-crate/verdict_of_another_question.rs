//! The verdict on a harmless call moved to another one.
//! door: Verdict
use framegate_gate::authorization::{Policy, Question, RuleId, Verdict};

struct Swap(Box<dyn Fn() -> Question + Send + Sync>);

impl Policy for Swap {
    fn judge(&self, question: Question) -> Verdict {
        let harmless = (self.0)().allow(RuleId::NoRule);
        Verdict { checked: question.deny(RuleId::NoRule).checked, ..harmless } //~ forged E0616
        drop(harmless); //~ twin
        question.deny(RuleId::NoRule) //~ twin
    }
}

fn main() {}
