//! Transcripts that are right, and each fault that the oracle must see.

use super::*;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":7}}}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":"p","result":{}}"#;
const CALLED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"x"}],"structuredContent":{"ok":true}}}"#;
const LISTED: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["ok"]}}]}}"#;

fn initialized(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"f","version":"1"}}}}}}"#
    )
}

fn verdict(stdin: &[&str], stdout: &[&str]) -> Result<(), String> {
    let join = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let (stdin, stdout) = (join(stdin), join(stdout));
    raw(stdin.as_bytes(), stdout.as_bytes(), Answers::All).map_err(|fault| fault.why)
}

fn raw(stdin: &[u8], stdout: &[u8], answers: Answers) -> Result<(), Fault> {
    judge(&Transcript { stdin, stdout, answers })
}

fn fault(stdin: &[&str], stdout: &[&str]) -> String {
    verdict(stdin, stdout).expect_err("must be a fault")
}

#[test]
fn a_right_session_passes_in_every_legacy_revision() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(verdict(&[INITIALIZE, PING], &[&initialized(version), PONG]), Ok(()), "{version}");
    }
    let listed = [&*initialized("2025-06-18"), LISTED, CALLED];
    assert_eq!(verdict(&[INITIALIZE, LIST, CALL], &listed), Ok(()));
}

#[test]
fn bytes_that_are_no_message_are_found_at_their_offset() {
    let stdin = format!("{PING}\n");
    for (stdout, offset) in [
        (format!("{PONG}\nhello\n"), PONG.len() + 1),
        (format!("hello\n{PONG}\n"), 0),
        (format!("{PONG}\n\n"), PONG.len() + 1),
        (format!("{PONG}\n{{"), PONG.len() + 1),
        (format!("{PONG}\r\n"), PONG.len()),
        (format!(" {PONG}\n"), 0),
        (format!("{PONG} {PONG}\n"), PONG.len() + 1),
        (format!("\u{feff}{PONG}\n"), 0),
    ] {
        let found = raw(stdin.as_bytes(), stdout.as_bytes(), Answers::All).map_err(|fault| fault.offset);
        assert_eq!(found, Err(offset), "{stdout:?}");
    }
}

#[test]
fn replies_are_counted() {
    assert!(fault(&[PING], &[]).contains("no reply"));
    assert!(fault(&[PING], &[PONG, PONG]).contains("more replies"));
    assert!(fault(&[], &[PONG]).contains("never sent"));
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#;
    assert!(fault(&[note], &[error]).contains("accounts for"));
    assert_eq!(verdict(&["{"], &[error]), Ok(()));
    let twice = [PING, PING];
    assert_eq!(verdict(&twice, &[PONG, error]), Ok(()));
}

#[test]
fn a_closed_session_owes_what_came_before_the_last_reply() {
    let stdin = format!("{PING}\n{CALL}\n{LIST}\n");
    let error = |id: u32| {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32600,\"message\":\"m\"}}}}\n")
    };
    let prefix = |stdout: &str| raw(stdin.as_bytes(), stdout.as_bytes(), Answers::Prefix).is_ok();
    assert!(prefix(&format!("{PONG}\n")));
    assert!(prefix(&format!("{PONG}\n{}", error(2))));
    assert!(!prefix(&format!("{PONG}\n{}", error(3))));
}

#[test]
fn a_cancelled_request_owes_no_reply() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    let answer = initialized("2025-06-18");
    assert_eq!(verdict(&[INITIALIZE, CALL, cancel], &[&answer]), Ok(()));
    assert!(fault(&[INITIALIZE, CALL], &[&answer]).contains("no reply"));
}

#[test]
fn ids_are_absent_or_null_as_the_revision_has_it() {
    let null = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}"#;
    let absent = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}"#;
    for (version, right, wrong) in [("2025-06-18", null, absent), ("2025-11-25", absent, null)] {
        let answer = initialized(version);
        assert_eq!(verdict(&[INITIALIZE, "{"], &[&answer, right]), Ok(()), "{version}");
        assert!(verdict(&[INITIALIZE, "{"], &[&answer, wrong]).is_err(), "{version}");
    }
}

#[test]
fn progress_needs_a_token_and_must_grow_and_must_stop() {
    let told = |token: u32, progress: u32| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress}}}}}"#
        )
    };
    let answer = initialized("2025-06-18");
    let session = |lines: &[String]| {
        let mut stdout = vec![answer.as_str()];
        stdout.extend(lines.iter().map(String::as_str));
        verdict(&[INITIALIZE, CALL], &stdout)
    };
    let called = CALLED.to_owned();
    assert_eq!(session(&[told(7, 1), told(7, 2), called.clone()]), Ok(()));
    assert!(session(&[told(8, 1), called.clone()]).is_err());
    assert!(session(&[told(7, 1), told(7, 1), called.clone()]).is_err());
    assert!(session(&[called, told(7, 1)]).is_err());
}

#[test]
fn envelopes_are_closed_and_the_server_never_asks() {
    for line in [
        r#"{"jsonrpc":"2.0","id":"p","result":{},"error":{"code":-32600,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","id":"p","result":{},"extra":1}"#,
        r#"{"jsonrpc":"1.0","id":"p","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#,
        r#"[{"jsonrpc":"2.0","id":"p","result":{}}]"#,
        r#"{"jsonrpc":"2.0","id":"p","result":{"x":1}}"#,
        r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32002,"message":"m"}}"#,
    ] {
        assert!(verdict(&[PING], &[line]).is_err(), "{line}");
    }
}

#[test]
fn a_batch_is_answered_by_one_array_in_its_one_revision() {
    let batch = format!("[{PING}]");
    let answer = format!("[{PONG}]");
    let session = |version: &str| verdict(&[INITIALIZE, &batch], &[&initialized(version), &answer]);
    assert_eq!(session("2025-03-26"), Ok(()));
    assert!(session("2025-06-18").is_err());
}

#[test]
fn structured_content_is_what_was_published() {
    let start = [initialized("2025-06-18"), LISTED.to_owned()];
    let session = |called: &str| verdict(&[INITIALIZE, LIST, CALL], &[&start[0], &start[1], called]);
    assert!(session(&CALLED.replace("ok", "no")).is_err());
    assert!(session(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#).is_err());
    assert_eq!(session(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true}}"#), Ok(()));
    assert!(
        session(
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[],"isError":true,"structuredContent":{"ok":1}}}"#
        )
        .is_err()
    );
}

#[test]
fn the_official_schemas_judge_each_result_by_its_method() {
    if crate::shared::folder("external/mcp-schema").is_none() {
        return;
    }
    let answer = initialized("2025-06-18");
    let wrong = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text"}]}}"#;
    assert!(fault(&[INITIALIZE, CALL], &[&answer, wrong]).contains("not valid by 2025-06-18 CallToolResult"));
    assert!(
        fault(&[INITIALIZE, CALL], &[&answer, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#]).contains("content")
    );
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let modern = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{{meta}}}}}"#);
    let listed = |more: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[]{more},"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"f","version":"1"}}}}}}}}"#
        )
    };
    assert_eq!(verdict(&[&modern], &[&listed(r#","ttlMs":0,"cacheScope":"private""#)]), Ok(()));
    assert!(fault(&[&modern], &[&listed("")]).contains("ListToolsResult"));
    let unsupported =
        r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"m","data":{"supported":[]}}}"#;
    assert!(fault(&[&modern], &[unsupported]).contains("UnsupportedProtocolVersionError"));
}

#[test]
fn members_of_a_batch_are_owed_in_its_one_revision_only() {
    let batch = format!("[{PING}]");
    let other = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#;
    let session = |version: &str, lines: &[&str]| {
        let answer = initialized(version);
        let mut stdout = vec![answer.as_str()];
        stdout.extend(lines);
        verdict(&[INITIALIZE, &batch], &stdout)
    };
    assert!(session("2025-03-26", &[]).is_err_and(|fault| fault.contains("no reply")));
    assert_eq!(session("2025-06-18", &[other]), Ok(()));
}
