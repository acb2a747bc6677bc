//! No input panics, no good configuration depends on its order, every key is read.

use std::path::Path;

use proptest::prelude::*;
use toml::de::{DeTable, DeValue};

use super::model::FULL;
use super::{read, refused};
use crate::config::{Config, STARTER};

fn judge(text: &str) {
    if let Err(faults) = Config::from_text("framegate.toml", text, Path::new("/etc/framegate")) {
        assert!(!faults.is_empty());
        let report = faults.render(false);
        for fault in faults.iter() {
            assert!(fault.span().start <= text.len(), "{fault:?}");
            assert!(!fault.problem().is_empty() && !fault.problem().contains('\n'), "{fault:?}");
            assert!(fault.hint() != Some(""), "{fault:?}");
        }
        assert!(!report.contains('\u{1b}'));
    }
}

fn tokens() -> impl Strategy<Value = String> {
    let words = [
        "version = 1\n",
        "[",
        "]",
        "[[",
        "]]",
        "{",
        "}",
        "=",
        "\n",
        "\r\n",
        ",",
        ".",
        "#",
        "\"",
        "'",
        "\"\"\"",
        "'''",
        "\\",
        "\\u0041",
        "\u{0}",
        "\u{feff}",
        "\u{202e}",
        "é",
        "🙂",
        "true",
        "1979-05-27",
        "0x",
        "1e400",
        "nan",
        "-",
        "_",
        "99999999999999999999",
        "session",
        "limits",
        "secret",
        "target",
        "tool",
        "params",
        "origin",
        "https://a.b",
        "auth",
        "scheme",
        "bearer",
        "headers",
        "host",
        "body",
        "query",
        "{id}",
        "{{",
        "type",
        "word",
        "list",
        "items",
        "default",
        "path",
        "/",
        "method",
        "GET",
        "a",
        "ghp_0123456789abcdef",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        judge(&text);
        judge(&format!("version = 1\n{text}"));
    }

    #[test]
    fn any_tokens_are_read_or_refused(text in tokens()) {
        judge(&text);
        judge(&format!("version = 1\n{text}"));
    }

    #[test]
    fn any_damage_to_a_good_file_is_read_or_refused(at in any::<prop::sample::Index>(), cut in 0..40_usize, put in tokens()) {
        let mut text: Vec<char> = FULL.chars().collect();
        let start = at.index(text.len());
        let end = (start + cut).min(text.len());
        text.splice(start..end, put.chars().take(12));
        judge(&text.into_iter().collect::<String>());
    }
}

#[test]
fn every_prefix_of_a_good_file_is_read_or_refused() {
    for end in (0..FULL.len()).filter(|end| FULL.is_char_boundary(*end)) {
        judge(&FULL[..end]);
    }
}

/// A key that the schema of tables knows and no reader asks for would be accepted and ignored. Each
/// value of the full file, replaced by a date, must be refused on its own line.
#[test]
fn every_key_is_read() {
    let tree = DeTable::parse(FULL).unwrap();
    let mut spans = Vec::new();
    fn collect(table: &DeTable<'_>, spans: &mut Vec<std::ops::Range<usize>>) {
        for value in table.values() {
            match value.get_ref() {
                DeValue::Table(inner) => collect(inner, spans),
                _ => spans.push(value.span()),
            }
        }
    }
    collect(tree.get_ref(), &mut spans);
    assert!(spans.len() > 90, "{}", spans.len());
    for span in spans {
        let text = format!("{}1979-05-27{}", &FULL[..span.start], &FULL[span.end..]);
        let line = FULL[..span.start].matches('\n').count() + 1;
        let faults = refused(&text);
        assert!(faults.iter().any(|fault| faults.line(fault) == line), "line {line}: {faults}");
    }
}

#[test]
fn the_order_of_tables_is_free() {
    let mut blocks: Vec<String> = Vec::new();
    for line in FULL.lines() {
        if line.starts_with('[') || blocks.is_empty() {
            blocks.push(String::new());
        }
        let block = blocks.last_mut().unwrap();
        block.push_str(line);
        block.push('\n');
    }
    let top = blocks.remove(0);
    blocks.reverse();
    let turned = read(&format!("{top}{}", blocks.concat())).unwrap();
    let straight = read(FULL).unwrap();
    assert_eq!(turned.targets, straight.targets);
    assert_eq!(turned.tools, straight.tools);
    assert_eq!(turned.secrets, straight.secrets);
}

/// Faults do not cost more than their number: a megabyte of them ends, and says how many more.
#[test]
fn a_file_full_of_faults_is_bounded() {
    for line in [
        "x",
        "a = = 1\n",
        "[t]\n",
        "[secret.A]\n",
        "k = [[[[[[\n",
        "[[[[",
        "a.a.a.a.",
        "\"\u{202e}\" = 1\n",
        "a = \"ghp_0123456789abcdef\" ",
        "{{{{",
        "'''",
    ] {
        let text = line.repeat((1 << 20) / line.len());
        let faults = refused(&text);
        let report = faults.render(false);
        assert!(report.len() < 100_000, "{line:?}: {}", report.len());
        assert!(
            faults.len() <= 50 || report.contains(&format!("{} more in `framegate.toml`", faults.len() - 50))
        );
    }
    let over = format!("{STARTER}#{}", "x".repeat(1 << 20));
    assert_eq!(refused(&over).iter().next().unwrap().problem(), "the file is larger than 1 MiB");
}
