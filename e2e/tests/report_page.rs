//! The HTML report of `framegate check` in a real browser: what it shows, what it fetches, how it filters.
//!
//! Belongs here: the page as a reader has it, with scripts and without. Does not belong here: verdicts (`check.rs`).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use framegate_e2e::binary;
use framegate_e2e::browser::Browser;
use serde_json::json;

/// A server that writes a banner if it is told to be verbose, and executes what it refuses for some reasons.
const FAULTS: &[&str] = &["verbose-banner", "message-version", "message-id", "not-ready"];
/// How many seconds an answer may take: longer than any machine needs.
const PATIENT: &str = "60";

/// A run against that server, and its report as a page.
struct Report {
    page: PathBuf,
    _folder: tempfile::TempDir,
}

impl Report {
    fn make(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let page = folder.path().join("report.html");
        // A name that could stand in a real command, and in a picture.
        let server = folder.path().join("my-mcp-server");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_planted"), &server).expect("a link");
        let output = Command::new(binary::program())
            .current_dir(folder.path())
            .args(["check", "--timeout", PATIENT, "--call", "probe_write={\"marker\":\"{marker}\"}"])
            .arg(format!("--report=html={}", page.display()))
            .args(options)
            .args(["--", "./my-mcp-server", "{effect.dir}"])
            .args(FAULTS)
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
        Self { page, _folder: folder }
    }

    /// Few cases: one that wrote wrong bytes, one that had an effect, one that the protocol leaves open, a sound one.
    fn of_few() -> Self {
        let ids =
            ["plain/session", "launch/verbose", "message-version/version-1-0", "message-id/id-exponent"];
        Self::make(&ids.map(|id| ["--only", id]).concat())
    }
}

/// The cases that can be seen, in the grid and below it.
fn seen(browser: &mut Browser) -> (Vec<String>, Vec<String>) {
    let shown = browser.evaluate(
        "[[...document.querySelectorAll('.cell a')].filter(one => one.checkVisibility()).map(one => one.title),
          [...document.querySelectorAll('.case')].filter(one => one.checkVisibility()).map(one => one.querySelector('code').textContent)]",
    );
    serde_json::from_value(shown).expect("two lists")
}

fn is_alone(browser: &Browser, page: &Path) {
    assert_eq!(browser.fetched(), [format!("file://{}", page.display())]);
    assert!(browser.complaints().is_empty(), "{:?}", browser.complaints());
}

#[test]
fn a_page_shows_every_failure_with_its_bytes_with_scripts_and_without() {
    let Some(mut browser) = Browser::start() else { return };
    let report = Report::of_few();
    for scripts in [true, false] {
        browser.open(&report.page, scripts);
        let text = browser.evaluate("document.body.innerText");
        let text = text.as_str().expect("text");
        for part in [
            "2 of 4 cases failed",
            "./my-mcp-server '{effect.dir}' verbose-banner",
            "effects seen by folder",
            "launch/verbose",
            "First wrong byte: stdout-not-json at byte 0 of stdout",
            "debugging\n^",
            "00000000  64 65 62 75 67 67 69 6e 67 0a 7b",
            "          ^^                                               ^",
            "message-version/version-1-0",
            "again",
            "framegate check --only launch/verbose",
        ] {
            assert!(text.contains(part), "{part} is not in\n{text}");
        }
        let marked =
            browser.evaluate("[...document.querySelectorAll('.dump mark')].map(one => one.textContent)");
        assert_eq!(marked, json!(["64", "d"]));
        let (cells, cases) = seen(&mut browser);
        assert_eq!(cells.len(), 4, "{cells:?}");
        assert!(cells.contains(&"policy-gap: message-id/id-exponent".to_owned()), "{cells:?}");
        assert_eq!(
            cases,
            ["launch/verbose", "message-version/version-1-0"],
            "what failed; the rest is folded"
        );
        is_alone(&browser, &report.page);
    }
}

#[test]
fn a_verdict_can_be_chosen_without_scripts_and_a_link_unfolds_its_case() {
    let Some(mut browser) = Browser::start() else { return };
    let report = Report::of_few();
    for scripts in [true, false] {
        browser.open(&report.page, scripts);
        browser.evaluate("document.getElementById('show-policy-gap').click()");
        assert_eq!(seen(&mut browser), (vec!["policy-gap: message-id/id-exponent".to_owned()], vec![]));
        browser.evaluate("document.querySelector('.cell a[title^=policy-gap]').click()");
        assert_eq!(seen(&mut browser).1, ["message-id/id-exponent"]);
        browser.evaluate("document.getElementById('show-all').click()");
        assert_eq!(seen(&mut browser).1.len(), 3);
        assert_eq!(browser.evaluate("document.getElementById('find').checkVisibility()"), scripts);
        is_alone(&browser, &report.page);
    }
}

#[test]
fn the_search_shows_the_cases_that_hold_every_word() {
    let Some(mut browser) = Browser::start() else { return };
    let report = Report::of_few();
    browser.open(&report.page, true);
    for (words, found) in [
        ("64 65 62 75 67", vec!["launch/verbose"]),
        ("SESSION eof", vec![]),
        ("plain/session", vec!["plain/session"]),
        ("MESSAGE- 1.0", vec!["message-version/version-1-0"]),
        ("no such words", vec![]),
    ] {
        browser.write("#find", words);
        let (cells, cases) = seen(&mut browser);
        assert_eq!(cases, found, "{words}");
        assert_eq!(cells.len(), found.len(), "{words}: {cells:?}");
        let count = browser.evaluate("document.getElementById('found').textContent");
        assert_eq!(count, format!("{} of 4", found.len()));
    }
    is_alone(&browser, &report.page);
}

/// What the tests above rely on: a page that fetches or runs what its policy forbids is seen to.
#[test]
fn a_page_that_fetches_or_breaks_its_policy_is_noticed() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.html");
    std::fs::write(folder.path().join("style.css"), "").expect("a file");
    let policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">";
    for (body, fetched, complaints) in
        [("<p>sound", 1, 0), ("<link rel=stylesheet href=style.css>", 2, 0), ("<script>1</script>", 1, 1)]
    {
        std::fs::write(&page, format!("<!DOCTYPE html>{policy}{body}")).expect("a file");
        browser.open(&page, true);
        assert_eq!(browser.fetched().len(), fetched, "{body}: {:?}", browser.fetched());
        assert_eq!(browser.complaints().len(), complaints, "{body}: {:?}", browser.complaints());
    }
}

/// `cargo test -p framegate-e2e --test report_page -- --ignored` makes the picture in `docs/check.md`.
#[test]
#[ignore = "writes `docs/check-report.png`"]
fn the_picture_of_the_documentation() {
    let mut browser = Browser::start().expect("a browser");
    let report = Report::make(&[]);
    browser.open(&report.page, true);
    let picture = browser.picture(1_200, 1_750);
    assert!(picture.len() < 300_000, "{} bytes", picture.len());
    std::fs::write(binary::workspace().join("docs/check-report.png"), picture)
        .expect("the picture is written");
}
