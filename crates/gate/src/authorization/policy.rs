//! The question put to policy and the only ways to answer it.
//!
//! Belongs here: the `Policy` trait and the sealed question and verdict.
//! Does not belong here: any policy language; `cargo xtask seals` lists who may implement the trait.

use core::fmt;
use std::sync::Arc;

use crate::schema::{Call, Checked};

/// Judges checked calls.
pub trait Policy: Send + Sync {
    /// Answers the question. It can only be answered once, and a verdict answers only the question it
    /// was made of.
    fn judge(&self, question: Question) -> Verdict;
}

/// The name of the rule that decided, or why none did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleId {
    /// A rule of this name.
    Named(Arc<str>),
    /// No rule allows it.
    NoRule,
    /// A rule could not be evaluated.
    EvaluationError,
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => f.write_str(name),
            Self::NoRule => f.write_str("no rule"),
            Self::EvaluationError => f.write_str("evaluation error"),
        }
    }
}

/// May this principal perform this rendered action with these arguments?
#[derive(Debug)]
#[must_use = "a question must be answered"]
pub struct Question {
    checked: Checked,
}

impl Question {
    pub(super) const fn new(checked: Checked) -> Self {
        Self { checked }
    }

    /// The checked call: who asks, the tool, the typed arguments, the rendered action.
    #[must_use]
    pub fn call(&self) -> &Call {
        self.checked.call()
    }

    /// Yes, because of this rule.
    pub fn allow(self, rule: RuleId) -> Verdict {
        Verdict { checked: self.checked, allowed: true, rule }
    }

    /// No, because of this rule or the lack of one.
    pub fn deny(self, rule: RuleId) -> Verdict {
        Verdict { checked: self.checked, allowed: false, rule }
    }
}

/// An answered question.
#[derive(Debug)]
#[must_use = "a verdict is the decision"]
pub struct Verdict {
    pub(super) checked: Checked,
    pub(super) allowed: bool,
    pub(super) rule: RuleId,
}
