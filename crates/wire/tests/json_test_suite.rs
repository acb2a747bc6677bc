//! JSONTestSuite (Nicolas Seriot, MIT): all `n_` and `i_` files are refused, all `y_` files accepted
//! but the two with duplicate names.
//!
//! Every file goes through reader and parser as one frame. A file that holds a line feed is no frame:
//! it, too, goes to the parser as a whole, because between values RFC 8259 takes a line feed for a
//! blank.

use std::collections::BTreeMap;
use std::path::PathBuf;

use framegate_wire::frame::Reader;
use framegate_wire::json::Parser;
use framegate_wire::{Limits, Reason};

/// Refused although the suite accepts them: RFC 8259 only asks for unique names (SHOULD), we insist.
const DUPLICATES: [&str; 2] = ["y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"];

fn shared(folder: &str) -> Option<PathBuf> {
    let Some(shared) = std::env::var_os("FRAMEGATE_SHARED") else {
        eprintln!("SKIPPED: FRAMEGATE_SHARED is not set, {folder} was not tested");
        return None;
    };
    let folder = PathBuf::from(shared).join(folder);
    assert!(folder.is_dir(), "FRAMEGATE_SHARED is set, but {} is no folder", folder.display());
    Some(folder)
}

/// What becomes of the bytes as one line, and of the bytes as one text where that differs.
fn judge(bytes: &[u8]) -> Result<(), Reason> {
    let limits = Limits::default();
    let mut parser = Parser::new(&limits);
    if bytes.contains(&b'\n')
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        return parser.parse_text(text).map(drop).map_err(|refusal| refusal.reason());
    }
    let mut reader = Reader::new(&limits);
    reader.push(bytes);
    reader.push(b"\n");
    reader.end();
    let first = reader.next().expect("a line");
    first.and_then(|frame| parser.parse(frame).map(drop)).map_err(|refusal| refusal.reason())
}

#[test]
fn every_file_is_judged_as_promised() {
    let Some(folder) = shared("external/json-test-suite/test_parsing") else {
        return;
    };
    let mut seen = BTreeMap::from([('y', 0), ('n', 0), ('i', 0)]);
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let verdict = judge(&std::fs::read(&path).unwrap());
        let expected = match name.chars().next() {
            Some('y') if DUPLICATES.contains(&name.as_str()) => verdict == Err(Reason::JsonDuplicateMember),
            Some('y') => verdict == Ok(()),
            Some('n' | 'i') => verdict.is_err(),
            _ => panic!("{name} is of no known kind"),
        };
        *seen.get_mut(&name.chars().next().unwrap()).unwrap() += 1;
        if !expected {
            wrong.push(format!("{name}: {verdict:?}"));
        }
    }
    assert!(wrong.is_empty(), "judged wrongly:\n{}", wrong.join("\n"));
    assert!(seen.values().all(|count| *count > 30), "files are missing: {seen:?}");
}
