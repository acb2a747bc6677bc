//! The redactor against random secrets and texts.

use proptest::prelude::*;

use super::*;

/// Ends as the token starts, and overlaps itself.
const OTHER: &[u8] = b"8b8b8b8b8b8b-gwt_live_";

/// Text made of secrets, parts of secrets, and spellings, glued without separators or torn by white space;
/// sometimes longer than a block.
fn hostile_text() -> impl Strategy<Value = Vec<u8>> {
    let mut all = spellings(TOKEN.as_bytes(), Some("svc-bot"));
    all.extend(spellings(OTHER, None));
    let whole = prop::sample::select(all);
    let piece = prop_oneof![
        4 => whole.clone(),
        4 => (whole.clone(), 0_usize..40, 0_usize..40).prop_map(|(mut spelling, from, length)| {
            spelling.drain(..from.min(spelling.len()));
            spelling.truncate(length);
            spelling
        }),
        1 => whole.prop_map(|spelling| spelling.iter().flat_map(|byte| [*byte, b' ']).collect()),
        4 => prop::collection::vec(any::<u8>(), 0..8),
        1 => (0_usize..20_000).prop_map(|count| vec![b'.'; count]),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Secrets of 12 to 40 characters, of all that escapes are made of and for.
fn any_secret() -> impl Strategy<Value = String> {
    // Many secrets have nothing to escape, or little.
    let plain: Vec<char> = "abcdefuxQZ0179+/-_ ".chars().collect();
    let characters: Vec<char> = "abnrtuxQZ0179+/=&%\\\"'<>;#-_.~ :@öé\u{1f600}日".chars().collect();
    let characters = prop::sample::select(characters);
    let character = prop_oneof![prop::sample::select(plain), characters.clone()];
    prop_oneof![prop::collection::vec(character, 12..40), prop::collection::vec(characters, 12..40)]
        .prop_map(String::from_iter)
        .prop_filter("is not all blank", |secret| secret.bytes().filter(|byte| *byte != b' ').count() >= 12)
}

proptest! {
    /// With escapes and without.
    #[test]
    fn a_text_without_blanks_is_that_of_its_view(
        torn in prop::collection::vec(prop::sample::select(b"aB1-\xff \t\n\x0b\x0c\r".to_vec()), 0..200),
        hostile in hostile_text(),
    ) {
        for text in [torn, hostile] {
            let quick = normal::without_blanks(&text, Contents::of(&text));
            prop_assert_eq!(&*quick, &*View::new(&text, Blanks::Dropped).bytes);
        }
    }

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
        let ending = stream.finish(&mut output);
        redactions.extend(ending.redactions);
        prop_assert_eq!(&*whole.bytes, &*output);
        prop_assert_eq!(&whole.redactions, &redactions);
        prop_assert_eq!(whole.suspected, ending.suspected);
        for redaction in &redactions {
            let placeholder = &output[redaction.start..redaction.end];
            prop_assert!(placeholder == b"[redacted:token]" || placeholder == b"[redacted:other]");
        }
        for spelling in spellings(TOKEN.as_bytes(), Some("svc-bot")) {
            let left = output.windows(spelling.len()).any(|window| window == spelling);
            prop_assert!(!left, "a spelling is left");
        }
    }

    /// Whatever the secret: each of its spellings is masked, once and whole.
    #[test]
    fn no_known_spelling_of_a_random_secret_survives(
        secret in any_secret(),
        before in prop::sample::select(vec!["", " ", "\"", "<v>", "x: "]),
        after in prop::sample::select(vec!["", " ", "\"", "</v>", "; "]),
    ) {
        let redactor = redactor(&[("k", secret.as_bytes())]);
        for spelling in spellings(secret.as_bytes(), Some("svc-bot")) {
            let text = [before.as_bytes(), &spelling, after.as_bytes()].concat();
            let redacted = redactor.redact(&text);
            let left = String::from_utf8_lossy(&redacted.bytes).replace("[redacted:k]", "");
            prop_assert!(!redacted.redactions.is_empty(), "{}", String::from_utf8_lossy(&text));
            // What is left is the text around it, and at most the edge of an escape; and backslashes at the
            // end, which belong to what follows.
            let at_end = secret.len() - secret.trim_end_matches('\\').len();
            prop_assert!(
                left.len() <= before.len() + after.len() + 12 + 40 * at_end,
                "{left:?} of {:?} in {:?}", secret, String::from_utf8_lossy(&text)
            );
        }
    }

    #[test]
    fn clean_text_is_unchanged(text in prop::collection::vec(any::<u8>(), 0..4000), words in "[ -~\\n]{0,400}") {
        let redactor = redactor(&[("token", TOKEN.as_bytes()), ("other", OTHER)]);
        for text in [[b"t".as_slice(), &text].concat(), words.into_bytes()] {
            let redacted = redactor.redact(&text);
            prop_assert!(matches!(redacted.bytes, Cow::Borrowed(bytes) if bytes == text));
            prop_assert_eq!(redacted.redactions, []);
            prop_assert!(!redacted.suspected);
        }
    }
}
