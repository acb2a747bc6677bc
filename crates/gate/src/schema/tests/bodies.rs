//! Bodies other than JSON: forms, text, bytes.
//!
//! Belongs here: their one spelling, and what a recorder is shown of them.
//! Does not belong here: JSON bodies, which are rendered as trees.

use framegate_wire::Reason;
use serde_json::json;

use super::{
    BodyDeclaration, ParameterType, action, bare, call, catalog, explanation, list, optional, path, reason,
    required, text,
};

/// Every byte that means something in a form is encoded (WHATWG URL, 5.2); names are literal.
#[test]
fn forms_are_written_one_way() {
    let mut tool = bare(vec![required("t", text()), optional("o", text()), required("l", list(text()))]);
    tool.http.body = Some(BodyDeclaration::Form(
        [("a b", "{t}"), ("o", "{o}"), ("l[]", "{l}"), ("in", "<{t}>")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .to_vec(),
    ));
    let tool = catalog(tool);
    let made = action(&tool, &json!({"t": "a&b=c+d e%\u{e9}\n", "l": ["1", "&x="]}).to_string());
    let body =
        "a+b=a%26b%3Dc%2Bd+e%25%C3%A9%0A&l%5B%5D=1&l%5B%5D=%26x%3D&in=%3Ca%26b%3Dc%2Bd+e%25%C3%A9%0A%3E";
    assert_eq!(made.body_bytes().map(String::from_utf8_lossy).as_deref(), Some(body));
    assert_eq!(made.content_type(), Some("application/x-www-form-urlencoded"));
    assert_eq!(made.json_body(), None);
    let shown = json!(made)["body"].clone();
    assert_eq!(shown["form"][0], json!(["a b", "a&b=c+d e%\u{e9}\n"]));
    let read: Vec<(String, String)> = url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
    assert_eq!(shown["form"], json!(read), "a decoder reads what was judged");
}

#[test]
fn raw_bodies_are_the_argument_and_nothing_else() {
    let mut tool = bare(vec![optional("t", text())]);
    tool.http.body =
        Some(BodyDeclaration::Text { content_type: "text/csv".to_owned(), text: "{t}".to_owned() });
    let tool = catalog(tool);
    let made = action(&tool, &json!({"t": "a,b\n\u{2028}{t}"}).to_string());
    assert_eq!(made.body_bytes(), Some("a,b\n\u{2028}{t}".as_bytes()));
    assert_eq!(made.content_type(), Some("text/csv"));
    assert_eq!(json!(made)["body"], json!({"text": "a,b\n\u{2028}{t}"}));
    let absent = action(&tool, "{}");
    assert_eq!((absent.body_bytes(), absent.content_type()), (None, None));
}

#[test]
fn bytes_come_as_canonical_base64() {
    let mut tool = bare(vec![required("b", ParameterType::Base64 { max_length: Some(8) })]);
    tool.http.body = Some(BodyDeclaration::Binary {
        content_type: "application/octet-stream".to_owned(),
        base64: "{b}".to_owned(),
    });
    let tool = catalog(tool);
    for (text, bytes) in [("", &b""[..]), ("AA==", b"\0"), ("AP8=", b"\0\xff"), ("/+AA", b"\xff\xe0\0")] {
        let made = action(&tool, &json!({"b": text}).to_string());
        assert_eq!(made.body_bytes(), Some(bytes), "{text}");
        assert_eq!(json!(made)["body"], json!({"base64": text}));
    }
    // No padding, too much of it, bits that are dropped, the other alphabet, blanks, line ends.
    for text in ["AA", "AA=", "AA===", "AB==", "_-AA", "AA ==", "AA==\n", "A", "====", "\u{ff21}A=="] {
        assert_eq!(reason(&tool, &json!({"b": text}).to_string()), Reason::ArgumentPattern, "{text}");
    }
    let long = r#"{"b":"AAAAAAAAAAAA"}"#;
    assert_eq!(reason(&tool, long), Reason::ArgumentBounds);
    let told = explanation(&tool, long);
    assert!(told.contains("expected bytes in padded base64, at most 8 characters"), "{told}");
    assert!(told.ends_with("example: \"c29t\""), "{told}");
}

/// A file is data until the request is sent: a root from the configuration, and a path of plain segments.
#[test]
fn a_file_is_named_and_not_read() {
    let mut tool = bare(vec![required("f", path())]);
    tool.http.body = Some(BodyDeclaration::File {
        content_type: "image/png".to_owned(),
        root: "/srv/out".to_owned(),
        path: "{f}".to_owned(),
    });
    let tool = catalog(tool);
    let made = action(&tool, r#"{"f":"a/b c.png"}"#);
    let file = made.body_file().unwrap();
    assert_eq!((file.root(), file.path()), ("/srv/out", "a/b c.png"));
    assert_eq!((made.has_body(), made.body_bytes(), made.content_type()), (true, None, Some("image/png")));
    assert_eq!(json!(made)["body"], json!({"file": {"root": "/srv/out", "path": "a/b c.png"}}));
    for path in ["..", "../x", "a/../b", "/etc/passwd", "", "a//b", "a/.", "a\0", "-x", "~\\x"] {
        assert!(call(&tool, &json!({"f": path}).to_string()).is_err(), "{path}");
    }
}

/// JSON of another media type is a tree too: no argument can end a string.
#[test]
fn json_of_another_type_is_a_tree() {
    let mut tool = bare(vec![required("t", text())]);
    let tree = json!({"spec": {"note": "<{t}>"}});
    tool.http.body =
        Some(BodyDeclaration::TypedJson { content_type: "application/merge-patch+json".to_owned(), tree });
    let made = action(&catalog(tool), &json!({"t": "\",\"admin\":\"yes"}).to_string());
    assert_eq!(made.content_type(), Some("application/merge-patch+json"));
    assert_eq!(made.json_body(), Some(&json!({"spec": {"note": "<\",\"admin\":\"yes>"}})));
    assert_eq!(made.body_bytes(), Some(br#"{"spec":{"note":"<\",\"admin\":\"yes>"}}"#.as_slice()));
}
