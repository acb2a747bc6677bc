//! Tests of the source scanner.

use super::{blank, is_test_file, lines_with, test_names, without_tests};

#[test]
fn comments_and_literals_are_blanked_and_code_stays() {
    let source = "let a = \"unsafe \\\" // x\"; // unsafe\nlet b = r#\"un\"safe\"#; /* a /* b */ unsafe */ let c = '\"'; let d = b'\\'';";
    let blanked = blank(source);
    assert!(lines_with(&blanked, "unsafe").is_empty(), "{blanked}");
    assert_eq!(blanked.chars().count(), source.chars().count());
    for kept in ["let a =", "let b =", "let c =", "let d ="] {
        assert!(blanked.contains(kept), "{blanked}");
    }
}

#[test]
fn lifetimes_and_words_are_not_literals() {
    let source = "fn f<'a>(x: &'a str, bar: char, crab: u8) -> &'a str { x }";
    assert_eq!(blank(source), source);
}

#[test]
fn a_phrase_inside_a_longer_word_is_not_found() {
    assert_eq!(lines_with("#![forbid(unsafe_code)]\nunsafe {}\n", "unsafe"), [2]);
    assert!(lines_with("my_println!()", "println!").is_empty());
}

#[test]
fn test_modules_are_cut_out_with_their_nested_braces() {
    let source = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { { } }\n}\nfn c() {}\n#[cfg(test)]\nmod more;\nfn d() {}\n";
    let kept = without_tests(source);
    assert_eq!(kept.lines().count(), source.lines().count());
    assert!(kept.contains("fn a()") && kept.contains("fn c()") && kept.contains("fn d()"), "{kept}");
    assert!(!kept.contains("fn b()"), "{kept}");
}

#[test]
fn tests_are_named_with_their_modules() {
    let source = "\
mod tests {
    #[test]
    fn one() {}

    mod inner {
        #[tokio::test(flavor = \"current_thread\")]
        async fn two() {}
    }

    // #[test]
    fn helper() {}

    #[test]
    #[ignore = \"slow\"]
    fn three() {}

    #[test]
    // why
    #[should_panic]
    fn four() {}
}
#[test]
fn five() {}
";
    assert_eq!(test_names(source), ["tests::one", "tests::inner::two", "tests::four", "five"]);
}

#[test]
fn test_files_are_known_by_path() {
    assert!(is_test_file("crates/wire/src/json/tests.rs"));
    assert!(is_test_file("crates/wire/tests/suite.rs"));
    assert!(!is_test_file("crates/wire/src/json/parse.rs"));
}
