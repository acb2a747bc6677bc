//! The page: what it tells, that it stays small, and that nothing of a target is markup.
//!
//! Belongs here: the page as text. Does not belong here: how a browser shows it (`e2e/tests/report_page.rs`).

use super::*;
use crate::attribution::Sdk;
use crate::case::{Level, Step};
use crate::observe::Sight;
use crate::report::{Evidence, FirstWrong};
use crate::verdict::Kind;

/// A run with one case of each verdict, in which every text of a target's is this one.
fn report(text: &str) -> Report {
    let case = |(verdict, _): &(&'static str, &str)| {
        let evidence = Evidence {
            launch: None,
            passages: Vec::new(),
            steps: vec![Step { what: text.to_owned(), bytes: text.to_owned() }],
            first_wrong: (*verdict == "fail").then(|| FirstWrong {
                offset: 2,
                code: "stdout-ansi",
                line: text.to_owned(),
                caret: Some(2),
                hex: "1b".to_owned(),
            }),
            effects: vec![Sight { observer: "http", what: text.to_owned() }],
            stderr: text.to_owned(),
            replay: text.to_owned(),
            stdin_bytes: text.into(),
            stdout_bytes: text.into(),
            stderr_bytes: text.into(),
        };
        CaseReport {
            id: format!("{text}/{text}"),
            gist: text.to_owned(),
            requirements: vec![text.to_owned()],
            level: Level::Must,
            verdict,
            kind: Some(Kind::StdoutDirty),
            explanation: text.to_owned(),
            expected: Some(text.to_owned()),
            cause: Some(text.to_owned()),
            remedy: Some(text.to_owned()),
            evidence: Some(evidence),
            is_failure: matches!(*verdict, "fail" | "unavailable" | "hung"),
        }
    };
    Report {
        server: None,
        client: "production",
        format: 1,
        framegate: "1.2.3",
        command: vec![text.to_owned()],
        profile: "quick",
        answers: true,
        observers: vec!["http"],
        tracer: None,
        not_verified: vec![text.to_owned()],
        milliseconds: 1_234,
        unproven: false,
        sdk: Some(Sdk { name: "rust-sdk", version: text.to_owned(), seen_in: text.to_owned() }),
        stale: vec![text.to_owned()],
        is_part: false,
        cases: SIGNS.iter().map(case).collect(),
    }
}

/// The tags of a page in order, each without what its attributes' quotes hold.
fn tags(page: &str) -> Vec<String> {
    let mut tags = Vec::new();
    let mut rest = page;
    while let Some((_, behind)) = rest.split_once('<') {
        let mut is_quoted = false;
        let end = behind.find(|character| {
            is_quoted ^= character == '"';
            character == '>' && !is_quoted
        });
        let (tag, behind) = behind.split_at(end.expect("a tag ends"));
        tags.push(tag.split('"').step_by(2).collect());
        rest = behind;
    }
    tags
}

#[test]
fn hostile_text_is_no_markup_and_hides_nothing() {
    for hostile in [
        "<script>alert(1)</script>",
        "</pre></code><img src=x onerror=alert(1)>",
        "\" onmouseover=\"alert(1)",
        "' onmouseover='alert(1)",
        "--><svg onload=alert(1)>",
        "<!--",
        "]]>",
        "<![CDATA[",
        "</title></style></script>",
        "&lt;b&gt;&#60;b>",
        "<\0script\0>",
        "a\u{202e}b\u{2066}c\u{200b}d\u{feff}e",
        "\u{1b}[2J\u{7}\u{9b}\r\n\u{2028}\u{85}",
    ] {
        let page = html(&report(hostile));
        // As many rows of bytes.
        let plain = tags(&html(&report(&"x".repeat(hostile.len()))));
        assert_eq!(tags(&page), plain, "{hostile:?}");
        let hidden = |character: &char| {
            *character != '\n'
                && (character.is_control() || "\u{202e}\u{2066}\u{200b}\u{feff}\u{2028}".contains(*character))
        };
        assert_eq!(page.chars().find(hidden), None, "{hostile:?}");
    }
    assert!(html(&report("a\u{202e}<b>&amp;")).contains("a\\u{202e}&lt;b&gt;&amp;amp;"));
}

#[test]
fn what_the_policy_allows_is_what_the_page_holds() {
    let page = html(&report("plain"));
    let inside = |name: &str| {
        let (_, rest) = page.split_once(&format!("<{name}>")).expect("one");
        let (text, rest) = rest.split_once(&format!("</{name}>")).expect("one");
        assert!(!rest.contains(&format!("<{name}")), "more than one {name}");
        format!("{name}-src 'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
    };
    for part in ["default-src 'none'", &inside("style"), &inside("script")] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("http://") && !page.contains("https://"), "an address");
}

#[test]
fn every_verdict_has_a_sign_a_colour_and_a_choice() {
    let mut signs: Vec<_> = SIGNS.iter().map(|(_, sign)| sign).collect();
    signs.sort_unstable();
    signs.dedup();
    assert_eq!(signs.len(), SIGNS.len());
    for (verdict, _) in SIGNS {
        for rule in [
            format!("[data-verdict=\"{verdict}\"] > a, [data-verdict-sign=\"{verdict}\"]"),
            format!("body:has(#show-{verdict}:checked) :is(.cell, .case):not([data-verdict=\"{verdict}\"])"),
            format!(
                "body:has(#show-{verdict}:checked) :is(.group, .part):not(:has([data-verdict=\"{verdict}\"]))"
            ),
        ] {
            assert!(STYLE.contains(&rule), "{rule}");
        }
    }
}

#[test]
fn bytes_are_shown_around_the_wrong_one() {
    let bytes: Vec<u8> = (0..=255).collect();
    let text = |markup: Markup| {
        let page = markup.into_string();
        let shown: String =
            page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
        shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").replace("&quot;", "\"")
    };
    let shown = text(dump::around(&bytes, 0x42));
    let rows: Vec<_> = shown.lines().collect();
    assert_eq!(rows.len(), 9, "{shown}");
    assert_eq!(rows[0], "00000020  20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f   !\"#$%&'()*+,-./");
    assert_eq!(rows[2], "00000040  40 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f  @ABCDEFGHIJKLMNO");
    assert_eq!(rows[3], "                ^^                                           ^");
    assert_eq!(rows[8], "00000090  90 91 92 93 94 95 96 97 98 99 9a 9b 9c 9d 9e 9f  ................");
    assert!(dump::around(&bytes, 0x42).into_string().contains(" <mark>42</mark> 43"));
    // What is wrong is that nothing follows.
    let shown = text(dump::around(b"0123456789abcdef", 16));
    assert_eq!(shown.lines().nth(1).map(str::trim), Some("00000010"), "{shown}");
    assert_eq!(
        shown.lines().nth(2).map(str::trim),
        Some("^^                                               ^")
    );
    assert!(text(dump::end(&bytes)).starts_with("00000080 "));
}

#[test]
fn a_long_run_of_a_talkative_target_is_cut_and_says_so() {
    let mut report = report(&"<".repeat(2_100));
    let failing = report.cases[0].clone();
    report.cases.resize(3_000, failing);
    for (number, case) in report.cases.iter_mut().enumerate() {
        case.id = format!("group/{number}");
    }
    let steps = &mut report.cases[0].evidence.as_mut().unwrap().steps;
    steps.resize(23, steps[0].clone());
    let page = html(&report);
    for part in [
        "The page shows 2000 of 3000 cases",
        "failures after the first 100",
        "(100 characters more)",
        "and 3 more",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.len() < 40_000_000, "{}", page.len());
}
