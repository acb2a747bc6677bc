//! The parser against `serde_json`: what we accept, it accepts with the same tree; what it refuses, we
//! refuse; what only we refuse, we refuse for a reason it does not know. No accepted text has two
//! members of one name in one object, by a search that shares nothing with ours. A parser that was used
//! before judges as a new one does.

#![no_main]

use std::cell::RefCell;
use std::collections::HashSet;

use framegate_wire::json::{Parser, Value};
use framegate_wire::{Limits, Reason};
use libfuzzer_sys::fuzz_target;

thread_local! {
    static USED: RefCell<Parser> = RefCell::new(Parser::new(&Limits::default()));
}

fn has_duplicates(value: Value<'_>) -> bool {
    if let Some(object) = value.as_object() {
        let names: HashSet<&str> = object.iter().map(|member| member.name).collect();
        return names.len() != object.len() || object.iter().any(|member| has_duplicates(member.value));
    }
    value.as_array().is_some_and(|array| array.iter().any(has_duplicates))
}

/// Equal, but for the last bits of reals, which `serde_json` gives up for speed, and `-0`, which is a
/// real to it.
fn alike(theirs: &serde_json::Value, ours: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (theirs, ours) {
        (Number(one), Number(two)) if one.is_f64() && (two.is_f64() || two.as_u64() == Some(0)) => {
            let (one, two) = (one.as_f64().unwrap(), two.as_f64().unwrap());
            (one - two).abs() <= one.abs() * 4.0 * f64::EPSILON + f64::MIN_POSITIVE
        }
        (Array(one), Array(two)) => one.len() == two.len() && one.iter().zip(two).all(|(one, two)| alike(one, two)),
        (Object(one), Object(two)) => {
            one.len() == two.len() && one.iter().all(|(name, one)| two.get(name).is_some_and(|two| alike(one, two)))
        }
        _ => theirs == ours,
    }
}

fuzz_target!(|text: &str| {
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    let mut parser = Parser::new(&Limits::default());
    let verdict = parser.parse_text(text);
    match &verdict {
        Ok(document) => {
            let ours = document.root().to_owned_json();
            assert!(theirs.is_ok_and(|theirs| alike(&theirs, &ours)));
            assert!(!has_duplicates(document.root()));
            assert_eq!(text[document.root().span()], *text.trim_matches([' ', '\t', '\r', '\n']));
        }
        Err(refusal) => {
            assert!(refusal.offset() <= text.len());
            let only_ours = matches!(
                refusal.reason(),
                Reason::JsonDuplicateMember | Reason::JsonNumberRange | Reason::JsonDepth | Reason::JsonMembers | Reason::JsonNodes
            );
            assert!(only_ours || theirs.is_err());
        }
    }
    let verdict = verdict.map(|document| document.root().to_owned_json());
    USED.with_borrow_mut(|used| {
        assert_eq!(verdict, used.parse_text(text).map(|document| document.root().to_owned_json()));
    });
});
