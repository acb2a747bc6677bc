//! Each spelling by name, written out by hand and not by the code under test.

use super::*;

const PASSWORD: &str = "p@ss:w\u{f6}rd \"q\" \\ 42";
const PHRASE: &str = "correct horse battery staple";

/// `text` has one secret in the spelling, between `<` and `>`, and all of it is masked.
#[track_caller]
fn masked(secret: &str, spellings: &[&str]) {
    let redactor = redactor(&[("k", secret.as_bytes())]);
    for spelling in spellings {
        let text = format!("<{spelling}>");
        let redacted = redactor.redact(text.as_bytes());
        assert_eq!(String::from_utf8_lossy(&redacted.bytes), "<[redacted:k]>", "{spelling}");
        assert_eq!(redacted.redactions.len(), 1, "{spelling}");
        assert!(!redacted.suspected, "{spelling}");
    }
}

/// All that is known of some secrets, in one place.
#[test]
fn known_spellings_are_masked() {
    masked(TOKEN, &[TOKEN, r"gwt_live_9fQ\/7+x=Zk2Lm0Vt4Rb8", "gwt_live_9fQ%2F7%2Bx%3DZk2Lm0Vt4Rb8"]);
    masked(
        "fish & <chips> \u{f6} /7",
        &[
            r"fish \u0026 \u003cchips\u003e ö /7",
            r"fish & <chips> \u00f6 /7",
            r"fish & <chips> \u00F6 \/7",
            "fish+%26+%3Cchips%3E+%C3%B6+%2F7",
            "fish%20&%20%3Cchips%3E%20%C3%B6%20/7",
            "%66%69%73%68%20%26%20%3c%63%68%69%70%73%3e%20%c3%b6%20%2f%37",
        ],
    );
    let basic = redactor(&[("k", b"fish & <chips> \xc3\xb6 /7")]);
    assert_eq!(shown(&basic, b"Basic c3ZjLWJvdDpmaXNoICYgPGNoaXBzPiDDtiAvNw=="), "Basic [redacted:k]");
}

#[test]
fn json() {
    masked(
        PASSWORD,
        &[
            r#"p@ss:wörd \"q\" \\ 42"#,
            r#"p@ss:w\u00f6rd \"q\" \\ 42"#,
            r#"p@ss:w\u00F6rd \u0022q\u0022 \u005C 42"#,
            // Inside a JSON string, and in one inside that.
            r#"p@ss:w\\u00f6rd \\\"q\\\" \\\\ 42"#,
            r#"p@ss:w\\\\u00f6rd \\\\\\\"q\\\\\\\" \\\\\\\\ 42"#,
            // Some characters, and not those that must be.
            r#"\u0070@s\u0073:w\u00f6rd "q" \u005c 42"#,
        ],
    );
    masked("smile \u{1f600} 9fQ/7+x", &[r"smile \ud83d\ude00 9fQ\/7+x", r"smile \uD83D\uDE00 9fQ/7\u002Bx"]);
    masked(
        "tab\tlf\ncr\rbs\u{8}ff\u{c}9fQ",
        &[r"tab\tlf\ncr\rbs\bff\f9fQ", r"tab\u0009lf\u000acr\u000Dbs\u0008ff\u000c9fQ"],
    );
}

#[test]
fn percent() {
    masked(
        TOKEN,
        &[
            "gwt_live_9fQ%2f7%2bx%3dZk2Lm0Vt4Rb8",
            "gwt_live_9fQ/7%2Bx%3DZk2Lm0Vt4Rb8",
            "%67wt%5Flive%5f9fQ/7+x=Zk2Lm0Vt4Rb%38",
        ],
    );
    masked(PHRASE, &["correct+horse+battery+staple", "correct%20horse%20battery%20staple"]);
    // One encoder keeps `*` and encodes `~`, one keeps `=` and `&` but not `?`.
    masked(
        "st*r~ti?lde=an&d sp",
        &[
            "st*r%7Eti%3Flde%3Dan%26d+sp",
            "st%2Ar~ti%3Flde%3Dan%26d+sp",
            "st*r~ti?lde=an&d%20sp",
            "st*r~ti?lde=an&d+sp",
        ],
    );
}

#[test]
fn percent_twice() {
    masked(
        TOKEN,
        &["gwt_live_9fQ%252F7%252Bx%253DZk2Lm0Vt4Rb8", "gwt_live_9fQ%25252f7%2525252Bx%253dZk2Lm0Vt4Rb8"],
    );
    masked(PHRASE, &["correct%2Bhorse%2Bbattery%2Bstaple", "correct%2520horse%2520battery%2520staple"]);
}

/// A secret that looks escaped itself, and one that ends in what begins an escape.
#[test]
fn secrets_that_look_escaped() {
    masked(
        r"9fQ%41\n&lt;7+x",
        &[r"9fQ%41\n&lt;7+x", r"9fQ%41\\n&lt;7+x", r"9fQ%2541%5Cn%26lt%3B7%2Bx", r"9fQ%41\n&amp;lt;7+x"],
    );
    let ends = redactor(&[("k", br"9fQ/7+x=Zk2\")]);
    assert_eq!(shown(&ends, br#"{"a":"9fQ\/7+x=Zk2\\"}"#), r#"{"a":"[redacted:k]\\"}"#);
}

#[test]
fn html_references() {
    masked(
        PASSWORD,
        &[
            "p@ss:wörd &quot;q&quot; \\ 42",
            "p@ss:w&#246;rd &#34;q&#x22; &#92; 42",
            "p@ss:w&#xF6;rd &#0034;q&#X0022; &#92; 42",
            "p@ss:w&amp;#246;rd &amp;quot;q&amp;quot; \\ 42",
        ],
    );
    masked("<it's> 9fQ & 7+x", &["&lt;it&apos;s&gt; 9fQ &amp; 7+x", "&lt;it&#39;s&gt; 9fQ & 7+x"]);
}

#[test]
fn shell_words() {
    masked(PHRASE, &[r"correct\ horse\ battery\ staple"]);
    masked("a&b;c|d(e)$9fQ7", &[r"a\&b\;c\|d\(e\)\$9fQ7"]);
}

#[test]
fn quoted_printable() {
    masked(TOKEN, &["gwt_live_9fQ/7+x=3DZk2Lm0Vt4Rb8"]);
    masked(PASSWORD, &["p@ss:w=C3=B6rd \"q\" \\ 42", "p@ss:w=C3=B6rd=20\"q\"=20\\=2042"]);
}

#[test]
fn base64() {
    masked(TOKEN, &["Z3d0X2xpdmVfOWZRLzcreD1aazJMbTBWdDRSYjg=", "Z3d0X2xpdmVfOWZRLzcreD1aazJMbTBWdDRSYjg"]);
    let token = redactor(&[("k", TOKEN.as_bytes())]);
    for (text, expected) in [
        ("v=eGd3dF9saXZlXzlmUS83K3g9WmsyTG0wVnQ0UmI4dGFpbA==", "v=eG[redacted:k]dGFpbA=="),
        ("v=eHhnd3RfbGl2ZV85ZlEvNyt4PVprMkxtMFZ0NFJiOHRhaWw=", "v=eHh[redacted:k]HRhaWw="),
        // Twelve bytes of it, alone and inside other text.
        ("LzcreD1aazJMbTBW", "[redacted:k]"),
        ("YWIvNyt4PVprMkxtMFZjZA==", "YWI[redacted:k]jZA=="),
        ("Yi83K3g9WmsyTG0wVmNk", "Yi[redacted:k]mNk"),
    ] {
        assert_eq!(shown(&token, text.as_bytes()), expected);
    }
}

/// Bytes 0xfb 0xff give `-_` in one base64 alphabet and `+/` in the other.
#[test]
fn base64_in_both_alphabets() {
    let redactor = redactor(&[("k", b"\xfb\xff\xfe\xfb\xff\xfe\xfb\xff\xfe\xfb\xff\xfe")]);
    assert_eq!(shown(&redactor, b"+//++//++//++//+"), "[redacted:k]");
    assert_eq!(shown(&redactor, b"-__--__--__--__-"), "[redacted:k]");
}

#[test]
fn base64_after_the_user() {
    masked(TOKEN, &["c3ZjLWJvdDpnd3RfbGl2ZV85ZlEvNyt4PVprMkxtMFZ0NFJiOA=="]);
}

#[test]
fn base64_twice() {
    masked(TOKEN, &["WjNkMFgyeHBkbVZmT1daUkx6Y3JlRDFhYXpKTWJUQldkRFJTWWpnPQ=="]);
    let token = redactor(&[("k", TOKEN.as_bytes())]);
    for text in [
        "eHlaM2QwWDJ4cGRtVmZPV1pSTHpjcmVEMWFhekpNYlRCV2REUlNZamc9eg==",
        "eFozZDBYMnhwZG1WZk9XWlJMemNyZUQxYWF6Sk1iVEJXZERSU1lqZz16",
    ] {
        let shown = shown(&token, text.as_bytes());
        assert!(shown.contains("[redacted:k]") && shown.len() < 22, "{shown}");
    }
}

#[test]
fn base32() {
    masked(
        TOKEN,
        &[
            "M53XIX3MNF3GKXZZMZIS6NZLPA6VU2ZSJRWTAVTUGRJGEOA=",
            "m53xix3mnf3gkxzzmzis6nzlpa6vu2zsjrwtavtugrjgeoa",
        ],
    );
}

#[test]
fn hexadecimal() {
    masked(
        TOKEN,
        &[
            "6777745f6c6976655f3966512f372b783d5a6b324c6d30567434526238",
            "6777745F6C6976655F3966512F372B783D5A6B324C6D30567434526238",
            "67:77:74:5f:6c:69:76:65:5f:39:66:51:2f:37:2b:78:3d:5a:6b:32:4c:6d:30:56:74:34:52:62:38",
            "2f372b783d5a6b324c6d3056",
        ],
    );
    masked(PASSWORD, &["70:40:73:73:3A:77:C3:B6:72:64:20:22:71:22:20:5C:20:34:32"]);
}

#[test]
fn utf_16() {
    let token = redactor(&[("k", TOKEN.as_bytes())]);
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let encoded: Vec<u8> = TOKEN.encode_utf16().flat_map(order).collect();
        assert_eq!(shown(&token, &encoded), "[redacted:k]");
    }
}

#[test]
fn composed_and_decomposed() {
    masked(PASSWORD, &["p@ss:wo\u{308}rd \"q\" \\ 42", r#"p@ss:wo\u0308rd \"q\" \\ 42"#]);
    masked("p@ss:wo\u{308}rd 9fQ", &["p@ss:w\u{f6}rd 9fQ", "p@ss:w%C3%B6rd 9fQ"]);
}

/// Without case from sixteen bytes on.
#[test]
fn upper_and_lower_case() {
    masked(TOKEN, &["GWT_LIVE_9FQ/7+X=ZK2LM0VT4RB8", "gwt_live_9fq%2F7%2bx%3dzk2lm0vt4rb8"]);
    masked(PASSWORD, &["P@SS:W\u{d6}RD \"Q\" \\ 42"]);
    let short = redactor(&[("k", b"9fQ/7+x=Zk2L")]);
    assert_eq!(shown(&short, b"9FQ/7+X=ZK2L"), "9FQ/7+X=ZK2L");
}

#[test]
fn reversed() {
    masked(TOKEN, &["8bR4tV0mL2kZ=x+7/Qf9_evil_twg", "8bR4tV0mL2kZ"]);
    masked(PASSWORD, &["24 \\ \"q\" dr\u{f6}w:ss@p"]);
}

#[test]
fn keys_with_line_feeds() {
    let key = "-----BEGIN X-----\nb3BlbnNzaC1rZXkt\nZDI1NTE5AAAAIE9f\n-----END X-----";
    masked(
        key,
        &[
            key,
            r"-----BEGIN X-----\nb3BlbnNzaC1rZXkt\nZDI1NTE5AAAAIE9f\n-----END X-----",
            r"-----BEGIN X-----\\nb3BlbnNzaC1rZXkt\\nZDI1NTE5AAAAIE9f\\n-----END X-----",
            "b3BlbnNzaC1rZXktZDI1NTE5AAAAIE9f",
        ],
    );
    let redactor = redactor(&[("k", key.as_bytes())]);
    for text in ["-----BEGIN X-----", "-----END X-----", "-----BEGIN X-----\n-----END X-----"] {
        assert_eq!(shown(&redactor, text.as_bytes()), text);
    }
    // Each line alone, with the line feed before it, as in a text with other line ends.
    let redacted = redactor.redact(b"-----BEGIN X-----\r\nb3BlbnNzaC1rZXkt\r\nZDI1NTE5AAAAIE9f\r\n");
    assert_eq!(*redacted.bytes, *b"-----BEGIN X-----\r[redacted:k]\r[redacted:k]\r\n");
    assert!(!redacted.suspected);
}

/// What is not seen is inside the secret, and a placeholder stands for both.
#[test]
fn terminal_escapes_and_format_characters() {
    masked(
        TOKEN,
        &[
            "\x1b[31mgwt_live_\x1b[0m9fQ/7+x=Zk2Lm0Vt4Rb8",
            "gwt_live_9fQ/\x1b[38;5;196m7+x=Zk2L\x1b(Bm0Vt4Rb8",
            r"gwt_live_9fQ/7+x=Z\u001b[1mk2Lm0Vt4Rb8",
            "gwt_live_\u{200b}9fQ/7+x=Zk2Lm0Vt4Rb8",
            "g\u{ad}w\u{200d}t_li\u{202e}ve_9\u{feff}fQ/7+x=Zk\u{fe0f}2Lm0Vt4Rb8",
            r"gwt_live_9fQ\/7+x=\u200bZk2Lm0Vt4Rb8",
            "gwt_live_9fQ/7+x=%E2%80%8BZk2Lm0Vt4R&#8203;b8",
            "gwt_live_9f\0Q/7+x=Zk2L\u{7}m0Vt4Rb8",
            // Before it and after it.
            "\u{200b}\x1b[1mgwt_live_9fQ/7+x=Zk2Lm0Vt4Rb8\x1b[0m\u{200b}",
        ],
    );
}

#[test]
fn base64_under_escapes() {
    let secret = "\u{fb}\u{ff}\u{fe}9fQ?~\u{fb}>\u{ff}?";
    let encoded = String::from_utf8(
        forms::of(secret.as_bytes(), None, 0)
            .iter()
            .find(|form| form.bytes.contains(&b'/'))
            .map(|form| form.bytes.to_vec())
            .unwrap(),
    )
    .unwrap();
    masked(
        secret,
        &[&encoded, &encoded.replace('/', r"\/"), &encoded.replace('/', "%2F").replace('+', "%2B")],
    );
}
