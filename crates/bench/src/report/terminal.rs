//! The report for whoever reads a terminal: failures first and in full, then counts.
//!
//! Belongs here: the text. Does not belong here: colours; it must read well without.

use super::{CaseReport, Evidence, Launched, Report, SHOWN, VERDICTS, shown_name};
use crate::observe::excerpt;
use crate::verdict::Kind;

/// The most steps of a session that are shown one by one.
const FEW_STEPS: usize = 6;
/// How the step is called in which a hostile frame is sent.
const HOSTILE: &str = "the hostile frame";
const INCONCLUSIVE: &str = "inconclusive";

/// The text.
#[must_use]
pub fn terminal(report: &Report) -> String {
    let mut text = String::new();
    if let Some(server) = &report.server {
        text.push_str(&format!("server {}\n\n", shown_name(server)));
    }
    let is_open = |case: &&CaseReport| {
        !matches!(case.verdict, "pass" | "skipped" | "policy-gap") && case.expected.is_none()
    };
    let open: Vec<_> = report.cases.iter().filter(is_open).filter(|case| case.cause.is_none()).collect();
    for (first, alike) in by_fault(&open) {
        tell(&mut text, first, &alike);
    }
    tell_causes(&mut text, report);
    let ids = |wanted: &dyn Fn(&CaseReport) -> bool| {
        let ids: Vec<_> =
            report.cases.iter().filter(|case| wanted(case)).map(|case| case.id.as_str()).collect();
        (ids.len(), ids.join(" "))
    };
    let (gaps, gap_ids) = ids(&|case| case.verdict == "policy-gap");
    if gaps > 0 {
        text.push_str(&format!(
            "policy gaps: {gaps} (the protocol leaves these open, or only recommends them; a hardened server refuses them)\n  \
             {gap_ids}\n\n"
        ));
    }
    let (expected, expected_ids) = ids(&|case| case.expected.is_some());
    if expected > 0 {
        text.push_str(&format!("expected failures: {expected}\n  {expected_ids}\n\n"));
    }
    let mut counts = Vec::new();
    for verdict in VERDICTS {
        let count = report.count(verdict);
        if count > 0 {
            counts.push(format!("{count} {verdict}"));
        }
    }
    text.push_str(&format!("{}: {}\n", counted(report.cases.len(), "case"), counts.join(", ")));
    if !report.observers.is_empty() {
        text.push_str(&format!("proof: effects seen by {}\n", report.observers.join(", ")));
    }
    if let Some(tracer) = report.tracer {
        text.push_str(&format!("system calls: observed by {tracer}\n"));
    }
    if let Some(sdk) = &report.sdk {
        text.push_str(&format!("kit: {} {}\n", sdk.name, sdk.version.escape_debug()));
    }
    for point in &report.not_verified {
        text.push_str(&format!("not verified: {point}\n"));
    }
    if report.unproven {
        text.push_str(
            "not clean: no observer, or none that was required, saw the given call when it was well-formed; is the tool's name right, and \
             does an argument lead to {effect.url}, {effect.file}, or a path or command with {marker}?\n",
        );
    }
    for entry in &report.stale {
        text.push_str(&format!("not clean: the expectation {}\n", entry.escape_debug()));
    }
    text.push_str("assumption: the target is buggy, not hostile\n");
    text
}

/// Failures that a kit is known for: one in full for each remedy, the others by their ids.
fn tell_causes(text: &mut String, report: &Report) {
    let caused = || report.cases.iter().filter(|case| case.is_failure && case.cause.is_some());
    let mut remedies: Vec<_> = caused().map(|case| (&case.cause, &case.remedy)).collect();
    remedies.sort_unstable();
    remedies.dedup();
    for (cause, remedy) in remedies {
        let of: Vec<_> = caused().filter(|case| (&case.cause, &case.remedy) == (cause, remedy)).collect();
        let (Some(first), Some(cause), Some(remedy)) = (of.first(), cause, remedy) else { continue };
        tell(text, first, &[]);
        let ids: Vec<_> = of.iter().map(|case| case.id.as_str()).collect();
        text.push_str(&format!(
            "known in {}: {}, of which the first is shown\n  {remedy}\n  {}\n\n",
            cause.escape_debug(),
            counted(ids.len(), "failure"),
            ids.join(" ")
        ));
    }
}

/// Cases one by one, but those together in which the same wrong bytes stand, since a banner is one fault and in every
/// session, and those of which nothing can be said for the same reason.
fn by_fault<'a>(cases: &[&'a CaseReport]) -> Vec<(&'a CaseReport, Vec<&'a str>)> {
    let wrong = |case: &'a CaseReport| match case.evidence.as_ref()?.first_wrong.as_ref() {
        Some(wrong) => Some((wrong.code, &wrong.line)),
        None => (case.verdict == INCONCLUSIVE).then_some((INCONCLUSIVE, &case.explanation)),
    };
    let mut groups: Vec<(&CaseReport, Vec<&str>)> = Vec::new();
    // What production does first: the others follow from it.
    let (plain, others): (Vec<&CaseReport>, Vec<_>) =
        cases.iter().partition(|case| case.id == "plain/session");
    for case in plain.into_iter().chain(others) {
        let of = wrong(case);
        match groups.iter_mut().find(|(first, _)| of.is_some() && wrong(first) == of) {
            Some((_, alike)) => alike.push(&case.id),
            None => groups.push((case, Vec::new())),
        }
    }
    groups
}

fn tell(text: &mut String, case: &CaseReport, alike: &[&str]) {
    let kind = case.kind.map(|kind| format!(" ({})", kind.name())).unwrap_or_default();
    text.push_str(&format!("{}{kind}  {}\n", case.verdict.to_uppercase(), case.id));
    text.push_str(&format!("  {} [{}; {}]\n", case.gist, case.level.name(), case.requirements.join(" ")));
    text.push_str(&format!("  {}\n", case.explanation));
    if let Some(evidence) = &case.evidence {
        show(text, evidence);
        if case
            .kind
            .is_none_or(|kind| matches!(kind, Kind::WrongReply | Kind::MissingReply | Kind::ExtraReply))
        {
            show_talk(text, evidence);
        }
        text.push_str(&format!("  again: {}\n", evidence.replay));
    }
    if !alike.is_empty() {
        text.push_str(&format!("  the same in {} more: {}\n", alike.len(), alike.join(" ")));
    }
    text.push('\n');
}

/// What was said, where that is little, and the end of what came: what an answer is judged by.
fn show_talk(text: &mut String, evidence: &Evidence) {
    let is_hostile = evidence.steps.iter().any(|step| step.what.starts_with(HOSTILE));
    if is_hostile || evidence.first_wrong.is_some() {
        return;
    }
    if evidence.steps.len() <= FEW_STEPS {
        for step in &evidence.steps {
            text.push_str(&format!("  sent ({}): {}\n", step.what, step.bytes));
        }
    }
    let stdout = &evidence.stdout_bytes;
    let end = stdout.get(stdout.len().saturating_sub(SHOWN)..).unwrap_or_default();
    if !end.is_empty() {
        text.push_str(&format!("  stdout ends: {}\n", excerpt(end, SHOWN)));
    }
}

fn show(text: &mut String, evidence: &Evidence) {
    if let Some(wrong) = &evidence.first_wrong {
        text.push_str(&format!("  {} at byte {} of stdout: {}\n", wrong.code, wrong.offset, wrong.hex));
        text.push_str(&format!("    {}\n", wrong.line));
        if let Some(caret) = wrong.caret {
            text.push_str(&format!("    {}^\n", " ".repeat(caret)));
        }
    }
    for effect in &evidence.effects {
        text.push_str(&format!("  effect seen by {}: {}\n", effect.observer, effect.what));
    }
    if let Some(step) = evidence.steps.iter().find(|step| step.what.starts_with(HOSTILE)) {
        text.push_str(&format!("  sent ({}): {}\n", step.what, step.bytes));
    }
    if let Some(differences) = evidence.launch.as_ref().and_then(Launched::differences) {
        text.push_str(&format!("  launched {differences}\n"));
    }
    if !evidence.stderr.is_empty() {
        let start = evidence.stderr.len().saturating_sub(300);
        let tail: String = evidence.stderr.chars().skip(start).collect();
        text.push_str(&format!("  stderr ends: {tail}\n"));
    }
}

/// `1 case`, `2 cases`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
