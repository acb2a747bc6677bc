//! The parser against `serde_json` and against a search for duplicate names that shares nothing with it.
//!
//! - What we accept, `serde_json` accepts, and the trees are equal.
//! - What `serde_json` refuses, we refuse.
//! - What only we refuse, we refuse for a reason that `serde_json` does not know.

use std::collections::HashSet;

use framegate_wire::json::{Parser, Value};
use framegate_wire::{Limits, Reason};
use proptest::prelude::*;

/// Whether some object of an accepted text has two members of one name.
fn has_duplicates(value: Value<'_>) -> bool {
    if let Some(object) = value.as_object() {
        let names: HashSet<&str> = object.iter().map(|member| member.name).collect();
        return names.len() != object.len() || object.iter().any(|member| has_duplicates(member.value));
    }
    value.as_array().is_some_and(|array| array.iter().any(has_duplicates))
}

/// Whether two trees are the same. Of reals, `serde_json` gives the last bits up for speed; the integer
/// token `-0` is a real to it.
fn alike(one: &serde_json::Value, two: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Number, Object};
    match (one, two) {
        (Number(one), Number(two)) if one.is_f64() && (two.is_f64() || two.as_u64() == Some(0)) => {
            let (one, two) = (one.as_f64().unwrap(), two.as_f64().unwrap());
            (one - two).abs() <= one.abs() * 4.0 * f64::EPSILON
        }
        (Array(one), Array(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| alike(one, two))
        }
        (Object(one), Object(two)) => {
            one.len() == two.len()
                && one.iter().all(|(name, one)| two.get(name).is_some_and(|two| alike(one, two)))
        }
        _ => one == two,
    }
}

/// Whether every value's span is that value's text.
fn spans_hold(text: &str, value: Value<'_>) -> bool {
    let own = serde_json::from_str(&text[value.span()]).is_ok_and(|own| alike(&own, &value.to_owned_json()));
    let names = value.as_object().is_none_or(|object| {
        object.iter().all(|member| {
            let name = serde_json::from_str::<String>(&text[member.span.clone()]);
            name.is_ok_and(|name| name == member.name) && spans_hold(text, member.value)
        })
    });
    own && names && value.as_array().is_none_or(|array| array.iter().all(|item| spans_hold(text, item)))
}

fn check(parser: &mut Parser, text: &str) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match parser.parse_text(text) {
        Ok(document) => {
            let ours = document.root().to_owned_json();
            prop_assert!(
                theirs.as_ref().is_ok_and(|theirs| alike(theirs, &ours)),
                "{:?} and {:?}",
                theirs,
                ours
            );
            prop_assert!(!has_duplicates(document.root()), "duplicate names");
            prop_assert!(spans_hold(text, document.root()), "spans");
        }
        Err(refusal) => {
            prop_assert!(refusal.offset() <= text.len());
            let only_ours = matches!(
                refusal.reason(),
                Reason::JsonDuplicateMember
                    | Reason::JsonNumberRange
                    | Reason::JsonDepth
                    | Reason::JsonMembers
                    | Reason::JsonNodes
            );
            prop_assert!(only_ours || theirs.is_err(), "{:?} for what serde_json accepts", refusal);
        }
    }
    Ok(())
}

fn blanks() -> impl Strategy<Value = String> {
    prop_oneof![6 => Just(String::new()), 2 => Just(" ".to_owned()), 1 => "[ \t\r\n]{1,12}"]
}

fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{0,9}",
        2 => "[ -!#-\\[\\]-~]{0,40}",
        1 => "\\\\[\"\\\\/bfnrt]",
        1 => "\\\\u[0-9a-cA-C][0-9a-fA-F]{3}",
        1 => Just("\\ud83d\\uDE00".to_owned()),
        1 => "[é€😀\u{2028}\u{ffff}]",
    ];
    proptest::collection::vec(piece, 0..4).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("false".to_owned()),
        string(),
        "-?(0|[1-9][0-9]{0,21})",
        "-?(0|[1-9][0-9]{0,9})\\.[0-9]{1,20}",
        "-?(0|[1-9][0-9]{0,9})(\\.[0-9]{1,9})?[eE][+-]?[0-9]{1,3}",
    ]
}

/// Names that are often alike, in length, head or tail, or the same.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![3 => "\"[ab]{0,3}\"", 1 => "\"aaaaaaa[ab]{0,3}\"", 1 => "\"aaaaaaaaaaaaaaa[ab]{0,3}b\"", 1 => string()]
}

/// JSON texts, with objects that repeat the shape of those before them.
fn json() -> impl Strategy<Value = String> {
    let leaf =
        (blanks(), scalar(), blanks()).prop_map(|(before, scalar, after)| format!("{before}{scalar}{after}"));
    leaf.prop_recursive(5, 96, 8, |value| {
        let member = (blanks(), name(), blanks(), value.clone()).prop_map(|(before, name, after, value)| format!("{before}{name}{after}:{value}"));
        let object = proptest::collection::vec(member, 1..7).prop_map(|members| format!("{{{}}}", members.join(",")));
        let shape = (proptest::collection::vec(name(), 1..5), proptest::collection::vec(value.clone(), 1..12));
        let alike = shape.prop_map(|(names, values)| {
            let objects: Vec<String> = values
                .chunks(names.len())
                .map(|values| {
                    let members: Vec<String> = names.iter().zip(values).map(|(name, value)| format!("{name}:{value}")).collect();
                    format!("{{{}}}", members.join(","))
                })
                .collect();
            format!("[{}]", objects.join(","))
        });
        let array = proptest::collection::vec(value, 1..7).prop_map(|values| format!("[{}]", values.join(",")));
        prop_oneof![4 => object, 2 => alike, 3 => array, 1 => Just("{}".to_owned()), 1 => Just("[ ]".to_owned())]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn agrees_with_serde_json_on_json(text in json()) {
        check(&mut Parser::new(&Limits::default()), &text)?;
    }

    #[test]
    fn agrees_with_serde_json_on_damaged_json(
        text in json(),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), 0..3_u8, "[\\[\\]{}:,\"\\\\0-9.eEu+\\- tnfa\u{0}\u{1f}\u{e9}]{1,2}"), 1..3),
    ) {
        let mut characters: Vec<char> = text.chars().collect();
        for (place, kind, insert) in damage {
            let at = place.index(characters.len() + 1);
            match kind {
                0 => drop(characters.splice(at..at, insert.chars())),
                1 => characters.truncate(at),
                _ => drop(characters.splice(at..(at + 1).min(characters.len()), insert.chars())),
            }
        }
        let text: String = characters.into_iter().collect();
        check(&mut Parser::new(&Limits::default()), &text)?;
    }

    #[test]
    fn a_used_parser_judges_as_a_new_one(texts in proptest::collection::vec(json(), 1..6)) {
        let mut used = Parser::new(&Limits::default());
        for text in texts {
            let first = Parser::new(&Limits::default()).parse_text(&text).map(|document| document.root().to_owned_json());
            let again = used.parse_text(&text).map(|document| document.root().to_owned_json());
            prop_assert_eq!(first, again);
        }
    }
}
