//! No report shows what may be a secret, or writes what a terminal would act on.

use super::refused;

const SECRET: &str = "hunter2hunter2";

#[test]
fn secrets_in_wrong_places_are_not_shown() {
    let lines = [
        "[secret.a]\nsource = 'SECRET'",
        "[secret.a]\nvalue = 'SECRET'",
        "[secret.a]\nanything = { deep = ['SECRET'] }",
        "[secret]\na = 'SECRET'",
        "secret = 'SECRET'",
        "token = 'SECRET'",
        "[session]\npassword = 'SECRET'",
        "[target.a]\norigin = 'https://SECRET@api.example.com'\nca = 'ca.pem'",
        "[target.a]\norigin = 'https://api.example.com/?key=SECRET'\nca = 'ca.pem'",
        "[target.a]\norigin = 'https://api.example.com'\nca = 'ca.pem'\nauth = { scheme = 'bearer', secret = 'SECRETxx' }",
        "[target.a]\norigin = 'https://api.example.com'\nca = 'ca.pem'\nauth = { scheme = 'bearer', value = 'SECRET' }",
        "[target.a]\norigin = 'https://api.example.com'\nca = 'ca.pem'\nauth = { scheme = 'bear', token = 'SECRET' }",
        "[target.a]\norigin = 'https://api.example.com'\nca = 'ca.pem'\nauth = 'SECRET'",
        "[target.a]\norigin = 'https://api.example.com'\nca = 'ca.pem'\nheaders = { authorization = 'SECRET' }",
        "[target.a]\norigin = 'https://api.example.com'\nca = 'ca.pem'\nheaders = { X-My-Secret = 'SECRET' }",
        "[network]\nproxy = 'http://me:SECRET@proxy.example.com:3128'",
        "[network]\nproxy = 'http://proxy.example.com:3128?token=SECRET'",
        "[network]\nproxy = 'socks5://me:SECRET@proxy.example.com:1080'",
        "[session]\nclient = 'Bearer SECRET'",
        "[session]\nclient = 'ghp_SECRET'",
        "[secret.a]\nsource = SECRET",
        "[secret.a]\nsource = \"SECRET",
        "token = SECRET",
        "[session]\nclient = ghp_SECRET",
        "[secret.a]\nsource = '''\nSECRET''' x",
    ];
    for line in lines {
        let text = format!("version = 1\n{}\n", line.replace("SECRET", SECRET));
        let faults = refused(&text);
        for report in [faults.render(false), faults.render(true), format!("{faults:?}")] {
            assert!(!report.contains(SECRET), "{line}\n{report}");
        }
    }
}

#[test]
fn control_characters_are_replaced() {
    let hostile =
        "version = 1\n\"\\u001b[31m\" = 1\n'a\u{202e}b' = 2\n'\u{2066}' = '\u{200b}\u{e0041}'\n# \u{1b}[2J\n";
    let faults = refused(hostile);
    let report = faults.render(false);
    let unsafe_character = |character: char| {
        (character.is_control() && character != '\n')
            || matches!(character, '\u{200b}'..='\u{206f}' | '\u{e0000}'..='\u{e0fff}')
    };
    assert!(!report.contains(unsafe_character), "{report:?}");
    assert!(!refused("version = 1\n[session]\nclient = \"\u{1b}[31m\"\n").render(false).contains('\u{1b}'));
}

#[test]
fn colour_is_the_callers_choice() {
    let faults = refused("version = 2");
    assert!(!faults.render(false).contains('\u{1b}'));
    assert!(faults.render(true).contains('\u{1b}'));
    assert_eq!(faults.to_string(), faults.render(false));
}

#[test]
fn the_name_of_the_file_is_escaped() {
    let faults =
        crate::config::Config::from_text("\u{1b}[31m.toml", "version = 2", std::path::Path::new("/"))
            .unwrap_err();
    let report = faults.render(false);
    assert!(report.contains("\\u{1b}[31m.toml"), "{report}");
}

#[test]
fn places_survive_masks() {
    // Masked and replaced characters of several bytes stand before the fault on its own line.
    let text = "version = 1\n[target.a]\norigin = 'https://api.example.com'\nca = 'ca.pem'\nheaders = { x-secret = 'ÄÖ\u{200b}', b = 5 }\n";
    let faults = refused(text);
    let last = faults.iter().last().unwrap();
    assert_eq!(&text[last.span().clone()], "5");
    assert_eq!(faults.line(last), 5);
}
