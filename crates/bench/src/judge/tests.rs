//! The judge over bytes: every code with its first wrong byte, and bytes that are sound.
//!
//! Belongs here: bytes and findings. Does not belong here: processes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::*;

fn sent(ids: &[&str]) -> Vec<Sent> {
    ids.iter().map(|id| Sent { id: (*id).to_owned() }).collect()
}

fn found(stdout: &[u8]) -> Vec<(Code, usize)> {
    let findings = judge(stdout, &sent(&["1", "\"a\""]), true);
    findings.iter().map(|finding| (finding.code, finding.offset)).collect()
}

const GOOD: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

#[test]
fn sound_bytes_have_no_finding() {
    for text in [
        "",
        GOOD,
        "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-1,\"message\":\"x\"}}\n",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"\u{2028}\u{e9}\\u001b[0m\"}}\n",
        "[{\"jsonrpc\":\"2.0\",\"method\":\"a\"}]\n",
        // JSON by its grammar, though not by ours.
        "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551616,\"result\":{\"a\":\"\\ud800\"}}\n",
    ] {
        assert_eq!(found(text.as_bytes()), [], "{text}");
    }
}

#[test]
fn every_code_is_found_at_its_first_wrong_byte() {
    let behind = GOOD.len();
    let mut seen = Vec::new();
    for (code, at, bytes) in [
        (Code::NotJson, behind, b"starting up\n".to_vec()),
        (Code::NotJson, behind, b"starting up {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".to_vec()),
        (Code::NotJson, behind + 1, b"{nope}\n".to_vec()),
        (Code::NotJsonRpc, behind, b"{\"level\":\"info\"}\n".to_vec()),
        (Code::NotJsonRpc, behind, b"17\n".to_vec()),
        (
            Code::NotJsonRpc,
            behind,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\"error\":{\"code\":1,\"message\":\"\"}}\n"
                .to_vec(),
        ),
        (
            Code::NotJsonRpc,
            behind,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":\"1\",\"message\":\"\"}}\n".to_vec(),
        ),
        (Code::Blank, behind, b"\n".to_vec()),
        (Code::Blank, behind, b" \t\n".to_vec()),
        (Code::ByteOrderMark, behind, b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n".to_vec()),
        (Code::Ansi, behind, b"\x1b[32mok\n".to_vec()),
        (Code::OperatingSystemCommand, behind + 1, b"x\x1b]0;t\x07\n".to_vec()),
        (Code::InvalidUtf8, behind + 8, b"{\"text\":\xff}\n".to_vec()),
        (Code::ContentLength, behind, b"Content-Length: 5\r\n\r\n{\"a\":1}".to_vec()),
        (Code::CarriageReturn, behind + 31, b"{\"jsonrpc\":\"2.0\",\"method\":\"ab\"}\r\n".to_vec()),
        (
            Code::DuplicateMember,
            behind + 37,
            b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":1,\"result\":2}\n".to_vec(),
        ),
        (Code::NotANumber, behind + 35, b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":NaN}\n".to_vec()),
        (Code::Multiline, behind + 1, b"{\n\"jsonrpc\":\"2.0\",\n\"method\":\"a\"\n}\n".to_vec()),
        (Code::DuplicateResponse, behind + 22, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n".to_vec()),
        (Code::IdType, behind + 22, b"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n".to_vec()),
        (Code::UnknownId, behind + 22, b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n".to_vec()),
        (Code::Partial, behind, b"{\"jsonrpc\":\"2.0\"".to_vec()),
    ] {
        // In front, a sound answer; behind, a sound notification, which must not be taken along.
        let mut stdout = GOOD.as_bytes().to_vec();
        stdout.extend_from_slice(&bytes);
        if !matches!(code, Code::Partial | Code::ContentLength) {
            stdout.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":\"b\"}\n");
        }
        assert_eq!(found(&stdout), [(code, at)], "{}", String::from_utf8_lossy(&bytes));
        seen.push(code);
    }
    for code in Code::ALL {
        assert!(seen.contains(code), "{code:?} is found by nothing here");
    }
}

#[test]
fn a_changed_id_is_told_from_a_foreign_one() {
    let id = |text: &str| {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{text},\"result\":{{}}}}\n");
        judge(line.as_bytes(), &sent(&["1"]), true).first().map(|finding| finding.code)
    };
    assert_eq!(id("1"), None);
    assert_eq!(id("1.0"), Some(Code::IdType));
    assert_eq!(id("\"1\""), Some(Code::IdType));
    assert_eq!(id("2"), Some(Code::UnknownId));
    assert_eq!(id("[1]"), Some(Code::UnknownId));
}

#[test]
fn what_may_still_be_coming_is_not_judged() {
    assert_eq!(judge(b"{\"jsonrpc\"", &[], false), []);
    assert_eq!(judge(b"{\"jsonrpc\"", &[], true).len(), 1);
}

/// The shared reports of what real servers put on stdout: exactly these findings, in this order.
#[test]
fn shared_field_reports_of_stdout() {
    let Some(folder) = std::env::var_os("FRAMEGATE_SHARED") else {
        eprintln!("SKIPPED: FRAMEGATE_SHARED is not set, so the field reports are not checked here");
        return;
    };
    let file = std::path::Path::new(&folder).join("cases/field_reports.jsonl");
    let text = std::fs::read_to_string(&file).unwrap();
    let mut count = 0;
    for case in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        if case["kind"] != "server-stdout" {
            continue;
        }
        count += 1;
        let bytes = STANDARD.decode(case["bytes_b64"].as_str().unwrap()).unwrap();
        let expected: Vec<&str> =
            case["expect"]["bench"].as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect();
        let findings = judge(&bytes, &sent(&["1", "2", "3"]), true);
        let found: Vec<_> = findings.iter().map(|finding| shared_name(finding.code)).collect();
        assert_eq!(found, expected, "{}", case["id"]);
    }
    assert_eq!(count, 33);
}

/// The page for maintainers has every finding, with the case data's name for it, and every kind of failure.
#[test]
fn the_page_names_every_finding_and_kind() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.md")).unwrap();
    for code in Code::ALL {
        let row = page.lines().find(|line| line.contains(&format!("| `{}` |", code.name())));
        let row = row.unwrap_or_else(|| panic!("docs/check.md does not name {}", code.name()));
        assert!(*code == Code::UnknownId || row.contains(&format!("`{}`", shared_name(*code))), "{row}");
    }
    for kind in crate::Kind::ALL {
        assert!(page.contains(&format!("`{}`", kind.name())), "docs/check.md does not name {}", kind.name());
    }
}

/// The names that the case data uses; `docs/check.md` has the same table.
fn shared_name(code: Code) -> &'static str {
    match code {
        Code::Ansi => "OUT_ANSI",
        Code::Blank => "OUT_BLANK",
        Code::ByteOrderMark => "OUT_BOM",
        Code::CarriageReturn => "OUT_CRLF(warn)",
        Code::ContentLength => "OUT_CONTENT_LENGTH",
        Code::DuplicateMember => "OUT_DUP_KEYS",
        Code::DuplicateResponse => "OUT_DUP_RESPONSE",
        Code::IdType => "OUT_ID_TYPE",
        Code::InvalidUtf8 => "OUT_INVALID_UTF8",
        Code::Multiline => "OUT_MULTILINE",
        Code::NotANumber => "OUT_NAN",
        Code::NotJson => "OUT_NONJSON",
        Code::NotJsonRpc => "OUT_NOT_JSONRPC",
        Code::OperatingSystemCommand => "OUT_OSC",
        Code::Partial => "OUT_PARTIAL_EOF",
        Code::UnknownId => "OUT_UNKNOWN_ID",
    }
}
