//! One case on the page: in full where it failed, else in short.
//!
//! Belongs here: what is told of a case, in which order, and how much. Does not belong here: which cases are shown.

use maud::{Markup, html};

use super::super::{CaseReport, Evidence, FirstWrong};
use super::{Foreign, dump, sign};

/// The most steps of one case that are shown.
const STEPS: usize = 20;
/// The most steps that are not folded.
const OPEN: usize = 4;
/// The most effects of one case that are shown.
const EFFECTS: usize = 20;

/// A failing case with everything that shows why.
pub(super) fn article(number: usize, case: &CaseReport) -> Markup {
    let heading = format!("heading-{number}");
    html! {
        article .case id={ "case-" (number) } data-verdict=(case.verdict) aria-labelledby=(heading) {
            h3 id=(heading) {
                span .sign data-verdict-sign=(case.verdict) { (sign(case.verdict)) " " (case.verdict) }
                " " code { (Foreign::full(&case.id)) }
            }
            p .gist {
                (Foreign::full(&case.gist))
                " " span .rule { @if let Some(kind) = case.kind { (kind.name()) " · " } (rule(case)) }
            }
            p .explanation { (Foreign::full(&case.explanation)) }
            @if let Some(cause) = &case.cause {
                p .cause { "Known in " (Foreign::short(cause)) ": " (Foreign::full(case.remedy.as_deref().unwrap_or_default())) }
            }
            @if let Some(evidence) = &case.evidence { (shown(evidence)) }
        }
    }
}

/// A case in a table's cell.
pub(super) fn in_short(case: &CaseReport) -> Markup {
    html! {
        (Foreign::short(&case.gist))
        @if !case.explanation.is_empty() { div .explanation { (Foreign::short(&case.explanation)) } }
        @if let Some(reason) = &case.expected { div .cause { "expected: " (Foreign::short(reason)) } }
        @if let Some(evidence) = &case.evidence {
            @if let Some(wrong) = &evidence.first_wrong { div { (place(wrong)) " " code { (wrong.hex) } } }
            @if let Some(effect) = evidence.effects.first() {
                div { "effect seen by " (effect.observer) ": " code { (Foreign::short(&effect.what)) } }
            }
            div .again { "again: " code { (Foreign::short(&evidence.replay)) } }
        }
    }
}

/// How binding what rule is.
pub(super) fn rule(case: &CaseReport) -> Markup {
    html! { (case.level.name()) " · " (Foreign::short(&case.requirements.join(" "))) }
}

fn shown(evidence: &Evidence) -> Markup {
    let Evidence { steps, first_wrong, effects, stderr, replay, stdout_bytes, stderr_bytes, .. } = evidence;
    html! {
        @if let Some(wrong) = first_wrong {
            h4 { "First wrong byte: " (place(wrong)) }
            pre .line {
                (Foreign::full(&wrong.line)) "\n"
                @if let Some(caret) = wrong.caret { (" ".repeat(caret)) mark { "^" } }
            }
            (dump::around(stdout_bytes, wrong.offset))
        }
        @if !effects.is_empty() {
            h4 { "Effects" }
            dl {
                @for effect in effects.iter().take(EFFECTS) {
                    dt { (effect.observer) } dd { code { (Foreign::full(&effect.what)) } }
                }
            }
            (more(effects.len(), EFFECTS))
        }
        @if !steps.is_empty() {
            details open[steps.len() <= OPEN] {
                summary { "Sent (steps: " (steps.len()) ")" }
                dl {
                    @for step in steps.iter().take(STEPS) {
                        dt { (Foreign::short(&step.what)) } dd { code { (Foreign::full(&step.bytes)) } }
                    }
                }
                (more(steps.len(), STEPS))
            }
        }
        @if first_wrong.is_none() && !stdout_bytes.is_empty() {
            details {
                summary { "The end of stdout (" (stdout_bytes.len()) " bytes)" }
                (dump::end(stdout_bytes))
            }
        }
        @if !stderr_bytes.is_empty() {
            details {
                summary { "The end of stderr (" (stderr_bytes.len()) " bytes)" }
                pre { (Foreign::end(stderr)) }
            }
        }
        h4 { "Run it again" }
        pre .command .again { (Foreign::full(replay)) }
    }
}

fn place(wrong: &FirstWrong) -> Markup {
    html! { (wrong.code) " at byte " (wrong.offset) " of stdout" }
}

fn more(all: usize, shown: usize) -> Markup {
    html! { @if all > shown { p { "and " (all.saturating_sub(shown)) " more; the JSON report has all" } } }
}
