//! `Secret` has none of the traits that would show or copy it. Each forgery must fail to compile
//! with the error kept beside it; the honest twin must compile.

#[test]
fn no_trait_shows_or_copies_a_secret() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/secret_traits/forbidden_*.rs");
    cases.pass("tests/secret_traits/honest.rs");
}
