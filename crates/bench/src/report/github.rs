//! The report for a step of GitHub Actions: the terminal's text, then workflow commands that annotate the run.
//!
//! Belongs here: these commands and their escapes. Does not belong here: files, the environment.
//!
//! Source: docs.github.com, "Workflow commands for GitHub Actions"; the runner's `ActionCommand.cs`.

use sha2::{Digest as _, Sha256};

use super::{CaseReport, Kind, Report, terminal};

/// The most errors of one step that GitHub shows.
const ERRORS: usize = 10;

/// The terminal's text, in which the runner takes nothing for a command, and at most ten `::error` commands.
#[must_use]
pub fn github(report: &Report) -> String {
    let said = terminal(report);
    // The runner obeys commands anywhere in a log, and the text quotes the target. It stops until it reads the token:
    // one that the text cannot hold, because it is made of the text.
    let token: String = Sha256::digest(&said).iter().map(|byte| format!("{byte:02x}")).collect();
    let mut text = format!("::stop-commands::{token}\n{said}::{token}::\n");
    let mut errors: Vec<_> =
        report.cases.iter().filter(|case| case.is_failure).map(|case| error(report, case)).collect();
    if report.unproven {
        errors.push(command(
            report,
            "not proved",
            "a call was given and no observer saw it when it was well-formed",
        ));
    }
    if errors.len() > ERRORS {
        let rest = errors.split_off(ERRORS.saturating_sub(1)).len();
        errors.push(command(report, &format!("{rest} more"), "the log and the reports have all"));
    }
    errors.iter().for_each(|error| text.push_str(error));
    text
}

fn error(report: &Report, case: &CaseReport) -> String {
    let kind = case.kind.map_or(case.verdict, Kind::name);
    let mut message = format!("{}\n{}", case.gist, case.explanation);
    if let Some(evidence) = &case.evidence {
        if let Some(wrong) = &evidence.first_wrong {
            message.push_str(&format!("\n{} at byte {} of stdout: {}", wrong.code, wrong.offset, wrong.hex));
        }
        message.push_str(&format!("\nagain: {}", evidence.replay));
    }
    command(report, &format!("{kind}: {}", case.id), &message)
}

fn command(report: &Report, title: &str, message: &str) -> String {
    let title = data(&format!("{}, {title}", report.title())).replace(':', "%3A").replace(',', "%2C");
    format!("::error title={title}::{}\n", data(message))
}

/// A command's data; its properties escape `:` and `,` as well.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
