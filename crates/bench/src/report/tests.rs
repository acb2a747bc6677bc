//! The forms of a report.
//!
//! Belongs here: one failing case in every form. Does not belong here: runs.

use std::time::Duration;

use super::*;
use crate::client::Client;
use crate::environment::Environment;
use crate::judge::{Code, Finding};
use crate::options::{Origin, Profile, Unasked};
use crate::target::Snapshot;

pub(super) fn options() -> Options {
    Options {
        command: vec!["./it's".into(), "a b".into()],
        origin: Origin::Command,
        environment: Environment::default(),
        folder: None,
        home: None,
        client: Client::Production,
        provided: Vec::new(),
        calls: vec![Call { tool: "t".to_owned(), arguments: "{\"a\":\"{marker}\"}".to_owned() }],
        unasked: Unasked::Reading,
        profile: Profile::Quick,
        revisions: Vec::new(),
        launches: Vec::new(),
        without_canaries: Vec::new(),
        mutation: None,
        observer: None,
        required_proof: None,
        only: Vec::new(),
        jobs: 1,
        timeout: Options::DEFAULT_TIMEOUT,
    }
}

fn report() -> Report {
    let options = options();
    let stdout = b"{}\n\x1b[1m<\"x\">\n".to_vec();
    let failing = Outcome {
        id: "json-noise/banner".to_owned(),
        gist: "a banner".to_owned(),
        requirements: vec!["H-01".to_owned()],
        level: Level::Must,
        verdict: Verdict::Fail(Kind::StdoutDirty),
        explanation: "a <bad> \"line\"".to_owned(),
        steps: vec![Step { what: "the hostile frame".to_owned(), bytes: "x\\n".to_owned() }],
        finding: Some(Finding { code: Code::Ansi, offset: 3, line_start: 3, line_end: 12 }),
        sights: vec![Sight { observer: "http", what: "GET /m".to_owned() }],
        bytes: Some(Snapshot { stdout, stderr: b"said\n".to_vec(), ..Snapshot::default() }),
    };
    let gap = Outcome {
        id: "json-depth/deep".to_owned(),
        level: Level::Policy,
        verdict: Verdict::PolicyGap(Kind::EffectObserved),
        finding: None,
        ..failing.clone()
    };
    Report::new(
        &options,
        &options.calls,
        vec![failing, gap],
        Proof { observers: vec!["http"], tracer: Some("strace"), frames: 2, ..Proof::default() },
        Duration::from_millis(5),
        true,
    )
}

/// A report of these cases, and whether each failed.
pub(crate) fn report_with(cases: &[(&str, bool)]) -> Report {
    let mut report = report();
    let example = report.cases.remove(0);
    let case = |(id, is_failure): &(&str, bool)| CaseReport {
        id: (*id).to_owned(),
        is_failure: *is_failure,
        verdict: if *is_failure { "fail" } else { "pass" },
        ..example.clone()
    };
    report.cases = cases.iter().map(case).collect();
    report
}

#[test]
fn a_terminal_shows_the_first_wrong_byte_and_how_to_run_it_again() {
    let text = terminal(&report());
    let replay =
        "framegate check --only json-noise/banner --call 't={\"a\":\"{marker}\"}' -- './it'\\''s' 'a b'";
    for part in [
        "FAIL (stdout-dirty)  json-noise/banner",
        "stdout-ansi at byte 3 of stdout: 1b 5b 31 6d 3c",
        "    \\x1b[1m<\"x\">\n    ^\n",
        "effect seen by http: GET /m",
        "sent (the hostile frame): x\\n",
        "stderr ends: said\\n",
        replay,
        "policy gaps: 1",
        "2 cases: 1 fail, 1 policy-gap",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn what_the_command_line_finds_by_itself_is_not_spelled_out_in_a_replay() {
    let options = Options { origin: Origin::BuiltIn, ..options() };
    assert_eq!(
        replay(&options, &options.calls, "json-noise/banner~cut"),
        "framegate check --only 'json-noise/banner~cut'"
    );
}

#[test]
fn a_replay_carries_what_its_case_depends_on() {
    let options = Options {
        command: vec!["x".into()],
        calls: Vec::new(),
        launches: vec![
            ("odd".to_owned(), "exec \"$@\"".to_owned()),
            ("other".to_owned(), "\"$@\"".to_owned()),
        ],
        without_canaries: vec!["API_KEY".to_owned()],
        timeout: Duration::from_secs(30),
        home: Some("/tmp/home".into()),
        ..options()
    };
    let again = |id: &str| replay(&options, &[], id);
    assert_eq!(
        again("launch/odd"),
        "framegate check --only launch/odd --launch 'odd=exec \"$@\"' --isolate --timeout 30 -- x"
    );
    assert_eq!(
        again("leak/canary"),
        "framegate check --only leak/canary --no-canary API_KEY --isolate --timeout 30 -- x"
    );
}

#[test]
fn programs_get_the_same_verdicts() {
    let report = report();
    assert!(report.is_failure());
    let value: Value = serde_json::from_str(&json(&report)).unwrap();
    assert_eq!(value["format"], 1);
    assert_eq!(value["cases"][0]["verdict"], "fail");
    assert_eq!(value["cases"][0]["kind"], "stdout-dirty");
    assert_eq!(value["cases"][0]["evidence"]["first_wrong"]["offset"], 3);
    let xml = junit(&report);
    assert!(xml.contains("tests=\"2\" failures=\"1\" skipped=\"0\""), "{xml}");
    assert!(xml.contains("a &lt;bad&gt; &quot;line&quot;"), "{xml}");
    assert!(xml.contains("<testcase classname=\"json-depth\" name=\"deep\"/>"), "{xml}");
    let lines = tap(&report);
    assert!(lines.starts_with("TAP version 14\n1..2\nnot ok 1 - json-noise/banner\n  ---\n"), "{lines}");
    assert!(lines.contains("\n  ...\nok 2 - json-depth/deep\n"), "{lines}");
    let scan: Value = serde_json::from_str(&sarif(&report)).unwrap();
    assert_eq!(scan["version"], "2.1.0");
    let (results, rules) = (&scan["runs"][0]["results"], &scan["runs"][0]["tool"]["driver"]["rules"]);
    assert_eq!(results.as_array().unwrap().len(), 1);
    assert_eq!(rules, &serde_json::json!([{"id": "stdout-dirty"}]));
    assert_eq!(results[0]["ruleId"], rules[0]["id"]);
    assert!(markdown(&report).contains("| `json-noise/banner` | stdout-dirty |"));
}

#[test]
fn github_reads_errors_and_nothing_that_the_target_said() {
    let mut report = report();
    let hostile = "::add-mask::x\r\n##[add-mask]y, 100%: done";
    report.cases[0].explanation = hostile.to_owned();
    let text = github(&report);
    let lines: Vec<_> = text.lines().collect();
    let token = lines[0].strip_prefix("::stop-commands::").unwrap();
    let resumed = lines.iter().position(|line| *line == format!("::{token}::")).unwrap();
    assert!(lines[1..resumed].iter().any(|line| line.contains("##[add-mask]")), "{text}");
    assert!(!terminal(&report).contains(token));
    let title = "title=framegate check%2C stdout-dirty%3A json-noise/banner";
    let message = "a banner%0A::add-mask::x%0D%0A##[add-mask]y, 100%25: done%0A\
                   stdout-ansi at byte 3 of stdout: 1b 5b 31 6d 3c 22 78 22 3e 0a%0Aagain: framegate check --only";
    assert_eq!(lines.len(), resumed + 2, "a policy gap is no error: {text}");
    assert!(lines[resumed + 1].starts_with(&format!("::error {title}::{message}")), "{text}");
}

#[test]
fn github_gets_no_more_errors_than_it_shows() {
    let mut report = report();
    let errors = |report: &Report| -> Vec<String> {
        let text = github(report);
        text.lines().filter(|line| line.starts_with("::error ")).map(str::to_owned).collect()
    };
    let failing = report.cases[0].clone();
    report.cases.resize(11, failing.clone());
    assert_eq!(errors(&report).len(), 10);
    report.cases.resize(40, failing);
    let told = errors(&report);
    assert_eq!(told.len(), 10);
    assert!(told[9].starts_with("::error title=framegate check%2C 30 more::"), "{told:?}");
    report.cases.clear();
    report.unproven = true;
    assert_eq!(errors(&report).len(), 1, "a run that fails says why");
}

#[test]
fn what_nobody_could_see_is_told_once() {
    let mut report = report_with(&[("a/1", true), ("a/2", true), ("a/3", true)]);
    for (case, why) in report.cases.iter_mut().zip(["unseen", "unseen", "another reason"]) {
        (case.verdict, case.explanation) = (Verdict::Inconclusive(String::new()).name(), why.to_owned());
        case.evidence.as_mut().unwrap().first_wrong = None;
    }
    let text = terminal(&report);
    assert_eq!(text.matches("INCONCLUSIVE").count(), 2, "{text}");
    assert!(text.contains("the same in 1 more: a/2"), "{text}");
}

#[test]
fn a_wrong_answer_is_shown_with_what_was_asked() {
    let mut report = report_with(&[("conformance/M-04@2026-07-28", true)]);
    let case = &mut report.cases[0];
    case.kind = Some(Kind::WrongReply);
    let evidence = case.evidence.as_mut().unwrap();
    evidence.first_wrong = None;
    evidence.steps = vec![Step { what: "tools/list".to_owned(), bytes: "asked".to_owned() }];
    evidence.stdout_bytes = b"\x1banswered\n".to_vec();
    let text = terminal(&report);
    for part in ["  sent (tools/list): asked\n", "  stdout ends: \\x1banswered\\n\n"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn of_a_target_that_does_not_answer_nothing_else_is_said() {
    for calls in [Vec::new(), options().calls] {
        let options = Options { calls, ..options() };
        let report =
            Report::new(&options, &options.calls, Vec::new(), Proof::default(), Duration::ZERO, false);
        assert_eq!(
            report.not_verified,
            ["effects: the target does not answer, so no hostile frame was sent"]
        );
        assert!(report.is_failure());
    }
}

#[test]
fn why_no_made_up_call_is_sent_is_told() {
    let options = Options { calls: Vec::new(), ..options() };
    let call = Call { tool: "t\u{1b}".to_owned(), arguments: "{\"a\":\"{marker}\"}".to_owned() };
    let of = |frames, calls: &[Call], unseen| {
        let proof = Proof { frames, unseen, ..Proof::default() };
        Report::new(&options, calls, Vec::new(), proof, Duration::ZERO, true).not_verified.join("\n")
    };
    let told = of(0, &[], vec![(call.clone(), "it was not answered".to_owned())]);
    assert!(told.contains("no tool that says that it only reads has an effect"), "{told}");
    assert!(
        told.ends_with("the tool t\\x1b, called with {\"a\":\"{marker}\"}: it was not answered"),
        "{told}"
    );
    assert_eq!(
        of(0, std::slice::from_ref(&call), Vec::new()),
        "effects: no hostile frame is among the cases"
    );
    assert!(of(1, &[call], Vec::new()).contains("no observer saw"));
}

#[test]
fn one_banner_in_every_session_is_told_once() {
    let text =
        terminal(&report_with(&[("launch/no-home", true), ("plain/session", true), ("plain/idle", true)]));
    assert_eq!(text.matches("FAIL (stdout-dirty)").count(), 1, "{text}");
    assert!(text.contains("FAIL (stdout-dirty)  plain/session"), "{text}");
    assert!(text.contains("the same in 2 more: launch/no-home plain/idle"), "{text}");
}
