//! Reading a rule's condition: which agent-supplied texts it tests, and to what effect.
//!
//! Belongs here: the walk over Cedar's public syntax tree, with its polarity: does a match push the rule
//! towards holding or away from it?
//! Does not belong here: which parameters are open text, what is reported.

use std::collections::BTreeSet;

use cedar_policy::pst::{BinaryOp, Clause, Effect, Expr, PatternElem, Template, UnaryOp, Var};

/// Something whose value the agent or the peer chooses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    /// One argument.
    Argument(String),
    /// The arguments as a whole.
    AnyArgument,
    /// What the peer calls itself.
    ClaimedClient,
}

type Subjects = BTreeSet<Subject>;

/// The subjects of which matching one value makes the rule deny: a match makes a `forbid` hold, or keeps
/// a `permit` from holding.
pub(super) fn denied_by_value(rule: &Template) -> Subjects {
    let denying = match rule.effect {
        Effect::Forbid => true,
        Effect::Permit => false,
    };
    let mut denied = Subjects::new();
    for clause in rule.clauses() {
        let (expression, towards) = parts(clause);
        tests(expression, towards, &mut |subjects, holds| {
            if holds == denying {
                denied.extend(subjects.iter().cloned());
            }
        });
    }
    denied
}

/// Whether the permit holds only for listed values of the subject.
pub(super) fn narrows(rule: &Template, subject: &Subject) -> bool {
    rule.clauses().iter().any(|clause| {
        let (expression, towards) = parts(clause);
        narrows_when(expression, towards, subject)
    })
}

/// Every `like` of the rule: what it tests, and its pattern with `*` for the wildcard.
pub(super) fn likes(rule: &Template) -> Vec<(Subjects, String)> {
    let mut found = Vec::new();
    for clause in rule.clauses() {
        let mut pending = vec![parts(clause).0];
        while let Some(expression) = pending.pop() {
            if let Expr::Like { expr, pattern } = expression {
                let pattern = pattern.iter().map(|element| match element {
                    PatternElem::Char(character) => *character,
                    PatternElem::Wildcard => '*',
                });
                found.push((subjects(expr), pattern.collect()));
            }
            pending.extend(children(expression));
        }
    }
    found
}

fn parts(clause: &Clause) -> (&Expr, bool) {
    match clause {
        Clause::When(expression) => (expression, true),
        Clause::Unless(expression) => (expression, false),
    }
}

/// Reports each test of values under `expression`, with whether a match pushes the rule towards holding,
/// which it does when `expression` is `towards`. A test whose direction cannot be told is reported as both.
fn tests(expression: &Expr, towards: bool, report: &mut dyn FnMut(&Subjects, bool)) {
    match expression {
        Expr::UnaryOp { op: UnaryOp::Not, expr } => tests(expr, !towards, report),
        Expr::BinaryOp { op: BinaryOp::And | BinaryOp::Or, left, right } => {
            tests(left, towards, report);
            tests(right, towards, report);
        }
        Expr::IfThenElse { cond, then_expr, else_expr } => {
            tests(cond, true, report);
            tests(cond, false, report);
            tests(then_expr, towards, report);
            tests(else_expr, towards, report);
        }
        // Presence and emptiness are no test of a value.
        Expr::HasAttr { .. } | Expr::Is { .. } | Expr::UnaryOp { op: UnaryOp::IsEmpty, .. } => {}
        Expr::BinaryOp { op, left, right } if !is_logic(left) && !is_logic(right) => {
            let equal = *op != BinaryOp::NotEq;
            report(&subjects(expression), equal == towards);
        }
        Expr::Like { expr, .. } if !is_logic(expr) => report(&subjects(expr), towards),
        _ => {
            let found = subjects(expression);
            report(&found, true);
            report(&found, false);
        }
    }
}

/// Whether the expression, when it is `towards`, leaves only listed values of the subject.
fn narrows_when(expression: &Expr, towards: bool, subject: &Subject) -> bool {
    let narrows = |expression: &Expr, towards| narrows_when(expression, towards, subject);
    match (expression, towards) {
        (Expr::UnaryOp { op: UnaryOp::Not, expr }, _) => narrows(expr, !towards),
        (Expr::BinaryOp { op: BinaryOp::And, left, right }, true)
        | (Expr::BinaryOp { op: BinaryOp::Or, left, right }, false) => {
            narrows(left, towards) || narrows(right, towards)
        }
        (Expr::BinaryOp { op: BinaryOp::And | BinaryOp::Or, left, right }, _) => {
            narrows(left, towards) && narrows(right, towards)
        }
        (Expr::IfThenElse { cond, then_expr, else_expr }, _) => {
            (narrows(cond, true) || narrows(then_expr, towards))
                && (narrows(cond, false) || narrows(else_expr, towards))
        }
        (Expr::BinaryOp { op: BinaryOp::Eq, left, right }, true)
        | (Expr::BinaryOp { op: BinaryOp::NotEq, left, right }, false) => {
            (is_exactly(left, subject) && is_constant(right))
                || (is_exactly(right, subject) && is_constant(left))
        }
        (Expr::BinaryOp { op: BinaryOp::Contains | BinaryOp::ContainsAll, left, right }, true) => {
            is_constant(left) && is_exactly(right, subject)
        }
        _ => false,
    }
}

/// The expression is this subject's own value.
fn is_exactly(expression: &Expr, subject: &Subject) -> bool {
    matches!(expression, Expr::GetAttr { .. })
        && own(expression).is_some_and(|own| own.len() == 1 && own.contains(subject))
}

/// The expression depends on nothing that the agent or the peer chooses.
fn is_constant(expression: &Expr) -> bool {
    let mut pending = vec![expression];
    while let Some(expression) = pending.pop() {
        if matches!(expression, Expr::Var(Var::Context)) {
            return false;
        }
        pending.extend(children(expression));
    }
    true
}

/// Every subject whose value the expression depends on.
fn subjects(expression: &Expr) -> Subjects {
    own(expression).unwrap_or_else(|| children(expression).into_iter().flat_map(subjects).collect())
}

/// The subjects that the expression itself stands for; `None` when it is made of its children.
fn own(expression: &Expr) -> Option<Subjects> {
    match expression {
        Expr::HasAttr { .. } => Some(Subjects::new()),
        Expr::Var(Var::Context) => Some(Subjects::from([Subject::AnyArgument, Subject::ClaimedClient])),
        Expr::GetAttr { expr, attr } => match (&**expr, attr.as_str()) {
            (Expr::Var(Var::Context), "arguments") => Some(Subjects::from([Subject::AnyArgument])),
            (Expr::Var(Var::Context), "claimed_client") => Some(Subjects::from([Subject::ClaimedClient])),
            (Expr::Var(Var::Context), _) => Some(Subjects::new()),
            (Expr::GetAttr { expr: root, attr: group }, name)
                if matches!(**root, Expr::Var(Var::Context)) && group == "arguments" =>
            {
                Some(Subjects::from([Subject::Argument(name.to_owned())]))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Whether the expression holds a truth value of its own making, so that comparing it hides a test.
fn is_logic(expression: &Expr) -> bool {
    let logic = match expression {
        Expr::IfThenElse { .. } | Expr::Like { .. } | Expr::UnaryOp { op: UnaryOp::Not, .. } => true,
        Expr::BinaryOp { op, .. } => !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul),
        _ => false,
    };
    logic || children(expression).into_iter().any(is_logic)
}

fn children(expression: &Expr) -> Vec<&Expr> {
    match expression {
        Expr::UnaryOp { expr, .. }
        | Expr::GetAttr { expr, .. }
        | Expr::HasAttr { expr, .. }
        | Expr::Like { expr, .. } => {
            vec![expr]
        }
        Expr::BinaryOp { left, right, .. } => vec![left, right],
        Expr::Is { expr, in_expr, .. } => {
            core::iter::once(expr).chain(in_expr).map(|expression| &**expression).collect()
        }
        Expr::IfThenElse { cond, then_expr, else_expr } => vec![cond, then_expr, else_expr],
        Expr::Set(items) => items.iter().map(|item| &**item).collect(),
        Expr::Record(fields) => fields.values().map(|field| &**field).collect(),
        _ => Vec::new(),
    }
}
