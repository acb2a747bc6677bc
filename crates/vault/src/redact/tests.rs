//! The redactor against its own rules: clusters, cuts, counts, placeholders, withheld fields.

mod properties;
mod spelt;

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

/// Every spelling and form of a secret.
fn spellings(secret: &[u8], user: Option<&str>) -> Vec<Vec<u8>> {
    let forms = forms::of(secret, user, 0);
    let mut all: Vec<Vec<u8>> = forms.iter().map(|form| form.bytes.to_vec()).collect();
    all.extend(spellings::escaped(secret).iter().map(|spelling| spelling.to_vec()));
    all.sort_unstable();
    all.dedup();
    all
}

/// The last byte of a spelling comes alone, at every place around the end of a block.
#[test]
fn a_secret_across_blocks_is_never_let_go_early() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let longest: String = TOKEN.chars().map(|c| format!("&amp;#{};", u32::from(c))).collect();
    for spelling in [TOKEN, longest.as_str()] {
        let (start, last) = spelling.split_at(spelling.len() - 1);
        let block = redactor.block;
        let around = [0, block - 1, block, block + 1].into_iter().chain(block - spelling.len()..block + 1);
        for padding in around.chain([block + redactor.reach - 1, 3 * block - 7]) {
            let mut stream = redactor.stream();
            let mut output = Vec::new();
            stream.push(&[&vec![b'.'; padding], start.as_bytes()].concat(), &mut output);
            stream.push(last.as_bytes(), &mut output);
            let ending = stream.finish(&mut output);
            assert!(output == [&vec![b'.'; padding][..], b"[redacted:k]"].concat(), "{padding}");
            assert!(!ending.suspected, "{padding}");
        }
    }
}

/// A secret that takes more than a window, in parts that overlap: one hit, and nothing of it stays.
#[test]
fn a_secret_longer_than_a_window_is_masked_whole() {
    let secret: String = (0..6_000).map(|n| format!("{:x}/", n * 7919)).collect();
    let redactor = redactor(&[("k", secret.as_bytes())]);
    let escaped: String = secret.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    assert!(escaped.len() > redactor.block + redactor.reach);
    for (text, expected) in [
        (format!("<{escaped}>"), "<[redacted:k]>"),
        (format!("<{}>", &escaped[6..escaped.len() - 6]), "<[redacted:k]>"),
        (format!("<{secret}><{escaped}>"), "<[redacted:k]><[redacted:k]>"),
    ] {
        let redacted = redactor.redact(text.as_bytes());
        assert!(*redacted.bytes == *expected.as_bytes(), "{} bytes", redacted.bytes.len());
        assert!(!redacted.suspected);
    }
}

/// Bytes that come one by one are not searched one by one: that would be quadratic.
#[test]
fn single_bytes_are_searched_in_bulk() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let mut stream = redactor.stream();
    let mut output = Vec::new();
    let mut steps = 0;
    for _ in 0..20 * redactor.block {
        let before = output.len();
        stream.push(b".", &mut output);
        steps += usize::from(output.len() > before);
        assert!(stream.held_bytes() <= redactor.block + redactor.reach);
    }
    assert!((15..=25).contains(&steps), "{steps} searches");
}

#[test]
fn ordinary_text_is_borrowed_and_unchanged() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    for text in ["", "gwt_live_", "[redacted:k]", "nothing here"] {
        let redacted = redactor.redact(text.as_bytes());
        assert!(matches!(redacted.bytes, Cow::Borrowed(bytes) if bytes == text.as_bytes()));
        assert_eq!(redacted.redactions, []);
        assert!(!redacted.suspected);
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
fn a_secret_that_is_too_short_to_search_for_is_refused() {
    for bytes in [b"".as_slice(), b"9fQ/7+x=Zk2"] {
        let secret = Secret::new(bytes.to_vec());
        let fault = Redactor::new([Watched { name: "k", secret: &secret, user: None }]).err();
        assert_eq!(fault, Some(VaultError::Weak { name: "k".to_owned(), fault: Weakness::TooShort }));
    }
}

#[test]
fn a_redactor_can_be_shared() {
    fn need<T: Send + Sync>(_: &T) {}
    need(&std::sync::Arc::new(redactor(&[("k", TOKEN.as_bytes())])));
}

/// A whole secret and as much of another: the whole one is named, whatever the order.
#[test]
fn of_equal_hits_the_whole_secret_names_the_placeholder() {
    for secrets in [
        [("part", TOKEN.as_bytes()), ("whole", b"9fQ/7+x=Zk2L".as_slice())],
        [("whole", b"9fQ/7+x=Zk2L".as_slice()), ("part", TOKEN.as_bytes())],
    ] {
        assert_eq!(shown(&redactor(&secrets), b"v=9fQ/7+x=Zk2L;"), "v=[redacted:whole];");
    }
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
        assert!(stream.held_bytes() <= redactor.block + redactor.reach);
    }
    redactions.extend(stream.finish(&mut output).redactions);
    assert_eq!(output, b"[redacted:k]");
    assert_eq!(redactions, [Redaction { start: 0, end: 12 }]);
}

fn suspected(redactor: &Redactor, text: &str) -> bool {
    redactor.redact(text.as_bytes()).suspected
}

#[test]
fn a_secret_taken_apart_by_white_space_is_suspected() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let apart = |between: &str| TOKEN.chars().map(|c| format!("{c}{between}")).collect::<String>();
    for between in
        [" ", "\n", "\r\n", "\t", "\\n", "%20", "&#32;", "\u{a0}", "\u{2003}", "\u{200b} ", " \x1b[1m"]
    {
        let text = apart(between);
        assert!(suspected(&redactor, &text), "{text:?}");
        assert_eq!(redactor.redact(text.as_bytes()).redactions, [], "{text:?}");
    }
    assert!(suspected(&redactor, "Z3d0X2xpdmVfOWZ\n  RLzcreD1aazJMbTB\n  WdDRSYjg="));
    assert!(suspected(&redactor, "67 77 74 5f 6c 69 76 65 5f 39 66 51 2f 37 2b 78 3d 5a 6b 32 4c"));
    // Not by other characters, and not in parts of fewer than twelve.
    assert!(!suspected(&redactor, &apart(".")));
    assert!(!suspected(&redactor, "gwt_live_ 9fQ/7 +x=Zk2"));
    assert!(suspected(&redactor, "gwt_live_ 9fQ/7 +x=Zk2L"));
}

/// Only what no placeholder stands for is withheld: a secret with white space in it is not.
#[test]
fn what_is_masked_is_not_suspected() {
    let phrase = redactor(&[("k", b"correct horse battery staple")]);
    for text in ["x correct horse battery staple y", "correct%20horse%20battery%20staple ", "a b c"] {
        assert!(!suspected(&phrase, text), "{text}");
    }
    // One half is masked; the other is too short, but for its first line.
    let token = redactor(&[("k", TOKEN.as_bytes())]);
    let redacted = token.redact(b"gwt_live_9fQ/7+x=Zk2L\nm0Vt4Rb8");
    assert_eq!((&*redacted.bytes, redacted.suspected), (b"[redacted:k]\nm0Vt4Rb8".as_slice(), true));
    // Both halves are masked: nothing is left to withhold.
    let key = redactor(&[("k", b"9fQ/7+x=Zk2Lm0Vt4Rb8p0Xc")]);
    let redacted = key.redact(b"9fQ/7+x=Zk2L m0Vt4Rb8p0Xc");
    assert_eq!((&*redacted.bytes, redacted.suspected), (b"[redacted:k] [redacted:k]".as_slice(), false));
}

/// The suspicion may arise in any block, and at the seam of two.
#[test]
fn a_suspicion_is_kept_to_the_end() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let apart = TOKEN.chars().map(|c| format!("{c} ")).collect::<String>();
    for before in [0, redactor.block - 20, redactor.block, redactor.block + 5] {
        let text = [".".repeat(before), apart.clone(), ".".repeat(3 * redactor.block)].concat();
        assert!(suspected(&redactor, &text), "{before}");
        let mut stream = redactor.stream();
        stream.push(text.as_bytes(), &mut Vec::new());
        assert!(stream.suspected(), "{before}");
    }
}

#[test]
fn compressed_bytes_are_suspected_where_a_secret_is_searched_for() {
    let gzip = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03";
    assert!(redactor(&[("k", TOKEN.as_bytes())]).redact(gzip).suspected);
    assert!(!redactor(&[("k", TOKEN.as_bytes())]).redact(&[b".", gzip.as_slice()].concat()).suspected);
    assert!(!Redactor::new([]).unwrap().redact(gzip).suspected);
}

/// A secret that repeats itself, in a text made of its repetitions: the search is given up, and says so.
#[test]
fn a_text_made_to_be_slow_is_suspected() {
    let secret = [b"ab".repeat(8 * 1024).as_slice(), b"9fQ/7+x=Zk2L"].concat();
    let redactor = redactor(&[("k", &secret)]);
    assert!(redactor.redact(&b"ab".repeat(100_000)).suspected);
}

#[test]
fn fragments_count_from_twelve_bytes_that_are_not_public() {
    let redactor = redactor(&[("k", TOKEN.as_bytes())]);
    let secret = &TOKEN[9..];
    for from in 0..=secret.len() - 12 {
        assert_eq!(shown(&redactor, format!("<{}>", &secret[from..from + 12]).as_bytes()), "<[redacted:k]>");
        let short = format!("<{}>", &secret[from..from + 11]);
        assert_eq!(shown(&redactor, short.as_bytes()), short);
    }
    for text in ["gwt_live_", "gwt_live_9fQ/7+x=Zk2", "GWT_LIVE_"] {
        assert_eq!(shown(&redactor, text.as_bytes()), text);
    }
    assert_eq!(shown(&redactor, b"gwt_live_9fQ/7+x=Zk2L..."), "[redacted:k]...");
}

/// A part of a key's padding is also in other texts.
#[test]
fn a_part_of_hardly_different_bytes_is_no_trace() {
    let redactor = redactor(&[("k", b"9fQ/7+x=Zk2LAAAAAAAAAAAAAAAA------------m0Vt")]);
    for text in ["AAAAAAAAAAAAAAAA", "------------", "AAAAAAAAA------------"] {
        assert_eq!(shown(&redactor, text.as_bytes()), text);
    }
    assert_eq!(shown(&redactor, b"LAAAAAAAAAA-----"), "LAAAAAAAAAA-----");
    assert_eq!(shown(&redactor, b"k2LAAAAAAAAAAAA"), "[redacted:k]");
}
