//! The redactor against its own rules: spellings, overlaps, cuts, placeholders.

use proptest::prelude::*;

use super::*;

const TOKEN: &str = "gwt_live_9fQ/7+x=Zk2Lm0Vt4Rb8";

fn redactor(secrets: &[(&str, &[u8])]) -> Redactor {
    let held: Vec<(&str, Secret)> =
        secrets.iter().map(|(name, bytes)| (*name, Secret::new(bytes.to_vec()))).collect();
    Redactor::new(held.iter().map(|(name, secret)| Watched { name, secret, user: Some("svc-bot") })).unwrap()
}

fn shown(redactor: &Redactor, text: &[u8]) -> String {
    String::from_utf8(redactor.redact(text).bytes.into_owned()).unwrap()
}

#[test]
fn every_spelling_is_masked_inside_other_text() {
    for secret in [TOKEN, "p@ss:w\u{f6}rd \"q\" \\ 42 <&>\n\t\u{1}", "correct horse battery staple"] {
        let redactor = redactor(&[("k", secret.as_bytes())]);
        let spellings = forms::spellings(secret.as_bytes(), Some("svc-bot"));
        assert!(spellings.len() >= 15, "{} spellings", spellings.len());
        for spelling in &spellings {
            let text = [b"before ".as_slice(), spelling, b" after"].concat();
            let shown = shown(&redactor, &text);
            assert_eq!(shown, "before [redacted:k] after", "{}", String::from_utf8_lossy(spelling));
        }
    }
}

/// Spellings written out by hand, not by the code under test.
#[test]
fn known_spellings_are_masked() {
    let token = redactor(&[("k", TOKEN.as_bytes())]);
    for (text, expected) in [
        (r#""gwt_live_9fQ\/7+x=Zk2Lm0Vt4Rb8""#, r#""[redacted:k]""#),
        ("q=gwt_live_9fQ%2F7%2Bx%3DZk2Lm0Vt4Rb8&", "q=[redacted:k]&"),
        ("q=gwt_live_9fQ%2f7%2bx%3dZk2Lm0Vt4Rb8&", "q=[redacted:k]&"),
        ("q=gwt_live_9fQ/7%2Bx%3DZk2Lm0Vt4Rb8&", "q=[redacted:k]&"),
        ("q=gwt_live_9fQ%252F7%252Bx%253DZk2Lm0Vt4Rb8", "q=[redacted:k]"),
        ("Z3d0X2xpdmVfOWZRLzcreD1aazJMbTBWdDRSYjg=", "[redacted:k]"),
        ("Z3d0X2xpdmVfOWZRLzcreD1aazJMbTBWdDRSYjg", "[redacted:k]"),
        ("v=eGd3dF9saXZlXzlmUS83K3g9WmsyTG0wVnQ0UmI4dGFpbA==", "v=eG[redacted:k]dGFpbA=="),
        ("v=eHhnd3RfbGl2ZV85ZlEvNyt4PVprMkxtMFZ0NFJiOHRhaWw=", "v=eHh[redacted:k]HRhaWw="),
    ] {
        assert_eq!(shown(&token, text.as_bytes()), expected);
    }
    let phrase = redactor(&[("k", b"fish & <chips> \xc3\xb6 /7")]);
    for text in [
        r"fish \u0026 \u003cchips\u003e ö /7",
        r"fish & <chips> \u00f6 /7",
        r"fish & <chips> \u00F6 \/7",
        "fish+%26+%3Cchips%3E+%C3%B6+%2F7",
        "fish%20&%20%3Cchips%3E%20%C3%B6%20/7",
        "%66%69%73%68%20%26%20%3c%63%68%69%70%73%3e%20%c3%b6%20%2f%37",
        "Basic c3ZjLWJvdDpmaXNoICYgPGNoaXBzPiDDtiAvNw==",
    ] {
        let shown = shown(&phrase, text.as_bytes());
        assert!(shown.ends_with("[redacted:k]") && shown.len() < 20, "{text}: {shown}");
    }
}

/// One encoder keeps `*` and encodes `~`, one keeps `=` and `&` but not `?`.
#[test]
fn percent_encoders_differ_in_what_they_keep() {
    let redactor = redactor(&[("k", b"st*r~ti?lde=an&d sp")]);
    for text in [
        "st*r%7Eti%3Flde%3Dan%26d+sp",
        "st%2Ar~ti%3Flde%3Dan%26d+sp",
        "st%2Ar~ti%3Flde%3Dan%26d%20sp",
        "st*r~ti%3Flde%3Dan%26d%20sp",
        "st*r~ti?lde=an&d%20sp",
        "st*r~ti%3Flde=an&d%20sp",
        "st*r~ti?lde=an&d+sp",
    ] {
        assert_eq!(shown(&redactor, text.as_bytes()), "[redacted:k]", "{text}");
    }
}

/// The last byte of the longest spelling comes alone, after any amount of text.
#[test]
fn the_longest_spelling_is_never_let_go_early() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let spellings = forms::spellings(TOKEN.as_bytes(), Some("svc-bot"));
    let longest = spellings.iter().max_by_key(|spelling| spelling.len()).unwrap();
    let (last, start) = longest.split_last().unwrap();
    for padding in 0..3 * redactor.longest {
        let mut stream = redactor.stream();
        let mut output = Vec::new();
        stream.push(&[&vec![b'.'; padding], start].concat(), &mut output);
        stream.push(&[*last], &mut output);
        stream.finish(&mut output);
        assert_eq!(output, [&vec![b'.'; padding][..], b"[redacted:k]"].concat());
    }
}

/// Bytes that come one by one are not searched one by one: that would be quadratic.
#[test]
fn single_bytes_are_searched_in_bulk() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let mut stream = redactor.stream();
    let mut output = Vec::new();
    let mut steps = 0;
    for _ in 0..20 * redactor.longest {
        let before = output.len();
        stream.push(b".", &mut output);
        steps += usize::from(output.len() > before);
    }
    assert!((15..=25).contains(&steps), "{steps} searches");
}

/// Bytes 0xfb 0xff give `-_` in one base64 alphabet and `+/` in the other.
#[test]
fn both_base64_alphabets_are_masked() {
    let redactor = redactor(&[("k", b"\xfb\xff\xfe\xfb\xff\xfe\xfb\xff\xfe\xfb\xff\xfe")]);
    assert_eq!(shown(&redactor, b"+//++//++//++//+"), "[redacted:k]");
    assert_eq!(shown(&redactor, b"-__--__--__--__-"), "[redacted:k]");
}

#[test]
fn ordinary_text_is_borrowed_and_unchanged() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    for text in ["", "gwt_live_", "[redacted:k]", "nothing here"] {
        let redacted = redactor.redact(text.as_bytes());
        assert!(matches!(redacted.bytes, Cow::Borrowed(bytes) if bytes == text.as_bytes()));
        assert_eq!(redacted.redactions, []);
    }
}

#[test]
fn without_secrets_nothing_is_held_back() {
    let redactor = Redactor::new([]).unwrap();
    let mut output = Vec::new();
    let mut stream = redactor.stream();
    assert_eq!(stream.push(b"abc", &mut output), []);
    assert_eq!(output, b"abc");
}

#[test]
fn an_empty_or_tiny_secret_masks_nothing_else() {
    assert_eq!(shown(&redactor(&[("k", b"")]), b"abc"), "abc");
    assert_eq!(shown(&redactor(&[("k", b"\x01")]), b"abcABC+/"), "abcABC+/");
}

#[test]
fn the_longer_of_two_secrets_names_the_placeholder() {
    let redactor = redactor(&[("short", b"9fQ/7+x=Zk2L"), ("long", TOKEN.as_bytes())]);
    assert_eq!(shown(&redactor, TOKEN.as_bytes()), "[redacted:long]");
    assert_eq!(shown(&redactor, b"v=9fQ/7+x=Zk2L;"), "v=[redacted:short];");
}

#[test]
fn of_overlapping_secrets_nothing_stays() {
    let redactor = redactor(&[("a", b"0123456789abcdef"), ("b", b"89abcdefGHIJKLMNOPQR")]);
    let redacted = redactor.redact(b"<0123456789abcdefGHIJKLMNOPQR>");
    assert_eq!(*redacted.bytes, *b"<[redacted:b]>");
    assert_eq!(redacted.redactions, [Redaction { start: 1, end: 13 }]);
}

#[test]
fn neighbours_are_counted_apart() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let text = TOKEN.repeat(3);
    let redacted = redactor.redact(text.as_bytes());
    assert_eq!(redacted.redactions.len(), 3);
    assert_eq!(*redacted.bytes, *b"[redacted:k]".repeat(3));
}

/// A placeholder that spells another secret is output, not input.
#[test]
fn a_placeholder_is_never_searched() {
    let redactor = redactor(&[("k", TOKEN.as_bytes()), ("odd", b"redacted:k]!")]);
    let text = format!("{TOKEN}!");
    assert_eq!(shown(&redactor, text.as_bytes()), "[redacted:k]!");
}

#[test]
fn a_cut_shows_no_part_of_a_secret_and_keeps_the_placeholder() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let text = format!("0123456789{TOKEN}tail");
    let redacted = redactor.redact(text.as_bytes());
    assert_eq!(redacted.truncated(10), b"0123456789");
    for limit in 11..22 {
        assert_eq!(redacted.truncated(limit), b"0123456789[redacted:k]");
    }
    assert_eq!(redacted.truncated(23), b"0123456789[redacted:k]t");
    assert_eq!(redacted.truncated(usize::MAX), b"0123456789[redacted:k]tail");
}

#[test]
fn a_chain_of_overlaps_is_not_hoarded() {
    let redactor = redactor(&[("k", b"abababababababab")]);
    let mut stream = redactor.stream();
    let mut output = Vec::new();
    let mut redactions = Vec::new();
    for _ in 0..20_000 {
        redactions.extend(stream.push(b"ab", &mut output));
        assert!(stream.held_bytes() <= redactor.longest * 2);
    }
    redactions.extend(stream.finish(&mut output));
    assert_eq!(output, b"[redacted:k]");
    assert_eq!(redactions, [Redaction { start: 0, end: 12 }]);
}

/// Text made of secrets, parts of secrets, and spellings, glued without separators.
fn hostile_text() -> impl Strategy<Value = Vec<u8>> {
    let whole = forms::spellings(TOKEN.as_bytes(), Some("svc-bot"));
    let other = forms::spellings(OTHER, None);
    let spellings: Vec<Vec<u8>> = whole.iter().chain(&other).map(|form| form.to_vec()).collect();
    let piece = prop_oneof![
        prop::sample::select(spellings.clone()),
        (prop::sample::select(spellings), 0_usize..40, 0_usize..40).prop_map(
            |(mut spelling, from, length)| {
                spelling.drain(..from.min(spelling.len()));
                spelling.truncate(length);
                spelling
            }
        ),
        prop::collection::vec(any::<u8>(), 0..8),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Ends as the token starts, and overlaps itself.
const OTHER: &[u8] = b"8b8b8b8b8b8b-gwt_live_";

proptest! {
    #[test]
    fn no_cut_changes_the_result(
        text in hostile_text(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
    ) {
        let redactor = redactor(&[("token", TOKEN.as_bytes()), ("other", OTHER)]);
        let whole = redactor.redact(&text);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut stream = redactor.stream();
        let (mut output, mut redactions) = (Vec::new(), Vec::new());
        for pair in cuts.windows(2) {
            redactions.extend(stream.push(&text[pair[0]..pair[1]], &mut output));
        }
        redactions.extend(stream.finish(&mut output));
        prop_assert_eq!(&*whole.bytes, &*output);
        prop_assert_eq!(&whole.redactions, &redactions);
        for redaction in &redactions {
            let placeholder = &output[redaction.start..redaction.end];
            prop_assert!(placeholder == b"[redacted:token]" || placeholder == b"[redacted:other]");
        }
        for spelling in forms::spellings(TOKEN.as_bytes(), Some("svc-bot")) {
            let left = output.windows(spelling.len()).any(|window| window == spelling.as_slice());
            prop_assert!(!left, "a spelling is left");
        }
    }
}
