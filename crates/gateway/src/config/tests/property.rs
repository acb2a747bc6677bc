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
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

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
fn prefixes_of_a_good_file_are_read_or_refused() {
    // Every seventh: all of them take a minute.
    for end in (0..FULL.len()).step_by(7).filter(|end| FULL.is_char_boundary(*end)) {
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

/// What a quarter of a megabyte of `line`s reports, with `#` a number that differs in each.
fn flood(head: &str, line: &str, tail: &str) {
    let mut text = head.to_owned();
    for number in 0.. {
        if text.len() > 1 << 18 {
            break;
        }
        text.push_str(&line.replace('#', &number.to_string()));
    }
    text.push_str(tail);
    let faults = refused(&text);
    let report = faults.render(false);
    assert!(report.len() < 100_000, "{line:?}: {}", report.len());
    assert!(
        faults.len() <= 50 || report.contains(&format!("{} more in `framegate.toml`", faults.len() - 50))
    );
}

/// A file full of faults ends, shows some of them and says how many more there are. No list in it
/// costs the square of its length: the slowest of these would take minutes if it did.
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
        "{{{{",
        "'''",
    ] {
        flood("version = 1\n", line, "");
    }
    flood("version = 1\n", "ke# = 1\n", "");
    flood("version = 1\n", "[tool.t_#]\n", "");
    flood(
        "version = 1\n",
        "[tool.t_#]\ndescription = 't'\ntarget = 'a'\nmethod = 'GET'\npath = '/'\n",
        "[target.a]\norigin = 'x'\n",
    );
    let target = "version = 1\n[target.a]\norigin = 'https://a.b'\nca = 'c'\n";
    flood(&format!("{target}[target.a.headers]\n"), "x-# = '1'\n", "");
    flood(&format!("{target}address_ranges = ["), "'10.0.#.0/24',", "]\n");
    let tool =
        format!("{target}[tool.t]\ndescription = 't'\ntarget = 'a'\nmethod = 'GET'\npath = '/{{v}}'\n");
    flood(&format!("{tool}ignore_arguments = ["), "'a#',", "]\n");
    flood(&format!("{tool}[tool.t.params]\n"), "p# = {type='bool'}\n", "");
    flood(&format!("{tool}[tool.t.params.v]\ntype = 'enum'\nvalues = ["), "'#',", "]\n");
    flood(&format!("{tool}[tool.t.query]\n"), "'q#' = '{p}'\n", "");
}

#[test]
fn a_megabyte_is_the_bound() {
    let padded = |length: usize| format!("{STARTER}#{}", "x".repeat(length - STARTER.len() - 1));
    assert!(read(&padded(1 << 20)).is_ok());
    let faults = refused(&padded((1 << 20) + 1));
    assert_eq!(faults.iter().next().unwrap().problem(), "the file is larger than 1 MiB");
}
