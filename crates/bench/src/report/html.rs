//! The report as one HTML page: it fetches nothing, and nothing that a target said is markup.
//!
//! Belongs here: the page, its parts, how much of a run it shows.
//! Does not belong here: one failing case (`html::case`), bytes (`html::dump`), escaping (`html::foreign`).

mod case;
mod dump;
mod foreign;

#[cfg(test)]
mod tests;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html as markup};
use sha2::{Digest as _, Sha256};

use super::{CaseReport, Report, quoted};
use foreign::Foreign;

const STYLE: &str = include_str!("html/style.css");
const SCRIPT: &str = include_str!("html/filter.js");

/// The most cases on the page; failing ones come first.
const CASES: usize = 2_000;
/// The most failing cases that are shown in full; the others are in a table.
const IN_FULL: usize = 100;

/// Each verdict and the sign that stands for it where colours are not seen.
const SIGNS: &[(&str, &str)] = &[
    ("fail", "F"),
    ("unavailable", "U"),
    ("hung", "H"),
    ("policy-gap", "G"),
    ("inconclusive", "?"),
    ("skipped", "–"),
    ("pass", "·"),
];

/// A case and its number on the page, which its links name.
type Shown<'a> = (usize, &'a CaseReport);

/// One HTML page. Its policy allows its own style and script by their hashes, and nothing else; everything but the
/// search works without the script.
#[must_use]
pub fn html(report: &Report) -> String {
    let mut shown: Vec<Shown<'_>> = report.cases.iter().enumerate().collect();
    shown.sort_by_key(|(_, case)| !case.is_failure);
    shown.truncate(CASES);
    shown.sort_by_key(|(number, _)| *number);
    let (failing, others): (Vec<_>, Vec<_>) = shown.iter().partition(|(_, case)| case.is_failure);
    let (expected, others): (Vec<_>, Vec<_>) =
        others.into_iter().partition(|(_, case)| case.expected.is_some());
    let in_full = failing.get(..IN_FULL.min(failing.len())).unwrap_or_default();
    let more = failing.get(in_full.len()..).unwrap_or_default();
    let with = |verdict: &str| others.iter().copied().filter(|(_, case)| case.verdict == verdict).collect();
    let page = markup! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="referrer" content="no-referrer";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (report.title()) ": " (Foreign::short(&result(report))) }
                // Without it, browsers ask the server that the page lies on.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                (head(report))
                main {
                    (filter(report))
                    (grid(report, &shown))
                    @if !failing.is_empty() {
                        section .part aria-labelledby="failures" {
                            h2 #failures { "Failures" }
                            @for (number, case) in in_full {
                                (case::article(*number, case))
                            }
                            @if !more.is_empty() {
                                p { "In short, the " (more.len()) " failures after the first " (IN_FULL) ":" }
                                (table(more))
                            }
                        }
                    }
                    (folded("Expected failures", "each is allowed for, with a reason", expected))
                    (folded("Policy gaps", "the protocol leaves these open; a hardened server refuses them", with("policy-gap")))
                    (folded("Inconclusive", "nothing can be said: what would have shown a failure was not seen to work", with("inconclusive")))
                    (folded("Skipped", "these do not apply here", with("skipped")))
                    (folded("Passed", "everything that must hold was seen to hold", with("pass")))
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn result(report: &Report) -> String {
    let failing = report.cases.iter().filter(|case| case.is_failure).count();
    match (report.answers, failing, report.unproven) {
        (true, 0, _) if !report.stale.is_empty() => "expectations that nothing answers to".to_owned(),
        (false, ..) => "the target does not answer".to_owned(),
        (true, 0, false) => format!("clean, {} cases", report.cases.len()),
        (true, 0, true) => "not proved: no observer saw the given call".to_owned(),
        (true, ..) => format!("{failing} of {} cases failed", report.cases.len()),
    }
}

fn head(report: &Report) -> Markup {
    let command: Vec<_> = report.command.iter().map(|part| quoted(part)).collect();
    let seconds = std::time::Duration::from_millis(report.milliseconds).as_secs_f64();
    markup! {
        header {
            p .name { (report.title()) }
            h1 .is-failure[report.is_failure()] { (Foreign::short(&result(report))) }
            pre .command { (Foreign::full(&command.join(" "))) }
            dl {
                dt { "Version" } dd { (report.framegate) }
                dt { "Profile" } dd { (report.profile) }
                dt { "Took" } dd { (format!("{seconds:.1} s")) }
                dt { "Proof" }
                dd {
                    @if report.observers.is_empty() { "no observer saw an effect of a well-formed call" }
                    @else { "effects seen by " (report.observers.join(", ")) }
                }
                dt { "Not verified" }
                dd {
                    @if report.not_verified.is_empty() { "nothing to name" }
                    @for point in &report.not_verified { div { (Foreign::short(point)) } }
                }
                @if let Some(sdk) = &report.sdk {
                    dt { "Kit" } dd { (sdk.name) " " (Foreign::short(&sdk.version)) }
                }
                @if !report.stale.is_empty() {
                    dt { "Stale" }
                    dd { @for entry in &report.stale { div { (Foreign::short(entry)) } } }
                }
                dt { "Assumption" } dd { "the target is buggy, not hostile" }
            }
        }
    }
}

/// The choice of a verdict is the style's alone; the search needs the script, which shows it.
fn filter(report: &Report) -> Markup {
    markup! {
        div .filter role="search" {
            fieldset {
                legend { "Show" }
                label { input type="radio" name="show" id="show-all" checked; "all " (report.cases.len()) }
                @for (verdict, sign) in SIGNS {
                    @let count = report.count(verdict);
                    @if count > 0 {
                        label {
                            input type="radio" name="show" id={ "show-" (verdict) };
                            span .sign data-verdict-sign=(verdict) aria-hidden="true" { (sign) }
                            " " (verdict) " " (count)
                        }
                    }
                }
            }
            p #search hidden {
                label for="find" { "Find " }
                input #find type="search" placeholder="id, words, bytes as shown" autocomplete="off";
                " " output #found for="find" {}
            }
        }
    }
}

fn grid(report: &Report, shown: &[Shown<'_>]) -> Markup {
    let groups = shown.chunk_by(|(_, left), (_, right)| group(left) == group(right));
    markup! {
        section aria-labelledby="cases" {
            h2 #cases { "All cases" }
            @if shown.len() < report.cases.len() {
                p { "The page shows " (shown.len()) " of " (report.cases.len()) " cases; the JSON report has all." }
            }
            ul .grid {
                @for cases in groups {
                    li .group {
                        span .reason { (Foreign::short(cases.first().map_or("", |(_, case)| group(case)))) }
                        ul {
                            @for (number, case) in cases {
                                @let name = format!("{}: {}", case.verdict, case.id);
                                li .cell data-verdict=(case.verdict) {
                                    a href={ "#case-" (number) } title=(Foreign::short(&name)) aria-label=(Foreign::short(&name)) {
                                        (sign(case.verdict))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn folded(name: &str, meaning: &str, cases: Vec<Shown<'_>>) -> Markup {
    markup! {
        @if !cases.is_empty() {
            details .part {
                summary { h2 { (name) " (" (cases.len()) ")" } " " (meaning) }
                (table(&cases))
            }
        }
    }
}

fn table(cases: &[Shown<'_>]) -> Markup {
    markup! {
        table {
            thead { tr { th scope="col" { "Case" } th scope="col" { "Rule" } th scope="col" { "What is sent, and what came of it" } } }
            tbody {
                @for (number, case) in cases {
                    tr .case id={ "case-" (number) } data-verdict=(case.verdict) {
                        th scope="row" { code { (Foreign::short(&case.id)) } }
                        td { (case::rule(case)) }
                        td { (case::in_short(case)) }
                    }
                }
            }
        }
    }
}

/// The folder of a case's id: the reason that its frame is refused for, or the kind of session.
fn group(case: &CaseReport) -> &str {
    case.id.split_once('/').map_or("", |(folder, _)| folder)
}

fn sign(verdict: &str) -> &'static str {
    SIGNS.iter().find(|(name, _)| *name == verdict).map_or("", |(_, sign)| sign)
}
